"""What networks of the same parts and links share, whatever their rates: resources and islands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability, PartKind
from designer.design.components import connected
from designer.design.document import MAX_PARTS
from designer.design.elaborate import NUMBER, Netlist, elaborate
from designer.design.shapes import Shape
from designer.engine.network.capacities import HOST, NETWORK
from designer.engine.network.hashing import mix
from designer.engine.network.partition import Partition
from designer.memo import memo

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]
#: structures kept, such as those of both sides of a comparison and of the edits between them
STRUCTURES_LIMIT: Final = 8
#: bytes of arrays kept of each kind for designs that share a frame: of the largest clusters the last two
FRAMES_LIMIT: Final = 80_000_000
#: netlists of which one link of each definition is known
_SHAPES_LIMIT: Final = 2048


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """What networks of the same parts, links and kinds share, whatever their rates.

    One object for all of them, so that answers which no rate changes can hang on it.

    Parameters
    ----------
    net
        A netlist of this shape.
    kinds
        Kind of each part definition.
    links
        Domain, links in the bundle and whether both directions are one resource, of each link definition.
    inner
        Which part definitions have a resource of their own.
    hashed
        True if every cable of a network bundle is a resource.
    departs
        How it differs from the frame of the plain design; None where it is that, or where more than values differ.
    """

    net: Netlist
    kinds: tuple[PartKind, ...]
    links: tuple[tuple[int, int, bool], ...]
    inner: tuple[bool, ...]
    hashed: bool
    departs: Departure | None = None

    @property
    def extent(self) -> int:
        """Parts and links; see ``designer.memo``."""
        return self.net.n_parts + self.net.n_links


@dataclass(frozen=True, slots=True, eq=False)
class Departure:
    """How a frame differs from that of the plain design, see ``designer.design.shapes``.

    Parts and links have the same places and numbers, only some definitions say something else. So arrays of the
    plain frame serve both, and what is looked for again are the few parts and links of the members that differ.

    Parameters
    ----------
    frame
        The plain one.
    part_of : (n_part_defs,) the plain definition in the place of each one
    link_of : (n_link_defs,) the same of links
    own_part, own_link : (n_part_defs,), (n_link_defs,) definitions that say something else than that
    """

    frame: Frame
    part_of: Int
    link_of: Int
    own_part: Bool
    own_link: Bool

    @property
    def part_at(self) -> Int:
        """The definition that represents each plain one in members that do not differ. : (n_plain_part_defs,)"""
        return _first_indices(self.part_of)

    @property
    def link_at(self) -> Int:
        """The same of links. : (n_plain_link_defs,)"""
        return _first_indices(self.link_of)

    @property
    def common_part(self) -> Int:
        """The definition that each is stated as: those that say the same as the plain one are one. : (n_part_defs,)"""
        return np.where(self.own_part, np.arange(len(self.part_of)), _first_indices(self.part_of)[self.part_of])

    @property
    def common_link(self) -> Int:
        """The same of links. : (n_link_defs,)"""
        return np.where(self.own_link, np.arange(len(self.link_of)), _first_indices(self.link_of)[self.link_of])

    def parts(self, net: Netlist) -> Int:
        """Numbers of the parts that differ, ascending."""
        return np.flatnonzero(self.own_part[net.part_def])

    def links(self, net: Netlist) -> Int:
        """Numbers of the links that differ, or have an end that does; ascending."""
        found = self.own_link[net.link_def]
        if self.own_part.any():
            at = self.own_part[net.part_def]
            found |= at[net.link_a]
            found |= at[net.link_b]
        return np.flatnonzero(found)


def _first_indices(of: Int) -> Int:
    """The first of those that have each number; the content of a group comes before its exceptions."""
    found = np.zeros(int(of.max(initial=-1)) + 1, dtype=np.int64)
    # written back to front, so that the first of each stays
    found[of[::-1]] = np.arange(len(of))[::-1]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class FrameArrays:
    """The arrays of a frame; see `Network` for those of the same name.

    Parameters
    ----------
    rate_class : (n_links,) links of one class have the same rate: one definition, and ends of the same definitions
    example : (n_classes,) the first link of each class
    n_link_resources
        Number of resources that belong to links.
    """

    domain: Int
    count: Int
    first_resource: Int
    cables: Int
    full: Bool
    part_resource: Int
    rate_class: Int
    example: Int
    n_link_resources: int
    n_part_resources: int
    island: Int
    n_islands: int


def examples(net: Netlist) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Link definitions that occur, and the first link of each."""
    if net.changed is None:
        return _examples(net.shape)
    return _first_links(net.link_def)


@memo(most=_SHAPES_LIMIT)
def _examples(shape: Shape) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return _first_links(elaborate(shape.block).link_def)


def _first_links(link_def: Int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    size = int(link_def.max()) + 1 if len(link_def) else 0
    first = np.full(size, len(link_def), dtype=np.int64)
    # written back to front, so that the first of each stays
    first[link_def[::-1]] = np.arange(len(link_def))[::-1]
    occurs = np.flatnonzero(first < len(link_def))
    return tuple(occurs.tolist()), tuple(first[occurs].tolist())


def size_of(record: Any) -> int:
    """Bytes of the arrays in the fields of a record."""
    return sum(a.nbytes for a in (getattr(record, f.name) for f in fields(record)) if isinstance(a, np.ndarray))


@memo(most=STRUCTURES_LIMIT, size=size_of, budget=FRAMES_LIMIT)
def frame_arrays(frame: Frame) -> FrameArrays:
    """The arrays of a frame."""
    return _build_arrays(frame) if frame.departs is None else _depart_from_plain(frame, frame.departs)


def _depart_from_plain(frame: Frame, departs: Departure) -> FrameArrays:
    """The arrays of the plain frame, with classes of their own for links of members that differ."""
    net, plain = frame.net, frame_arrays(departs.frame)
    outer = plain.domain == NETWORK
    links = changed_links(frame)
    ends = np.where(outer[links], net.part_def[net.link_a[links]], -1)
    others = np.where(outer[links], net.part_def[net.link_b[links]], -1)
    sign = mix(net.link_def[links], ends, others).view(np.int64)
    found, _ = Partition(plain.rate_class, plain.example).split(links, sign)
    found.of.setflags(write=False)
    found.first.setflags(write=False)
    return replace(plain, rate_class=found.of, example=found.first)


@memo(most=STRUCTURES_LIMIT)
def changed_links(frame: Frame) -> Int:
    """Links that differ from the plain ones, or have an end that does; ascending, none of a plain frame."""
    return frame.departs.links(frame.net) if frame.departs is not None else np.empty(0, dtype=np.int64)


@memo(most=STRUCTURES_LIMIT)
def changed_parts(frame: Frame) -> Int:
    """Parts that differ from the plain ones; ascending, none of a plain frame."""
    return frame.departs.parts(frame.net) if frame.departs is not None else np.empty(0, dtype=np.int64)


def _build_arrays(frame: Frame) -> FrameArrays:
    net = frame.net
    take = net.link_def
    domain = _column([one[0] for one in frame.links], np.int8)[take]
    domain[net.link_a == net.link_b] = HOST
    most = max((one[1] for one in frame.links), default=0)
    small = np.int32 if most < np.iinfo(np.int32).max else np.int64
    count = _column([one[1] for one in frame.links], small)[take]
    full = np.array([not one[2] for one in frame.links], dtype=bool)[take]
    outer = domain == NETWORK
    cables = np.where(outer, count, 1) if frame.hashed else _column(np.ones(len(take)), small)
    used = cables * np.where(full, 2, 1)
    upto = np.cumsum(used)
    has = np.array(frame.inner, dtype=bool)[net.part_def]
    n_link_resources = int(upto[-1]) if len(upto) else 0
    n_parts = int(has.sum())
    most = n_link_resources + n_parts
    part_resource = _column(np.full(net.n_parts, -1, dtype=np.int8), NUMBER if most < MAX_PARTS else np.int64)
    part_resource[has] = n_link_resources + np.arange(n_parts)
    rate_class, example = _rate_classes(net, outer)
    n_islands, island = _islands(net, np.array([one[0] == NETWORK for one in frame.links], dtype=bool))
    found = FrameArrays(
        domain,
        count,
        upto - used,
        cables,
        full,
        part_resource,
        rate_class,
        example,
        n_link_resources,
        n_parts,
        island,
        n_islands,
    )
    for array in (domain, count, found.first_resource, cables, full, part_resource, rate_class, example, island):
        array.setflags(write=False)
    return found


def _column(values: Sequence[int] | Float | npt.NDArray[np.int8], kind: type[np.integer[Any]]) -> Int:
    """Whole numbers in as few bytes as they need: a large design has a million of each."""
    return cast("Int", np.asarray(values).astype(kind))


def _rate_classes(net: Netlist, outer: Bool) -> tuple[Int, Int]:
    """Class of each link, by its definition and, of a cable, those of its ends; and the first link of each class."""
    which = net.link_def.copy()
    cables = np.flatnonzero(outer)
    signs = mix(net.link_def[cables], net.part_def[net.link_a[cables]], net.part_def[net.link_b[cables]])
    _, of_cable = np.unique(signs, return_inverse=True)
    which[cables] = len(net.link_defs) + of_cable
    occurs, first = _first_links(which)
    number = np.zeros(occurs[-1] + 1 if occurs else 0, dtype=NUMBER)
    number[list(occurs)] = np.arange(len(occurs))
    return cast("Int", number[which]), np.array(first, dtype=np.int64)


def _islands(net: Netlist, outer: Bool) -> tuple[int, Int]:
    """How many islands there are, and the one of each part: found in one member of a group, and moved to its equals.

    Parameters
    ----------
    outer : (n_link_defs,) which definitions are of networks
    """
    if net.changed is not None or not net.groups:
        inner = ~outer[net.link_def] | (net.link_a == net.link_b)
        return connected(net.n_parts, net.link_a[inner], net.link_b[inner])
    base = net.own_links
    count, labels = net.own_parts, [np.arange(net.own_parts)]
    for group in net.groups:
        found: list[tuple[int, Int]] = []
        for one in group.nets:
            found.append(_islands(one, outer[base : base + len(one.link_defs)]))
            base += len(one.link_defs)
        sizes = np.array([n for n, _ in found])[group.net_of]
        start = count + np.cumsum(sizes) - sizes
        cuts = [0, *(np.flatnonzero(np.diff(group.net_of)) + 1).tolist(), len(group.net_of)]
        for low, high in pairwise(cuts):
            labels.append((start[low:high, None] + found[int(group.net_of[low])][1]).ravel())
        count += int(sizes.sum())
    label = np.concatenate(labels)
    drawn = np.concatenate([np.arange(net.own_links), *(np.arange(a, b) for _, a, b in net.wirings)]).astype(np.int64)
    drawn = drawn[~outer[net.link_def[drawn]]]
    if not len(drawn):
        return count, label
    count, joined = connected(count, label[net.link_a[drawn]], label[net.link_b[drawn]])
    return count, joined[label]


@memo(most=STRUCTURES_LIMIT)
def inner_parts(frame: Frame) -> Int:
    """The parts that have a resource of their own."""
    if frame.departs is not None:
        return inner_parts(frame.departs.frame)
    return np.flatnonzero(frame_arrays(frame).part_resource >= 0)


@memo(most=STRUCTURES_LIMIT)
def parts_with(frame: Frame, capability: Capability) -> Bool:
    """Which parts have a capability. : (n_parts,)"""
    if frame.departs is not None:
        return parts_with(frame.departs.frame, capability)
    found = np.array([capability in k.capabilities for k in frame.kinds], dtype=bool)[frame.net.part_def]
    found.setflags(write=False)
    return found


@memo(most=STRUCTURES_LIMIT)
def parts_of_kind(frame: Frame, name: str) -> Int:
    """Numbers of all parts of a kind."""
    if frame.departs is not None:
        return parts_of_kind(frame.departs.frame, name)
    found = np.flatnonzero(np.array([k.name == name for k in frame.kinds], dtype=bool)[frame.net.part_def])
    found.setflags(write=False)
    return found
