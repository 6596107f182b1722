"""Cables run at the speed of the slower of their two ports: new ones, and those whose port becomes another. No Qt."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from designer.catalog.parttype import Capability, Domain, link_kinds, part_kinds, value_of
from designer.design.address import Address, block_at
from designer.design.document import Block, Design, Link, Part
from designer.design.edit import Edit, Extended
from designer.design.edits.links import ChangeLinks
from designer.design.edits.parts import SetValue
from designer.design.rates import raw_rate
from designer.fields import Quantity, amount
from designer.sources import Status
from designer.units import write

PORT: Final = "port_bandwidth_per_direction"
ALL_PORTS: Final = "bandwidth_per_direction"
#: rates that differ by less are the same
_SAME: Final = 1e-6

Speed = tuple[float, Status]


def port_speed(design: Design, part: Part) -> Speed | None:
    """What one network port of a part carries per direction [B/s], and how sure that is; None where not known."""
    kind = part_kinds().get(part.kind)
    if kind is None or kind.field(PORT) is None:
        return None
    one = design.quantity(part, PORT)
    if one is not None:
        rate = value_of(part.kind, PORT, one)
        return (rate, one.status) if rate else None
    every, ports = design.quantity(part, ALL_PORTS), design.quantity(part, "ports")
    total = value_of(part.kind, ALL_PORTS, every) if every is not None else None
    count = value_of(part.kind, "ports", ports) if ports is not None else None
    return (total / count, every.status) if every is not None and total and count else None


def cable_speed(design: Design, a: Part, b: Part) -> Speed | None:
    """What a cable between two parts carries per direction [B/s]: as much as the slower port known of the two."""
    known = [speed for speed in (port_speed(design, a), port_speed(design, b)) if speed is not None]
    if not known:
        return None
    rate, status = min(known, key=lambda s: s[0])
    return rate, status if status in (Status.UNVERIFIED, Status.ASSUMED) else Status.DERIVED


def let_through(design: Design, block: Block, link: Link) -> tuple[float, str] | None:
    """What the card at an end of a link lets through per direction [B/s] and its name, where that is less than what
    is drawn; as the analysis counts it.
    """
    raw = raw_rate(link)[0] * link.count
    found: tuple[float, str] | None = None
    for part in (block.parts.get(link.a), block.parts.get(link.b)):
        kind = part_kinds().get(part.kind) if part is not None else None
        if part is None or kind is None or Capability.ATTACH not in kind.capabilities:
            continue
        quantity = design.quantity(part, ALL_PORTS)
        most = value_of(part.kind, ALL_PORTS, quantity) if quantity is not None else None
        if most and most < raw * (1 - _SAME) and (found is None or most < found[0]):
            found = most, part.label
    return found


def is_cable(kind: str) -> bool:
    """True if a kind of link is a network cable."""
    known = link_kinds().get(kind)
    return known is not None and known.domain is Domain.NETWORK


@dataclass(frozen=True)
class Recabled(Extended):
    """An edit of parts whose cables follow: each that ran as fast as its ports let it does so again.

    A cable that was given another speed by hand keeps it, and so do wirings, which represent many cables.
    """

    ids: tuple[str, ...]
    within: Address = ()

    def apply(self, design: Design) -> Design:
        changed = self.edit.apply(design)
        before, after = block_at(design, self.within), block_at(changed, self.within)
        for link in _cables(after, self.ids):
            old = cable_speed(design, before.parts[link.a], before.parts[link.b])
            new = cable_speed(changed, after.parts[link.a], after.parts[link.b])
            if new is not None and new != old and _as_fast_as_it_can(link, old):
                changes = {"bandwidth_per_direction": write(new[0], "rate"), "status": new[1]}
                changed = ChangeLinks((link.id,), changes, within=self.within).apply(changed)
        return changed


def _cables(block: Block, ids: Iterable[str]) -> list[Link]:
    """The cables between two parts of a block that end at some parts."""
    ends = set(ids)
    return [
        x
        for x in block.links.values()
        if (x.a in ends or x.b in ends) and x.a in block.parts and x.b in block.parts and is_cable(x.kind)
    ]


def _as_fast_as_it_can(link: Link, ports: Speed | None) -> bool:
    given = link.bandwidth_per_direction
    return given is None or (ports is not None and math.isclose(amount(given, "rate"), ports[0], rel_tol=_SAME))


def with_ports(design: Design, ids: tuple[str, ...], edit: SetValue, within: Address) -> Edit:
    """The edit of one port's speed, or of all together: the other of the two follows, and so do the cables."""
    if edit.name not in (PORT, ALL_PORTS):
        return edit
    if edit.quantity is None:
        back = SetValue(ids, ALL_PORTS if edit.name == PORT else PORT, None, within=within, gesture=edit.gesture)
        return Recabled(_Both(edit, back), ids, within)
    parts = [block_at(design, within).parts[i] for i in ids]
    counts = {q.value for q in (design.quantity(p, "ports") for p in parts) if q is not None}
    count = counts.pop() if len(counts) == 1 else None
    if not isinstance(count, int) or count < 1 or any(port_speed(design, p) is None for p in parts):
        return Recabled(edit, ids, within)
    given = amount(str(edit.quantity.value), "rate")
    name, value = (ALL_PORTS, given * count) if edit.name == PORT else (PORT, given / count)
    quantity = Quantity(value=write(value, "rate"), source=edit.quantity.source, status=edit.quantity.status)
    other = SetValue(ids, name, quantity, within=within, gesture=edit.gesture)
    return Recabled(_Both(edit, other), ids, within)


@dataclass(frozen=True)
class _Both(Extended):
    """A value and another that follows from it, as one step."""

    second: SetValue

    def apply(self, design: Design) -> Design:
        return self.second.apply(self.edit.apply(design))
