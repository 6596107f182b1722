"""Routes of many flows at once, as arrays: inside islands, through gateways, across fabrics."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from designer.engine.network import Network
from designer.engine.network.islands import Islands, find_islands, plain_classes
from designer.engine.routes.fabric_routes import across
from designer.engine.routes.gateways import Fabric, Likeness, cross, find_doors, find_fabric
from designer.engine.routes.legs import Collected, Float, Int, Legs, Routes, Segments, groups_of, join_legs
from designer.engine.routes.routing.host_paths import Rules, find_segment
from designer.engine.routes.structure import STRUCTURES_LIMIT, Structure, digest, hashed_by, structure_of
from designer.memo import Store, memo

#: entries of routes kept for each structure: 24 MB
KEPT_LIMIT: Final = 1_000_000
#: more legs than this are put in order before their paths are looked up
ORDERED_LIMIT: Final = 4096
#: entries of paths between servers kept for each fabric: 36 MB
ACROSS_LIMIT: Final = 1_500_000


def route(network: Network, legs: Legs, *, sums: bool = False, kept: bool = True) -> Routes:
    """Routes of all legs under the policy of the design; kept for networks connected in the same way.

    Parameters
    ----------
    sums
        Only what all flows together put on each channel counts, so entries may be merged where there are very many.
    kept
        False for routes that nobody will ask for again.
    """
    if not kept:
        return _route(network, legs, sums)
    usual = _plain_routes(network, legs, sums)
    if usual is not None:
        return usual
    known = _route_store(structure_of(network))
    key = digest(legs.flow, legs.source, legs.target, legs.share) + bytes([sums])
    found = known.get(key)
    if found is None or not same_segments(network, found.rests_on):
        found = _route(network, legs, sums)
        for array in (found.flow, found.channel, found.share, found.lost, found.merged_share):
            array.setflags(write=False)
        known.keep(key, found, len(found.flow))
    return found


def _plain_routes(network: Network, legs: Legs, sums: bool) -> Routes | None:
    """The routes on the plain network, where paths inside islands are as they are there."""
    if network.plain is None or plain_classes(network) is None:
        return None
    usual = route(network.plain, legs, sums=sums)
    segments = segments_on(network, usual.rests_on)
    return replace(usual, rests_on=segments) if segments is not None else None


def segments_on(network: Network, segments: Segments) -> Segments | None:
    """Paths inside islands of the plain network, by classes of this one; None where some are others here."""
    was = plain_classes(network)
    if was is None:
        return None
    here = tuple((k, a, b, way) for cls, a, b, way in segments for k, before in enumerate(was) if before == cls)
    assert network.plain is not None
    own, plain = find_islands(network).classes, find_islands(network.plain).classes
    # members that differ in nothing that matters to paths have the graph of the others
    other = tuple(one for one in here if own[one[0]] is not plain[was[one[0]]])
    return here if same_segments(network, other) else None


def same_segments(network: Network, segments: Segments) -> bool:
    """True if some paths inside islands are what they are on this network."""
    islands, policy = find_islands(network), network.design.policy
    rules = Rules(policy.relay_through_gpu, policy.pcie_acs)
    return all(find_segment(islands.classes[cls], a, b, rules) == segment for cls, a, b, segment in segments)


@memo(most=STRUCTURES_LIMIT)
def _route_store(_structure: Structure) -> Store[Routes]:
    return Store(KEPT_LIMIT)


def _route(network: Network, legs: Legs, sums: bool) -> Routes:
    islands = find_islands(network)
    policy = network.design.policy
    rules = Rules(policy.relay_through_gpu, policy.pcie_acs)
    found = Collected(sums)
    here = network.island[legs.source] == network.island[legs.target]
    _route_inside(network, islands, rules, legs.chosen(here), found)
    hashed = False
    if not here.all():
        hashed = _route_between(network, islands, rules, legs.chosen(~here), found)
    return found.done(hashed)


def _route_inside(network: Network, islands: Islands, rules: Rules, legs: Legs, found: Collected) -> None:
    """Legs whose ends are in one island: one search per class and pair of places."""
    if not len(legs):
        return
    island = network.island[legs.source]
    key = np.stack([islands.class_of[island], islands.local[legs.source], islands.local[legs.target]], axis=1)
    for (cls, a, b), rows in groups_of(key):
        segment = found.segments[cls, a, b] = find_segment(islands.classes[cls], a, b, rules)
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


class GatewayPair(NamedTuple):
    """A pair of gateways that legs may use: where they leave and enter islands, and the share of the traffic.

    ``leaves`` and ``enters`` are true where a gateway is not the end of the leg itself.
    """

    out: Int
    into: Int
    share: float
    leaves: bool
    enters: bool


def crossings(
    network: Network, islands: Islands, rules: Rules, legs: Legs, *marks: Int
) -> Iterator[tuple[Int, tuple[int, ...], list[GatewayPair]]]:
    """Legs that leave and enter at the same places, with their marks, and the gateways between their islands; none if
    nothing joins them.
    """
    doors, affinity = find_doors(network), network.design.policy.rail_affinity
    si, ti = network.island[legs.source], network.island[legs.target]
    starts = (islands.class_of[si], islands.local[legs.source], doors.signature[si])
    goals = (islands.class_of[ti], islands.local[legs.target], doors.signature[ti])
    for (cls, at, sig, other, to, other_sig, *given), rows in groups_of(np.stack([*starts, *goals, *marks], axis=1)):
        source, target = islands.classes[cls].shape, islands.classes[other].shape
        exits, entries = doors.doors[sig], doors.doors[other_sig]
        crossed = cross(source, at, exits, target, to, entries, rules, affinity, doors.storage)
        start, end = islands.part_start[si[rows]], islands.part_start[ti[rows]]
        used = [
            GatewayPair(islands.parts[start + leave], islands.parts[end + enter], share, leave != at, enter != to)
            for leave, enter, share in crossed
        ]
        yield rows, tuple(given), used


def _route_between(network: Network, islands: Islands, rules: Rules, legs: Legs, found: Collected) -> bool:
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
    _route_inside(network, islands, rules, join_legs(ends), found)
    g1, g2 = np.concatenate([p[0] for p in pairs]), np.concatenate([p[1] for p in pairs])
    outer = Legs(np.concatenate(flows), g1, g2, np.concatenate(shares))
    if len(outer) > ORDERED_LIMIT:
        # an edited member sets its legs apart: in order of the flows all are as they were
        outer = outer.chosen(np.lexsort((g2, g1, outer.flow)))
    return _route_gateways(network, fabric, outer, found)


def _route_gateways(network: Network, fabric: Fabric, outer: Legs, found: Collected) -> bool:
    """Legs from gateway to gateway: what goes on inside servers is no matter for the paths between them."""
    kept, policy = _kept_across(fabric.likeness), network.design.policy
    drawn = policy.ecmp == "hash"
    # draws go by the numbers of parts
    ends = (side if drawn else np.searchsorted(fabric.ends, side) for side in (outer.source, outer.target))
    key = digest(outer.flow, *ends, outer.share) + f"{found.sums};{hashed_by(policy)}".encode()
    known = kept.get(key)
    if known is None:
        mine = Collected(found.sums)
        if across(network, fabric, outer, mine):
            # drawn after all, as there were too many paths
            found.join(mine)
            return True
        known = mine.narrow(lambda channel: 2 * np.searchsorted(fabric.links, channel >> 1) + (channel & 1))
        kept.keep(key, known, known.entries())
    found.join(known.numbered(lambda place: 2 * fabric.links[place >> 1] + (place & 1)))
    return False


@memo(most=STRUCTURES_LIMIT)
def _kept_across(_likeness: Likeness) -> Store[Collected]:
    return Store(ACROSS_LIMIT)
