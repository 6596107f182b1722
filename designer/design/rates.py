"""Raw capacities of links: what a link says, else what its kind says, with how sure that is."""

from __future__ import annotations

from typing import Final

from designer.catalog.parttype import link_kinds
from designer.design.document import LinkValues
from designer.fields import amount
from designer.sources import Status

#: transfers per second and lane, and bits of payload per bit on the wire, by PCIe generation
_PCIE: Final = {
    1: (2.5e9, 8 / 10), 2: (5e9, 8 / 10), 3: (8e9, 128 / 130), 4: (16e9, 128 / 130), 5: (32e9, 128 / 130),
    6: (64e9, 242 / 256), 7: (128e9, 242 / 256),
}  # fmt: skip


def pcie_rate(generation: int, lanes: int) -> float:
    """Raw rate per direction of a PCIe link after line encoding, before packets [B/s]."""
    transfers, encoding = _PCIE[generation]
    return transfers * encoding * lanes / 8


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
