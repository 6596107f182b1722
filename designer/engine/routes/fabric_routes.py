"""Routes from gateway to gateway, across the switches of fabrics."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.engine.network import Network
from designer.engine.network.hashing import draw, mix
from designer.engine.routes.gateways import Fabric, find_fabric
from designer.engine.routes.legs import Collected, Float, Int, Legs
from designer.engine.routes.routing.fabric import Distances, hashed_paths, measure, split_paths
from designer.engine.routes.structure import STRUCTURES_LIMIT, digest, hashed_by
from designer.memo import Store, memo

#: entries of paths kept for each fabric: 24 MB
PATHS_LIMIT: Final = 1_000_000
#: more entries than this are not split over all paths but hashed, so that memory stays bounded
ENTRIES_LIMIT: Final = 40_000_000

#: where only sums over flows are asked for, more entries than this are added up
MERGED_LIMIT: Final = 250_000


@memo(most=STRUCTURES_LIMIT)
def _kept_trunks(_fabric: Fabric) -> Store[Trunks]:
    return Store(PATHS_LIMIT)


def across(network: Network, fabric: Fabric, legs: Legs, found: Collected) -> bool:
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
        legs = legs.chosen(~cabled)
        if not len(legs):
            return False
    hashed, seed, pieces = hashed_by(network.design.policy)
    legs, labels = _in_pieces(legs, pieces)
    targets, target = _targets(fabric, legs.target)
    distances = measure(fabric.graph, targets)
    row, uplink = _nearest_uplinks(fabric, distances, legs.source, target)
    reached = np.zeros(len(legs), dtype=bool)
    reached[row] = True
    found.lost.append(legs.flow[~reached])
    if hashed:
        row, uplink, part = _draw(row, uplink, fabric.cables, labels, seed)
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
                merged_share = np.bincount(which, legs.share[row] * part, len(first)).astype(np.float64)[paths.request]
                found.merged.append(
                    (legs.flow[row[first]][paths.request], paths.channel, merged_share * paths.share, merged_share)
                )
            else:
                again, entry = _expand(which, paths.request, size)
                share = (legs.share[row] * part)[again] * paths.share[entry]
                found.add(legs.flow[row[again]], paths.channel[entry], share)
            again, entry = _expand(which, paths.last_request, np.bincount(paths.last_request, minlength=len(first)))
            _arrive(fabric, legs, row[again], paths.last_switch[entry], part[again] * paths.last_share[entry], found)
            return False
    paths = hashed_paths(fabric.graph, distances, labels[row], switch, goal, seed)
    at = paths.request
    found.add(legs.flow[row[at]], paths.channel, (legs.share[row] * part)[at] * paths.share)
    at = paths.last_request
    _arrive(fabric, legs, row[at], paths.last_switch, part[at] * paths.last_share, found)
    return network.design.policy.ecmp != "hash"


def _arrive(fabric: Fabric, legs: Legs, row: Int, switch: Int, part: Float, found: Collected) -> None:
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
class Trunks:
    """What crossings between gateways have in common: the paths from a gateway up to the switches before another.

    Parameters
    ----------
    trunk : (n_crossings,) the trunk each crossing takes
    trunk_of, channel, share : (nnz,) what trunks put on channels per byte
    crossing_of, last_channel, last_share : (nnz_last,) what each crossing puts on the last cables by itself
    """

    n_trunks: int
    trunk: Int
    trunk_of: Int
    channel: Int
    share: Float
    crossing_of: Int
    last_channel: Int
    last_share: Float


def trunks_of(network: Network, source: Int, target: Int) -> Trunks:
    """The trunks of crossings from gateways to others behind switches, over all shortest paths; lost ones have none.

    Parameters
    ----------
    source, target : (n_crossings,) gateways
    """
    fabric = find_fabric(network)
    kept, asked = _kept_trunks(fabric), digest(source, target)
    known = kept.get(asked)
    if known is None:
        known = _trunks(fabric, source, target)
        kept.keep(asked, known, len(known.channel) + len(known.last_channel))
    return known


def _trunks(fabric: Fabric, source: Int, target: Int) -> Trunks:
    sets, goal = _targets(fabric, target)
    distances = measure(fabric.graph, sets)
    key = source * len(sets) + goal
    _, first, trunk = np.unique(key, return_index=True, return_inverse=True)
    # without the last cables, a trunk is a crossing whose own number is that of the trunk
    n = len(first)
    legs = Legs(np.arange(n), source[first], target[first], np.ones(n))
    found = Collected(sums=False)
    row, switch, part = _to_last_switches(fabric, distances, legs, goal[first], found)
    own = np.argsort(row, kind="stable")
    size = np.bincount(row, minlength=n)
    head = np.cumsum(size) - size
    fan = size[trunk]
    crossing = np.repeat(np.arange(len(trunk)), fan)
    entry = own[np.arange(len(crossing)) - np.repeat(np.cumsum(fan) - fan - head[trunk], fan)]
    whole = Legs(np.arange(len(trunk)), source, target, np.ones(len(trunk)))
    last = Collected(sums=False)
    _arrive(fabric, whole, crossing, switch[entry], part[entry], last)
    paths, ends = found.done(False), last.done(False)
    return Trunks(n, trunk, paths.flow, paths.channel, paths.share, ends.flow, ends.channel, ends.share)


def _to_last_switches(
    fabric: Fabric, distances: Distances, legs: Legs, goal: Int, found: Collected
) -> tuple[Int, Int, Float]:
    """The paths of legs up to the switches before their targets: row in `legs`, switch, share that arrives there."""
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
        if width == 1:
            # rows of one number need not be compared as rows
            equal, number = np.unique(switches[:, 0], return_inverse=True)
            equal = equal[:, None]
        else:
            equal, number = np.unique(switches, axis=0, return_inverse=True)
        of[rows] = len(sets) + number.ravel()
        sets += [tuple(row) for row in equal.tolist()]
    return sets, of[which]


def _nearest_uplinks(fabric: Fabric, distances: Distances, gateways: Int, goal: Int) -> tuple[Int, Int]:
    """Uplinks from which the goal is fewest hops away: row in `gateways`, uplink; none where there is no path."""
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


def _in_pieces(legs: Legs, pieces: int) -> tuple[Legs, Int]:
    """Legs cut into equal pieces, and the label of each piece; those of the first are those of uncut legs."""
    labels = _labels(legs)
    if pieces == 1:
        return legs, labels
    number = np.repeat(np.arange(pieces), len(legs))
    cut = Legs(
        np.tile(legs.flow, pieces),
        np.tile(legs.source, pieces),
        np.tile(legs.target, pieces),
        np.tile(legs.share, pieces) / pieces,
    )
    mixed = (mix(np.tile(labels, pieces), number) >> np.uint64(1)).astype(np.int64)
    return cut, np.where(number == 0, np.tile(labels, pieces), mixed)


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
