"""Who sends to whom in groups of ranks: rings inside every server, and the exchange from server to server.

Groups whose ranks sit in the same way, in servers of the same classes, send in the same way: hops are found once for
each such pattern
and moved to every group.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.partkind import Domain, link_kinds
from designer.catalog.parttype import Capability
from designer.engine.network import Network
from designer.engine.network.capacities import ACCELERATOR
from designer.engine.network.hashing import mix
from designer.engine.network.islands import GRAPHS_LIMIT, Islands, LocalGraph, LocalShape, find_islands
from designer.engine.network.partition import Partition, by_value, classes_of
from designer.engine.routes.gateways import Gateways, find_doors, nearest_door
from designer.engine.routes.legs import Legs
from designer.engine.routes.routing.host_paths import Rules, find_cost, find_segment
from designer.formulas.collectives import PathClass
from designer.memo import memo

#: bounds of the search for rings in a partial mesh; a full mesh of eight has so many
CYCLES_LIMIT: Final = 2520
RANKS_LIMIT: Final = 16
STEPS_LIMIT: Final = 200_000
#: ranks to which flows through a large mesh are computed, and how exactly, against the rate of its slowest link
FLOWS_LIMIT: Final = 512
FLOW_TOLERANCE: Final = 1e-3
#: a ring that has less than this share of the widest link is none
NOTHING_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True)
class Rings:
    """Hops between places of an island.

    Parameters
    ----------
    hops
        (from, to, share): share of what a rank sends that goes over this hop; the shares leaving a rank sum to 1.
    path
        What the hops run over; None where the routes decide (PCIe).
    mixed
        True if hops over accelerator links and others alternate, so that each rank's other link carries one way only.
    """

    hops: tuple[tuple[int, int, float], ...]
    path: PathClass | None
    mixed: bool = False


#: rings kept of one class of islands
_RINGS_LIMIT: Final = 256


@memo(most=GRAPHS_LIMIT, each=_RINGS_LIMIT)
def find_rings(graph: LocalGraph, ranks: tuple[int, ...], rules: Rules) -> Rings:
    """The rings through `ranks` (places in the island), at least two."""
    shape = graph.shape
    if all(_is_switched(shape, r) for r in ranks) and all(
        _is_direct(graph, a, b, rules) for a, b, _ in _close_ring(ranks)
    ):
        return Rings(_close_ring(ranks), PathClass.NVLINK_SWITCH)
    links = _direct(graph, ranks)
    kinds = {shape.links[s.channel >> 1] for r in ranks for s in shape.steps[r] if s.domain == ACCELERATOR}
    n = len(ranks)
    counts = {tuple(sorted(pair)): c for pair, c in links.items()}
    full = len(counts) == n * (n - 1) // 2
    path = _path_class(kinds, full)
    if full and len(set(counts.values())) == 1:
        return Rings(tuple((a, b, 1 / (n - 1)) for a in ranks for b in ranks if a != b), path)
    if n > RANKS_LIMIT and _carries_evenly(ranks, links):
        rates = dict.fromkeys(ranks, 0.0)
        for (a, _), capacity in links.items():
            rates[a] += capacity
        return Rings(tuple((a, b, capacity / rates[a]) for (a, b), capacity in links.items()), path)
    cycles = _cycles(ranks, counts)
    packed = _pack(ranks, counts, cycles)
    # no packing of rings carries more than the links of the rank that has least
    most = min((sum(c for pair, c in counts.items() if r in pair) for r in ranks), default=0.0)
    if packed and 2 * len(packed) * min(counts.values()) >= most:
        share = 1 / (2 * len(packed))
        hops = tuple(
            hop for cycle in packed for a, b, _ in _close_ring(cycle) for hop in ((a, b, share), (b, a, share))
        )
        return Rings(hops, path)
    shared = _share(ranks, counts, cycles)
    return Rings(shared, path) if shared else _by_neighbours(graph, ranks, rules, kinds, bool(links))


def _path_class(kinds: set[str], full: bool) -> PathClass:
    """What hops over direct links of some kinds run over; `full` where they join all pairs."""
    known = link_kinds()
    if any(kind in known and known[kind].relayed for kind in kinds):
        return PathClass.TORUS
    if "gaudi_link" in kinds and full:
        return PathClass.GAUDI
    if "xgmi" in kinds:
        return PathClass.XGMI
    return PathClass.NVLINK_MESH if full else PathClass.NVLINK_RINGS


def _close_ring(order: Sequence[int]) -> tuple[tuple[int, int, float], ...]:
    return tuple((a, b, 1.0) for a, b in zip(order, [*order[1:], order[0]], strict=True))


def _is_switched(shape: LocalShape, rank: int) -> bool:
    """True if all accelerator links of a rank end in switches."""
    ends = [s.to for s in shape.steps[rank] if s.domain == ACCELERATOR]
    return bool(ends) and all(
        Capability.SWITCH in shape.kinds[e].capabilities and Capability.ROOT not in shape.kinds[e].capabilities
        for e in ends
    )


def _direct(graph: LocalGraph, ranks: Sequence[int]) -> dict[tuple[int, int], float]:
    """Capacity of direct accelerator links between ranks, both orders of a pair."""
    inside, partition = set(ranks), graph.shape.partitions
    found: dict[tuple[int, int], float] = {}
    for rank in ranks:
        for step in graph.shape.steps[rank]:
            if step.domain == ACCELERATOR and step.to in inside and partition[rank] == partition[step.to]:
                found[(rank, step.to)] = found.get((rank, step.to), 0.0) + graph.rates[step.channel >> 1]
    return found


def _carries_evenly(ranks: Sequence[int], links: Mapping[tuple[int, int], float]) -> bool:
    """True if nothing narrows an exchange along the links between ranks more than the links of one rank.

    Notes
    -----
    Ranks that all receive what all others have are limited by the least rate between a set of them and the rest. In a
    torus that set is one rank, and its links form rings through all ranks that share none (Aubert and Schneider, 1982).
    """
    from scipy.sparse import csr_array  # slow to import, and needed for large tori alone
    from scipy.sparse.csgraph import maximum_flow

    place = {rank: k for k, rank in enumerate(ranks)}
    unit = min(links.values(), default=1.0) * FLOW_TOLERANCE
    rates = np.array([round(c / unit) for c in links.values()], np.int32)
    ends = tuple(np.array([place[pair[i]] for pair in links], np.int32) for i in (0, 1))
    graph = csr_array((rates, ends), shape=(len(ranks), len(ranks)))
    least = int(graph.sum(axis=1).min())
    if not least:
        return False
    others = range(1, len(ranks), -(-len(ranks) // FLOWS_LIMIT))
    return all(maximum_flow(graph, 0, other).flow_value >= least for other in others)


def _share(
    ranks: Sequence[int], capacity: Mapping[tuple[int, ...], float], cycles: Sequence[Sequence[int]]
) -> tuple[tuple[int, int, float], ...]:
    """Hops of rings that share links so that every rank sends most; none where no ring closes.

    Notes
    -----
    A linear program: each ring in both directions, and on a full mesh all pairs equally, by what it takes of each pair.
    """
    from scipy.optimize import linprog  # slow to import, and needed for uneven meshes alone

    columns = [{tuple(sorted(hop[:2])) for hop in _close_ring(cycle)} for cycle in cycles]
    sent = [2.0] * len(columns)
    if len(ranks) > 2 and len(capacity) == len(ranks) * (len(ranks) - 1) // 2:
        columns.append(set(capacity))
        sent.append(len(ranks) - 1.0)
    if not columns:
        return ()
    pairs = list(capacity)
    takes = np.array([[float(pair in column) for column in columns] for pair in pairs])
    wide = max(capacity.values())
    found = linprog(-np.array(sent), takes, np.array([capacity[pair] / wide for pair in pairs]), method="highs-ds")
    assert found.success, found.message
    amount = np.where(found.x > NOTHING_TOLERANCE, found.x, 0.0)
    total = float(amount @ np.array(sent))
    share = takes @ amount / total
    return tuple((a, b, s) for pair, s in zip(pairs, share.tolist(), strict=True) if s for a, b in (pair, pair[::-1]))


def _pack(
    ranks: Sequence[int], capacity: Mapping[tuple[int, ...], float], cycles: Sequence[list[int]]
) -> list[list[int]]:
    """As many of some rings, edge-disjoint, as the links allow; a bundle counts its links."""
    if not cycles:
        return []
    unit = min(capacity.values())
    left = {pair: round(c / unit) for pair, c in capacity.items()}
    # one bit a link: a ring fits where none of its links is used up
    number = {pair: k for k, pair in enumerate(left)}
    links = [[number[tuple(sorted(hop[:2]))] for hop in _close_ring(cycle)] for cycle in cycles]
    masks = [sum(1 << link for link in chosen) for chosen in links]
    free = list(left.values())
    best: list[list[int]] = []
    steps = used_up = 0
    most = min(sum(c for pair, c in left.items() if r in pair) for r in ranks) // 2

    def extend(chosen: list[list[int]], first: int) -> bool:
        nonlocal best, steps, used_up
        if len(chosen) > len(best):
            best = list(chosen)
        if len(best) >= most:
            return True
        for k in range(first, len(cycles)):
            steps += 1
            if steps > STEPS_LIMIT:
                return True
            if masks[k] & used_up:
                continue
            before = used_up
            for link in links[k]:
                free[link] -= 1
                if not free[link]:
                    used_up |= 1 << link
            done = extend([*chosen, cycles[k]], k)
            for link in links[k]:
                free[link] += 1
            used_up = before
            if done:
                return True
        return False

    extend([], 0)
    return best


def _cycles(ranks: Sequence[int], left: Mapping[tuple[int, ...], float]) -> list[list[int]]:
    """Rings through all ranks along existing links, each once (not also backwards)."""
    if len(ranks) < 3 or len(ranks) > RANKS_LIMIT:
        return []
    neighbours: dict[int, list[int]] = {r: [] for r in ranks}
    for pair in left:
        neighbours[pair[0]].append(pair[1])
        neighbours[pair[1]].append(pair[0])
    start, n = ranks[0], len(ranks)
    found: list[list[int]] = []
    stack: list[list[int]] = [[start]]
    steps = 0
    while stack and len(found) < CYCLES_LIMIT and steps < STEPS_LIMIT:
        steps += 1
        way = stack.pop()
        if len(way) == n:
            if start in neighbours[way[-1]] and way[1] < way[-1]:
                found.append(way)
            continue
        stack += [[*way, b] for b in neighbours[way[-1]] if b not in way]
    return found


def _by_neighbours(graph: LocalGraph, ranks: Sequence[int], rules: Rules, kinds: set[str], some_direct: bool) -> Rings:
    """From each rank to the nearest one not yet visited; `kinds` of the accelerator links that leave them."""
    order, left = [ranks[0]], list(ranks[1:])
    while left:
        costs = [(_or_far(find_cost(graph.shape, order[-1], r, rules)), i) for i, r in enumerate(left)]
        order.append(left.pop(min(costs)[1]))
    hops = _close_ring(order)
    fast = [_is_direct(graph, a, b, rules) for a, b, _ in hops]
    if all(fast):
        path = _path_class(kinds, full=True)
        return Rings(hops, path if path is PathClass.TORUS else PathClass.NVLINK_MESH)
    # hop i leaves rank i, hop i − 1 reaches it: one way where each rank has one of both on an accelerator link
    one_way = all(fast[i] or fast[i - 1] for i in range(len(fast)))
    return Rings(hops, None, some_direct and any(fast) and one_way)


def _or_far(cost: int | None) -> float:
    return math.inf if cost is None else cost


def _is_direct(graph: LocalGraph, a: int, b: int, rules: Rules) -> bool:
    segment = find_segment(graph, a, b, rules)
    known = link_kinds()
    names = [graph.shape.links[c >> 1] for c in segment.channels] if segment is not None else [""]
    return all(name in known and known[name].domain is Domain.ACCELERATOR for name in names)


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
