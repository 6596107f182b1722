"""Pooling: the drawn accelerators owned in equal parts, or shared by all."""

from __future__ import annotations

from math import isfinite

from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.network import Network
from designer.analysis.results import Bottleneck, Column, Table, WorkloadResult
from designer.analysis.selection import resolve
from designer.catalog.parttype import Capability
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.migration.pooling import SOURCES, pooling
from designer.sources import Estimate
from designer.units import PerSecond, Ratio, Seconds
from designer.workload.operations import Pooling


def evaluate(network: Network, operation: Pooling, question: Question) -> tuple[WorkloadResult, None]:
    """Utilisation and waiting, dedicated and shared.

    Raises
    ------
    AnalysisError
        If its settings do not go together with the drawing.
    """
    parts = resolve(network, operation.group, f"{question.place}.group")
    count = int(network.has(Capability.ACCELERATE)[parts].sum())
    if operation.owners < 1 or count < operation.owners:
        raise AnalysisError(
            f"{count} accelerators cannot be owned by {operation.owners} teams",
            place=f"{question.place}.owners",
            remedy="choose from 1 to as many owners as there are accelerators",
        )
    each = count // operation.owners
    try:
        found = pooling(
            operation.owners,
            each,
            PerSecond(operation.jobs_per_second),
            Seconds(operation.job_time),
            variation=Ratio(operation.variation),
        )
    except AnalysisError as error:
        raise AnalysisError(error.text, place=error.place or question.place, remedy=error.remedy) from None
    told: list[Finding] = []
    if rest := count - each * operation.owners:
        words = f"{rest} of {count} accelerators are left out: {operation.owners} teams own {each} each"
        told.append(Finding("POOL-REST", Severity.INFO, words, (), "choose a number of owners that divides them"))
    if not isfinite(found.shared.mean_wait):
        words = "jobs come faster than all accelerators together do them: they wait longer and longer"
        told.append(Finding("POOL-FULL", Severity.WARNING, words, (), "fewer jobs, or more accelerators"))
    rows = tuple(
        (name, float(queue.accelerators), queue.utilisation, queue.waits, queue.mean_wait, queue.wait_p95)
        for name, queue in (
            ("each team its own", found.dedicated),
            ("all share all", found.shared),
            ("smallest pool", found.smallest),
        )
    )
    columns = (
        Column("how"),
        Column("accelerators", "1"),
        Column("busy", "1"),
        Column("chance to wait", "1"),
        Column("mean wait", "s"),
        Column("95 % wait less than", "s"),
    )

    def metric(value: float, unit: str) -> Estimate:
        return Estimate.exact(value, unit, SOURCES)

    metrics = {
        "gpu_utilization": metric(found.shared.utilisation, "1"),
        "wait_dedicated": metric(found.dedicated.mean_wait, "s"),
        "wait_shared": metric(found.shared.mean_wait, "s"),
        "smallest_pool": metric(float(found.smallest.accelerators), "1"),
        "accelerators_saved": metric(float(found.saved), "1"),
    }
    words = f"{operation.owners} teams, {each} accelerators each, {found.shared.utilisation:.0%} busy"
    bottleneck = Bottleneck("limit", "queue", "arrival of jobs against accelerators", words)
    result = question.result(
        metrics,
        (bottleneck,),
        (),
        (),
        0,
        tuple(told),
        {},
        {"pools": Table("Pools", columns, rows)},
    )
    return result, None


EVALUATOR = Evaluator(Pooling, evaluate)
