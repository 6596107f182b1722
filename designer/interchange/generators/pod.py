"""Accelerators that are joined directly in a torus, with their hosts: pods of TPUs, servers of Trainium."""

from __future__ import annotations

from math import prod
from typing import Final

from designer.catalog.loader import Catalog
from designer.catalog.partkind import link_kinds
from designer.catalog.parttype import PartType, SourceRecord
from designer.design.document import Block, Design, Group, Link, Part
from designer.errors import CatalogError, FormatError, raised_as
from designer.fields import Quantity
from designer.interchange.generators._generator import (
    ALL_REDUCE,
    ASKED,
    Asked,
    Generator,
    Parameter,
    neighbours_in,
    refuse,
    shape_of,
)
from designer.plain_text import counted
from designer.sources import Status

POD = (
    Parameter("shape", "16x16", "accelerators along each dimension, such as 16x16 or 4x4x4"),
    Parameter("part", "gpu/google/tpu-v5e", "type of the accelerators, as gpu/google/tpu-v5p or gpu/amazon/trainium2"),
    Parameter("hosted", 8, "accelerators of a host"),
)


def pod(asked: Asked) -> Design:
    """The design: hosts with accelerators, each joined to its neighbours in every dimension.

    Raises
    ------
    FormatError
        If shape, part or hosts fit no such pod.
    """
    shape, hosted = shape_of(asked.text("shape"), "accelerators"), asked.number("hosted")
    total = prod(shape)
    if total % hosted:
        raise refuse(f"{total} accelerators are not hosts of {hosted}", "choose another number for hosted")
    with raised_as(FormatError, "--set part", of=CatalogError):
        part = Catalog().get(asked.text("part"))
    kind, rate = _links_of(part)
    links = {
        f"axis{axis}-{here}-{there}": Link(
            id=f"axis{axis}-{here}-{there}",
            a=f"hosts[{here // hosted}]/chip{here % hosted}",
            b=f"hosts[{there // hosted}]/chip{there % hosted}",
            kind=kind,
            bandwidth_per_direction=str(rate.value),
            source=rate.source,
            status=rate.status,
        )
        for axis, here, there in neighbours_in(shape)
    }
    title = f"{part.title}, pod of {asked.text('shape')}"
    return Design(
        name="pod",
        title=title,
        description=f"{total} accelerators in {counted(total // hosted, 'host')}, {len(links)} links between them.",
        groups={"hosts": Group(id="hosts", name="Hosts", replicas=total // hosted, content=_host(part, hosted))},
        links=links,
        part_types={part.id: part},
        sources={ASKED: SourceRecord(title="The parameters this design was generated from"), **part.sources},
        workloads={ALL_REDUCE.id: ALL_REDUCE},
        default_workload=ALL_REDUCE.id,
    )


def _links_of(part: PartType) -> tuple[str, Quantity]:
    """Kind and rate of the links by which accelerators of a type pass on what others send."""
    kind = next((one.name for one in link_kinds().values() if one.relayed and part.vendor in one.vendors), "")
    rate = part.values.get("link_bandwidth_per_direction")
    if not kind or rate is None or part.kind != "gpu":
        raise refuse(f"{part.title} is not joined in a torus", "use gpu/google/tpu-v5e or gpu/amazon/trainium2")
    return kind, rate


def _host(part: PartType, hosted: int) -> Block:
    """A host: a processor, its memory, and the accelerators on its PCIe lanes."""
    parts = [
        Part(id="server", kind="server", name="Host"),
        Part(id="cpu", kind="cpu", parent="server", name="CPU"),
        Part(id="memory", kind="memory", parent="server", name="Memory"),
        *(Part(id=f"chip{i}", kind="gpu", type=part.id, parent="server", name=f"Chip {i}") for i in range(hosted)),
    ]
    generation, lanes = (int(part.number(name) or 0) or None for name in ("pcie_generation", "pcie_lanes"))
    links = [
        Link(id="cpu--memory", a="cpu", b="memory", kind="memory_bus", status=Status.ASSUMED),
        *(
            Link(
                id=f"cpu--chip{i}",
                a="cpu",
                b=f"chip{i}",
                kind="pcie",
                generation=generation,
                lanes=lanes,
                status=Status.ASSUMED,
            )
            for i in range(hosted)
        ),
    ]
    return Block(parts={one.id: one for one in parts}, links={one.id: one for one in links})


GENERATOR: Final = Generator("pod", "Pod of accelerators joined in a torus", POD, pod, products=False)
