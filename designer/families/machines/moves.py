"""Machines moved on the clock: when each moved and at which rate, how long all take, and what holds them back."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.clock.jobs import Job, job_of
from designer.engine.clock.measures import answer, costs_of, main_metric, periodic_step, values_of
from designer.engine.clock.player import play
from designer.engine.clock.records import TaskRun
from designer.engine.clock.run import Run
from designer.engine.clock.settled import settle
from designer.engine.costs import Prices
from designer.engine.results import Bottleneck
from designer.errors import AnalysisError
from designer.families.machines.migration_plan import Moved
from designer.families.machines.operations import Migrate, Migration
from designer.families.machines.planner import Departures
from designer.families.serving.tasks import Infer
from designer.progress import Cancel
from designer.sources import Estimate
from designer.workload.kind import program_of
from designer.workload.program import Measure, Program, Step

# Workloads that run with migrations: programs on the same clock, and what each keeps of its pace.

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
        found.append(_running_neighbour(prices, replace(program, name=spec.id), title, where))
    return found


def _running_neighbour(prices: Prices, program: Program, title: str, place: str) -> Neighbour:
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


Float = npt.NDArray[np.float64]

#: where migrations last for fewer steps of a neighbour than this, they are begun at so many moments of a step
_FEW_LIMIT: Final = 16
_MOMENTS_LIMIT: Final = 8


NO_TIME: Final = Estimate.exact(0.0, "s")


@dataclass(frozen=True, eq=False)
class Moves:
    """Machines that moved.

    Parameters
    ----------
    moved
        In order of their starts.
    time
        Until the last of them arrived [s].
    run
        The run they moved in, in which `part` of all sizes and waits was done; None where nothing moved.
    """

    plan: Departures
    moved: tuple[Moved, ...] = ()
    time: Estimate = NO_TIME
    run: Run | None = None
    part: float = 1.0
    binding: tuple[Bottleneck, ...] = (Bottleneck("limit", "nothing", "nothing moves", "no machine can move"),)
    next: tuple[Bottleneck, ...] = ()
    neighbour_rates: tuple[NeighbourRates, ...] = ()

    @cached_property
    def live(self) -> tuple[Moved, ...]:
        """Machines that moved while they ran."""
        return tuple(moved for moved in self.moved if moved.migration is not None)

    def sending(self, at: float) -> list[int]:
        """Transfers of memory under way at a time [s]."""
        return [self.plan.model.transfers[m.going.name] for m in self.live if m.transfer <= at < m.end]

    @cached_property
    def busiest(self) -> float:
        """A time at which most machines send [s]."""
        times = sorted({m.transfer for m in self.live})
        return max(times, key=lambda at: len(self.sending(at)), default=0.0)

    @property
    def most_at_once(self) -> int:
        """Largest number of machines under way."""
        return max((sum(m.start <= at.start < m.end for m in self.moved) for at in self.moved), default=0)

    def remaining(self, name: str) -> tuple[Float, Float]:
        """Bytes not yet moved [B] against time [s], of the migration program of a name."""
        if self.run is None:
            return np.zeros(0), np.zeros(0)
        works = [w for w in self.run.works if w.unit == "B" and self.run.tasks[w.task].program == name and w.log]
        times = np.unique([0.0, *(at for w in works for at, _, _ in w.log), *(w.ended for w in works)])
        left = np.full(len(times), sum(w.amount for w in works))
        for work in works:
            at = np.array([*(begin for begin, _, _ in work.log), work.ended])
            sent = np.concatenate([[0.0], np.cumsum(np.array([rate for _, rate, _ in work.log]) * np.diff(at))])
            left -= np.interp(times, at, sent)
        return times / self.part, np.maximum(0.0, left / self.part)


def moves_of(
    prices: Prices,
    plan: Departures,
    operation: Migration,
    job: str,
    name: str,
    background: Sequence[Neighbour],
    *,
    explained: bool,
    cancelled: Cancel | None,
) -> Moves:
    """Machines moved on the clock next to others.

    Parameters
    ----------
    job, name
        Names of the program and of the metric that is its time.
    """
    if not plan.going:
        return Moves(plan)
    if not background:
        mine = _job(plan, operation, job, name)
        found = answer(prices, mine, explained=explained, cancelled=cancelled)
        binding, after = found.bottlenecks(_program(mine))
        return Moves(
            plan, _moved_machines(found.run, plan, job, 1.0), found.metrics[name], found.run, 1.0, binding, after
        )
    alone = answer(prices, _job(plan, operation, job, name), bands=False, explained=False, cancelled=cancelled)
    period = max((each.period for each in background if math.isfinite(each.period)), default=math.inf)
    part = min(1.0, PERIODS_LIMIT * period / alone.metrics[name].value)
    mine, jobs = _job(plan, operation, job, name, part), _weigh_neighbours(prices, plan, background)
    found = answer(prices, mine, neighbours=jobs, explained=explained, cancelled=cancelled)
    time, run = _at_any_moment(prices, mine, jobs, found.metrics[name], period, cancelled), found.run
    binding, after = found.bottlenecks(_program(mine))
    others = tuple(
        kept(each, play(prices, [at], until=run.end, cancelled=cancelled), run)
        for each, at in zip(background, jobs, strict=True)
    )
    return Moves(plan, _moved_machines(run, plan, job, part), time.scaled(1 / part), run, part, binding, after, others)


def _job(plan: Departures, operation: Migration, job: str, name: str, part: float = 1.0) -> Job:
    shares = plan.model.conditions.shares
    # machines that move at the same time divide the shares of their class
    weight = shares.migrations / plan.at_once if shares.migrations and plan.at_once else 1.0
    step, measure = Step("migrate", Migrate(operation, part)), Measure(name, "s", "end", "migrate")
    return job_of(Program(job, (step,), measures=(measure,), weight=weight), f"workloads.{job}")


def _program(job: Job) -> Program:
    assert job.program is not None
    return job.program


def _weigh_neighbours(prices: Prices, plan: Departures, background: Sequence[Neighbour]) -> list[Job]:
    """Jobs of neighbours, which divide the shares of their class."""
    shares, jobs = plan.model.conditions.shares, [each.job for each in background]
    if not shares.others:
        return jobs
    flows = [
        max((float(cost.weight.sum()) for cost in costs_of(prices, job.process().tasks)), default=0.0) for job in jobs
    ]
    return [replace(job, weight=job.weight * shares.others / max(1.0, sum(flows))) for job in jobs]


def _at_any_moment(
    prices: Prices, job: Job, background: Sequence[Job], time: Estimate, period: float, cancelled: Cancel | None
) -> Estimate:
    """A time that begins with a step of a neighbour, as it is in the mean of all moments; its band holds them."""
    if math.isinf(period) or time.value > _FEW_LIMIT * period:
        return time
    times = [time.value]
    for k in range(1, _MOMENTS_LIMIT):
        late = replace(job, start=k * period / _MOMENTS_LIMIT)
        run = play(prices, [late, *background], stop=lambda task: task.program == job.name, cancelled=cancelled)
        times.append(next(iter(values_of(run, late).values())))
    low, high = time.low / time.value, time.high / time.value
    mean = sum(times) / len(times)
    return replace(time, value=mean, low=min(mean, min(times) * low), high=max(mean, max(times) * high))


def _moved_machines(run: Run, plan: Departures, job: str, part: float) -> tuple[Moved, ...]:
    """Each machine as it moved in a run."""
    tasks: dict[str, list[TaskRun]] = {}
    for task in run.tasks:
        what, _, name = task.step.partition(" ")
        if task.program == job and task.parent >= 0 and what != "again":
            tasks.setdefault(name, []).append(task)
    found: list[Moved] = []
    for going in plan.going:
        mine = tasks[going.name]
        start, transfer, end = (at / part for at in (mine[0].ready, mine[0].ended, mine[-1].ended))
        sent = [task for task in mine if task.step.startswith("move ")]
        if not sent:
            found.append(Moved(going, start, transfer, end, 0.0, plan.planned.get(going.name)))
            continue
        size = sum(run.works[k].amount for task in sent for k in task.works) / part
        rate = size / ((sent[-1].ended - sent[0].ready) / part)
        migration = plan.model.migration(going, rate)
        found.append(
            Moved(going, start, transfer, end, rate, migration if migration.arrives else plan.planned[going.name])
        )
    return tuple(sorted(found, key=lambda moved: (moved.start, moved.going.name)))
