"""The cheapest algorithm of those that can run, as the library would choose it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import lru_cache

from designer.errors import AnalysisError
from designer.formulas.collectives import _constants as c
from designer.formulas.collectives._planning import planned_time, plans
from designer.formulas.collectives._situation import (
    AlgorithmTime,
    CollectiveKind,
    CollectiveSituation,
    CollectiveTime,
    Launch,
    Protocol,
)
from designer.formulas.collectives._terms import fabric, generation, generation_name
from designer.formulas.formula import Formula
from designer.registry import discover

#: built by frameworks from sub-groups; only chosen when asked for
NOT_CHOSEN = frozenset({"hierarchical"})


def bus_factor(kind: CollectiveKind, ranks: int) -> float:
    """Bus bandwidth ÷ algorithm bandwidth in the sense of nccl-tests [1]."""
    if kind is CollectiveKind.ALL_REDUCE:
        return 2 * (ranks - 1) / ranks
    if kind in (CollectiveKind.BROADCAST, CollectiveKind.SEND_RECV):
        return 1.0
    return (ranks - 1) / ranks


def sources_of(algorithm: str) -> tuple[str, ...]:
    """Keys of the sources that the time of an algorithm rests on."""
    return (
        ("gaudi-collectives", "assumed-collectives") if algorithm == "on-chip" else ("nccl-tuning", "collectives-fit")
    )


def collective_time(
    situation: CollectiveSituation,
    algorithms: frozenset[str] | None = None,
    protocols: frozenset[Protocol] | None = None,
) -> CollectiveTime:
    """Time, bandwidths and 80 % band of a collective with its cheapest algorithm [s, B/s].

    Parameters
    ----------
    situation
        What runs where.
    algorithms, protocols
        Restrict the choice, as ``NCCL_ALGO`` and ``NCCL_PROTO`` do; by default all the library would choose from.

    Raises
    ------
    AnalysisError
        If none of the algorithms allowed can run.
    """
    candidates = _candidates(situation)
    if situation.ranks == 1:
        return _result(situation, AlgorithmTime("none", Protocol.SIMPLE, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0), ())
    allowed = tuple(
        one
        for one in candidates
        if (one.algorithm in algorithms if algorithms is not None else one.algorithm not in NOT_CHOSEN)
        and (protocols is None or one.protocol in protocols)
    )
    chosen = _planned(situation, allowed)
    if not chosen:
        raise AnalysisError(
            f"no allowed algorithm can run {situation.kind} on {situation.ranks} ranks",
            place="algorithms",
            remedy="allow one of " + ", ".join(sorted({f"{one.algorithm} ({one.protocol})" for one in candidates})),
        )
    return _result(situation, chosen[0], candidates, chosen)


def _planned(situation: CollectiveSituation, candidates: tuple[AlgorithmTime, ...]) -> tuple[AlgorithmTime, ...]:
    """What the plan of the library leaves to choose from: all within a margin of its best, cheapest first.

    Notes
    -----
    The plan rounds speeds of channels and knows host and release, which a drawing does not, so what it puts close
    together cannot be separated.
    """
    if not plans(situation):
        return candidates
    drawn = situation
    if situation.planned is not None:
        drawn = replace(situation.planned, kind=situation.kind, message=situation.message)
    times = {one: planned_time(drawn, one) for one in candidates}
    margin = c.PLAN_MARGIN if situation.servers <= 2 else c.PLAN_MARGIN_SERVERS
    most = min(times.values(), default=math.inf) * (1 + margin.value)
    return tuple(one for one in candidates if times.get(one, math.inf) <= most)


# the same group is asked for again on every redraw
@lru_cache
def _candidates(situation: CollectiveSituation) -> tuple[AlgorithmTime, ...]:
    formulas = discover("designer.formulas.collectives.algorithms", "FORMULA", Formula).values()
    times: list[AlgorithmTime] = [time for formula in formulas for time in formula.function(situation)]
    # the library of such chips knows no others
    times = [one for one in times if one.algorithm == "on-chip"] or times
    spread = _spread(situation)
    times = [_wider(one, spread) for one in times]
    if situation.launch is Launch.GRAPH:
        times = [_in_graph(one) for one in times]
    if generation(situation.architecture) > c.NEWEST_FITTED.value:
        times = [_maybe_longer(one) for one in times]
    times.sort(key=lambda one: (one.time, one.algorithm, one.protocol))
    if situation.launch is Launch.ONE_PROCESS:
        # after the choice, which does not know who launches
        times = [_in_turn(one, situation.ranks_per_server) for one in times]
    return tuple(times)


def _spread(situation: CollectiveSituation) -> float:
    """Log spread of what no measurement of this machine, generation of GPU or fabric was fitted for [1]."""
    parts = [c.SPREAD_MACHINES.value]
    if situation.servers > 1:
        parts.append(c.SPREAD_SERVERS.value)
    if generation_name(situation.architecture) not in c.FITTED_GENERATIONS:
        parts.append(c.SPREAD_GENERATION.value)
    if fabric(situation) not in c.FITTED_FABRICS:
        parts.append(c.SPREAD_FABRIC.value)
    return math.hypot(*parts)


def _in_turn(one: AlgorithmTime, launches: float) -> AlgorithmTime:
    """The same with so many launches by one thread for each call: no call takes less than they do."""
    each = c.LAUNCH_EACH
    waiting = max(0.0, launches * each.value - one.time)
    return replace(
        one,
        time=one.time + waiting,
        low=max(one.low, launches * each.low),
        high=max(one.high, launches * each.high),
        latency_term=one.latency_term + waiting,
        launch=one.launch + waiting,
    )


def _in_graph(one: AlgorithmTime) -> AlgorithmTime:
    """The same launched as part of a graph: no host in between, whose delays are the high end of a launch."""
    here, host = c.LAUNCH_GRAPH, c.LAUNCH
    sooner = one.launch - here.value
    time = one.time - sooner
    more = math.sqrt(max(0.0, (one.high - one.time) ** 2 - (host.high - host.value) ** 2))
    return replace(
        one,
        time=time,
        low=max(one.floor, min(time, one.low - sooner)),
        high=time + math.hypot(more, here.high - here.value),
        latency_term=one.latency_term - sooner,
        launch=here.value,
    )


def _wider(one: AlgorithmTime, spread: float) -> AlgorithmTime:
    """The same time in a band that a further log spread makes wider."""
    shorter = math.hypot(math.log(one.time / one.low), spread)
    longer = math.hypot(math.log(one.high / one.time), spread)
    return replace(one, low=max(one.floor, one.time * math.exp(-shorter)), high=one.time * math.exp(longer))


def _maybe_longer(one: AlgorithmTime) -> AlgorithmTime:
    """The same time in a band that holds plans of the library for small and middle messages that are not known."""
    waiting = max(0.0, 1 - one.bandwidth_term / one.time) if one.time > 0 else 0.0
    longer = math.hypot(math.log(one.high / one.time), c.SPREAD_NEWER.value * math.sqrt(waiting))
    return replace(one, high=one.time * math.exp(longer))


def _result(
    situation: CollectiveSituation,
    best: AlgorithmTime,
    candidates: tuple[AlgorithmTime, ...],
    allowed: tuple[AlgorithmTime, ...] = (),
) -> CollectiveTime:
    def rate(seconds: float) -> float:
        return situation.message / seconds if seconds else 0.0

    factor = bus_factor(situation.kind, situation.ranks)
    return CollectiveTime(
        algorithm=best.algorithm,
        protocol=best.protocol,
        time=best.time,
        low=best.low,
        high=best.high,
        algorithm_bandwidth=rate(best.time),
        bus_bandwidth=factor * rate(best.time),
        bus_low=factor * rate(best.high),
        bus_high=factor * rate(best.low),
        latency_term=best.latency_term,
        bandwidth_term=best.bandwidth_term,
        pipeline_term=best.pipeline_term,
        candidates=candidates,
        floor=best.floor,
        allowed=allowed,
    )


FORMULA = Formula(
    name="collective-time",
    title="Time of a collective with its cheapest algorithm",
    function=collective_time,
    sources=("nccl-tuning", "collectives-fit"),
    valid_when="equal servers; the group alone on its links (sharing is in the bandwidth given)",
)
