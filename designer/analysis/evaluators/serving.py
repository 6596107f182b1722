"""Serving: latency and throughput of a model at a load on the drawn accelerators, and what binds its two phases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from designer.analysis.collectives import flows_of, loads_of
from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, Column, Curve, Flow, Rows, Table, WorkloadResult
from designer.analysis.serving.answers import Served, metrics, read, serve
from designer.analysis.serving.bottlenecks import bottlenecks, phases
from designer.analysis.serving.placement import place_deployment
from designer.analysis.serving.split import serve_split
from designer.analysis.serving.starting import start_engines
from designer.findings import Finding, Severity
from designer.sources import Constant, Estimate, Status
from designer.units import format_quantity
from designer.workload.serving import Limits, Serving

#: fixed part and descriptors of a hand-over were measured on one set-up [logarithm of the factor either way]
HAND_OVER_SPREAD: Final = Constant(0.35, 0.25, 0.6, "assumed-serving", Status.ASSUMED, "1")
#: points of a distribution, and of a series over time
_POINTS_LIMIT: Final = 100
_TIMES_LIMIT: Final = 500


def evaluate(network: Network, operation: Serving, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A served model."""
    if operation.deployment.prompts:
        served = serve_split(network, operation, question.place, question.cancelled)
        placement = served.placement
    else:
        placement = place_deployment(network, operation.deployment, question.place)
        served = serve(placement, operation, question.cancelled)
    found = dict(metrics(served))
    binding, after = bottlenecks(served)
    told: tuple[Finding, ...] = ()
    if served.pull is not None:
        time = served.pull.time
        wide = math.exp(HAND_OVER_SPREAD.value)
        found["hand_over_time"] = Estimate(time, time / wide, time * wide, "s", ("vllm-nixl",))
    if operation.storage:
        start = start_engines(placement, operation.storage, operation.readers, question.place)
        found["cold_start_time"] = start.time
        after, told = (*after, *start.bottlenecks), start.findings
    loads, flows, count = _traffic(network, served)
    result = WorkloadResult(
        question.id,
        question.reports,
        question.title,
        found,
        binding,
        after,
        flows,
        count,
        (*placement.findings, *served.findings, *told, *_kept(found, operation.limits)),
        _curves(served) if question.curves else {},
        _tables(served),
    )
    return result, loads


def _traffic(network: Network, served: Served) -> tuple[ChannelLoads, Rows[Flow], int]:
    """What joining the devices puts on the links, in the mean."""
    nothing = np.zeros(2 * network.net.n_links)
    group = served.placement.group
    if group is None:
        return ChannelLoads(nothing, nothing), Rows(lambda: ()), 0
    decoding = phases(served)[1]
    placement = served.placement
    size = max(1.0, decoding.requests * placement.shape.hidden * 2.0)
    time = group.time("all-reduce", size)
    whole = decoding.time(placement.steps)
    share = min(1.0, 2 * placement.shape.layers * placement.steps.joins.reduce(size) / whole)
    while_joining = loads_of(group, time)
    loads = ChannelLoads(while_joining.load * share, while_joining.utilization * share)
    count = sum(a.n_legs for a in (group.inside, group.between) if a is not None)
    return loads, Rows(lambda: flows_of(group, time)), count


def _kept(found: Mapping[str, Estimate], limits: Limits) -> list[Finding]:
    """Limits that do not hold."""
    share = f"p{limits.share:.0%}".removesuffix("%")
    asked = (
        ("ttft", f"ttft_{share}", limits.ttft, "first token"),
        ("tpot", f"itl_{share}", 0.0, ""),
        ("latency", f"latency_{share}", limits.latency, "whole answer"),
    )
    told: list[Finding] = []
    for _, name, limit, words in asked:
        value = found.get(name)
        if limit and value is not None and value.value > limit:
            text = (
                f"{share} of the {words} is {format_quantity(value.value, 'duration')}, above the "
                f"{format_quantity(limit, 'duration')} asked for"
            )
            told.append(Finding("SERVE-LIMIT", Severity.ERROR, text, (), "use more replicas, or a lower load"))
    value = found.get("tpot")
    if limits.tpot and value is not None and value.value > limits.tpot:
        text = (
            f"a token takes {format_quantity(value.value, 'duration')}, above the "
            f"{format_quantity(limits.tpot, 'duration')} asked for"
        )
        told.append(Finding("SERVE-LIMIT", Severity.ERROR, text, (), "use wider replicas, or fewer requests at once"))
    return told


def _curves(served: Served) -> Mapping[str, tuple[Curve, ...]]:
    """Distributions, and keys and values over time."""
    if served.saturated:
        return {}
    run, first = served.runs[0], served.sent.first
    counted = (np.arange(len(run.sent)) >= first)[run.served]
    at = np.linspace(0.0, 1.0, _POINTS_LIMIT + 1)
    ttft = np.quantile(run.ttft[counted], at)
    gaps, weights = run.gaps()
    found: dict[str, tuple[Curve, ...]] = {
        "serving-ttft": (Curve("time to first token", tuple(ttft.tolist()), tuple(at.tolist())),)
    }
    if len(gaps):
        order = np.argsort(gaps)
        total = np.cumsum(weights[order])
        place = np.minimum(np.searchsorted(total, at * total[-1]), len(gaps) - 1)
        steps = gaps[order][place]
        found["serving-itl"] = (Curve("time between tokens", tuple(steps.tolist()), tuple(at.tolist())),)
    turns = run.turns
    pick = np.unique(np.linspace(0, len(turns) - 1, min(_TIMES_LIMIT, len(turns))).astype(int))
    times = tuple(turns[pick, 0].tolist())
    capacity = max(1, run.counts.kv_capacity)
    found["serving-kv"] = (Curve("keys and values", times, tuple((turns[pick, 5] / capacity).tolist())),)
    found["serving-queue"] = (
        Curve("running", times, tuple(turns[pick, 4].tolist())),
        Curve("waiting", times, tuple(turns[pick, 6].tolist())),
    )
    return found


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


EVALUATOR = Evaluator(evaluate)
