"""Pooling: the drawn accelerators owned in equal parts, or shared by all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from designer.catalog.parttype import Capability
from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import Bottleneck, Column, Table, WorkloadResult
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.machines.formulas.pooling import SOURCES, Pooling, pooling, pooling_ends
from designer.findings import Finding, Severity
from designer.sources import Estimate
from designer.units import PerSecond, Ratio, Seconds


def answer(network: Network, settings: Mapping[str, Any], question: Question) -> tuple[WorkloadResult, None]:
    """Utilisation and waiting, dedicated and shared.

    Raises
    ------
    AnalysisError
        If its settings do not go together with the drawing.
    """
    owners = settings["owners"]
    parts = resolve(network, settings["group"], f"{question.place}.group")
    count = int(network.has(Capability.ACCELERATE)[parts].sum())
    if owners < 1 or count < owners:
        raise AnalysisError(
            f"{count} accelerators cannot be owned by {settings['owners']} teams",
            place=f"{question.place}.owners",
            remedy="choose from 1 to as many owners as there are accelerators",
        )
    each = count // owners
    given = owners, each, PerSecond(settings["jobs_per_second"]), Seconds(settings["job_time"])
    try:
        found = pooling(*given, variation=Ratio(settings["variation"]))
        less, more = pooling_ends(*given, variation=Ratio(settings["variation"]))
    except AnalysisError as error:
        raise AnalysisError(error.text, place=error.place or question.place, remedy=error.remedy) from None
    stated: list[Finding] = []
    if rest := count - each * owners:
        words = f"{rest} of {count} accelerators are left out: {settings['owners']} teams own {each} each"
        stated.append(Finding("POOL-REST", Severity.INFO, words, (), "choose a number of owners that divides them"))
    if not isfinite(found.shared.mean_wait):
        words = "jobs come faster than all accelerators together do them: they wait longer and longer"
        stated.append(Finding("POOL-FULL", Severity.WARNING, words, (), "fewer jobs, or more accelerators"))
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

    def metric(of: Callable[[Pooling], float], unit: str) -> Estimate:
        values = [float(of(one)) for one in (found, less, more)]
        return Estimate.over(values, unit, SOURCES, "mean; band: a month of jobs at random")

    metrics = {
        "gpu_utilization": metric(lambda one: one.shared.utilisation, "1"),
        "wait_dedicated": metric(lambda one: one.dedicated.mean_wait, "s"),
        "wait_shared": metric(lambda one: one.shared.mean_wait, "s"),
        "smallest_pool": metric(lambda one: one.smallest.accelerators, "1"),
        "accelerators_saved": metric(lambda one: one.saved, "1"),
    }
    words = f"{settings['owners']} teams, {each} accelerators each, {found.shared.utilisation:.0%} busy"
    bottleneck = Bottleneck("limit", "queue", "arrival of jobs against accelerators", words)
    result = question.result(
        metrics,
        (bottleneck,),
        (),
        (),
        0,
        tuple(stated),
        {},
        {"pools": Table("Pools", columns, rows)},
    )
    return result, None
