"""Workloads that run with migrations: programs on the same clock, and what each keeps of its pace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from designer.engine.clock.jobs import Job, job_of
from designer.engine.clock.measures import answer, main_metric, periodic_step, values_of
from designer.engine.clock.run import Run
from designer.engine.clock.steady import settle
from designer.engine.costs import Prices
from designer.errors import AnalysisError
from designer.families.machines.tasks import Migrate
from designer.families.serving.tasks import Infer
from designer.workload.kind import program_of
from designer.workload.program import Program

#: periods of a workload next to that are run: of more, migrations do a part that takes as many
PERIODS_LIMIT: Final = 32
#: samples of inference in batches that make a period
SAMPLES_LIMIT: Final = 16


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A workload that runs as long as machines move.

    Parameters
    ----------
    period
        From one step to the next, alone [s]; inf where nothing repeats.
    """

    id: str
    title: str
    job: Job
    period: float = math.inf


@dataclass(frozen=True, slots=True)
class NeighbourRates:
    """What a neighbour put on its busiest link alone and with the migrations, in the mean [B/s].

    Parameters
    ----------
    times
        How many times as long its steps take meanwhile [1]; None where it has none.
    """

    id: str
    title: str
    alone: float
    together: float
    times: float | None = None

    @property
    def keeps(self) -> float:
        """Share of its pace that is left [1]."""
        if self.times is not None:
            return 1 / self.times
        return self.together / self.alone if self.alone > 0 else 1.0


def neighbours(prices: Prices, ids: Sequence[str], place: str) -> list[Neighbour]:
    """Workloads of the design that run with migrations, without end.

    Raises
    ------
    AnalysisError
        If there is no such workload, it is a migration itself, or nothing runs for it.
    """
    design, found = prices.network.design, list[Neighbour]()
    for workload_id in ids:
        spec = design.workloads.get(workload_id)
        at = f"{place}.background"
        if spec is None:
            known = ", ".join(design.workloads) or "none"
            raise AnalysisError(f"there is no workload {workload_id!r}", place=at, remedy=f"workloads: {known}")
        where, title = f"workloads.{spec.id}", spec.title or spec.id
        program = program_of(spec.kind, spec.settings, where)
        if program is None or program.first(Migrate) is not None:
            raise AnalysisError(
                f"{workload_id!r} is no steady traffic", place=at, remedy="name transfers, training or served models"
            )
        found.append(_running(prices, replace(program, name=spec.id), title, where))
    return found


def _running(prices: Prices, program: Program, title: str, place: str) -> Neighbour:
    period = math.inf
    if program.first(Infer) is not None:
        # samples come at random: as many as state their mean are a period
        found = answer(prices, job_of(program, place), explained=False).metrics
        period = SAMPLES_LIMIT / found["samples_per_second"].value
    elif program.arrivals is None and math.isfinite(program.times):
        # what is done once goes on as long as machines move
        program = replace(program, times=math.inf)
    job = replace(job_of(program, place), start=0.0)
    step = periodic_step(job)
    if step:
        period = settle(prices, [job], {job.name: step})[1][job.name].time
    return Neighbour(program.name, title, job, period)


def kept(neighbour: Neighbour, alone: Run, together: Run) -> NeighbourRates:
    """What a neighbour keeps next to migrations, from runs of the same length with and without them."""
    job = neighbour.job
    name, before, after = main_metric(job), values_of(alone, job), values_of(together, job)
    times = after[name] / before[name] if before.get(name) and name in after else None
    loads = [run.mean_load(program=job.name)[: run.table.network.n_link_resources] for run in (alone, together)]
    busiest = int(np.argmax(loads[0])) if len(loads[0]) else 0
    rates = [float(load[busiest]) if len(load) else 0.0 for load in loads]
    return NeighbourRates(neighbour.id, neighbour.title, rates[0], rates[1], times)
