"""Paths inside an island, by cost and transit rules; equal paths share traffic by what they carry.

GPUs, NICs, memories and drives are ends, not thoroughfares: whether traffic may pass through a part is said by its
kind. Traffic is split by what each way carries to its end: a GPU's NVLinks have fixed shares over the NVSwitches
(4, 5, 5, 4 of 18), and links that the other GPU has no counterpart of take nothing from the rest.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from designer.catalog.partkind import link_kinds
from designer.catalog.parttype import Capability
from designer.engine.network.capacities import ACCELERATOR, DOMAINS, HOST
from designer.engine.network.islands import GRAPHS_LIMIT, LocalGraph, LocalShape, Step
from designer.memo import memo

#: cost of a step over an accelerator link; no step costs less
ACCELERATOR_COST: Final = 1
#: extra cost of going through a GPU that relays for its neighbours
_RELAY_COST: Final = 2
#: segments kept of one class of islands: all pairs of some 250 parts
_SEGMENTS_LIMIT: Final = 1 << 16
_TREES_LIMIT: Final = 1 << 12


@dataclass(frozen=True, slots=True)
class Rules:
    """Policy that changes paths inside an island."""

    relay_through_gpu: bool = False
    pcie_acs: bool = False


@dataclass(frozen=True, slots=True)
class Segment:
    """A path between two parts of an island: local channels and the share of the traffic each carries."""

    channels: tuple[int, ...]
    shares: tuple[float, ...]
    cost: int


_State = tuple[int, int, bool]


@dataclass(frozen=True, slots=True)
class _Tree:
    """All cheapest paths from one part: cost of each state and part, and the states and steps before it."""

    cost: dict[_State, int]
    least: dict[int, int]
    before: dict[_State, list[tuple[_State, int]]]


@memo(most=GRAPHS_LIMIT, each=_SEGMENTS_LIMIT)
def find_segment(graph: LocalGraph, source: int, target: int, rules: Rules) -> Segment | None:
    """The cheapest path from `source` to `target`, split over equal ones; None if there is none."""
    if source == target:
        return Segment((), (), 0)
    direct = _direct_steps(graph.shape, source, target)
    if direct:
        rates = [graph.rates[step.channel >> 1] for step in direct]
        return Segment(tuple(s.channel for s in direct), tuple(rate / sum(rates) for rate in rates), direct[0].cost)
    tree = _tree(graph.shape, source, rules)
    best = tree.least.get(target)
    if best is None:
        return None
    ends = [s for s, cost in tree.cost.items() if s[0] == target and cost == best]
    paths = _steps_towards(graph, tree, ends)
    order = sorted(paths, key=tree.cost.__getitem__)
    width = _widths(paths, order)
    flow: dict[_State, float] = {(source, -1, False): 1.0}
    carried: dict[int, float] = {}
    for state in order:
        amount = flow.get(state, 0.0)
        for after, channel, capacity in paths[state]:
            part = amount * min(capacity, width.get(after, math.inf)) / width[state]
            carried[channel] = carried.get(channel, 0.0) + part
            flow[after] = flow.get(after, 0.0) + part
    return Segment(tuple(carried), tuple(carried.values()), best)


def _direct_steps(shape: LocalShape, source: int, target: int) -> list[Step]:
    """Steps over accelerator links to a neighbour, which no other way undercuts; none where there is no such link."""
    if shape.partitions[source] != shape.partitions[target]:
        return []
    steps = shape.steps[source]
    return [one for one in steps if one.to == target and one.domain == ACCELERATOR and one.cost == ACCELERATOR_COST]


def _widths(paths: Mapping[_State, list[tuple[_State, int, float]]], order: Sequence[_State]) -> dict[_State, float]:
    """What the steps from each state on carry to the end together [B/s]; states by ascending cost."""
    width: dict[_State, float] = {}
    for state in reversed(order):
        width[state] = sum(min(capacity, width.get(after, math.inf)) for after, _, capacity in paths[state])
    return width


def find_cost(shape: LocalShape, source: int, target: int, rules: Rules) -> int | None:
    """Cost of the cheapest path, None if there is none; cheaper to ask for than the path itself."""
    if source == target:
        return 0
    direct = _direct_steps(shape, source, target)
    return direct[0].cost if direct else _tree(shape, source, rules).least.get(target)


@memo(most=GRAPHS_LIMIT, each=_SEGMENTS_LIMIT)
def roots_passed(shape: LocalShape, source: int, target: int, rules: Rules) -> int | None:
    """Root complexes that the cheapest path passes: none below one PCIe switch, two between sockets; None without path.

    Of equally cheap paths the one that passes fewest counts.
    """
    if source == target or _direct_steps(shape, source, target):
        return 0
    tree = _tree(shape, source, rules)
    least = tree.least.get(target)
    if least is None:
        return None
    passed = {state: 0 for state, cost in tree.cost.items() if state[0] == target and cost == least}
    for state in sorted(tree.cost, key=tree.cost.__getitem__, reverse=True):
        if state not in passed:
            continue
        for before, _ in tree.before.get(state, ()):
            more = passed[state] + (before[0] != source and Capability.ROOT in shape.kinds[before[0]].capabilities)
            passed[before] = min(more, passed.get(before, more))
    return passed[(source, -1, False)]


def _steps_towards(graph: LocalGraph, tree: _Tree, ends: list[_State]) -> dict[_State, list[tuple[_State, int, float]]]:
    """The steps that lead from the source to `ends`, by the state they leave."""
    paths: dict[_State, list[tuple[_State, int, float]]] = {}
    todo, seen = list(ends), set(ends)
    while todo:
        state = todo.pop()
        for before, channel in tree.before.get(state, ()):
            paths.setdefault(before, []).append((state, channel, graph.rates[channel >> 1]))
            if before not in seen:
                seen.add(before)
                todo.append(before)
    return paths


@memo(most=GRAPHS_LIMIT, each=_TREES_LIMIT)
def _tree(shape: LocalShape, source: int, rules: Rules) -> _Tree:
    depth = _depth(shape) if rules.pcie_acs else None
    start: _State = (source, -1, False)
    cost: dict[_State, int] = {start: 0}
    before: dict[_State, list[tuple[_State, int]]] = {}
    queue: list[tuple[int, _State]] = [(0, start)]
    apart = _disconnected_peers(shape, source)
    relayed = _relayed(shape)
    # no number of hops that routers of accelerators make is dearer than a way over the host
    over_host = len(shape.kinds) if any(relayed) else 1
    while queue:
        spent, state = heapq.heappop(queue)
        if spent > cost[state]:
            continue
        at, arrived, from_above = state
        for step in shape.steps[at]:
            if apart and step.domain == ACCELERATOR and apart[step.to]:
                continue
            extra = 0
            if arrived >= 0:
                extra = (
                    0
                    if arrived == ACCELERATOR and relayed[step.channel >> 1]
                    else _passage(shape, at, arrived, step.domain, rules)
                )
                if extra < 0:
                    continue
            up = False
            if depth is not None:
                # With ACS a PCIe switch sends peer traffic up to the root; it never turns below.
                turns = arrived == HOST == step.domain and Capability.ROOT not in shape.kinds[at].capabilities
                if turns and not from_above and depth[step.to] > depth[at]:
                    continue
                up = depth[at] < depth[step.to]
            after: _State = (step.to, step.domain, up)
            total = spent + extra + step.cost * (1 if step.domain == ACCELERATOR else over_host)
            known = cost.get(after)
            if known is None or total < known:
                cost[after] = total
                before[after] = [(state, step.channel)]
                heapq.heappush(queue, (total, after))
            elif total == known:
                before[after].append((state, step.channel))
    least: dict[int, int] = {}
    for state, spent in cost.items():
        known = least.get(state[0])
        least[state[0]] = spent if known is None else min(known, spent)
    return _Tree(cost, least, before)


@memo(most=GRAPHS_LIMIT)
def _relayed(shape: LocalShape) -> list[bool]:
    """Which links lead on through accelerators with routers of their own. : (n_links,)"""
    known = link_kinds()
    return [name in known and known[name].relayed for name in shape.links]


def _disconnected_peers(shape: LocalShape, source: int) -> list[bool]:
    """Which accelerators the links of an accelerator do not join any more; empty where none are switched off."""
    if not any(shape.partitions) or Capability.ACCELERATE not in shape.kinds[source].capabilities:
        return []
    own = shape.partitions[source]
    accelerates = [Capability.ACCELERATE in kind.capabilities for kind in shape.kinds]
    return [one and there != own for one, there in zip(accelerates, shape.partitions, strict=True)]


def _passage(shape: LocalShape, at: int, arrived: int, leaving: int, rules: Rules) -> int:
    """Extra cost of passing through a part, −1 if it may not be passed."""
    kind = shape.kinds[at]
    if kind.passes(DOMAINS[arrived], DOMAINS[leaving]):
        return 0
    if rules.relay_through_gpu and Capability.ACCELERATE in kind.capabilities and arrived == leaving == ACCELERATOR:
        return _RELAY_COST
    return -1


@memo(most=GRAPHS_LIMIT)
def _depth(shape: LocalShape) -> list[int]:
    """Host steps from the nearest part with cores: how far below the root complex each part is."""
    far = len(shape.kinds)
    depth = [0 if Capability.ROOT in k.capabilities else far for k in shape.kinds]
    level = [i for i, d in enumerate(depth) if d == 0]
    while level:
        below: list[int] = []
        for at in level:
            for step in shape.steps[at]:
                if step.domain == HOST and depth[step.to] > depth[at] + 1:
                    depth[step.to] = depth[at] + 1
                    below.append(step.to)
        level = below
    return depth
