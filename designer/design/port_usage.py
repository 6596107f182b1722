"""Ports and PCIe lanes in use, counted once per design and kept as long as it lives; and parts that have too few."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import PartKind, PortKind, link_kinds, part_kinds
from designer.design.document import Design, LinkValues, Part
from designer.design.elaborate import Int, Netlist, elaborate
from designer.errors import DocumentError
from designer.fields import Quantity
from designer.memo import Interned, Memo


def equal_parts(net: Netlist) -> Int:
    """A number for each definition of a part, the same for those of one kind and type without values of their own.

    : (n_definitions,)
    """
    known: dict[tuple[str, str, int], int] = {}
    numbers = [
        known.setdefault((part.kind, part.type, n if part.overrides else -1), len(known))
        for n, part in enumerate(net.part_defs)
    ]
    return np.array(numbers, dtype=np.int64)


#: the busiest part of each type is asked first where there are so few types
_FEW_TYPES: Final = 64


@dataclass(frozen=True, slots=True)
class Usage:
    """How many links of each kind, and PCIe lanes, end at each part of a design.

    Parts of one definition at which the same links end are reported in one row: a cluster has some dozens of rows.

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


#: counts are the same for designs whose parts and links stand in the same way and are of the same kinds; the last are
#: kept
_TALLIES_LIMIT: Final = 4


_tallied: Interned[_Tally] = Interned(_TALLIES_LIMIT)


#: numbers below this can be distinguished by one more figure without an overflow
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
        """Row of each part of a netlist, and the rows: of members that are the same found once. : (n_rows, width)"""
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
        return self._rows_with(rows, counts, kinds[net.part_def[a]], kinds[net.part_def[b]], a, b, definition, defs)

    def joined(self, parts: Sequence[Part], links: Sequence[LinkValues], a: Int, b: Int) -> tuple[Int, Int]:
        """The same of parts and links alone. : a, b (n_links,) numbers of parts"""
        rows, counts = np.arange(len(parts)), np.zeros((len(parts), self.width), dtype=np.int64)
        kinds = self._kinds(parts)
        return self._rows_with(rows, counts, kinds[a], kinds[b], a, b, np.arange(len(links)), links)

    def _kinds(self, parts: Iterable[Part]) -> Int:
        return np.array([self.parts[part.kind] for part in parts], dtype=np.int64)

    def _rows_with(
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


def ports_for(kind: PartKind, link_kind: str, partner: str | None) -> tuple[PortKind, ...]:
    """The ports of a kind of part that take a kind of link."""
    return tuple(p for p in kind.ports if p.takes(link_kind, partner))


def port_count(design: Design, part: Part, ports: tuple[PortKind, ...]) -> int | None:
    """How many of some ports a part has; None if not stated."""
    total: int | None = 0
    for port in ports:
        count = port.count or (count_value(design, part, port.count_field) if port.count_field else None)
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
    types = equal_parts(net)[net.part_def[used.first]]
    yield from _short_of_ports(design, used, net, types)
    yield from _short_of_lanes(design, used, net, types)


def _short_of_ports(design: Design, used: Usage, net: Netlist, types: Int) -> Iterator[Overfull]:
    """Parts with more links than ports for them."""
    stated: set[tuple[int, tuple[str, ...]]] = set()
    part_def, columns = net.part_def, list(used.links.items())
    ports_of: dict[tuple[str, str, str], tuple[PortKind, ...]] = {}
    taken_by: dict[tuple[str, str, str], Int] = {}
    for (link_kind, partner), counts in columns:
        if link_kind not in link_kinds() or not _may_lack_ports(design, used, net, types, link_kind, partner):
            continue
        for _, index in _unlike(used, net, counts):
            definition = int(part_def[index])
            part = net.part_defs[definition]
            kind = part_kinds().get(part.kind)
            if kind is None:
                continue
            equal = (part.kind, link_kind, partner)
            if equal not in ports_of:
                ports_of[equal] = ports = ports_for(kind, link_kind, partner)
                if ports:
                    counted = [n for (k, to), n in columns if any(p.takes(k, to) for p in ports)]
                    taken_by[equal] = np.stack(counted).sum(axis=0, dtype=np.int64)
            ports = ports_of[equal]
            total = port_count(design, part, ports)
            if not ports or total is None:
                continue
            taken = int(taken_by[equal][used.row[index]])
            key = (definition, tuple(p.name for p in ports))
            if taken > total and key not in stated:
                stated.add(key)
                yield Overfull(net.path(index), f"{link_kind} links", ports[0].count_field, taken, total)


def _short_of_lanes(design: Design, used: Usage, net: Netlist, types: Int) -> Iterator[Overfull]:
    """Parts whose links need more PCIe lanes than they have: of each definition the one that needs most."""
    part_def = net.part_def
    widest: dict[int, tuple[int, int]] = {}
    for taken, index in _unlike(used, net, np.where(_may_lack_lanes(design, used, net, types), used.lanes, 0)):
        definition = int(part_def[index])
        if definition not in widest or taken > widest[definition][0]:
            widest[definition] = taken, index
    for taken, index in widest.values():
        lanes = count_value(design, net.part_defs[int(part_def[index])], "pcie_lanes")
        if lanes is not None and taken > lanes:
            yield Overfull(net.path(index), "PCIe lanes", "pcie_lanes", taken, lanes)


def _may_lack_ports(design: Design, used: Usage, net: Netlist, equal: Int, link_kind: str, partner: str) -> bool:
    """True if some part may have too few ports for such links: asked of the busiest of each type, of which there are
    few where each part is drawn on its own.

    Parameters
    ----------
    equal : (n_rows,) a number for the first part of each row, the same for parts of one type
    """
    rows = np.flatnonzero(used.links[link_kind, partner])
    types = np.unique(equal[rows]).tolist()
    if len(types) > _FEW_TYPES:
        return True
    for one in types:
        same = rows[equal[rows] == one]
        part = net.part_defs[int(net.part_def[used.first[same[0]]])]
        kind = part_kinds().get(part.kind)
        ports = ports_for(kind, link_kind, partner) if kind is not None else ()
        total = port_count(design, part, ports)
        if not ports or total is None:
            continue
        taken = sum(n[same] for (k, to), n in used.links.items() if any(p.takes(k, to) for p in ports))
        if np.max(taken) > total:
            return True
    return False


def _may_lack_lanes(design: Design, used: Usage, net: Netlist, equal: Int) -> npt.NDArray[np.bool_]:
    """Rows of parts of those types of which one may have too few PCIe lanes. : (n_rows,)"""
    found, types = np.zeros(len(equal), dtype=bool), np.unique(equal[used.lanes > 0]).tolist()
    if len(types) > _FEW_TYPES:
        return ~found
    for one in types:
        same = np.flatnonzero(equal == one)
        part = net.part_defs[int(net.part_def[used.first[same[0]]])]
        lanes = count_value(design, part, "pcie_lanes")
        found[same] = lanes is not None and int(used.lanes[same].max()) > lanes
    return found


def _unlike(used: Usage, net: Netlist, counts: Int) -> list[tuple[int, int]]:
    """Of parts of one definition and count, the count and the first: equal parts with equal use need one look."""
    candidates = np.flatnonzero(counts)
    first = used.first[candidates]
    _, chosen = np.unique(counts[candidates] * len(net.part_defs) + net.part_def[first], return_index=True)
    return list(zip(counts[candidates][chosen].tolist(), first[chosen].tolist(), strict=True))


def count_value(design: Design, part: Part, name: str) -> int | None:
    """A value of a part that counts something; None if nobody states it, or it is no whole number."""
    quantity: Quantity | None = design.quantity(part, name)
    return quantity.value if quantity is not None and isinstance(quantity.value, int) else None
