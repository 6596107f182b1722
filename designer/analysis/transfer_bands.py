"""How far the rates of a transfer may be off: by what binds each flow, and never beyond what links can pass."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from designer.analysis.capacities import SPREAD
from designer.analysis.efficiency import N_PLACEMENTS, P2P
from designer.analysis.flows import Allocation, Binding
from designer.analysis.transfer_problem import Problem
from designer.formulas.transfer.achievable_fraction import both_directions_share, product
from designer.sources import Status

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


def rate_band(problem: Problem, allocation: Allocation, bottleneck: Binding) -> tuple[Float, Float, tuple[str, ...]]:
    """Rates if what binds each flow achieved the low or the high end of its fraction and capacity."""
    network = problem.network
    rate = allocation.rate
    low, high = np.ones(len(rate)), np.ones(len(rate))
    owner = np.repeat(np.arange(len(rate)), np.diff(bottleneck.ptr))
    alive = np.flatnonzero(problem.alive)
    ratio: dict[tuple[int, int, int], tuple[float, float]] = {}
    sources: set[str] = set()
    code = problem.protocol[alive] * N_PLACEMENTS + problem.placement[alive]
    lows, highs = np.empty(len(owner)), np.empty(len(owner))
    definition = _definitions(problem, bottleneck.resource)
    in_part = (bottleneck.resource >= network.n_link_resources) & (bottleneck.resource < network.n_resources)
    for d, c in np.unique(np.stack([definition, code[owner]], axis=1), axis=0).tolist():
        rows = (definition == d) & (code[owner] == c)
        key = (d, c // N_PLACEMENTS, c % N_PLACEMENTS)
        if key not in ratio:
            ratio[key] = _ratio(problem, key, sources)
        lows[rows], highs[rows] = ratio[key]
    for k, limit in enumerate(problem.limits):
        if limit.band is not None:
            rows = bottleneck.resource == network.n_resources + k
            lows[rows], highs[rows] = limit.band
    lows[in_part], highs[in_part] = _of_parts(problem, bottleneck.resource[in_part], alive[owner[in_part]])
    np.minimum.at(low, owner, lows)
    # With a tie the flow rises only as far as the least of them.
    tops = np.full(len(rate), np.inf)
    np.minimum.at(tops, owner, highs)
    high = np.where(np.isfinite(tops), tops, 1.0)
    for link in network.net.link_defs:
        if link.source:
            sources.add(link.source)
    high = _possible(problem, rate, rate * np.maximum(high, low))
    return rate * low, high, tuple(sorted(sources))


def _of_parts(problem: Problem, resource: Int, flow: Int) -> tuple[Float, Float]:
    """Bands of parts that bind flows, as the parts state them for reading or writing."""
    network = problem.network
    part = network.parts_inside(resource)
    target = problem.traffic.target[flow]
    written = (target if problem.fold is None else problem.fold.part(target)[0]) == part
    definition = network.net.part_def[part]
    ends: list[Float] = []
    for end in range(2):
        read = np.array([r.read_band[end] if r else 1.0 for r in network.part_resources])
        write = np.array([r.write_band[end] if r else 1.0 for r in network.part_resources])
        ends.append(np.where(written, write[definition], read[definition]))
    return ends[0], ends[1]


def _possible(problem: Problem, rate: Float, high: Float) -> Float:
    """The upper ends, drawn back to what all links and parts can pass together if every flow reached its own."""
    owner, resource, passing = problem.passing
    capacity = problem.incidence.capacity
    now, then = (np.bincount(resource, passing * each[owner], len(capacity)) / capacity for each in (rate, high))
    with np.errstate(divide="ignore", invalid="ignore"):
        room = np.where(then > 1, np.clip((1 - now) / (then - now), 0.0, 1.0), 1.0)
    share = np.ones(len(rate))
    np.minimum.at(share, owner, np.where(passing > 0, room[resource], 1.0))
    return rate + share * (high - rate)


def _definitions(problem: Problem, resource: Int) -> Int:
    """Link definition of each resource; −1 for parts and limits, −2 − definition for both directions of a link."""
    network = problem.network
    found = np.full(len(resource), -1, dtype=np.int64)
    for row in np.flatnonzero(np.isin(resource, list(problem.both_ways))).tolist() if problem.both_ways else ():
        found[row] = -2 - problem.both_ways[int(resource[row])]
    links = resource < network.n_link_resources
    link = np.searchsorted(network.first_resource, resource[links], side="right") - 1
    found[links] = network.net.link_def[link]
    return found


def _ratio(problem: Problem, key: tuple[int, int, int], sources: set[str]) -> tuple[float, float]:
    definition, protocol, placement = key
    shared = definition < -1
    if shared:
        definition = -2 - definition
    elif definition < 0:
        spread = SPREAD[Status.SECONDARY].value
        sources.add("assumed-spread")
        return 1 - spread, 1 + spread
    constant = problem.efficiencies.constant(definition, protocol, placement)
    if shared:
        generation = problem.network.net.link_defs[definition].generation or 0
        constant = product(constant, both_directions_share(generation, peers=protocol == P2P))
    status = problem.network.link_facts[definition].status
    spread = SPREAD[status].value if status in (Status.UNVERIFIED, Status.ASSUMED) else 0.0
    sources.add(constant.source)
    if spread:
        sources.add("assumed-spread")
    return constant.low / constant.value * (1 - spread), constant.high / constant.value * (1 + spread)
