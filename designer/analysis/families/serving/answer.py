"""Serving: latency and throughput of a model at a load on the drawn accelerators, and what binds its two phases."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from designer.analysis.families import Question
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, Column, Table, WorkloadResult
from designer.analysis.serving.advice import alone, drafting, more, remedy
from designer.analysis.serving.answers import SOURCES, Served, serve
from designer.analysis.serving.bottlenecks import bottlenecks
from designer.analysis.serving.curves import curves
from designer.analysis.serving.frontier import frontier
from designer.analysis.serving.metrics import metrics
from designer.analysis.serving.placement import place_deployment
from designer.analysis.serving.readings import read
from designer.analysis.serving.sharing import shared
from designer.analysis.serving.split import serve_split
from designer.analysis.serving.starting import start_engines, update_engines
from designer.analysis.serving.traffic import traffic
from designer.analysis.serving.unused import unused
from designer.findings import Finding, Severity
from designer.sources import Constant, Estimate, Status
from designer.units import format_quantity
from designer.workload.program import Program
from designer.workload.program.serving import Serve

#: fixed part and descriptors of a hand-over were measured on one set-up [logarithm of the factor either way]
HAND_OVER_SPREAD: Final = Constant(0.35, 0.25, 0.6, "assumed-serving", Status.ASSUMED, "1")


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A served model."""
    task = program.first(Serve)
    assert task is not None
    operation = task.operation
    told: tuple[Finding, ...] = ()
    if operation.deployment.prompts:
        served = serve_split(network, operation, question.place, question.cancelled)
        placement = served.placement
    else:
        placement = place_deployment(network, operation.deployment, question.place)
        if operation.beside:
            sharing = shared(network, placement, operation, question.place, question.cancelled)
            placement, told = sharing.placement, sharing.findings
        served = serve(placement, operation, question.cancelled)
    found = dict(metrics(served))
    if placement.guest is not None:
        found |= placement.guest.metrics()
    binding, after = bottlenecks(served)
    front = frontier(served, question.cancelled) if served.runs and question.explained else None
    if front is not None:
        low, high = front.around
        wide = math.exp(served.spread)
        found["knee_requests_per_second"] = Estimate(
            front.knee, low / wide, high * wide, "1/s", SOURCES, "where requests a second over mean answer time is most"
        )
    if served.pull is not None:
        time = served.pull.time
        wide = math.exp(HAND_OVER_SPREAD.value)
        found["hand_over_time"] = Estimate(time, time / wide, time * wide, "s", ("vllm-nixl",))
    if operation.storage:
        engines = [placement, *([served.prompts] if served.prompts is not None else [])]
        start = start_engines(engines, operation.storage, operation.readers, question.place, peers=operation.peers)
        found["cold_start_time"] = start.time
        if operation.update:
            most = found["most_requests_per_second"].value
            time, left = update_engines(engines, operation, most, question.place)
            found["rolling_update_time"], found["requests_while_updating"] = time, left
        after, told = (*after, *start.bottlenecks), (*told, *start.findings)
    loads, flows, count = traffic(served, found["requests_per_second"].value)
    running = found["requests_running"].value if "requests_running" in found else 1.0
    of_settings = (*unused(operation), *drafting(served, running), *_kept(served, found))
    result = question.result(
        found,
        binding,
        after,
        flows,
        count,
        (
            *placement.findings,
            *served.findings,
            *told,
            *of_settings,
            *more(served, binding),
        ),
        curves(served, front, question.cancelled) if question.curves else {},
        _tables(served),
    )
    return result, loads


def _kept(served: Served, found: Mapping[str, Estimate]) -> list[Finding]:
    """Limits that do not hold, and whether more replicas would help."""
    limits = served.serving.limits
    share = limits.percentile
    asked = (
        ("ttft", f"ttft_{share}", limits.ttft, "first token"),
        ("tpot", f"itl_{share}", 0.0, ""),
        ("latency", f"latency_{share}", limits.latency, "whole answer"),
    )
    told: list[Finding] = []
    for what, name, limit, words in asked:
        value = found.get(name)
        if limit and value is not None and value.value > limit:
            text = (
                f"{share} of the {words} is {format_quantity(value.value, 'duration')}, above the "
                f"{format_quantity(limit, 'duration')} asked for"
            )
            shortest = alone(served)[0 if name.startswith("ttft") else 2]
            told.append(Finding("SERVE-LIMIT", Severity.ERROR, text, (), remedy(what, limit, shortest)))
    value = found.get("tpot")
    if limits.tpot and value is not None and value.value > limits.tpot:
        text = (
            f"a token takes {format_quantity(value.value, 'duration')}, above the "
            f"{format_quantity(limits.tpot, 'duration')} asked for"
        )
        how = remedy("tpot", limits.tpot, alone(served)[1])
        told.append(Finding("SERVE-LIMIT", Severity.ERROR, text, (), how))
    return told


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
