"""Links after parts got another type: each carries what the new type can do there.

A network link runs at the port rate of the new NIC where the switch allows it, a PCIe link at the lower generation of
its ends, and accelerator links share what the new accelerator has in all, spread as they were drawn. What a variant
says of a link itself is put on afterwards and wins.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Final

from designer.catalog.parttype import Capability, part_kinds
from designer.design.address import block_at, with_block
from designer.design.document import Block, Design, Link, LinkValues, Part, Wiring, with_changes
from designer.design.edit import put
from designer.design.rates import raw_rate
from designer.errors import DesignerError
from designer.units import format_line_rate, format_quantity, parse

_NETWORKS: Final = ("ethernet", "infiniband", "fabric")
_MESHES: Final = ("nvlink", "xgmi")
#: a rate that differs by less is the same
_SAME: Final = 0.005
Within = tuple[str, ...]


def refit(design: Design, changed: Iterable[tuple[Within, tuple[str, ...]]]) -> Design:
    """The design with the links of parts whose type has changed at what the new types can do."""
    for within, ids in changed:
        block = block_at(design, within)
        parts = [block.parts[id] for id in ids]
        inside = [*_networks(design, block, parts), *_pcie(design, block, parts), *_meshes(design, block, parts)]
        if inside:
            design = with_block(design, within, put(block, "links", inside))
        outside = list(_wirings(design, within, parts))
        if outside:
            outer = block_at(design, within[:-1])
            design = with_block(design, within[:-1], put(outer, "wirings", outside))
    return design


def _rate(design: Design, part: Part, name: str) -> float:
    quantity = design.quantity(part, name)
    try:
        return parse(quantity.value, "rate") if quantity is not None else 0.0
    except DesignerError:
        return 0.0


def _count(design: Design, part: Part, name: str) -> int:
    quantity = design.quantity(part, name)
    return quantity.value if quantity is not None and isinstance(quantity.value, int) else 0


def _port(design: Design, part: Part) -> float:
    """Rate of one network port of a NIC [B/s]; 0 where it is not given or the part is no NIC."""
    if Capability.ATTACH not in part_kinds()[part.kind].capabilities:
        return 0.0
    return _rate(design, part, "port_bandwidth_per_direction") or _rate(design, part, "bandwidth_per_direction")


def _rate_text(rate: float) -> str:
    return format_quantity(rate, "rate", 6)


def _towards(design: Design, block: Block, link: Link, ids: set[str]) -> Part | None:
    """The other end of a link that ends at one of some parts."""
    other = link.b if link.a in ids else link.a
    return block.parts.get(other)


def _at_port(design: Design, values: LinkValues, nic: Part, far: Part | None) -> float | None:
    """What a network link runs at with this NIC, where that is not what it is drawn with [B/s]."""
    port, drawn = _port(design, nic), raw_rate(values)[0]
    if not port or values.kind not in _NETWORKS:
        return None
    limit = _rate(design, far, "port_bandwidth_per_direction") if far is not None else 0.0
    best = min(port, limit) if limit else min(port, drawn) if far is None else port
    return best if abs(best - drawn) > _SAME * drawn else None


def _networks(design: Design, block: Block, parts: list[Part]) -> Iterator[Link]:
    for part in parts:
        for link in block.links.values():
            if part.id in (link.a, link.b):
                rate = _at_port(design, link, part, _towards(design, block, link, {part.id}))
                if rate is not None:
                    yield with_changes(link, bandwidth_per_direction=format_line_rate(rate, 6))


def _wirings(design: Design, within: Within, parts: list[Part]) -> Iterator[Wiring]:
    """Wirings of the block around that end at some parts of a group."""
    if not within:
        return
    outer = block_at(design, within[:-1])
    for wiring in outer.wirings.values():
        for near_end, far_end in ((wiring.a, wiring.b), (wiring.b, wiring.a)):
            group, _, pattern = near_end.partition("/")
            if group.partition("[")[0] != within[-1]:
                continue
            nic = next((p for p in parts if _names(pattern, p.id)), None)
            if nic is None:
                continue
            rate = _at_port(design, wiring, nic, _first_part(outer, far_end))
            if rate is not None:
                yield with_changes(wiring, bandwidth_per_direction=format_line_rate(rate, 6))
            break


def _names(pattern: str, id: str) -> bool:
    head, brace, rest = pattern.partition("{")
    return fnmatchcase(id, f"{head}*{rest.partition('}')[2]}" if brace else pattern)


def _first_part(block: Block, path: str) -> Part | None:
    """A part that a path of a block names."""
    *groups, last = path.split("/")
    for step in groups:
        group = block.groups.get(step.partition("[")[0])
        if group is None:
            return None
        block = group.content
    return next((part for part in block.parts.values() if _names(last, part.id)), None)


def _pcie(design: Design, block: Block, parts: list[Part]) -> Iterator[Link]:
    for part in parts:
        newest = _count(design, part, "pcie_generation")
        for link in block.links.values():
            drawn = link.generation
            if link.kind == "pcie" and part.id in (link.a, link.b) and newest and drawn and newest < drawn:
                yield with_changes(link, generation=newest)


def _meshes(design: Design, block: Block, parts: list[Part]) -> Iterator[Link]:
    """Accelerator links, scaled so that those of each accelerator add up to the total of its new type."""
    changed: dict[str, Link] = {}
    for part in parts:
        total = _rate(design, part, "accelerator_bandwidth_per_direction")
        mine = [x for x in block.links.values() if x.kind in _MESHES and part.id in (x.a, x.b)]
        drawn = sum(raw_rate(link)[0] * link.count for link in mine)
        if not total or not drawn or abs(total - drawn) <= _SAME * drawn:
            continue
        for link in mine:
            rate = raw_rate(link)[0] * total / drawn
            known = changed.get(link.id)
            if known is None or raw_rate(known)[0] > rate:
                changed[link.id] = with_changes(link, bandwidth_per_direction=_rate_text(rate))
    yield from changed.values()
