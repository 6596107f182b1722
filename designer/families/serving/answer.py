"""Serving: latency and throughput of a model at a load on the drawn accelerators, and what binds its two phases."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, Column, Curve, Flow, Rows, Table, WorkloadResult
from designer.families.collective.evaluation import flows_of, loads_of
from designer.families.serving.alone import answered, gains
from designer.families.serving.answers import Served
from designer.families.serving.bottlenecks import Phase, phases, placed_phases
from designer.families.serving.drafting import Drafted
from designer.families.serving.formulas.experts import experts_touched
from designer.families.serving.formulas.layers import prefill_area
from designer.families.serving.formulas.speculation import accepted
from designer.families.serving.frontier import Frontier
from designer.families.serving.limits import largest_load
from designer.families.serving.network_leg import together
from designer.families.serving.placement import Placement
from designer.families.serving.readings import read
from designer.families.serving.tasks import Serve
from designer.workload.program import Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A served model."""
    task = program.first(Serve)
    assert task is not None
    found = answered(
        network,
        task.operation,
        question.place,
        explained=question.explained,
        banded=question.banded,
        cancelled=question.cancelled,
    )
    served = found.served
    rate = found.metrics["requests_per_second"].value
    loads, flows, count = traffic(served, rate)
    if found.leg is not None:
        loads = together(loads, found.leg.loads(network, rate))
    result = question.result(
        found.metrics,
        found.binding,
        found.next,
        flows,
        count,
        found.findings,
        curves(served, found.front, question.cancelled) if question.curves else {},
        _tables(served),
        found.steps,
    )
    return result, loads


def _tables(served: Served) -> Mapping[str, Table]:
    if served.saturated:
        return {}
    values = read(served.runs[0], served.sent.first).values
    rows = [
        (title, values.get(mean), *(values.get(f"{what}_{p}") for p in ("p50", "p90", "p95", "p99")))
        for title, what, mean in (
            ("until the first token", "ttft", "ttft"),
            ("between tokens", "itl", "tpot"),
            ("whole answer", "latency", "latency"),
        )
    ]
    columns = (Column("time"), *(Column(name, "s") for name in ("mean", "p50", "p90", "p95", "p99")))
    return {"serving-latency": Table("Latency", columns, tuple(rows))}


# What figures of serving are drawn from: distributions, series over time, the frontier, the roofline, one request.

Float = npt.NDArray[np.float64]

#: points of a distribution, and of a series over time
_POINTS_LIMIT: Final = 100
_TIMES_LIMIT: Final = 500
#: a load that changes is one of a day
_DAY_LIMIT: Final = 24
#: how far the roof goes beyond the points
_MARGIN_LIMIT: Final = 4


def curves(
    served: Served, front: Frontier | None, cancelled: Callable[[], bool] | None = None
) -> Mapping[str, tuple[Curve, ...]]:
    """All of them; none where more is asked than can be answered."""
    if served.saturated:
        return {}
    found = {**_distributions(served), **_over_time(served), "roofline": _roofline(served)}
    found["serving-request"] = _request(served)
    if front is not None:
        found["serving-frontier"] = _frontier(front, served.serving.limits.percentile)
    if isinstance(served.placement.timed, Drafted):
        found["serving-drafts"] = gains(served)
    day = _replicas(served, front, cancelled)
    if day:
        found["serving-replicas"] = day
    return found


def _distributions(served: Served) -> dict[str, tuple[Curve, ...]]:
    run, first = served.runs[0], served.sent.first
    counted = (np.arange(len(run.sent)) >= first)[run.served]
    at = np.linspace(0.0, 1.0, _POINTS_LIMIT + 1)
    ttft = np.quantile(run.ttft[counted], at)
    found = {"serving-ttft": (Curve("time to first token", tuple(ttft.tolist()), tuple(at.tolist())),)}
    gaps, weights = run.gaps()
    if len(gaps):
        order = np.argsort(gaps)
        total = np.cumsum(weights[order])
        place = np.minimum(np.searchsorted(total, at * total[-1]), len(gaps) - 1)
        steps = gaps[order][place]
        found["serving-itl"] = (Curve("time between tokens", tuple(steps.tolist()), tuple(at.tolist())),)
    return found


def _over_time(served: Served) -> dict[str, tuple[Curve, ...]]:
    run = served.runs[0]
    turns = run.turns
    pick = np.unique(np.linspace(0, len(turns) - 1, min(_TIMES_LIMIT, len(turns))).astype(int))
    times = tuple(turns[pick, 0].tolist())
    capacity = max(1, run.counts.kv_capacity)
    return {
        "serving-kv": (Curve("keys and values", times, tuple((turns[pick, 5] / capacity).tolist())),),
        "serving-queue": (
            Curve("running", times, tuple(turns[pick, 4].tolist())),
            Curve("waiting", times, tuple(turns[pick, 6].tolist())),
        ),
    }


def _frontier(front: Frontier, at: str) -> tuple[Curve, ...]:
    rate = tuple(front.rate.tolist())
    knee = front.knee
    at_knee = float(np.interp(knee, front.rate, front.latency))
    return (
        Curve(f"first token, {at}", rate, tuple(front.ttft.tolist())),
        Curve(f"whole answer, {at}", rate, tuple(front.latency.tolist())),
        Curve("per token", rate, tuple(front.tpot.tolist())),
        Curve("knee", (knee,), (at_knee,)),
    )


def work(placement: Placement, phase: Phase) -> tuple[float, float]:
    """Arithmetic of a step on one device [FLOP], and the bytes it reads there [B]."""
    shape, devices = placement.shape, placement.split.devices
    tokens = phase.tokens or phase.requests
    flop = 2 * shape.active_parameters * tokens / devices
    attention = 2 * 2 * shape.heads * (shape.head_dim + shape.value_head_dim) / 2 * shape.attention_layers / devices
    area = prefill_area(phase.tokens, 0.0) if phase.tokens else phase.context
    flop += attention * area
    read = placement.weights
    if shape.experts:
        size = placement.steps.weights.size.value
        copies = placement.split.copies(shape.experts, placement.steps.setup.redundant)
        all_experts = shape.moe_layers * shape.experts * shape.expert_parameters * size / devices * copies
        touched = experts_touched(shape.experts, shape.experts_per_token, tokens) / shape.experts
        read -= all_experts * (1 - touched)
    kept = phase.context if not phase.tokens else float(phase.tokens)
    return flop, read + kept * placement.steps.kv.token / placement.split.data


def _roofline(served: Served) -> tuple[Curve, ...]:
    placement = served.placement
    device = placement.device
    peak, bandwidth = device.flops[device.runs_as(placement.steps.weights)], device.bandwidth
    points: list[Curve] = []
    for phase in phases(served):
        where = served.prompts if served.prompts is not None and phase.tokens else placement
        flop, read = work(where, phase)
        points.append(Curve(phase.name, (flop / read,), (flop / phase.time(where.steps),)))
    ridge = peak / bandwidth
    ends = [p.x[0] for p in points]
    low, high = min(*ends, ridge) / _MARGIN_LIMIT, max(*ends, ridge) * _MARGIN_LIMIT
    x = (low, ridge, high)
    return (Curve("roof", x, tuple(min(peak, bandwidth * v) for v in x)), *points)


def _request(served: Served) -> tuple[Curve, ...]:
    """Where the time of a usual and of a slow request goes: each stretch with its begin and end."""
    run = served.runs[0]
    order = np.flatnonzero(run.served & (np.arange(len(run.sent)) >= served.sent.first))
    order = order[np.argsort((run.done - run.sent)[order], kind="stable")]
    shares = (0.5, served.serving.limits.share)
    picked = [int(order[min(len(order) - 1, round(share * (len(order) - 1)))]) for share in shares]
    marks = [("waiting", run.sent, run.taken)]
    if len(run.ready):
        marks += [
            ("prompt", run.taken, run.ready),
            ("hand-over", run.ready, run.there),
            ("first token", run.there, run.first),
        ]
    else:
        marks += [("prompt", run.taken, run.first)]
    marks += [("answer", run.first, run.done)]
    return tuple(
        Curve(
            f"{name} {place}",
            (float(begin[i] - run.sent[i]), float(end[i] - run.sent[i])),
            (float(place), float(place)),
        )
        for name, begin, end in marks
        for place, i in enumerate(picked)
    )


def _replicas(served: Served, front: Frontier | None, cancelled: Callable[[], bool] | None) -> tuple[Curve, ...]:
    """Replicas needed over the day, where the load changes through it."""
    load, limits = served.serving.load, served.serving.limits
    if load.kind != "rate" or not load.profile or served.prompts is not None or front is None:
        return ()
    placement = replace(served.placement, replicas=served.placement.replicas[:1])
    steady = replace(served.serving, load=replace(load, profile=()))
    limited = limits.ttft or limits.tpot or limits.latency
    one = largest_load(placement, steady, cancelled) if limited else front.knee / len(served.placement.replicas)
    if one <= 0:
        return ()
    mean = sum(load.profile) / len(load.profile)
    hours = [k * _DAY_LIMIT / len(load.profile) for k in range(len(load.profile) + 1)]
    needed = [math.ceil(load.rate * share / mean / one) for share in load.profile]
    x = tuple(h for pair in pairwise(hours) for h in pair)
    return (Curve("replicas needed", x, tuple(float(n) for n in needed for _ in range(2))),)


# What serving puts on the links in the mean: joining devices, handing keys and values over, fetching them.

#: activations are joined in 16 bit
_HALF_SIZE: Final = 2.0
#: a dense layer is joined after attention and after feed-forward
_JOINS_LIMIT: Final = 2


def traffic(served: Served, rate: float) -> tuple[ChannelLoads, Rows[Flow], int]:
    """Loads at a rate of requests of the whole deployment [1/s], the flows behind them, and how many those are.

    A collective puts the same bytes on its links however quickly it is over, so the mean is what it loads them with
    while it runs, times how long it runs, times how often.
    """
    groups = [one.group for one in _placements(served) if one.group is not None]
    moved = [pull for pull in (served.pull, served.tier) if pull is not None]
    paths = [served.pull.together] if served.pull is not None else []
    paths += [served.tier.path] if served.tier is not None else []
    loads = ChannelLoads.made(lambda: _loads(served, rate))
    if not groups and not moved:
        return loads, Rows(lambda: ()), 0
    count = sum(group.n_legs for group in groups)
    count += sum(len(path.flows) for path in paths)

    def flows() -> tuple[Flow, ...]:
        found: list[Flow] = [flow for path in paths for flow in path.flows]
        for placement, phase in placed_phases(served):
            if placement.group is not None:
                size = max(1.0, _tokens(phase) * placement.shape.hidden * _HALF_SIZE)
                group = placement.peers or placement.group
                found += flows_of(group, group.time("all-reduce", size))
        return tuple(found)

    return loads, Rows(flows), count


def _placements(served: Served) -> list[Placement]:
    return [served.placement, *([served.prompts] if served.prompts is not None else [])]


def _tokens(phase: Phase) -> int:
    return phase.tokens or phase.requests


def _loads(served: Served, rate: float) -> tuple[Float, Float]:
    n = 2 * served.placement.network.net.n_links
    load, busy = np.zeros(n), np.zeros(n)
    for placement, phase in placed_phases(served):
        for each, times in _loads_while_joining(served, placement, phase, rate):
            load += times * each.load
            busy += times * each.utilization
    for each in _key_value_traffic(served, rate):
        load += each.load
        busy += each.utilization
    return load, np.minimum(busy, 1.0)


def _loads_while_joining(
    served: Served, placement: Placement, phase: Phase, rate: float
) -> list[tuple[ChannelLoads, float]]:
    """Loads while each kind of joining runs, and the share of time in which it does [1]."""
    group, split, shape = placement.group, placement.split, placement.shape
    if group is None:
        return []
    requests, tokens = served.sent.requests, _tokens(phase)
    each = float(np.mean(requests.output))
    if phase.tokens:
        each = float(np.mean(requests.prompt)) - (float(np.mean(requests.cached)) if requests.cached else 0.0)
    elif placement.deployment.drafts:
        # drafted tokens are computed as well, those that are kept and those that are not
        drafts = placement.deployment.drafts
        each *= (drafts + 1) / accepted(placement.curve, drafts)
    steps = rate / len(placement.replicas) * each / tokens
    size = tokens / split.data / split.pipeline * shape.hidden * _HALF_SIZE
    together = size * split.data
    kinds: list[tuple[str, float, float]] = []
    if split.tensor > 1:
        kinds.append(("all-reduce", size, shape.layers * (_JOINS_LIMIT if split.data == 1 else 1)))
    if split.data > 1:
        kinds += [(name, together, shape.layers) for name in ("all-gather", "reduce-scatter")]
    if split.pipeline > 1:
        kinds.append(("send-recv", size, split.pipeline))
    found: list[tuple[ChannelLoads, float]] = []
    for name, much, count in kinds:
        one = (placement.peers or group) if name == "all-reduce" else group
        time = one.time(name, max(1.0, much))
        found.append((loads_of(one, time), steps * count * time.time))
    return found


def _key_value_traffic(served: Served, rate: float) -> list[ChannelLoads]:
    """Keys and values: every device of an engine takes its part of each request that comes to it."""
    replicas = len(served.placement.replicas)
    found: list[ChannelLoads] = []
    if served.pull is not None:
        found.append(served.pull.together.loaded(rate / replicas * served.pull.size))
    if served.tier is not None:
        found.append(served.tier.path.loaded(rate / replicas * served.tier.size))
    return found
