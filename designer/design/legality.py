"""What may be linked to what and what may contain what, with the reason; quick enough to ask for every part of a drag.

The ports in use are counted once per design and kept as long as it lives.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import PartKind, PortKind, fitting_links, link_kinds, part_kinds
from designer.design.address import AnyAddress, block_at, canonical
from designer.design.document import Block, Design, LinkValues, Part
from designer.design.elaborate import Int, Netlist, elaborate
from designer.design.likeness import alike_parts
from designer.errors import DocumentError
from designer.fields import Quantity
from designer.memo import Alike, Memo

#: the busiest part of each type is asked first where there are so few types
_FEW_TYPES: Final = 64
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


@dataclass(frozen=True, slots=True)
class Usage:
    """How many links of each kind, and PCIe lanes, end at each part of a design.

    Parts of one definition at which the same links end are told in one row: a cluster has some dozens of rows.

    Parameters
    ----------
    net
        The netlist the numbers belong to; None if the design cannot be elaborated, when only drawn links are counted.
    row : (n_parts,) row of each part
    first : (n_rows,) the first part of each row, ascending
    links : per link kind and kind of part at the other end (n_rows,) number of links that end at such a part
    lanes : (n_rows,) PCIe lanes of the links that end at such a part
    """

    net: Netlist | None
    row: Int
    first: Int
    links: Mapping[tuple[str, str], Int]
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


@dataclass(frozen=True, slots=True, eq=False)
class _Tally:
    row: Int
    first: Int
    links: Mapping[tuple[str, str], Int]
    lanes: Int


#: counts are the same for designs whose parts and links stand alike and are of the same kinds; the last are kept
_TALLIES_LIMIT: Final = 4
_tallied: Alike[_Tally] = Alike(_TALLIES_LIMIT)
#: numbers below this can be told apart by one more figure without an overflow
_ROOM: Final = 2**62


def _count(design: Design) -> Usage:
    numbers = {part_id: i for i, part_id in enumerate(design.parts)}
    try:
        net = made = elaborate(design)
        said = tuple((d.kind, d.count, d.lanes) for d in net.link_defs)
        found = _tallied(
            (net.shape, tuple(part.kind for part in net.part_defs), said),
            lambda: _tally(made.part_defs, made.link_defs, lambda rows: rows.of(made)),
        )
    except DocumentError:
        drawn = [x for x in design.links.values() if x.a in numbers and x.b in numbers]
        ends = np.array([(numbers[x.a], numbers[x.b]) for x in drawn], dtype=np.int64).reshape(-1, 2).T
        net, parts = None, tuple(design.parts.values())
        found = _tally(parts, drawn, lambda rows: rows.joined(parts, drawn, ends[0], ends[1]))
    return Usage(net, found.row, found.first, found.links, found.lanes, numbers)


class _Rows:
    """Rows of counts: a column for each kind of link with each kind of part at the other end, the last for lanes."""

    def __init__(self, parts: Iterable[Part], links: Iterable[LinkValues]) -> None:
        self.parts = {kind: k for k, kind in enumerate(sorted({p.kind for p in parts}))}
        self.links = {kind: k for k, kind in enumerate(sorted({d.kind for d in links}))}
        self.width = len(self.links) * len(self.parts) + 1

    def of(self, net: Netlist) -> tuple[Int, Int]:
        """Row of each part of a netlist, and the rows: of members that are alike found once. : (n_rows, width)"""
        row = [np.arange(net.own_parts)]
        table = [np.zeros((net.own_parts, self.width), dtype=np.int64)]
        n_rows = net.own_parts
        for group in net.groups:
            inside: list[Int] = []
            for one in group.nets:
                own, counts = self.of(one)
                inside.append(own + n_rows)
                table.append(counts)
                n_rows += len(counts)
            cuts = [0, *(np.flatnonzero(np.diff(group.net_of)) + 1).tolist(), len(group.net_of)]
            row += [np.tile(inside[int(group.net_of[low])], high - low) for low, high in pairwise(cuts)]
        rows, counts = np.concatenate(row), np.concatenate(table)
        own = slice(0, net.own_links)
        made = slice(net.wirings[0][1], net.wirings[-1][2]) if net.wirings else slice(0, 0)
        a, b, definition = (
            np.concatenate([column[own], column[made]]) for column in (net.link_a, net.link_b, net.link_def)
        )
        kinds, defs = self._kinds(net.part_defs), net.link_defs
        return self._with(rows, counts, kinds[net.part_def[a]], kinds[net.part_def[b]], a, b, definition, defs)

    def joined(self, parts: Sequence[Part], links: Sequence[LinkValues], a: Int, b: Int) -> tuple[Int, Int]:
        """The same of parts and links alone. : a, b (n_links,) numbers of parts"""
        rows, counts = np.arange(len(parts)), np.zeros((len(parts), self.width), dtype=np.int64)
        kinds = self._kinds(parts)
        return self._with(rows, counts, kinds[a], kinds[b], a, b, np.arange(len(links)), links)

    def _kinds(self, parts: Iterable[Part]) -> Int:
        return np.array([self.parts[part.kind] for part in parts], dtype=np.int64)

    def _with(
        self,
        row: Int,
        table: Int,
        kind_a: Int,
        kind_b: Int,
        a: Int,
        b: Int,
        definition: Int,
        defs: Sequence[LinkValues],
    ) -> tuple[Int, Int]:
        """Rows when links between some parts are counted as well."""
        if not len(definition):
            return row, table
        kind = np.array([self.links[d.kind] * len(self.parts) for d in defs], dtype=np.int64)[definition]
        many = np.array([d.count for d in defs], dtype=np.int64)[definition]
        wide = np.array([d.count * (d.lanes or 0) * (d.kind == "pcie") for d in defs], dtype=np.int64)[definition]
        part = np.concatenate([a, b])
        column = np.concatenate([kind + kind_b, kind + kind_a])
        lanes = np.flatnonzero(np.concatenate([wide, wide]))
        met = np.zeros(len(row), dtype=bool)
        met[part] = True
        at = np.flatnonzero(met)
        place = np.zeros(len(row), dtype=np.int64)
        place[at] = np.arange(len(at))
        before = row[at]
        code, more = before, dict[int, Int]()
        for k in np.flatnonzero(np.bincount(column, minlength=self.width)).tolist():
            mine = np.flatnonzero(column == k)
            more[k] = _sums(place[part[mine]], np.concatenate([many, many])[mine], len(at))
        if len(lanes):
            more[self.width - 1] = _sums(place[part[lanes]], np.concatenate([wide, wide])[lanes], len(at))
        for added in more.values():
            if (int(code.max()) + 1) * (int(added.max()) + 1) >= _ROOM:
                code = np.unique(code, return_inverse=True)[1]
            code = code * (int(added.max()) + 1) + added
        _, first, which = np.unique(code, return_index=True, return_inverse=True)
        new = table[before[first]]
        for k, added in more.items():
            new[:, k] += added[first]
        row = row.copy()
        row[at] = len(table) + which
        return row, np.concatenate([table, new])


def _tally(parts: Sequence[Part], links: Sequence[LinkValues], find: Callable[[_Rows], tuple[Int, Int]]) -> _Tally:
    rows = _Rows(parts, links)
    row, table = find(rows)
    n = len(row)
    first = np.full(len(table), n, dtype=np.int64)
    # written back to front, so that the first of each stays
    first[row[::-1]] = np.arange(n)[::-1]
    order = np.argsort(first, kind="stable")[: int((first < n).sum())]
    place = np.zeros(len(table), dtype=np.int32)
    place[order] = np.arange(len(order))
    counts = {
        (kind, partner): table[order, i * len(rows.parts) + j]
        for kind, i in rows.links.items()
        for partner, j in rows.parts.items()
    }
    kept = {key: column for key, column in counts.items() if column.any()}
    return _Tally(cast("Int", place[row]), first[order], kept, table[order, -1])


def _sums(at: Int, weights: Int, n: int) -> Int:
    return np.bincount(at, weights=weights, minlength=n).astype(np.int64)


_counted = Memo(_count)


def usage(design: Design) -> Usage:
    """The ports in use; counted at the first question."""
    return _counted(design)


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
    reasons: list[str] = []
    room: int | None = None
    for name in fits:
        why = misfit(design, part_a, part_b, name)
        if why:
            reasons.append(why)
            continue
        at_a, at_b = (freed if freed and end in (freed.a, freed.b) else None for end in (a, b))
        free_a = _free(design, part_a, kind_a, prefix + a, name, part_b.kind, at_a)
        free_b = _free(design, part_b, kind_b, prefix + b, name, part_a.kind, at_b)
        short = next((p for p, f in ((part_a, free_a), (part_b, free_b)) if f is not None and f <= 0), None)
        if short is None:
            if not found:
                room = min((f for f in (free_a, free_b) if f is not None), default=None)
            found.append(name)
        else:
            reasons.append(f"all {link_kinds()[name].title} ports of {short.label} are in use")
    if found:
        return Verdict(True, tuple(found), room=room)
    return Verdict(False, reason="; ".join(reasons[:_MOST_REASONS]))


def misfit(design: Design, a: Part, b: Part, kind: str) -> str:
    """Why a kind of link cannot join two parts, whatever ports are free; empty where it can.

    Vendors, what ports speak and generations decide, as far as the parts tell them.
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
            return f"{link.title} joins parts of {' and '.join(link.vendors)}; {_called(design, part)} is of {vendor}"
        if vendor and port.given_by and design.quantity(part, port.given_by) is None:
            return f"{_called(design, part)} has no {link.title}"
        told = design.quantity(part, port.names_field) if port.names_field and link.names else None
        if told is not None:
            names = frozenset(n for n in link.names if n.lower() in str(told.value).lower())
            if not names:
                return f"{_called(design, part)} speaks {told.value}, not {link.title}"
            spoken.append(names)
    if len(spoken) == len(ports) and not spoken[0] & spoken[1]:
        (one,), (other,) = (sorted(names)[:1] for names in spoken)
        return f"{_called(design, a)} speaks {one}, {_called(design, b)} {other}"
    if link.generation:
        one, other = (_count_value(design, part, link.generation) for part in (a, b))
        if one is not None and other is not None and one != other:
            return f"{_called(design, a)} has {link.title} generation {one}, {_called(design, b)} {other}"
    return ""


def _vendor(design: Design, part: Part) -> str:
    part_type = design.part_types.get(part.type)
    return part_type.vendor if part_type is not None else ""


def _called(design: Design, part: Part) -> str:
    """The part and what it is, for a reason."""
    part_type = design.part_types.get(part.type)
    return part.label if part_type is None else f"{part.label} ({part_type.title})"


def _declared(design: Design, link_kind: str, ends: Iterable[tuple[Part, PartKind | None]]) -> bool:
    """True if a kind of link may be proposed: one whose speed parts tell by its name is, where they do tell it."""
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
    return None if part is None or kind is None else _free(design, part, kind, path, link_kind, partner, None)


def _free(
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
    """The ports that take a kind of link, how many there are (None if nobody tells), and how many are in use."""
    ports = _ports_for(kind, link_kind, partner)
    total = _port_count(design, part, ports)
    if total is None or number is None:
        return ports, total, 0
    row = used.row[number]
    taken = sum(int(n[row]) for (k, to), n in used.links.items() if any(p.takes(k, to) for p in ports))
    return ports, total, taken


def _ports_for(kind: PartKind, link_kind: str, partner: str | None) -> tuple[PortKind, ...]:
    """The ports of a kind of part that take a kind of link."""
    return tuple(p for p in kind.ports if p.takes(link_kind, partner))


def _port_count(design: Design, part: Part, ports: tuple[PortKind, ...]) -> int | None:
    """How many of some ports a part has; None if nobody tells."""
    total: int | None = 0
    for port in ports:
        count = port.count or (_count_value(design, part, port.count_field) if port.count_field else None)
        total = None if count is None or total is None else total + count
    return total


@dataclass(frozen=True, slots=True)
class Overfull:
    """A part at which more ends than it has ports or PCIe lanes for.

    Parameters
    ----------
    what
        Of what there is too much, for people.
    field
        The value that says how many there are; empty where the kind of part does.
    """

    path: str
    what: str
    field: str
    taken: int
    total: int


def overfull(design: Design) -> Iterator[Overfull]:
    """Parts whose links need more ports or PCIe lanes than they have, each definition once."""
    used = usage(design)
    net = used.net
    if net is None:
        return
    told: set[tuple[int, tuple[str, ...]]] = set()
    part_def, columns = net.part_def, list(used.links.items())
    ports_of: dict[tuple[str, str, str], tuple[PortKind, ...]] = {}
    taken_by: dict[tuple[str, str, str], Int] = {}
    types = alike_parts(net)[part_def[used.first]]
    for (link_kind, partner), counts in columns:
        if link_kind not in link_kinds() or not _short(design, used, net, types, link_kind, partner):
            continue
        for _, index in _unlike(used, net, counts):
            definition = int(part_def[index])
            part = net.part_defs[definition]
            kind = part_kinds().get(part.kind)
            if kind is None:
                continue
            alike = (part.kind, link_kind, partner)
            if alike not in ports_of:
                ports_of[alike] = ports = _ports_for(kind, link_kind, partner)
                if ports:
                    counted = [n for (k, to), n in columns if any(p.takes(k, to) for p in ports)]
                    taken_by[alike] = np.stack(counted).sum(axis=0, dtype=np.int64)
            ports = ports_of[alike]
            total = _port_count(design, part, ports)
            if not ports or total is None:
                continue
            taken = int(taken_by[alike][used.row[index]])
            key = (definition, tuple(p.name for p in ports))
            if taken > total and key not in told:
                told.add(key)
                yield Overfull(net.path(index), f"{link_kind} links", ports[0].count_field, taken, total)
    widest: dict[int, tuple[int, int]] = {}
    for taken, index in _unlike(used, net, np.where(_wide(design, used, net, types), used.lanes, 0)):
        definition = int(part_def[index])
        if definition not in widest or taken > widest[definition][0]:
            widest[definition] = taken, index
    for taken, index in widest.values():
        lanes = _count_value(design, net.part_defs[int(part_def[index])], "pcie_lanes")
        if lanes is not None and taken > lanes:
            yield Overfull(net.path(index), "PCIe lanes", "pcie_lanes", taken, lanes)


def _short(design: Design, used: Usage, net: Netlist, alike: Int, link_kind: str, partner: str) -> bool:
    """True if some part may have too few ports for such links: asked of the busiest of each type, of which there are
    few where each part is drawn on its own.

    Parameters
    ----------
    alike : (n_rows,) a number for the first part of each row, the same for parts of one type
    """
    rows = np.flatnonzero(used.links[link_kind, partner])
    types = np.unique(alike[rows]).tolist()
    if len(types) > _FEW_TYPES:
        return True
    for one in types:
        same = rows[alike[rows] == one]
        part = net.part_defs[int(net.part_def[used.first[same[0]]])]
        kind = part_kinds().get(part.kind)
        ports = _ports_for(kind, link_kind, partner) if kind is not None else ()
        total = _port_count(design, part, ports)
        if not ports or total is None:
            continue
        taken = sum(n[same] for (k, to), n in used.links.items() if any(p.takes(k, to) for p in ports))
        if np.max(taken) > total:
            return True
    return False


def _wide(design: Design, used: Usage, net: Netlist, alike: Int) -> npt.NDArray[np.bool_]:
    """Rows of parts of those types of which one may have too few PCIe lanes. : (n_rows,)"""
    found, types = np.zeros(len(alike), dtype=bool), np.unique(alike[used.lanes > 0]).tolist()
    if len(types) > _FEW_TYPES:
        return ~found
    for one in types:
        same = np.flatnonzero(alike == one)
        part = net.part_defs[int(net.part_def[used.first[same[0]]])]
        lanes = _count_value(design, part, "pcie_lanes")
        found[same] = lanes is not None and int(used.lanes[same].max()) > lanes
    return found


def _unlike(used: Usage, net: Netlist, counts: Int) -> list[tuple[int, int]]:
    """Of parts of one definition and count, the count and the first: equal parts with equal use need one look."""
    candidates = np.flatnonzero(counts)
    first = used.first[candidates]
    _, chosen = np.unique(counts[candidates] * len(net.part_defs) + net.part_def[first], return_index=True)
    return list(zip(counts[candidates][chosen].tolist(), first[chosen].tolist(), strict=True))


def _free_lanes(design: Design, part: Part, used: Usage, number: int | None, freed: LinkValues | None) -> int | None:
    """0 when no lane is left, else None: how wide the next link will be is not known yet."""
    lanes = _count_value(design, part, "pcie_lanes")
    if lanes is None or number is None:
        return None
    taken = int(used.lanes[used.row[number]])
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
