"""The connections of a block: its links and wirings between what is drawn, parallel ones merged into bundles.

A link that ends inside something closed ends at its border. Where an open group shows what all members share, the
connections of one member represent all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from designer.design.address import Ref, What
from designer.design.boxes import Boxes
from designer.design.document import Block, Link, LinkValues, Wiring
from designer.design.elaborate import NUMBER, GroupNet, Netlist, elaborate
from designer.design.rates import raw_rate
from designer.design.selectors import parse_selector
from designer.errors import DocumentError
from designer.memo import memo
from designer.sources import STATUS_RANK, Status

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]


class BundledLink(NamedTuple):
    """A link or wiring that a connection represents; ``reversed`` if its ``a`` is at the connection's end b."""

    what: What
    id: str
    reversed: bool


@dataclass(frozen=True, slots=True, eq=False)
class Connections:
    """What is joined to what.

    Parameters
    ----------
    a, b : (m,) boxes at both ends
    block : (m,) number of the block whose links these are
    kinds : link kind of each connection
    count : (m,) links in the bundle
    capacity : (m,) raw capacity of the bundle per direction [B/s]
    status : (m,) how sure the capacity is, as the rank of the least sure link
    links : the links and wirings of each connection
    bends : (c, 2) corners of the connections a link of which was bent by hand, from a to b, scene units from where the
        positions in the container of both ends count
    """

    a: Int
    b: Int
    block: Int
    kinds: tuple[str, ...]
    count: Int
    capacity: Float
    status: Int
    links: tuple[tuple[BundledLink, ...], ...]
    bends: Mapping[int, Float]


#: connections remembered together, of the blocks asked about last
CONNECTIONS_LIMIT: Final = 400_000


@memo(most=64, each=2, size=lambda made: len(made.a), budget=CONNECTIONS_LIMIT)
def connections_of(block: Block, boxes: Boxes) -> Connections:
    """All connections drawn of a block and of what its open groups show."""
    pieces = [_own_connections(block, boxes)]
    for group_id, opened in boxes.opened.items():
        group = block.groups[group_id]
        content = group.content if opened.member is None else group.member(opened.member)
        sub = connections_of(content, opened.boxes)
        block_number = boxes.blocks.index(((group_id, opened.member),))
        shift = opened.box + 1
        pieces.append(
            Connections(
                sub.a + shift,
                sub.b + shift,
                sub.block + block_number,
                sub.kinds,
                sub.count,
                sub.capacity,
                sub.status,
                sub.links,
                sub.bends,
            )
        )
    return _concatenate(pieces) if len(pieces) > 1 else pieces[0]


def _concatenate(pieces: list[Connections]) -> Connections:
    firsts = np.cumsum([0, *(len(p.a) for p in pieces)])[:-1].tolist()
    return Connections(
        a=np.concatenate([p.a for p in pieces]),
        b=np.concatenate([p.b for p in pieces]),
        block=np.concatenate([p.block for p in pieces]),
        kinds=tuple(k for p in pieces for k in p.kinds),
        count=np.concatenate([p.count for p in pieces]),
        capacity=np.concatenate([p.capacity for p in pieces]),
        status=np.concatenate([p.status for p in pieces]),
        links=tuple(r for p in pieces for r in p.links),
        bends={first + k: bends for first, p in zip(firsts, pieces, strict=True) for k, bends in p.bends.items()},
    )


class _Bundles:
    """Merges what joins the same two boxes by the same kind of link.

    Plain lists side by side: an object for each connection would have Python look through all of them again and again.
    """

    def __init__(self) -> None:
        self.at: dict[tuple[int, int, str], int] = {}
        self.a: list[int] = []
        self.b: list[int] = []
        self.count: list[int] = []
        self.capacity: list[float] = []
        self.rank: list[int] = []
        self.kinds: list[str] = []
        self.first: list[BundledLink] = []
        self.more: dict[int, list[BundledLink]] = {}
        self.bends: dict[int, Float] = {}

    def add(self, a: int, b: int, values: LinkValues, what: What, link_id: str, times: int) -> None:
        if a == b or a < 0 or b < 0:
            return
        kind, n = values.kind, len(self.a)
        key = (a, b, kind) if a < b else (b, a, kind)
        rate, rank = _rate(kind, values.bandwidth_per_direction, values.generation, values.lanes, values.status)
        count = values.count * times
        at = self.at.setdefault(key, n)
        if what == "links" and isinstance(values, Link) and values.bends and at not in self.bends:
            points = np.array([(p.x, p.y) for p in values.bends], dtype=np.float64)
            self.bends[at] = points if at == n or self.a[at] == a else points[::-1]
        if at == n:
            self.a.append(a)
            self.b.append(b)
            self.count.append(count)
            self.capacity.append(count * rate)
            self.rank.append(rank)
            self.kinds.append(kind)
            self.first.append(BundledLink(what, link_id, False))
            return
        self.count[at] += count
        self.capacity[at] += count * rate
        self.rank[at] = max(self.rank[at], rank)
        ref = BundledLink(what, link_id, self.a[at] != a)
        links = self.more.setdefault(at, [self.first[at]])
        if links[-1] != ref:
            links.append(ref)

    def finish(self) -> Connections:
        return Connections(
            a=np.array(self.a, dtype=np.int64),
            b=np.array(self.b, dtype=np.int64),
            block=np.zeros(len(self.a), dtype=np.int64),
            kinds=tuple(self.kinds),
            count=np.array(self.count, dtype=np.int64),
            capacity=np.array(self.capacity, dtype=np.float64),
            status=np.array(self.rank, dtype=np.int64),
            links=tuple(tuple(self.more[k]) if k in self.more else (one,) for k, one in enumerate(self.first)),
            bends=self.bends,
        )


@lru_cache(maxsize=4096)
def _rate(
    kind: str, bandwidth: str | None, generation: int | None, lanes: int | None, status: Status
) -> tuple[float, int]:
    values = LinkValues(kind=kind, bandwidth_per_direction=bandwidth, generation=generation, lanes=lanes, status=status)
    rate, known = raw_rate(values)
    return rate, STATUS_RANK[known]


def _own_connections(block: Block, boxes: Boxes) -> Connections:
    bundles = _Bundles()
    known = boxes.own_parts.get
    for link in block.links.values():
        a, b = known(link.a), known(link.b)
        a, b = box_at(boxes, link.a) if a is None else a, box_at(boxes, link.b) if b is None else b
        bundles.add(a, b, link, "links", link.id, 1)
    if block.wirings:
        try:
            _add_wirings(bundles, block, boxes, elaborate(block))
        except DocumentError:
            _add_unelaborated(bundles, block.wirings.values(), boxes)
    return bundles.finish()


def box_at(boxes: Boxes, path: str) -> int:
    """Number of the box that shows the part at a path; that of a closed group around it; −1 if nothing does."""
    at = boxes.own_parts.get(path)
    if at is not None or "/" not in path:
        return -1 if at is None else at
    try:
        selector = parse_selector(path)
    except DocumentError:
        return -1
    offset = 0
    for depth, step in enumerate(selector.steps):
        opened = boxes.opened.get(step.group)
        if opened is None:
            at = boxes.own.get(Ref("groups", step.group))
            return -1 if at is None else at + offset
        if opened.member is not None and not step.low <= opened.member <= (
            step.high if step.high is not None else opened.member
        ):
            return -1
        offset += opened.box + 1
        boxes = opened.boxes
        if depth == len(selector.steps) - 1:
            at = boxes.own_parts.get(selector.part)
            return -1 if at is None else at + offset
    return -1


def part_boxes(net: Netlist, boxes: Boxes, every_member: bool = False) -> Int:
    """For each part of the elaborated block the box that shows it, −1 where none does. : (n_parts,)

    An open group shows one member; with `every_member` the parts of the members that are like it get its boxes too.
    """
    found = cast("Int", np.full(net.n_parts, -1, dtype=NUMBER))
    own = [boxes.own_parts.get(part_id, -1) for part_id in net.block.parts]
    found[: len(own)] = own
    for group in net.groups:
        first, stop = int(group.part_start[0]), int(group.part_start[-1])
        opened = boxes.opened.get(group.id)
        if opened is None:
            found[first:stop] = boxes.own.get(Ref("groups", group.id), -1)
            continue
        members = _members_shown(group, opened.member, every_member)
        if len(members):
            inner = part_boxes(group.net(int(members[0])), opened.boxes, every_member)
            inner = np.where(inner >= 0, inner + opened.box + 1, -1)
            found[group.part_start[members][:, None] + np.arange(len(inner))] = inner
    return found


def open_links(net: Netlist, boxes: Boxes) -> Int:
    """Links of the elaborated block that are not inside closed groups, ascending: what connections may show. : (k,)

    Of a large design nearly all links are inside closed groups, and nobody looks at them.
    """
    found = [np.arange(net.own_links)]
    for group in net.groups:
        opened = boxes.opened.get(group.id)
        if opened is None:
            continue
        members = _members_shown(group, opened.member, every=True)
        if len(members):
            inner = open_links(group.net(int(members[0])), opened.boxes)
            found.append((group.link_start[members][:, None] + inner).ravel())
    found += [np.arange(start, stop) for _, start, stop in net.wirings]
    return np.concatenate(found)


def _members_shown(group: GroupNet, member: int | None, every: bool) -> Int:
    """Members that the boxes of an open group represent, ascending: all of one block, so that one is looked at."""
    if member is not None:
        return np.array([member])
    plain = np.flatnonzero(group.net_of == 0)
    return plain if every else plain[:1]


def _add_wirings(bundles: _Bundles, block: Block, boxes: Boxes, net: Netlist) -> None:
    shown = part_boxes(net, boxes)
    n = len(boxes.refs)
    for wiring_id, start, stop in net.wirings:
        # numbers that are multiplied
        a, b = (shown[ends[start:stop]].astype(np.int64) for ends in (net.link_a, net.link_b))
        key = a * n + b
        key = key[(a >= 0) & (b >= 0)]
        if not len(key):
            continue
        pairs, times = np.unique(key, return_counts=True) if (key != key[0]).any() else (key[:1], np.array([len(key)]))
        wiring = block.wirings[wiring_id]
        for pair, many in zip(pairs.tolist(), times.tolist(), strict=True):
            bundles.add(pair // n, pair % n, wiring, "wirings", wiring_id, many)


def _add_unelaborated(bundles: _Bundles, wirings: Iterable[Wiring], boxes: Boxes) -> None:
    """One connection for each wiring of a block that cannot be elaborated, so that it can be seen and mended."""
    for wiring in wirings:
        bundles.add(box_at(boxes, wiring.a), box_at(boxes, wiring.b), wiring, "wirings", wiring.id, 1)


def rates_match(old: Link, new: Link) -> bool:
    """True if two states of a link are drawn in the same way."""
    one, other = (old.a, old.b, old.kind, old.count, old.bends), (new.a, new.b, new.kind, new.count, new.bends)
    return one == other and _rate(
        old.kind, old.bandwidth_per_direction, old.generation, old.lanes, old.status
    ) == _rate(new.kind, new.bandwidth_per_direction, new.generation, new.lanes, new.status)
