"""Routes of many flows at once, as arrays: inside islands, through gateways, across fabrics."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Generic, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from designer.analysis.gateways import Fabric, cross, find_doors, find_fabric
from designer.analysis.hashing import draw, mix
from designer.analysis.islands import Islands, find_islands
from designer.analysis.network import Network
from designer.analysis.routing.fabric import Distances, hashed_paths, measure, split_paths
from designer.analysis.routing.host_paths import Rules, Segment, find_segment
from designer.analysis.structure import STRUCTURES_LIMIT, Structure, digest, structure_of
from designer.memo import memo

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
_Answer = TypeVar("_Answer")

#: more entries than this are not split over all paths but hashed, so that memory stays bounded
ENTRIES_LIMIT: Final = 40_000_000
#: entries of routes kept for each structure: 24 MB
KEPT_LIMIT: Final = 1_000_000
#: where only sums over flows are asked for, more entries than this are added up
MERGED_LIMIT: Final = 250_000
#: so few rows are grouped quicker by a dictionary than by sorting arrays
SMALL_LIMIT: Final = 64


@dataclass(frozen=True, slots=True, eq=False)
class Legs:
    """Traffic to route: leg i belongs to flow ``flow[i]`` and carries ``share[i]`` of it from part to part."""

    flow: Int
    source: Int
    target: Int
    share: Float

    @staticmethod
    def of(source: Int, target: Int) -> Legs:
        """One leg per flow."""
        return Legs(np.arange(len(source)), source.astype(np.int64), target.astype(np.int64), np.ones(len(source)))

    def none(self) -> Legs:
        """No traffic."""
        return Legs(self.flow[:0], self.source[:0], self.target[:0], self.share[:0])

    def chosen(self, keep: npt.NDArray[np.bool_] | Int) -> Legs:
        """Some of the legs."""
        return Legs(self.flow[keep], self.source[keep], self.target[keep], self.share[keep])

    def size(self) -> int:
        """Entries of all columns."""
        return sum(len(column) for column in (self.flow, self.source, self.target, self.share))

    def __len__(self) -> int:
        return len(self.flow)


#: ways inside islands: class of island, place it starts and ends at, and the way
Ways = tuple[tuple[int, int, int, Segment | None], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Routes:
    """Which channels flows take.

    Parameters
    ----------
    flow, channel : (nnz,) flow and channel numbers
    share : (nnz,) bytes on the channel per byte of the flow
    lost : flows for which some leg has no way
    hashed : whether traffic was hashed although the policy says split, to bound memory
    stands : (n_merged,) for the last entries, the sum of the shares they stand for: each tells of all flows between two
        switches under the number of the first of them
    rests_on
        The ways inside islands that were taken: class of island, from, to, and the way. Networks connected alike on
        which these are the same have the same routes.
    """

    flow: Int
    channel: Int
    share: Float
    lost: Int
    hashed: bool = False
    stands: Float = field(default_factory=lambda: np.empty(0))
    rests_on: Ways = ()


def join_legs(pieces: Sequence[Legs]) -> Legs:
    """All legs of several sets, one set after the other."""
    names = ("flow", "source", "target", "share")
    return Legs(*(np.concatenate([getattr(piece, name) for piece in pieces]) for name in names))


class _Collected:
    """Entries as they are found; `sums` lets those that many flows have in common be added up."""

    def __init__(self, sums: bool) -> None:
        self.sums = sums
        self.merged: list[tuple[Int, Int, Float, Float]] = []
        self.flow: list[Int] = []
        self.channel: list[Int] = []
        self.share: list[Float] = []
        self.lost: list[Int] = []
        self.ways: dict[tuple[int, int, int], Segment | None] = {}

    def add(self, flow: Int, channel: Int, share: Float) -> None:
        self.flow.append(flow)
        self.channel.append(channel)
        self.share.append(share)

    def done(self, hashed: bool) -> Routes:
        none = np.empty(0, dtype=np.int64)
        return Routes(
            np.concatenate([none, *self.flow, *(m[0] for m in self.merged)]),
            np.concatenate([none, *self.channel, *(m[1] for m in self.merged)]),
            np.concatenate([np.empty(0), *self.share, *(m[2] for m in self.merged)]),
            np.unique(np.concatenate([none, *self.lost])),
            hashed,
            np.concatenate([np.empty(0), *(m[3] for m in self.merged)]),
            tuple((*where, way) for where, way in self.ways.items()),
        )


class Kept(Generic[_Answer]):
    """Answers about one structure, the last ones, up to a number of entries in all of them together."""

    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._made: OrderedDict[bytes, tuple[_Answer, int]] = OrderedDict()
        self._entries = 0

    def get(self, key: bytes) -> _Answer | None:
        """The answer kept under a key, or None."""
        found = self._made.get(key)
        if found is None:
            return None
        self._made.move_to_end(key)
        return found[0]

    def keep(self, key: bytes, answer: _Answer, entries: int) -> None:
        """Keep an answer of so many entries, unless it alone is too large."""
        before = self._made.pop(key, None)
        self._entries -= before[1] if before is not None else 0
        if entries > self._limit:
            return
        self._made[key] = answer, entries
        self._entries += entries
        while self._entries > self._limit:
            self._entries -= self._made.popitem(last=False)[1][1]


def route(network: Network, legs: Legs, *, sums: bool = False, kept: bool = True) -> Routes:
    """Routes of all legs under the policy of the design; kept for networks connected alike.

    Parameters
    ----------
    sums
        Only what all flows together put on each channel counts, so entries may be merged where there are very many.
    kept
        False for routes that nobody will ask for again.
    """
    if not kept:
        return _route(network, legs, sums)
    known = _kept(structure_of(network))
    key = digest(legs.flow, legs.source, legs.target, legs.share) + bytes([sums])
    found = known.get(key)
    if found is None or not same_ways(network, found.rests_on):
        found = _route(network, legs, sums)
        for array in (found.flow, found.channel, found.share, found.lost, found.stands):
            array.setflags(write=False)
        known.keep(key, found, len(found.flow))
    return found


def same_ways(network: Network, ways: Ways) -> bool:
    """True if some ways inside islands are what they are on this network."""
    islands, policy = find_islands(network), network.design.policy
    rules = Rules(policy.relay_through_gpu, policy.pcie_acs)
    return all(find_segment(islands.classes[cls], a, b, rules) == way for cls, a, b, way in ways)


@memo(most=STRUCTURES_LIMIT)
def _kept(_structure: Structure) -> Kept[Routes]:
    return Kept(KEPT_LIMIT)


def _route(network: Network, legs: Legs, sums: bool) -> Routes:
    islands = find_islands(network)
    policy = network.design.policy
    rules = Rules(policy.relay_through_gpu, policy.pcie_acs)
    found = _Collected(sums)
    here = network.island[legs.source] == network.island[legs.target]
    _inside(network, islands, rules, _rows(legs, here), found)
    hashed = False
    if not here.all():
        hashed = _outside(network, islands, rules, _rows(legs, ~here), found)
    return found.done(hashed)


def _rows(legs: Legs, keep: npt.NDArray[np.bool_] | Int) -> Legs:
    return Legs(legs.flow[keep], legs.source[keep], legs.target[keep], legs.share[keep])


def _inside(network: Network, islands: Islands, rules: Rules, legs: Legs, found: _Collected) -> None:
    """Legs whose ends are in one island: one search per class and pair of places."""
    if not len(legs):
        return
    island = network.island[legs.source]
    key = np.stack([islands.class_of[island], islands.local[legs.source], islands.local[legs.target]], axis=1)
    for (cls, a, b), rows in groups_of(key):
        segment = found.ways[cls, a, b] = find_segment(islands.classes[cls], a, b, rules)
        if segment is None:
            found.lost.append(legs.flow[rows])
            continue
        n = len(segment.channels)
        if not n:
            continue
        local = np.array(segment.channels, dtype=np.int64)
        base = islands.link_start[island[rows]]
        channel = 2 * islands.links[base[:, None] + (local >> 1)] + (local & 1)
        share = legs.share[rows][:, None] * np.array(segment.shares)
        found.add(np.repeat(legs.flow[rows], n), channel.ravel(), share.ravel())


def groups_of(key: Int) -> list[tuple[tuple[int, ...], Int]]:
    """Distinct rows of `key`, and for each the row numbers."""
    if len(key) <= SMALL_LIMIT:
        small: dict[tuple[int, ...], list[int]] = {}
        for row, values in enumerate(key.tolist()):
            small.setdefault(tuple(values), []).append(row)
        return [(values, np.array(rows)) for values, rows in small.items()]
    size = key.max(axis=0) + 1
    if np.prod(size.astype(np.float64)) < np.iinfo(np.int64).max / 2:
        code = key[:, 0]
        for column in range(1, key.shape[1]):
            code = code * size[column] + key[:, column]
        _, first, which = np.unique(code, return_index=True, return_inverse=True)
    else:
        _, first, which = np.unique(key, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(which, kind="stable")
    cuts = np.cumsum(np.bincount(which))[:-1]
    return [(tuple(key[f].tolist()), rows) for f, rows in zip(first, np.split(order, cuts), strict=True)]


class Doors(NamedTuple):
    """Gateways that legs may use: the parts where they leave and enter islands, and the share of the traffic.

    ``leaves`` and ``enters`` are true where a gateway is not the end of the leg itself.
    """

    out: Int
    into: Int
    share: float
    leaves: bool
    enters: bool


def crossings(
    network: Network, islands: Islands, rules: Rules, legs: Legs, *marks: Int
) -> Iterator[tuple[Int, tuple[int, ...], list[Doors]]]:
    """Legs that leave and enter alike, with their marks, and the doors between their islands; none if nothing joins
    them.
    """
    doors, affinity = find_doors(network), network.design.policy.rail_affinity
    si, ti = network.island[legs.source], network.island[legs.target]
    starts = (islands.class_of[si], islands.local[legs.source], doors.signature[si])
    goals = (islands.class_of[ti], islands.local[legs.target], doors.signature[ti])
    for (cls, at, sig, other, to, other_sig, *given), rows in groups_of(np.stack([*starts, *goals, *marks], axis=1)):
        source, target = islands.classes[cls].shape, islands.classes[other].shape
        crossed = cross(source, at, doors.doors[sig], target, to, doors.doors[other_sig], rules, affinity)
        start, end = islands.part_start[si[rows]], islands.part_start[ti[rows]]
        used = [
            Doors(islands.parts[start + leave], islands.parts[end + enter], share, leave != at, enter != to)
            for leave, enter, share in crossed
        ]
        yield rows, tuple(given), used


def _outside(network: Network, islands: Islands, rules: Rules, legs: Legs, found: _Collected) -> bool:
    """Legs between islands: through the gateways at both ends and the fabric between."""
    fabric = find_fabric(network)
    flows: list[Int] = []
    pairs: list[tuple[Int, Int]] = []
    shares: list[Float] = []
    ends: list[Legs] = []
    for rows, _, doors in crossings(network, islands, rules, legs):
        if not doors:
            found.lost.append(legs.flow[rows])
        for door in doors:
            share = legs.share[rows] * door.share
            ends.append(Legs(legs.flow[rows], legs.source[rows], door.out, share))
            ends.append(Legs(legs.flow[rows], door.into, legs.target[rows], share))
            flows.append(legs.flow[rows])
            pairs.append((door.out, door.into))
            shares.append(share)
    if not flows:
        return False
    _inside(network, islands, rules, join_legs(ends), found)
    g1, g2 = np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])
    return _across(network, fabric, Legs(np.concatenate(flows), g1, g2, np.concatenate(shares)), found)


def _across(network: Network, fabric: Fabric, legs: Legs, found: _Collected) -> bool:
    """Legs from gateway to gateway."""
    if fabric.direct:
        cabled = np.array(
            [(a, b) in fabric.direct for a, b in zip(legs.source.tolist(), legs.target.tolist(), strict=True)]
        )
        for row in np.flatnonzero(cabled).tolist():
            channels = fabric.direct[(int(legs.source[row]), int(legs.target[row]))]
            cables = network.count[np.array(channels) >> 1].astype(np.float64)
            flow = np.full(len(channels), legs.flow[row])
            found.add(flow, np.array(channels), legs.share[row] * cables / cables.sum())
        legs = _rows(legs, ~cabled)
        if not len(legs):
            return False
    targets, target = _targets(fabric, legs.target)
    distances = measure(fabric.graph, targets)
    hashed = network.design.policy.ecmp == "hash"
    row, uplink = _nearest_uplinks(fabric, distances, legs.source, target)
    reached = np.zeros(len(legs), dtype=bool)
    reached[row] = True
    found.lost.append(legs.flow[~reached])
    labels = _labels(legs)
    if hashed:
        row, uplink, part = _draw(row, uplink, fabric.cables, labels, network.design.policy.hash_seed)
    else:
        part = _by_cables(fabric, row, uplink, len(legs))
    found.add(legs.flow[row], fabric.out[uplink], legs.share[row] * part)
    switch, goal = fabric.to_switch[uplink], target[row]
    if not hashed:
        pair = switch * len(targets) + goal
        _, first, which = np.unique(pair, return_index=True, return_inverse=True)
        paths = split_paths(
            fabric.graph, distances, np.arange(len(first)), switch[first], goal[first], np.ones(len(first))
        )
        size = np.bincount(paths.request, minlength=len(first))
        entries = int(size[which].sum())
        merged = found.sums and entries > MERGED_LIMIT
        if entries > ENTRIES_LIMIT and not merged:
            hashed = True
        else:
            if merged:
                stands = np.bincount(which, legs.share[row] * part, len(first)).astype(np.float64)[paths.request]
                found.merged.append((legs.flow[row[first]][paths.request], paths.channel, stands * paths.share, stands))
            else:
                again, entry = _expand(which, paths.request, size)
                share = (legs.share[row] * part)[again] * paths.share[entry]
                found.add(legs.flow[row[again]], paths.channel[entry], share)
            again, entry = _expand(which, paths.last_request, np.bincount(paths.last_request, minlength=len(first)))
            _arrive(fabric, legs, row[again], paths.last_switch[entry], part[again] * paths.last_share[entry], found)
            return False
    paths = hashed_paths(fabric.graph, distances, labels[row], switch, goal, network.design.policy.hash_seed)
    at = paths.request
    found.add(legs.flow[row[at]], paths.channel, (legs.share[row] * part)[at] * paths.share)
    at = paths.last_request
    _arrive(fabric, legs, row[at], paths.last_switch, part[at] * paths.last_share, found)
    return network.design.policy.ecmp != "hash"


def _arrive(fabric: Fabric, legs: Legs, row: Int, switch: Int, part: Float, found: _Collected) -> None:
    """The last cable, from the switch where traffic arrives to the gateway; parallel ones share it."""
    span = len(fabric.graph.start)
    key = fabric.gateway * span + fabric.to_switch
    wanted = legs.target[row] * span + switch
    low, high = np.searchsorted(key, wanted), np.searchsorted(key, wanted, side="right")
    fan = high - low
    again = np.repeat(np.arange(len(row)), fan)
    uplink = np.arange(len(again)) - np.repeat(np.cumsum(fan) - fan, fan) + np.repeat(low, fan)
    weight = fabric.cables[uplink].astype(np.float64)
    total = np.bincount(again, weight, len(row))
    share = (legs.share[row] * part)[again] * weight / total[again]
    found.add(legs.flow[row[again]], fabric.out[uplink] ^ 1, share)


@dataclass(frozen=True, slots=True, eq=False)
class Lanes:
    """What trips between gateways have in common: the ways from a gateway up to the switches before another.

    Parameters
    ----------
    lane : (n_trips,) the lane each trip takes
    lane_of, channel, share : (nnz,) what lanes put on channels per byte
    trip_of, last_channel, last_share : (nnz_last,) what each trip puts on the last cables by itself
    """

    n_lanes: int
    lane: Int
    lane_of: Int
    channel: Int
    share: Float
    trip_of: Int
    last_channel: Int
    last_share: Float


def lanes_of(network: Network, source: Int, target: Int) -> Lanes:
    """The lanes of trips from gateways to others behind switches, split over all shortest ways; lost ones have none.

    Parameters
    ----------
    source, target : (n_trips,) gateways
    """
    fabric = find_fabric(network)
    sets, goal = _targets(fabric, target)
    distances = measure(fabric.graph, sets)
    key = source * len(sets) + goal
    _, first, lane = np.unique(key, return_index=True, return_inverse=True)
    # without the last cables, a lane is a trip whose own number is that of the lane
    n = len(first)
    legs = Legs(np.arange(n), source[first], target[first], np.ones(n))
    found = _Collected(sums=False)
    row, switch, part = _to_last_switches(fabric, distances, legs, goal[first], found)
    own = np.argsort(row, kind="stable")
    size = np.bincount(row, minlength=n)
    head = np.cumsum(size) - size
    fan = size[lane]
    trip = np.repeat(np.arange(len(lane)), fan)
    entry = own[np.arange(len(trip)) - np.repeat(np.cumsum(fan) - fan - head[lane], fan)]
    whole = Legs(np.arange(len(lane)), source, target, np.ones(len(lane)))
    last = _Collected(sums=False)
    _arrive(fabric, whole, trip, switch[entry], part[entry], last)
    ways, ends = found.done(False), last.done(False)
    return Lanes(n, lane, ways.flow, ways.channel, ways.share, ends.flow, ends.channel, ends.share)


def _to_last_switches(
    fabric: Fabric, distances: Distances, legs: Legs, goal: Int, found: _Collected
) -> tuple[Int, Int, Float]:
    """The ways of legs up to the switches before their targets: row in `legs`, switch, share that arrives there."""
    row, uplink = _nearest_uplinks(fabric, distances, legs.source, goal)
    part = _by_cables(fabric, row, uplink, len(legs))
    found.add(legs.flow[row], fabric.out[uplink], part)
    start = np.arange(len(row))
    paths = split_paths(fabric.graph, distances, start, fabric.to_switch[uplink], goal[row], np.ones(len(row)))
    found.add(legs.flow[row[paths.request]], paths.channel, part[paths.request] * paths.share)
    return row[paths.last_request], paths.last_switch, part[paths.last_request] * paths.last_share


def _targets(fabric: Fabric, gateways: Int) -> tuple[list[tuple[int, ...]], Int]:
    """Distinct sets of switches the gateways are cabled to, and the set of each gateway."""
    unique, which = np.unique(gateways, return_inverse=True)
    low = fabric.uplink_start[unique]
    fan = fabric.uplink_start[unique + 1] - low
    of = np.zeros(len(unique), dtype=np.int64)
    sets: list[tuple[int, ...]] = []
    for width in np.unique(fan).tolist():
        rows = np.flatnonzero(fan == width)
        switches = fabric.to_switch[low[rows][:, None] + np.arange(width)]
        alike, number = np.unique(switches, axis=0, return_inverse=True)
        of[rows] = len(sets) + number.ravel()
        sets += [tuple(row) for row in alike.tolist()]
    return sets, of[which]


def _nearest_uplinks(fabric: Fabric, distances: Distances, gateways: Int, goal: Int) -> tuple[Int, Int]:
    """Uplinks from which the goal is fewest hops away: row in `gateways`, uplink; none where there is no way."""
    row, uplink = _uplinks(fabric, gateways)
    far = distances.of(fabric.to_switch[uplink], goal[row])
    nowhere = np.iinfo(np.int64).max
    far[far < 0] = nowhere
    nearest = np.full(len(gateways), nowhere)
    np.minimum.at(nearest, row, far)
    good = (far == nearest[row]) & (far < nowhere)
    return row[good], uplink[good]


def _by_cables(fabric: Fabric, row: Int, uplink: Int, count: int) -> Float:
    """The share of each uplink among those of its row: as many parts as it has cables [1]."""
    weight = fabric.cables[uplink].astype(np.float64)
    return weight / np.bincount(row, weight, count)[row]


def _uplinks(fabric: Fabric, gateways: Int) -> tuple[Int, Int]:
    """All uplinks of each gateway: row in `gateways`, uplink."""
    fan = fabric.uplink_start[gateways + 1] - fabric.uplink_start[gateways]
    row = np.repeat(np.arange(len(gateways)), fan)
    return row, np.arange(len(row)) - np.repeat(np.cumsum(fan) - fan, fan) + np.repeat(
        fabric.uplink_start[gateways], fan
    )


def _labels(legs: Legs) -> Int:
    """What switches hash: flow and gateways, not the order of routing, so that edits elsewhere keep it."""
    return (mix(legs.source, legs.target, legs.flow) >> np.uint64(1)).astype(np.int64)


def _draw(row: Int, uplink: Int, cables: Int, labels: Int, seed: int) -> tuple[Int, Int, Float]:
    """One of the uplinks of each row, by a hash, each cable equally likely. Rows are ascending."""
    rows, head = np.unique(row, return_index=True)
    chance = draw(seed, labels[rows])
    upto = np.cumsum(cables[uplink])
    before = np.concatenate([[0], upto])[head]
    after = np.concatenate([upto[head[1:] - 1], upto[-1:]])
    chosen = np.searchsorted(upto, before + chance * (after - before), side="right")
    return rows, uplink[chosen], np.ones(len(rows))


def _expand(which: Int, owner: Int, size: Int) -> tuple[Int, Int]:
    """For rows that share results: row number and entry number for every entry of every row."""
    order = np.argsort(owner, kind="stable")
    head = np.cumsum(size) - size
    fan = size[which]
    again = np.repeat(np.arange(len(which)), fan)
    entry = order[np.arange(len(again)) - np.repeat(np.cumsum(fan) - fan, fan) + np.repeat(head[which], fan)]
    return again, entry
