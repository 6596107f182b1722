"""Raw capacities of links: what a link says, else what its kind says, with how sure that is."""

from __future__ import annotations

from designer.catalog.parttype import link_kinds
from designer.design.document import LinkValues
from designer.fields import amount
from designer.formulas.transfer.pcie_rate import pcie_rate
from designer.sources import Status


def raw_rate(values: LinkValues) -> tuple[float, Status]:
    """Raw capacity per direction of one link of the bundle [B/s], and how sure it is."""
    if values.bandwidth_per_direction is not None:
        return amount(values.bandwidth_per_direction, "rate"), values.status
    if values.generation is not None and values.kind == "pcie":
        lanes = values.lanes if values.lanes is not None else 16
        return pcie_rate(values.generation, lanes), values.status if values.lanes is not None else Status.ASSUMED
    kind = link_kinds().get(values.kind)
    if kind is None:
        return amount("1 GB/s", "rate"), Status.ASSUMED
    return amount(kind.default_rate, "rate"), Status.ASSUMED
