"""What may be linked to what and what may contain what, with the reason; quick enough to ask all parts of a drag."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from designer.catalog.parttype import PartKind, PortKind, fitting_links, link_kinds, part_kinds
from designer.design.address import AnyAddress, block_at, canonical
from designer.design.document import Block, Design, LinkValues, Part
from designer.design.port_usage import Usage, count_value, port_count, ports_for, usage

#: a refusal names at most so many kinds of link
_MOST_REASONS: Final = 2


@dataclass(frozen=True, slots=True)
class Verdict:
    """Whether something may be done, and if not, why.

    Parameters
    ----------
    kinds
        The kinds of link that may be drawn, most usual first.
    room
        How many parallel links of the first kind still fit; None if nothing limits them.
    """

    ok: bool
    kinds: tuple[str, ...] = ()
    reason: str = ""
    room: int | None = None


def can_connect(
    design: Design, a: str, b: str, kind: str | None = None, within: AnyAddress = (), replacing: str | None = None
) -> Verdict:
    """Whether a link may be drawn between two parts of the block at `within`.

    Parameters
    ----------
    a, b
        Ids of parts of the block, or paths from it into its groups.
    kind
        The kind of link; None asks which kinds fit.
    replacing
        Id of a link of the block whose ports count as free, for hanging it elsewhere.
    """
    if a == b:
        return Verdict(False, reason="a part cannot be linked to itself")
    prefix, block = _prefix(design, within)
    part_a, part_b = _part(design, block, prefix, a), _part(design, block, prefix, b)
    if part_a is None or part_b is None:
        return Verdict(False, reason=f"there is no part {a if part_a is None else b!r}")
    kind_a, kind_b = part_kinds().get(part_a.kind), part_kinds().get(part_b.kind)
    unlinkable = _unlinkable(part_a, kind_a) or _unlinkable(part_b, kind_b)
    if unlinkable or kind_a is None or kind_b is None:
        return Verdict(False, reason=unlinkable)
    fits = _fits(part_a.kind, part_b.kind)
    if kind is None:
        fits = tuple(f for f in fits if _may_propose(design, f, ((part_a, kind_a), (part_b, kind_b)))) or fits
    elif kind not in fits:
        return Verdict(False, reason=_misfit(kind, kind_a, kind_b))
    else:
        fits = (kind,)
    if not fits:
        return Verdict(False, reason=f"no link fits both a {kind_a.title} and a {kind_b.title}")
    freed = block.links.get(replacing) if replacing is not None else None
    found: dict[str, int | None] = {}
    reasons: list[str] = []
    for name in fits:
        why = misfit(design, part_a, part_b, name)
        if why:
            reasons.append(why)
            continue
        at_a, at_b = (freed if freed and end in (freed.a, freed.b) else None for end in (a, b))
        free_a = _free_ports(design, part_a, kind_a, prefix + a, name, part_b.kind, at_a)
        free_b = _free_ports(design, part_b, kind_b, prefix + b, name, part_a.kind, at_b)
        short = next((p for p, f in ((part_a, free_a), (part_b, free_b)) if f is not None and f <= 0), None)
        if short is None:
            found[name] = min((f for f in (free_a, free_b) if f is not None), default=None)
        else:
            reasons.append(f"all {link_kinds()[name].title} ports of {short.label} are in use")
    if found:
        return Verdict(True, tuple(found), room=next(iter(found.values())))
    return Verdict(False, reason="; ".join(reasons[:_MOST_REASONS]))


def _unlinkable(part: Part, kind: PartKind | None) -> str:
    """Why no link at all can end at a part; empty where one can."""
    if kind is None:
        return f"{part.label} is of the unknown kind {part.kind!r}"
    return "" if kind.ports else f"a {kind.title} has no ports of its own: link the parts in it"


def misfit(design: Design, a: Part, b: Part, kind: str) -> str:
    """Why a kind of link cannot join two parts, whatever ports are free; empty where it can.

    Vendors, what ports speak and generations decide, as far as the parts state them.
    """
    link, kind_a, kind_b = link_kinds().get(kind), part_kinds().get(a.kind), part_kinds().get(b.kind)
    if link is None or kind_a is None or kind_b is None:
        return ""
    ports = [p for p in (kind_a.port_for(kind, b.kind), kind_b.port_for(kind, a.kind)) if p is not None]
    if len(ports) < len((a, b)):
        return _misfit(kind, kind_a, kind_b)
    spoken: list[frozenset[str]] = []
    for part, port in zip((a, b), ports, strict=True):
        vendor = _vendor(design, part)
        if vendor and link.vendors and vendor not in link.vendors:
            return (
                f"{link.title} joins parts of {' and '.join(link.vendors)}; {_part_text(design, part)} is of {vendor}"
            )
        if vendor and port.given_by and design.quantity(part, port.given_by) is None:
            return f"{_part_text(design, part)} has no {link.title}"
        only = design.quantity(part, port.only[0]) if port.only is not None else None
        if port.only is not None and only is not None and port.only[1].lower() not in str(only.value).lower():
            return f"{_part_text(design, part)} is {only.value}: {link.title} joins {port.only[1]} alone"
        stated = design.quantity(part, port.names_field) if port.names_field and link.names else None
        if stated is not None:
            # DDR5 is no LPDDR5
            names = frozenset(n for n in link.names if re.search(rf"(?<![a-z]){re.escape(n)}", str(stated.value), re.I))
            if not names:
                return f"{_part_text(design, part)} speaks {stated.value}, not {link.title}"
            spoken.append(names)
    if len(spoken) == len(ports) and not spoken[0] & spoken[1]:
        (one,), (other,) = (sorted(names)[:1] for names in spoken)
        return f"{_part_text(design, a)} speaks {one}, {_part_text(design, b)} {other}"
    if link.generation:
        one, other = (count_value(design, part, link.generation) for part in (a, b))
        if one is not None and other is not None and one != other:
            return f"{_part_text(design, a)} has {link.title} generation {one}, {_part_text(design, b)} {other}"
    return ""


def _vendor(design: Design, part: Part) -> str:
    part_type = design.part_types.get(part.type)
    return part_type.vendor if part_type is not None else ""


def _part_text(design: Design, part: Part) -> str:
    """The part and what it is, for a reason."""
    part_type = design.part_types.get(part.type)
    return part.label if part_type is None else f"{part.label} ({part_type.title})"


def _may_propose(design: Design, link_kind: str, ends: Iterable[tuple[Part, PartKind | None]]) -> bool:
    """True if a kind of link may be proposed: one whose speed parts state by its name is, where they do state it."""
    name = f"{link_kind}_bandwidth_per_direction"
    tellers = [part for part, kind in ends if kind is not None and kind.field(name) is not None]
    return all(design.quantity(part, name) is not None for part in tellers)


@lru_cache(maxsize=1024)
def _fits(a: str, b: str) -> tuple[str, ...]:
    return fitting_links(a, b)


def _misfit(kind: str, a: PartKind, b: PartKind) -> str:
    if kind not in link_kinds():
        return f"there is no kind of link called {kind!r}"
    short = a if a.port_for(kind, b.name) is None else b
    return f"a {short.title} has no port for {link_kinds()[kind].title}"


def _prefix(design: Design, within: AnyAddress) -> tuple[str, Block]:
    """Path of one member of the block, the first that is no exception where any is meant; and the block."""
    pieces: list[str] = []
    block: Block = design
    for group_id, member in canonical(within):
        group = block.groups.get(group_id)
        if group is None:
            block_at(design, within)
            raise AssertionError(group_id)
        if member is None:
            member = next((k for k in range(group.replicas) if k not in group.exceptions), 0)
            block = group.content
        else:
            block = group.member(member)
        pieces.append(f"{group_id}[{member}]/")
    return "".join(pieces), block


def _part(design: Design, block: Block, prefix: str, path: str) -> Part | None:
    own = block.parts.get(path)
    if own is not None or "/" not in path:
        return own
    used = usage(design)
    number = used.number(prefix + path)
    return used.net.part(number) if number is not None and used.net is not None else None


def free_ports(design: Design, path: str, link_kind: str, partner: str | None = None) -> int | None:
    """How many more links of a kind to parts of kind `partner` a part can take; None if nothing limits it."""
    part = _part(design, design, "", path)
    kind = part_kinds().get(part.kind) if part is not None else None
    return None if part is None or kind is None else _free_ports(design, part, kind, path, link_kind, partner, None)


def _free_ports(
    design: Design,
    part: Part,
    kind: PartKind,
    path: str,
    link_kind: str,
    partner: str | None,
    freed: LinkValues | None,
) -> int | None:
    used = usage(design)
    number = used.number(path)
    ports, total, taken = _budget(design, used, part, kind, number, link_kind, partner)
    free = None
    if total is not None:
        if freed is not None and any(p.takes(freed.kind) for p in ports):
            taken -= freed.count
        free = total - taken
    if link_kind == "pcie" and free is None:
        free = _free_lanes(design, part, used, number, freed)
    return free


def _budget(
    design: Design, used: Usage, part: Part, kind: PartKind, number: int | None, link_kind: str, partner: str | None
) -> tuple[tuple[PortKind, ...], int | None, int]:
    """The ports that take a kind of link, how many there are (None if not stated), and how many are in use."""
    ports = ports_for(kind, link_kind, partner)
    total = port_count(design, part, ports)
    if total is None or number is None:
        return ports, total, 0
    row = used.row[number]
    taken = sum(int(n[row]) for (k, to), n in used.links.items() if any(p.takes(k, to) for p in ports))
    return ports, total, taken


def _free_lanes(design: Design, part: Part, used: Usage, number: int | None, freed: LinkValues | None) -> int | None:
    """0 when no lane is left, else None: how wide the next link will be is not known yet."""
    lanes = count_value(design, part, "pcie_lanes")
    if lanes is None or number is None:
        return None
    taken = int(used.lanes[used.row[number]])
    if freed is not None and freed.kind == "pcie":
        taken -= freed.count * (freed.lanes or 0)
    return 0 if taken >= lanes else None


def can_contain(design: Design, parent_kind: str | None, child_kind: str) -> Verdict:
    """Whether a part of one kind may be in a part of another; None is the canvas itself."""
    if parent_kind is None:
        return Verdict(True)
    parent, child = part_kinds().get(parent_kind), part_kinds().get(child_kind)
    if parent is None:
        return Verdict(False, reason=f"the kind {parent_kind!r} is unknown")
    title = child.title if child is not None else child_kind
    if child_kind in parent.contains:
        return Verdict(True)
    if not parent.contains:
        return Verdict(False, reason=f"a {parent.title} contains no other parts")
    return Verdict(False, reason=f"a {parent.title} does not contain a {title}")


def can_move_into(design: Design, child: str, parent: str | None, within: AnyAddress = ()) -> Verdict:
    """Whether a part of the block at `within` may be moved into another one of it."""
    block = block_at(design, within)
    part = block.parts.get(child)
    if part is None:
        return Verdict(False, reason=f"there is no part {child!r}")
    if parent is None:
        return Verdict(True)
    at: str | None = parent
    seen: set[str] = set()
    while at is not None and at not in seen:
        if at == child:
            return Verdict(False, reason=f"{part.label} would contain itself")
        seen.add(at)
        at = block.parts[at].parent if at in block.parts else None
    container = block.parts.get(parent)
    if container is None:
        return Verdict(False, reason=f"there is no part {parent!r}")
    return can_contain(design, container.kind, part.kind)
