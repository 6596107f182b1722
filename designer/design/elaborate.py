"""Elaboration: groups × replicas become one flat netlist of arrays.

A block is compiled once and copied for each member, so a thousand equal servers cost numpy copies, not objects. The
result knows parts and links by number; their definitions and names are looked up only where someone looks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Final, NamedTuple, cast

import numpy as np

from designer.design.document import MAX_PARTS, Block, Group, Link, Part, Wiring
from designer.design.joining import Int, Selection, ends_of, expand_wiring, parents_of, refuse_many
from designer.design.selectors import Selector, natural_key, parse_selector
from designer.design.shapes import SHAPES_LIMIT, Shape, plain_of, shape_of
from designer.errors import DocumentError
from designer.memo import Memo, memo
from designer.spelling import did_you_mean

#: numbers of parts, links and definitions are kept as these: they stay below MAX_PARTS, and a million of each is kept.
#: Their products do not fit: what multiplies them widens them first
NUMBER: type[np.integer[Any]] = np.int32
_WILD = frozenset("*?{")


@dataclass(frozen=True, slots=True)
class GroupNet:
    """Where the members of a group are in the arrays of the block that holds it.

    Parameters
    ----------
    part_start, link_start : (replicas + 1,) first part and link number of each member
    nets
        The distinct compiled blocks of the members; ``net_of[i]`` states which one member i is.
    """

    id: str
    part_start: Int
    link_start: Int
    nets: tuple[Netlist, ...]
    net_of: Int

    def net(self, member: int) -> Netlist:
        """The compiled block of a member."""
        return self.nets[int(self.net_of[member])]


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Parts and links of a block made flat, as numbers.

    Parameters
    ----------
    part_def : (n_parts,) number of the definition of each part
    parent : (n_parts,) number of the containing part, −1 at the top
    link_a, link_b, link_def : (n_links,) ends and definition of each link; one entry is one bundle
    wirings
        Name of each wiring, its first link and the one after its last.
    shared
        True if ends and parents are those of the plain block, whose arrays count for them.
    """

    part_def: Int
    parent: Int
    link_a: Int
    link_b: Int
    link_def: Int
    wirings: tuple[tuple[str, int, int], ...]
    shared: bool = False

    @property
    def extent(self) -> int:
        """Parts and links; see ``designer.memo``."""
        return len(self.part_def) + len(self.link_def)


@dataclass(frozen=True, slots=True, eq=False)
class Netlist:
    """A block made flat; its arrays are made when somebody asks for them.

    Parameters
    ----------
    part_defs, link_defs
        The distinct parts, and links or wirings, that the arrays point to.
    shape
        What it has in common with blocks that differ in values alone; the arrays are of this.
    changed
        Arrays of its own, where they are not those of its shape.
    own_parts, own_links
        How many of the first parts and links are drawn in the block itself, outside its groups.
    """

    block: Block
    part_defs: tuple[Part, ...]
    link_defs: tuple[Link | Wiring, ...]
    shape: Shape
    n_parts: int
    n_links: int
    own_parts: int
    own_links: int
    groups: tuple[GroupNet, ...]
    wirings: tuple[tuple[str, int, int], ...]
    changed: Arrays | None = field(repr=False)
    _own_ids: tuple[str, ...] = field(repr=False)
    _own_link_ids: tuple[str, ...] = field(repr=False)
    _local: Mapping[str, int] = field(repr=False)

    @property
    def extent(self) -> int:
        """Parts and links; see ``designer.memo``."""
        return self.n_parts + self.n_links

    @property
    def arrays(self) -> Arrays:
        """All parts and links as numbers."""
        return self.changed if self.changed is not None else _expand_blocks(self.shape)

    @property
    def part_def(self) -> Int:
        """Number of the definition of each part. : (n_parts,)"""
        return self.arrays.part_def

    @property
    def parent(self) -> Int:
        """Number of the containing part, −1 at the top. : (n_parts,)"""
        return self.arrays.parent

    @property
    def link_a(self) -> Int:
        """One end of each link. : (n_links,)"""
        return self.arrays.link_a

    @property
    def link_b(self) -> Int:
        """The other end of each link. : (n_links,)"""
        return self.arrays.link_b

    @property
    def link_def(self) -> Int:
        """Number of the definition of each link. : (n_links,)"""
        return self.arrays.link_def

    def part(self, index: int) -> Part:
        """Definition of part number `index`."""
        return self.part_defs[int(self.part_def[index])]

    def link(self, index: int) -> Link | Wiring:
        """Definition of link number `index`."""
        return self.link_defs[int(self.link_def[index])]

    def path(self, index: int) -> str:
        """Path of part number `index`, such as ``servers[3]/gpu0``."""
        if index < self.own_parts:
            return self._own_ids[index]
        for group in self.groups:
            if index < group.part_start[-1]:
                member = bisect_right(group.part_start, index) - 1
                return f"{group.id}[{member}]/{group.net(member).path(index - int(group.part_start[member]))}"
        raise IndexError(index)

    def paths(self, index: Int) -> list[str]:
        """Paths of many parts: those of members that are the same are put together once."""
        return self._name_numbers(index, self._own_ids, lambda group: group.part_start, Netlist.paths)

    def link_paths(self, index: Int) -> list[str]:
        """Paths of many links."""
        found = self._name_numbers(index, self._own_link_ids, lambda group: group.link_start, Netlist.link_paths)
        for wiring, start, stop in self.wirings:
            for row in np.flatnonzero((index >= start) & (index < stop)).tolist():
                found[row] = f"{wiring}[{int(index[row]) - start}]"
        return found

    def _name_numbers(
        self,
        index: Int,
        own: tuple[str, ...],
        starts: Callable[[GroupNet], Int],
        inside: Callable[[Netlist, Int], list[str]],
    ) -> list[str]:
        """Names of numbers of the block and of its groups; `inside` names those of one member."""
        found = [""] * len(index)
        for row in np.flatnonzero(index < len(own)).tolist():
            found[row] = own[int(index[row])]
        for group in self.groups:
            start = starts(group)
            rows = np.flatnonzero((index >= start[0]) & (index < start[-1]))
            member = np.searchsorted(start, index[rows], side="right") - 1
            local, of = index[rows] - start[member], group.net_of[member]
            for k in np.unique(of).tolist():
                mine = np.flatnonzero(of == k)
                different, which = np.unique(local[mine], return_inverse=True)
                names = inside(group.nets[k], different)
                places = zip(rows[mine].tolist(), member[mine].tolist(), which.tolist(), strict=True)
                for row, m, name in places:
                    found[row] = f"{group.id}[{m}]/{names[name]}"
        return found

    def link_path(self, index: int) -> str:
        """Path of link number `index`; links of a wiring are numbered."""
        if index < self.own_links:
            return self._own_link_ids[index]
        for group in self.groups:
            if index < group.link_start[-1]:
                member = bisect_right(group.link_start, index) - 1
                return f"{group.id}[{member}]/{group.net(member).link_path(index - int(group.link_start[member]))}"
        for wiring, start, stop in self.wirings:
            if index < stop:
                return f"{wiring}[{index - start}]"
        raise IndexError(index)

    def index_of(self, path: str) -> int:
        """Number of the part at `path`.

        Raises
        ------
        DocumentError
            If there is no such part.
        """
        chosen = self.select(path).flat
        if len(chosen) != 1:
            raise DocumentError(
                f"{path!r} names {len(chosen)} parts, not one", remedy="check the path against the outline"
            )
        return int(chosen[0])

    def select(self, path: str) -> Selection:
        """The parts a path with or without wild cards chooses; see ``designer.design.selectors``.

        Raises
        ------
        DocumentError
            If it names a group that is not there.
        """
        local = self._local.get(path)
        if local is not None:
            return Selection(np.array([[local]]), 1)
        columns, chosen = self._select(parse_selector(path), path)
        if not columns and not _WILD & set(path.rsplit("/", 1)[-1]):
            remedy = did_you_mean(path, self._own_ids, "check the path against the outline")
            raise DocumentError(f"there is no part {path!r}", remedy=remedy)
        return chosen

    def _select(self, selector: Selector, path: str) -> tuple[tuple[str, ...], Selection]:
        """Part ids of the columns, and the parts."""
        if not selector.steps:
            ids = selector.matches(self._own_ids)
            return tuple(ids), Selection(np.array([[self._local[i] for i in ids]], dtype=np.int64).reshape(1, -1), 1)
        step, rest = selector.steps[0], Selector(selector.steps[1:], selector.part)
        group = next((g for g in self.groups if g.id == step.group), None)
        if group is None:
            raise DocumentError(
                f"there is no group {step.group!r} in {path!r}", remedy="check the path against the outline"
            )
        members = step.members(len(group.net_of))
        found = {int(k): group.nets[int(k)]._select(rest, path) for k in np.unique(group.net_of[members])}
        names = {columns for columns, _ in found.values()}
        columns = names.pop() if len(names) == 1 else tuple(sorted(set().union(*names), key=natural_key))
        inside = {k: _align_columns(own, chosen, columns) for k, (own, chosen) in found.items()}
        start = group.part_start[members.start : members.stop, None, None]
        if len(inside) == 1:
            index = next(iter(inside.values()))[None]
            rows = np.where(index >= 0, index + start, index).reshape(len(members) * index.shape[1], len(columns))
        else:
            shifted = ((inside[int(group.net_of[m])], int(group.part_start[m])) for m in members)
            rows = np.concatenate([np.where(index >= 0, index + shift, index) for index, shift in shifted])
        last = len(members) if not rest.steps else next(iter(found.values()))[1].last
        return columns, Selection(rows, last)


def _align_columns(own: tuple[str, ...], chosen: Selection, columns: tuple[str, ...]) -> Int:
    """The parts of one member in the columns of all members, −1 where it has none."""
    if own == columns:
        return chosen.index
    index = np.full((len(chosen.index), len(columns)), -1, dtype=np.int64)
    index[:, [columns.index(part_id) for part_id in own]] = chosen.index
    return index


def elaborate(block: Block) -> Netlist:
    """The flat netlist of a design or block; kept as long as the block lives.

    Raises
    ------
    DocumentError
        If a link or wiring points to nothing, containment has a cycle, or the whole is larger than ``MAX_PARTS``.
    """
    return _compiled(block)


def count_parts(block: Block) -> int:
    """How many parts the block has after elaboration, without elaborating it."""
    total = len(block.parts)
    for group in block.groups.values():
        plain = group.replicas - len(group.exceptions)
        total += plain * count_parts(group.content) + sum(count_parts(b) for b in group.exceptions.values())
    return total


def count_links(block: Block) -> int:
    """How many drawn links (wirings not counted) the block has after elaboration."""
    total = len(block.links)
    for group in block.groups.values():
        plain = group.replicas - len(group.exceptions)
        total += plain * count_links(group.content) + sum(count_links(b) for b in group.exceptions.values())
    return total


def _compile(block: Block) -> Netlist:
    shape = shape_of(block)
    wirings = _expand_blocks(shape).wirings
    half = _half(block, shape)
    n_links = wirings[-1][2] if wirings else half.n_links
    link_defs = (*half.link_defs, *block.wirings.values())
    return replace(half, link_defs=link_defs, n_links=n_links, wirings=wirings)


#: bytes that parts and links take in the arrays, where ends are shared, and that the definition of one takes: a netlist
#: keeps its design
_ENTRY: Final = 12
_SHARED_ENTRY: Final = 4
_DEFINITION: Final = 2500
#: most that netlists asked for last keep together, and their arrays: of the largest clusters two with edits [B]
_BUDGET: Final = 64_000_000
_ARRAYS_BUDGET: Final = 48_000_000


def _weight(net: Netlist) -> int:
    return _DEFINITION * (net.own_parts + net.own_links) + 8 * sum(len(g.net_of) * 3 for g in net.groups)


def _size(arrays: Arrays) -> int:
    return (_SHARED_ENTRY if arrays.shared else _ENTRY) * (len(arrays.part_def) + len(arrays.link_def))


_compiled = Memo(_compile, most=8192, size=_weight, budget=_BUDGET)


@memo(most=SHAPES_LIMIT, size=_size, budget=_ARRAYS_BUDGET)
def _expand_blocks(shape: Shape) -> Arrays:
    """All parts and links of blocks of a shape."""
    block = shape.block
    size = max(count_parts(block), count_links(block))
    if size > MAX_PARTS:
        raise DocumentError(
            f"the design elaborates to {size:,} parts or links, more than {MAX_PARTS:,}",
            remedy="use fewer replicas in its groups",
        )
    plain = plain_of(block)
    if plain is not block:
        return _replace_definitions(_half(block, shape), _expand_blocks(shape_of(plain)))
    return _join_members(block, _half(block, shape))


def _replace_definitions(half: Netlist, plain: Arrays) -> Arrays:
    """The arrays of a block from those of its plain one: parts and links are in the same order, definitions are its
    own."""
    part_def, link_def = [_numbers(np.arange(half.own_parts))], [_numbers(np.arange(half.own_links))]
    for run in _member_runs(half):
        part_def.append(np.tile(run.net.part_def + run.part_base, run.last - run.first))
        link_def.append(np.tile(run.net.link_def + run.link_base, run.last - run.first))
    for k, (_, start, stop) in enumerate(plain.wirings):
        link_def.append(_numbers(np.full(stop - start, len(half.link_defs) + k)))
    columns = [np.concatenate([_numbers(piece) for piece in column]) for column in (part_def, link_def)]
    for array in columns:
        array.setflags(write=False)
    return Arrays(columns[0], plain.parent, plain.link_a, plain.link_b, columns[1], plain.wirings, shared=True)


def plain_definitions(net: Netlist, plain: Netlist) -> tuple[Int, Int]:
    """For each definition of parts, and of links, the one of the plain netlist that is where it is.

    Parameters
    ----------
    plain
        The netlist of ``plain_of(net.block)``.
    """
    parts, links = [np.arange(plain.own_parts)], [np.arange(plain.own_links)]
    part_base, link_base = plain.own_parts, plain.own_links
    for group, usual in zip(net.groups, plain.groups, strict=True):
        bases: list[tuple[int, int]] = []
        for one in usual.nets:
            bases.append((part_base, link_base))
            part_base, link_base = part_base + len(one.part_defs), link_base + len(one.link_defs)
        for k, one in enumerate(group.nets):
            # the content is the first of both, even if no member has it
            other = int(usual.net_of[int(np.flatnonzero(group.net_of == k)[0])]) if k else 0
            part_of, link_of = plain_definitions(one, usual.nets[other])
            parts.append(part_of + bases[other][0])
            links.append(link_of + bases[other][1])
    links.append(np.arange(link_base, len(plain.link_defs)))
    return np.concatenate(parts), np.concatenate(links)


def distinct_links(net: Netlist) -> tuple[Int, Int]:
    """The first link of each kind of pair, by definitions of the link and of its ends, and how many are the same."""
    return _distinct_links(net.shape)


@memo(most=SHAPES_LIMIT)
def _distinct_links(shape: Shape) -> tuple[Int, Int]:
    arrays = _expand_blocks(shape)
    # a drawn link always joins the same two definitions; those of a wiring may not
    drawn = len(arrays.link_def) if not arrays.wirings else arrays.wirings[0][1]
    size = int(arrays.link_def[:drawn].max(initial=-1)) + 1
    first = np.full(size, drawn, dtype=np.int64)
    first[arrays.link_def[:drawn][::-1]] = np.arange(drawn)[::-1]
    counts = np.bincount(arrays.link_def[:drawn], minlength=size)
    firsts, equal = [first[counts > 0]], [counts[counts > 0]]
    n = int(arrays.part_def.max(initial=0)) + 1
    for _, start, stop in arrays.wirings:
        ends = arrays.part_def[arrays.link_a[start:stop]].astype(np.int64) * n
        ends += arrays.part_def[arrays.link_b[start:stop]]
        _, at, many = np.unique(ends, return_index=True, return_counts=True)
        firsts.append(start + at)
        equal.append(many)
    found, count = np.concatenate(firsts), np.concatenate(equal)
    order = np.argsort(found)
    return found[order], count[order]


def _half(block: Block, shape: Shape) -> Netlist:
    """The block with its groups, before its wirings."""
    own_ids = tuple(block.parts)
    local = {part_id: i for i, part_id in enumerate(own_ids)}
    n_parts, n_links = len(own_ids), len(block.links)
    part_defs: list[Part] = list(block.parts.values())
    link_defs: list[Link | Wiring] = list(block.links.values())
    groups: list[GroupNet] = []
    for group in block.groups.values():
        made = _group(group, local, n_parts, n_links)
        for net in made.nets:
            part_defs += net.part_defs
            link_defs += net.link_defs
        n_parts, n_links = int(made.part_start[-1]), int(made.link_start[-1])
        groups.append(made)
    return Netlist(
        block,
        tuple(part_defs),
        tuple(link_defs),
        shape,
        n_parts,
        n_links,
        len(own_ids),
        len(block.links),
        tuple(groups),
        (),
        changed=None,
        _own_ids=own_ids,
        _own_link_ids=tuple(block.links),
        _local=local,
    )


def _group(group: Group, local: Mapping[str, int], n_parts: int, n_links: int) -> GroupNet:
    """A group whose first part and link have these numbers."""
    for index in group.exceptions:
        if not 0 <= index < group.replicas:
            raise DocumentError(
                f"member {index} is outside the group of {group.replicas}", place=f"groups.{group.id}.exceptions"
            )
    if group.parent is not None and group.parent not in local:
        raise DocumentError(f"there is no part {group.parent!r}", place=f"groups.{group.id}.parent")
    nets = tuple(elaborate(b) for b in (group.content, *group.exceptions.values()))
    net_of = np.zeros(group.replicas, dtype=np.int64)
    net_of[list(group.exceptions)] = np.arange(1, len(nets))
    part_start = n_parts + _starts(np.array([n.n_parts for n in nets])[net_of])
    link_start = n_links + _starts(np.array([n.n_links for n in nets])[net_of])
    if link_start[-1] > MAX_PARTS:
        raise DocumentError(
            f"the group makes {int(link_start[-1]) - n_links:,} links, more than {MAX_PARTS:,}",
            place=f"groups.{group.id}",
            remedy="use fewer replicas",
        )
    return GroupNet(group.id, part_start, link_start, nets, net_of)


def _join_members(block: Block, half: Netlist) -> Arrays:
    """The arrays of a block from those of its groups' members, and its wirings."""
    local = {part_id: i for i, part_id in enumerate(block.parts)}
    part_def = [_numbers(np.arange(half.own_parts))]
    parent = [np.array(parents_of(block, local), dtype=np.int64)]
    member_links: list[tuple[Int, Int, Int]] = []
    for run in _member_runs(half):
        held = block.groups[run.group.id].parent
        net, copies = run.net, run.last - run.first
        shift = _numbers(run.group.part_start[run.first : run.last, None])
        part_def.append(np.tile(net.part_def + run.part_base, copies))
        parent.append(np.where(net.parent >= 0, net.parent + shift, -1 if held is None else local[held]).ravel())
        member_links.append(
            (
                (net.link_a + shift).ravel(),
                (net.link_b + shift).ravel(),
                np.tile(net.link_def + run.link_base, copies),
            )
        )
    a, b = ends_of(block, local, half.index_of)
    pieces = [(a, b, np.arange(half.own_links)), *member_links]
    wirings: list[tuple[str, int, int]] = []
    n_links = half.n_links
    refuse_many(block.wirings.values(), half.select, n_links)
    for k, wiring in enumerate(block.wirings.values()):
        joined = expand_wiring(wiring, half.select)
        definition = np.full(len(joined[0]), len(half.link_defs) + k, dtype=NUMBER)
        pieces.append((_numbers(joined[0]), _numbers(joined[1]), cast("Int", definition)))
        wirings.append((wiring.id, n_links, n_links + len(joined[0])))
        n_links += len(joined[0])
    parts = [_numbers(np.concatenate(column)) for column in (part_def, parent)]
    links = [np.concatenate([_numbers(p[i]) for p in pieces]) for i in range(3)]
    for array in (*parts, *links):
        array.setflags(write=False)
    return Arrays(parts[0], parts[1], links[0], links[1], links[2], tuple(wirings))


class _Run(NamedTuple):
    """Members of a group one after the other that have the same block, and where its definitions begin."""

    group: GroupNet
    net: Netlist
    first: int
    last: int
    part_base: int
    link_base: int


def _member_runs(half: Netlist) -> Iterator[_Run]:
    part_base, link_base = half.own_parts, half.own_links
    for group in half.groups:
        bases: list[tuple[int, int]] = []
        for net in group.nets:
            bases.append((part_base, link_base))
            part_base, link_base = part_base + len(net.part_defs), link_base + len(net.link_defs)
        for first, last in _runs(group.net_of):
            k = int(group.net_of[first])
            yield _Run(group, group.nets[k], first, last, *bases[k])


def _numbers(numbers: Int) -> Int:
    """Numbers of parts, links or definitions in as few bytes as they need."""
    return cast("Int", numbers.astype(NUMBER, copy=False))


def _starts(sizes: Int) -> Int:
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _runs(labels: Int) -> Iterator[tuple[int, int]]:
    """First and last+1 of each run of equal labels."""
    cuts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels)]
    yield from pairwise(cuts)
