"""Who sends to whom in groups of ranks: rings inside every server, and the exchange from server to server.

Groups whose ranks sit in the same way, in servers of the same classes, send in the same way: hops are found once for
each such pattern
and moved to every group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.network import Network
from designer.engine.network.hashing import mix
from designer.engine.network.islands import Islands, LocalShape, find_islands
from designer.engine.network.partition import Partition, by_value, classes_of
from designer.engine.routes.gateways import Gateways, find_doors, nearest_door
from designer.engine.routes.legs import Legs
from designer.engine.routes.rings import Rings, find_rings
from designer.engine.routes.routing.host_paths import Rules
from designer.formulas.collectives import PathClass

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: more hops between servers than this are not routed for an exchange of all with all
EXCHANGE_LIMIT: Final = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class _Hops:
    """Hops between ranks, by their places in the group: share of what a rank (or server) sends."""

    source: Int
    target: Int
    share: Float

    @staticmethod
    def of(rows: list[tuple[int, int, float]]) -> _Hops:
        columns = tuple(zip(*rows, strict=True)) or ((), (), ())
        return _Hops(np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], np.float64))


#: rings that were found: class of island, places of the ranks, and the rings
RingsFound = tuple[tuple[int, tuple[int, ...], Rings], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """How the ranks of a group send.

    Parameters
    ----------
    places, start
        Places in the group by server, servers in order of rank; (n_servers + 1,) where each server's begin.
    inside, between
        Hops inside servers, and from each server to the next.
    senders
        Places of the ranks that send to other servers, and where those of each server begin.
    path, mixed
        What the rings inside run over, None for PCIe; whether only some hops run over accelerator links.
    rests_on
        The rings it was made of; networks connected in the same way that have the same ones have the same pattern.
    """

    places: Int
    start: Int
    inside: _Hops
    between: _Hops
    senders: tuple[Int, Int]
    path: PathClass | None
    mixed: bool
    rests_on: RingsFound = ()

    @property
    def n_servers(self) -> int:
        """How many servers the group is in."""
        return len(self.start) - 1

    def members(self) -> list[Int]:
        """Places in the group, server by server."""
        return np.split(self.places, self.start[1:-1])


def pattern_of(network: Network, ranks: Int) -> Pattern:
    """How one group sends."""
    return _pattern(network, find_islands(network), ranks)


def same_rings(network: Network, rings: RingsFound) -> bool:
    """True if some rings are what they are on this network."""
    islands, policy = find_islands(network), network.design.policy
    rules = Rules(policy.relay_through_gpu, policy.pcie_acs)
    return all(find_rings(islands.classes[cls], where, rules) == found for cls, where, found in rings)


def legs_of(network: Network, groups: Int) -> tuple[Legs, Legs, RingsFound]:
    """What all groups send inside servers and between them, each hop a flow, in the order of the groups; and the rings.

    Parameters
    ----------
    groups : (n_groups, size) ranks of each group
    """
    islands = find_islands(network)
    classes = _patterns(network, islands, groups)
    patterns = [_pattern(network, islands, groups[row]) for row in classes.first.tolist()]
    rows = classes.groups()
    rings = {(cls, where): found for p in patterns for cls, where, found in p.rests_on}
    return (
        _hops_by_group(groups, [p.inside for p in patterns], rows),
        _hops_by_group(groups, [p.between for p in patterns], rows),
        tuple((*where, found) for where, found in rings.items()),
    )


def all_with_all(network: Network, groups: Int) -> Legs:
    """What the servers of all groups send when every rank sends to every other one, in the order of the groups.

    Parameters
    ----------
    groups : (n_groups, size) ranks of each group

    Notes
    -----
    Every server sends each other one an equal share, its i-th rank to the i-th there, as libraries do that gather what
    goes to one NIC beforehand. Where these are more hops than `EXCHANGE_LIMIT`, servers at some distances represent
    all: evenly spread, so near and far ones keep their weight.
    """
    islands = find_islands(network)
    classes = _patterns(network, islands, groups)
    patterns = [_pattern(network, islands, groups[row]) for row in classes.first.tolist()]
    rows = classes.groups()
    ring = sum(len(p.between.share) * len(r) for p, r in zip(patterns, rows, strict=True))
    most = max(1, EXCHANGE_LIMIT // max(1, ring))
    return _hops_by_group(groups, [_exchange(*p.senders, most) for p in patterns], rows)


def _patterns(network: Network, islands: Islands, groups: Int) -> Partition[Int]:
    """Groups in classes of one pattern."""
    n, width = groups.shape
    if n == 1:
        return by_value(np.zeros(1, dtype=np.int64))
    island = network.island[groups].ravel()
    row, column = np.repeat(np.arange(n), width), np.tile(np.arange(width), n)
    # a server is known by the place of its first rank in the group
    servers = by_value(row * network.n_islands + island)
    kind = islands.class_of[island]
    if len(servers) > n:
        # which ranks send to other servers depends on where the gateways are
        doors = find_doors(network).signature[island]
        kind = mix(kind, doors).astype(np.int64)
    signs = mix(kind, islands.local[groups].ravel(), column[servers.lead], column)
    return by_value(np.add.reduce(signs.reshape(n, width), axis=1))


def _hops_by_group(groups: Int, hops: list[_Hops], rows: list[Int]) -> Legs:
    """The hops of each pattern in its groups, by group."""
    group = np.concatenate([np.repeat(r, len(h.share)) for h, r in zip(hops, rows, strict=True)])
    source = np.concatenate([groups[r][:, h.source].ravel() for h, r in zip(hops, rows, strict=True)])
    target = np.concatenate([groups[r][:, h.target].ravel() for h, r in zip(hops, rows, strict=True)])
    share = np.concatenate([np.tile(h.share, len(r)) for h, r in zip(hops, rows, strict=True)])
    order = np.argsort(group, kind="stable")
    return Legs(np.arange(len(group)), source[order], target[order], share[order])


def _pattern(network: Network, islands: Islands, ranks: Int) -> Pattern:
    policy = network.design.policy
    rules = Rules(policy.relay_through_gpu, policy.pcie_acs)
    island = network.island[ranks]
    server = by_value(island).of
    places = np.argsort(server, kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(server))])
    local, kind = islands.local[ranks[places]], islands.class_of[island[places[start[:-1]]]]
    kinds: set[PathClass | None] = set()
    mixed = False
    hops: list[tuple[Int, Int, Int, Float]] = []
    rests_on: list[tuple[int, tuple[int, ...], Rings]] = []
    for rows, inner in _equal_servers(kind, local, start):
        where = tuple(local[inner[0]].tolist())
        if len(where) < 2:
            continue
        cls = int(kind[rows[0]])
        rings = find_rings(islands.classes[cls], where, rules)
        rests_on.append((cls, where, rings))
        column = {place: k for k, place in enumerate(where)}
        a, b = (np.array([column[hop[end]] for hop in rings.hops], dtype=np.int64) for end in (0, 1))
        share = np.tile(np.array([hop[2] for hop in rings.hops], dtype=np.float64), len(rows))
        mine = places[inner]
        hops.append((np.repeat(rows, len(a)), mine[:, a].ravel(), mine[:, b].ravel(), share))
        kinds.add(rings.path)
        mixed = mixed or rings.mixed
    # over PCIe the way to another rank costs what the way to the NIC does: all send, as nothing measured says otherwise
    gathered = len(start) > 2 and None not in kinds
    senders = _senders(network, islands, ranks, places, start, rules) if gathered else (places, start)
    return Pattern(
        places, start, _hops_by_server(hops), _exchange(*senders), senders, _slowest(kinds), mixed, tuple(rests_on)
    )


def _hops_by_server(hops: list[tuple[Int, Int, Int, Float]]) -> _Hops:
    """Hops of servers of several kinds, server by server."""
    if not hops:
        return _Hops.of([])
    if len(hops) == 1:
        return _Hops(*hops[0][1:])
    server, source, target, share = (np.concatenate(column) for column in zip(*hops, strict=True))
    order = np.argsort(server, kind="stable")
    return _Hops(source[order], target[order], share[order])


def _equal_servers(kind: Int, local: Int, start: Int) -> list[tuple[Int, Int]]:
    """Servers of one kind whose ranks sit in the same way: their numbers, and (n, width) where the places of each
    stand."""
    found: list[tuple[Int, Int]] = []
    width = np.diff(start)
    for w in np.unique(width).tolist():
        rows = np.flatnonzero(width == w)
        inner = start[rows][:, None] + np.arange(w)
        key = np.concatenate([kind[rows][:, None], local[inner]], axis=1)
        if (key == key[0]).all():
            found.append((rows, inner))
            continue
        which = classes_of(*key.T)
        found += [(rows[mine], inner[mine]) for mine in which.groups()]
    return sorted(found, key=lambda pair: int(pair[0][0]))


def _senders(network: Network, islands: Islands, ranks: Int, places: Int, start: Int, rules: Rules) -> tuple[Int, Int]:
    """Ranks of each server that send to other servers: the nearest to each gateway, where the library's rings leave.

    By server, as places in the group and where those of each server begin.
    """
    found = find_doors(network)
    affinity = network.design.policy.rail_affinity
    home = network.island[ranks[places[start[:-1]]]]
    local, kind, doors = islands.local[ranks[places]], islands.class_of[home], found.signature[home]
    span = int(doors.max()) + 1
    size = np.diff(start)
    kept = np.ones(len(places), dtype=bool)
    for rows, inner in _equal_servers(kind * span + doors, local, start):
        where = tuple(local[inner[0]].tolist())
        if len(where) < 2:
            continue
        cls, sign = int(kind[rows[0]]), int(doors[rows[0]])
        nearest = _nearest_to_doors(islands.classes[cls].shape, where, found.doors[sign], rules, affinity)
        kept[inner] = False
        kept[inner[:, list(nearest)]] = True
        size[rows] = len(nearest)
    return places[kept], np.concatenate([[0], np.cumsum(size)])


def _nearest_to_doors(
    shape: LocalShape, where: tuple[int, ...], doors: Gateways, rules: Rules, affinity: bool
) -> tuple[int, ...]:
    """Which of some accelerators are nearest to the gateways they use; all of them where there is none."""
    near: dict[int, list[tuple[float, int]]] = {}
    for k, at in enumerate(where):
        door = nearest_door(shape, at, doors, rules, affinity)
        if door is not None:
            near.setdefault(door[0], []).append((door[1], k))
    kept = [k for costs in near.values() for cost, k in costs if cost == min(costs)[0]]
    return tuple(sorted(kept)) or tuple(range(len(where)))


def _exchange(places: Int, start: Int, distances: int = 0) -> _Hops:
    """Every server sends to the next: the i-th to the i-th, each an equal share of what a server sends.

    With `distances` every server sends to all others, or to so many of them.
    """
    n = len(start) - 1
    if n < 2:
        return _Hops.of([])
    count = min(distances, n - 1) or 1
    steps = sorted({1 + (2 * k + 1) * (n - 1) // (2 * count) for k in range(count)}) if distances else [1]
    here = np.diff(start)
    hops: list[tuple[Int, Int, Float]] = []
    for step in steps:
        width = np.maximum(here, np.roll(here, -step))
        server = np.repeat(np.arange(n), width)
        turn = np.arange(len(server)) - np.repeat(np.cumsum(width) - width, width)
        after = (server + step) % n
        source = places[start[server] + turn % here[server]]
        hops.append((source, places[start[after] + turn % here[after]], 1 / (width[server] * len(steps))))
    source, target, share = (np.concatenate(column) for column in zip(*hops, strict=True))
    return _Hops(source, target, share)


_ORDER: Final = {kind: number for number, kind in enumerate(PathClass)}


def _slowest(kinds: set[PathClass | None]) -> PathClass | None:
    """The kind of ring that holds up the others; None, where the routes decide, is PCIe."""
    if None in kinds:
        return None
    return max((k for k in kinds if k), key=_ORDER.__getitem__, default=PathClass.NVLINK_SWITCH)
