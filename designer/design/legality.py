"""What may be linked to what and what may contain what, with the reason; quick enough to ask for every part of a drag.

The ports in use are counted once per design and remembered as long as it lives.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

import numpy as np

from designer.catalog.parttype import PartKind, fitting_links, link_kinds, part_kinds
from designer.design.address import AnyAddress, block_at, canonical
from designer.design.document import Block, Design, LinkValues, Part
from designer.design.elaborate import Int, Netlist, elaborate
from designer.errors import DocumentError
from designer.fields import Quantity
from designer.remembered import Remembered


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


@dataclass(frozen=True, slots=True)
class Usage:
    """How many links of each kind, and PCIe lanes, end at each part of a design.

    Parameters
    ----------
    net
        The netlist the numbers belong to; None if the design cannot be elaborated, when only drawn links are counted.
    links : per link kind (n_parts,) number of links that end at the part
    lanes : (n_parts,) PCIe lanes of the links that end at the part
    """

    net: Netlist | None
    links: Mapping[str, Int]
    lanes: Int
    numbers: Mapping[str, int]

    def number(self, path: str) -> int | None:
        """Number of the part at `path`, or None."""
        known = self.numbers.get(path)
        if known is not None or self.net is None or "/" not in path:
            return known
        try:
            return self.net.index_of(path)
        except DocumentError:
            return None


def _count(design: Design) -> Usage:
    numbers = {part_id: i for i, part_id in enumerate(design.parts)}
    try:
        net = elaborate(design)
        n, ends, definition = net.n_parts, (net.link_a, net.link_b), net.link_def
        defs: tuple[LinkValues, ...] = net.link_defs
    except DocumentError:
        drawn = [x for x in design.links.values() if x.a in numbers and x.b in numbers]
        net, n, defs, definition = None, len(numbers), tuple(drawn), np.arange(len(drawn))
        ends = (
            np.array([numbers[x.a] for x in drawn], dtype=np.int64),
            np.array([numbers[x.b] for x in drawn], dtype=np.int64),
        )
    return Usage(net, *_tally(n, ends, definition, defs), numbers)


_counted = Remembered(_count)


def usage(design: Design) -> Usage:
    """The ports in use; counted at the first question."""
    return _counted(design)


def _tally(
    n: int, ends: tuple[Int, Int], definition: Int, defs: tuple[LinkValues, ...]
) -> tuple[Mapping[str, Int], Int]:
    counts = np.array([d.count for d in defs], dtype=np.int64)
    widths = np.array([d.count * (d.lanes or 0) for d in defs], dtype=np.int64)
    lanes = np.zeros(n, dtype=np.int64)
    links: dict[str, Int] = {}
    for kind in sorted({d.kind for d in defs}):
        chosen = np.array([d.kind == kind for d in defs], dtype=bool)[definition]
        total = np.zeros(n, dtype=np.int64)
        for end in ends:
            total += _sums(end[chosen], counts[definition[chosen]], n)
            if kind == "pcie":
                lanes += _sums(end[chosen], widths[definition[chosen]], n)
        links[kind] = total
    return links, lanes


def _sums(at: Int, weights: Int, n: int) -> Int:
    return np.bincount(at, weights=weights, minlength=n).astype(np.int64)


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
    for part, its in ((part_a, kind_a), (part_b, kind_b)):
        if its is None:
            return Verdict(False, reason=f"{part.label} is of the unknown kind {part.kind!r}")
        if not its.ports:
            return Verdict(False, reason=f"a {its.title} has no ports of its own: link the parts in it")
    assert kind_a is not None
    assert kind_b is not None
    fits = _fits(part_a.kind, part_b.kind)
    if kind is None:
        fits = tuple(f for f in fits if _declared(design, f, ((part_a, kind_a), (part_b, kind_b)))) or fits
    if kind is not None:
        if kind not in fits:
            return Verdict(False, reason=_misfit(kind, kind_a, kind_b))
        fits = (kind,)
    if not fits:
        return Verdict(False, reason=f"no link fits both a {kind_a.title} and a {kind_b.title}")
    freed = block.links.get(replacing) if replacing is not None else None
    found: list[str] = []
    room: int | None = None
    full = ""
    for name in fits:
        free_a = _free(design, part_a, kind_a, prefix + a, name, freed if freed and a in (freed.a, freed.b) else None)
        free_b = _free(design, part_b, kind_b, prefix + b, name, freed if freed and b in (freed.a, freed.b) else None)
        short = next((p for p, f in ((part_a, free_a), (part_b, free_b)) if f is not None and f <= 0), None)
        if short is None:
            if not found:
                room = min((f for f in (free_a, free_b) if f is not None), default=None)
            found.append(name)
        elif not full:
            full = f"all {link_kinds()[name].title} ports of {short.label} are in use"
    return Verdict(True, tuple(found), room=room) if found else Verdict(False, reason=full)


def _declared(design: Design, link_kind: str, ends: Iterable[tuple[Part, PartKind | None]]) -> bool:
    """Whether a kind of link may be proposed: one whose speed parts tell by its name is, where they do tell it."""
    name = f"{link_kind}_bandwidth_per_direction"
    tellers = [part for part, kind in ends if kind is not None and kind.field(name) is not None]
    return all(design.quantity(part, name) is not None for part in tellers)


@cache
def _fits(a: str, b: str) -> tuple[str, ...]:
    return fitting_links(a, b)


def _misfit(kind: str, a: PartKind, b: PartKind) -> str:
    if kind not in link_kinds():
        return f"there is no kind of link called {kind!r}"
    short = a if a.port_for(kind) is None else b
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


def free_ports(design: Design, path: str, link_kind: str) -> int | None:
    """How many more links of a kind a part can take; None if nothing limits it."""
    part = _part(design, design, "", path)
    kind = part_kinds().get(part.kind) if part is not None else None
    return None if part is None or kind is None else _free(design, part, kind, path, link_kind, None)


def _free(
    design: Design, part: Part, kind: PartKind, path: str, link_kind: str, freed: LinkValues | None
) -> int | None:
    ports = [p for p in kind.ports if link_kind in p.links]
    total: int | None = 0
    for port in ports:
        count = port.count or (_count_value(design, part, port.count_field) if port.count_field else None)
        total = None if count is None or total is None else total + count
    used = usage(design)
    number = used.number(path)
    free = None
    if total is not None:
        # a kind that has a port without a limit as well, as on-die links of a CPU, takes nothing from the others
        free_elsewhere = {name for port in kind.ports if not (port.count or port.count_field) for name in port.links}
        sharing = {name for port in ports for name in port.links} - free_elsewhere
        taken = sum(int(used.links[k][number]) for k in sharing if k in used.links) if number is not None else 0
        if freed is not None and freed.kind in sharing:
            taken -= freed.count
        free = total - taken
    if link_kind == "pcie" and free is None:
        free = _free_lanes(design, part, used, number, freed)
    return free


def _free_lanes(design: Design, part: Part, used: Usage, number: int | None, freed: LinkValues | None) -> int | None:
    """0 when no lane is left, else None: how wide the next link will be is not known yet."""
    lanes = _count_value(design, part, "pcie_lanes")
    if lanes is None or number is None:
        return None
    taken = int(used.lanes[number])
    if freed is not None and freed.kind == "pcie":
        taken -= freed.count * (freed.lanes or 0)
    return 0 if taken >= lanes else None


def _count_value(design: Design, part: Part, name: str) -> int | None:
    quantity: Quantity | None = design.quantity(part, name)
    return quantity.value if quantity is not None and isinstance(quantity.value, int) else None


def can_contain(design: Design, parent_kind: str | None, child_kind: str) -> Verdict:
    """Whether a part of one kind may stand in a part of another; None is the canvas itself."""
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
