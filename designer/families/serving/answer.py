"""Serving: latency and throughput of a model at a load on the drawn accelerators, and what binds its two phases."""

from __future__ import annotations

from collections.abc import Mapping

from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, Column, Table, WorkloadResult
from designer.families.serving.alone import answered
from designer.families.serving.answers import Served
from designer.families.serving.curves import curves
from designer.families.serving.network_leg import together
from designer.families.serving.readings import read
from designer.families.serving.tasks import Serve
from designer.families.serving.traffic import traffic
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
