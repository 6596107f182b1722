"""Rings over the accelerators of one island: which neighbours talk, and what share of a rank's traffic each hop takes.

On a switched domain one order is as good as any. On a full mesh of equal links every pair of ranks is used in the same
way (a
fractional packing of rings). On a partial mesh such as the hybrid cube mesh, edge-disjoint rings are packed as far as
the link counts allow. Where neither fills the links of a rank, as on a mesh with one wider bundle, rings share the
links in the proportions that carry most. Where accelerator links cannot close a ring, the ring goes from neighbour to
nearest neighbour.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.catalog.parttype import Capability
from designer.engine.network.capacities import ACCELERATOR
from designer.engine.network.islands import GRAPHS_LIMIT, LocalGraph, LocalShape
from designer.engine.routes.routing.host_paths import Rules, find_cost, find_segment
from designer.formulas.collectives import PathClass
from designer.memo import memo

#: bounds of the search for rings in a partial mesh; a full mesh of eight has so many
CYCLES_LIMIT: Final = 2520
RANKS_LIMIT: Final = 16
STEPS_LIMIT: Final = 200_000
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
    xgmi = "xgmi" in kinds
    n = len(ranks)
    counts = {tuple(sorted(pair)): c for pair, c in links.items()}
    full = len(counts) == n * (n - 1) // 2
    path = PathClass.NVLINK_MESH if full else PathClass.NVLINK_RINGS
    path = PathClass.XGMI if xgmi else path
    if full and len(set(counts.values())) == 1:
        return Rings(tuple((a, b, 1 / (n - 1)) for a in ranks for b in ranks if a != b), path)
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
    return Rings(shared, path) if shared else _by_neighbours(graph, ranks, rules, bool(links))


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


def _by_neighbours(graph: LocalGraph, ranks: Sequence[int], rules: Rules, some_direct: bool) -> Rings:
    """From each rank to the nearest one not yet visited."""
    order, left = [ranks[0]], list(ranks[1:])
    while left:
        costs = [(_or_far(find_cost(graph.shape, order[-1], r, rules)), i) for i, r in enumerate(left)]
        order.append(left.pop(min(costs)[1]))
    hops = _close_ring(order)
    fast = [_is_direct(graph, a, b, rules) for a, b, _ in hops]
    if all(fast):
        return Rings(hops, PathClass.NVLINK_MESH)
    # hop i leaves rank i, hop i − 1 reaches it: one way where each rank has one of both on an accelerator link
    one_way = all(fast[i] or fast[i - 1] for i in range(len(fast)))
    return Rings(hops, None, some_direct and any(fast) and one_way)


def _or_far(cost: int | None) -> int:
    return STEPS_LIMIT if cost is None else cost


def _is_direct(graph: LocalGraph, a: int, b: int, rules: Rules) -> bool:
    segment = find_segment(graph, a, b, rules)
    return segment is not None and all(graph.shape.links[c >> 1] in ("nvlink", "xgmi") for c in segment.channels)
