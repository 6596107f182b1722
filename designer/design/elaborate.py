"""Elaboration: groups × replicas become one flat netlist of arrays.

A block is compiled once and copied for each member, so a thousand equal servers cost numpy copies, not objects. The
result knows parts and links by number; their definitions and names are looked up only where someone looks.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.document import MAX_PARTS, Block, Group, Link, Part, Wiring
from designer.design.pattern import Pattern, Selection
from designer.design.selectors import Selector, natural_key, parse_selector
from designer.errors import DocumentError
from designer.memo import Memo
from designer.registry import discover

Int = npt.NDArray[np.int64]
_WILD = frozenset("*?{")


@dataclass(frozen=True, slots=True)
class GroupNet:
    """Where the members of a group stand in the arrays of the block that holds it.

    Parameters
    ----------
    part_start, link_start : (replicas + 1,) first part and link number of each member
    nets
        The distinct compiled blocks of the members; ``net_of[i]`` tells which one member i is.
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
class Netlist:
    """A block made flat.

    Parameters
    ----------
    part_defs, link_defs
        The distinct parts, and links or wirings, that the arrays point to.
    part_def : (n_parts,) number of the definition of each part
    parent : (n_parts,) number of the containing part, −1 at the top
    link_a, link_b, link_def : (n_links,) ends and definition of each link; one entry is one bundle
    own_parts, own_links
        How many of the first parts and links are drawn in the block itself, outside its groups.
    """

    block: Block
    part_defs: tuple[Part, ...]
    link_defs: tuple[Link | Wiring, ...]
    part_def: Int
    parent: Int
    link_a: Int
    link_b: Int
    link_def: Int
    own_parts: int
    own_links: int
    groups: tuple[GroupNet, ...]
    wirings: tuple[tuple[str, int, int], ...]
    _own_ids: tuple[str, ...] = field(repr=False)
    _own_link_ids: tuple[str, ...] = field(repr=False)
    _local: Mapping[str, int] = field(repr=False)

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self.part_def)

    @property
    def n_links(self) -> int:
        """Number of links (bundles)."""
        return len(self.link_def)

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
            raise DocumentError(f"there is no part {path!r}", remedy="check the path against the outline")
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
        inside = {k: _aligned(own, chosen, columns) for k, (own, chosen) in found.items()}
        start = group.part_start[members.start : members.stop, None, None]
        if len(inside) == 1:
            index = next(iter(inside.values()))[None]
            rows = np.where(index >= 0, index + start, index).reshape(len(members) * index.shape[1], len(columns))
        else:
            shifted = ((inside[int(group.net_of[m])], int(group.part_start[m])) for m in members)
            rows = np.concatenate([np.where(index >= 0, index + shift, index) for index, shift in shifted])
        last = len(members) if not rest.steps else next(iter(found.values()))[1].last
        return columns, Selection(rows, last)


def _aligned(own: tuple[str, ...], chosen: Selection, columns: tuple[str, ...]) -> Int:
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


def patterns() -> Mapping[str, Pattern]:
    """All wiring patterns by name."""
    return discover("designer.design.wiring", "PATTERN", Pattern)


def _compile(block: Block) -> Netlist:
    size = max(count_parts(block), count_links(block))
    if size > MAX_PARTS:
        raise DocumentError(
            f"the design elaborates to {size:,} parts or links, more than {MAX_PARTS:,}",
            remedy="use fewer replicas in its groups",
        )
    own_ids = tuple(block.parts)
    local = {part_id: i for i, part_id in enumerate(own_ids)}
    builder = _Builder(block, local)
    for group in block.groups.values():
        builder.add_group(group)
    return builder.finish()


#: bytes that parts and links take in the arrays, and that the definition of one takes: a netlist keeps its design
_ENTRY: Final = 24
_DEFINITION: Final = 2500
#: most that netlists asked for last keep together [B]
_BUDGET: Final = 256_000_000


def _weight(net: Netlist) -> int:
    return _ENTRY * (net.n_parts + net.n_links) + _DEFINITION * (net.own_parts + net.own_links)


_compiled = Memo(_compile, most=8192, size=_weight, budget=_BUDGET)


class _Builder:
    """Collects the pieces of one block and joins them once."""

    def __init__(self, block: Block, local: Mapping[str, int]) -> None:
        self.block = block
        self.local = local
        n = len(local)
        self.part_defs: list[Part] = list(block.parts.values())
        self.part_def: list[Int] = [np.arange(n)]
        self.parent: list[Int] = [np.array(_parents(block, local), dtype=np.int64)]
        self.n_parts = n
        self.link_defs: list[Link | Wiring] = list(block.links.values())
        self.groups: list[GroupNet] = []
        self.own_links = len(self.link_defs)
        self.n_links = self.own_links
        self.member_links: list[tuple[Int, Int, Int]] = []

    def add_group(self, group: Group) -> None:
        for index in group.exceptions:
            if not 0 <= index < group.replicas:
                raise DocumentError(
                    f"member {index} is outside the group of {group.replicas}", place=f"groups.{group.id}.exceptions"
                )
        blocks = [group.content, *group.exceptions.values()]
        nets = tuple(elaborate(b) for b in blocks)
        net_of = np.zeros(group.replicas, dtype=np.int64)
        for position, index in enumerate(group.exceptions, start=1):
            net_of[index] = position
        part_start = self.n_parts + _starts(np.array([n.n_parts for n in nets])[net_of])
        link_start = self.n_links + _starts(np.array([n.n_links for n in nets])[net_of])
        if link_start[-1] > MAX_PARTS:
            raise DocumentError(
                f"the group makes {int(link_start[-1]) - self.n_links:,} links, more than {MAX_PARTS:,}",
                place=f"groups.{group.id}",
                remedy="use fewer replicas",
            )
        part_base, link_base = [], []
        for net in nets:
            part_base.append(len(self.part_defs))
            link_base.append(len(self.link_defs))
            self.part_defs += net.part_defs
            self.link_defs += net.link_defs
        holder = -1
        if group.parent is not None:
            holder = self.local.get(group.parent, -1)
            if holder < 0:
                raise DocumentError(f"there is no part {group.parent!r}", place=f"groups.{group.id}.parent")
        for first, last in _runs(net_of):
            k = int(net_of[first])
            net, copies = nets[k], last - first
            shift = part_start[first:last, None]
            self.part_def.append(np.tile(net.part_def + part_base[k], copies))
            moved = np.where(net.parent >= 0, net.parent + shift, holder)
            self.parent.append(moved.ravel())
            self.member_links.append(
                (
                    (net.link_a + shift).ravel(),
                    (net.link_b + shift).ravel(),
                    np.tile(net.link_def + link_base[k], copies),
                )
            )
        self.n_parts, self.n_links = int(part_start[-1]), int(link_start[-1])
        self.groups.append(GroupNet(group.id, part_start, link_start, nets, net_of))

    def finish(self) -> Netlist:
        part_def, parent = np.concatenate(self.part_def), np.concatenate(self.parent)
        none = np.empty(0, dtype=np.int64)
        half = Netlist(
            block=self.block,
            part_defs=tuple(self.part_defs),
            link_defs=(),
            part_def=part_def,
            parent=parent,
            link_a=none,
            link_b=none,
            link_def=none,
            own_parts=len(self.local),
            own_links=0,
            groups=tuple(self.groups),
            wirings=(),
            _own_ids=tuple(self.local),
            _own_link_ids=(),
            _local=self.local,
        )
        a, b = _ends(self.block, self.local, half)
        pieces = [(a, b, np.arange(self.own_links)), *self.member_links]
        wirings: list[tuple[str, int, int]] = []
        n_links = self.n_links
        _refuse_many(self.block.wirings.values(), half, n_links)
        for wiring in self.block.wirings.values():
            joined = _expand_wiring(wiring, half)
            pieces.append((*joined, np.full(len(joined[0]), len(self.link_defs))))
            self.link_defs.append(wiring)
            wirings.append((wiring.id, n_links, n_links + len(joined[0])))
            n_links += len(joined[0])
        arrays = [np.concatenate([p[i] for p in pieces]).astype(np.int64) for i in range(3)]
        for array in (part_def, parent, *arrays):
            array.setflags(write=False)
        return replace(
            half,
            link_defs=tuple(self.link_defs),
            link_a=arrays[0],
            link_b=arrays[1],
            link_def=arrays[2],
            own_links=self.own_links,
            wirings=tuple(wirings),
            _own_link_ids=tuple(self.block.links),
        )


def _starts(sizes: Int) -> Int:
    starts = np.zeros(len(sizes) + 1, dtype=np.int64)
    np.cumsum(sizes, out=starts[1:])
    return starts


def _runs(labels: Int) -> Iterator[tuple[int, int]]:
    """First and last+1 of each run of equal labels."""
    cuts = [0, *(np.flatnonzero(np.diff(labels)) + 1).tolist(), len(labels)]
    yield from pairwise(cuts)


def _parents(block: Block, local: Mapping[str, int]) -> Sequence[int]:
    parents: list[int] = []
    for part in block.parts.values():
        if part.parent is None:
            parents.append(-1)
            continue
        above = local.get(part.parent)
        if above is None:
            raise DocumentError(f"it is contained in {part.parent!r}, which does not exist", place=f"parts.{part.id}")
        parents.append(above)
    _refuse_cycles(block, parents, tuple(local))
    return parents


def _refuse_cycles(block: Block, parents: Sequence[int], ids: Sequence[str]) -> None:
    done = [False] * len(parents)
    for start in range(len(parents)):
        trail: list[int] = []
        at = start
        while at >= 0 and not done[at]:
            if at in trail[-64:] and at in trail:
                raise DocumentError(
                    "it contains itself", place=f"parts.{ids[at]}.parent", remedy="break the circle of parents"
                )
            trail.append(at)
            if len(trail) > len(parents):
                raise DocumentError(
                    "it contains itself", place=f"parts.{ids[at]}.parent", remedy="break the circle of parents"
                )
            at = parents[at]
        for index in trail:
            done[index] = True


def _ends(block: Block, local: Mapping[str, int], net: Netlist) -> tuple[Int, Int]:
    a, b = np.empty(len(block.links), dtype=np.int64), np.empty(len(block.links), dtype=np.int64)
    for i, link in enumerate(block.links.values()):
        for side, array, path in (("a", a, link.a), ("b", b, link.b)):
            index = local.get(path)
            if index is None:
                if "/" not in path:
                    raise DocumentError(
                        f"it ends at {path!r}, which does not exist",
                        place=f"links.{link.id}.{side}",
                        remedy="delete the link or give it another end",
                    )
                try:
                    index = net.index_of(path)
                except DocumentError as error:
                    raise error.at(place=f"links.{link.id}.{side}") from None
            array[i] = index
        if a[i] == b[i]:
            raise DocumentError("both ends are the same part", place=f"links.{link.id}", remedy="delete the link")
    return a, b


def _refuse_many(wirings: Iterable[Wiring], net: Netlist, n_links: int) -> None:
    """Refuse wirings that make too many links together, before any of them is made."""
    for wiring in wirings:
        pattern = patterns().get(wiring.pattern)
        try:
            expected = pattern.count(net.select(wiring.a), net.select(wiring.b)) if pattern is not None else 0
        except DocumentError:
            continue  # told when it is made
        n_links += expected
        if n_links > MAX_PARTS:
            raise DocumentError(
                f"the wiring makes {expected:,} links, {n_links:,} with those before it, more than {MAX_PARTS:,}",
                place=f"wirings.{wiring.id}",
                remedy="use fewer replicas",
            )


def _expand_wiring(wiring: Wiring, net: Netlist) -> tuple[Int, Int]:
    pattern = patterns().get(wiring.pattern)
    place = f"wirings.{wiring.id}"
    if pattern is None:
        raise DocumentError(
            f"there is no wiring pattern {wiring.pattern!r}", place=place, remedy=f"use one of {', '.join(patterns())}"
        )
    try:
        a, b = net.select(wiring.a), net.select(wiring.b)
        for side, chosen in (("a", a), ("b", b)):
            if not chosen.flat.size:
                raise DocumentError(
                    "it chooses no parts", place=f"{place}.{side}", remedy="check the path against the outline"
                )
        joined = pattern.join(a, b)
    except DocumentError as error:
        raise error.at(place=place) from None
    # a part that both sides choose is not linked to itself
    apart = joined[0] != joined[1]
    return joined if apart.all() else (joined[0][apart], joined[1][apart])
