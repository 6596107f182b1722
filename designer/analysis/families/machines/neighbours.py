"""Workloads that run beside migrations: programs on the same clock, and what each keeps of its pace."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from designer.analysis.clock.jobs import Job, job_of
from designer.analysis.clock.measures import main_metric, periodic_step, values_of
from designer.analysis.clock.run import Run
from designer.analysis.clock.steady import settle
from designer.analysis.costs import Cost, Priced, Prices
from designer.analysis.families import Question, ask
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads
from designer.errors import AnalysisError
from designer.workload.kind import program_of
from designer.workload.program import Item, Process, Program
from designer.workload.program.migration import Migrate
from designer.workload.program.serving import Infer

#: periods of a workload beside that are run: of more, migrations do a part that takes as many
PERIODS_LIMIT: Final = 32


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
class Beside:
    """What a neighbour put on its busiest link alone and beside the migrations, in the mean [B/s].

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
    """Workloads of the design that run beside migrations, without end.

    Raises
    ------
    AnalysisError
        If there is no such workload, it is a migration itself, or nothing runs for it.
    """
    network, found = prices.network, list[Neighbour]()
    for workload_id in ids:
        spec = network.design.workloads.get(workload_id)
        at = f"{place}.background"
        if spec is None:
            known = ", ".join(network.design.workloads) or "none"
            raise AnalysisError(f"there is no workload {workload_id!r}", place=at, remedy=f"workloads: {known}")
        where, title = f"workloads.{spec.id}", spec.title or spec.id
        program = program_of(spec.kind, spec.settings, where)
        if program is None or program.first(Infer) is not None:
            question = Question(spec.id, "", title, where, curves=False)
            _, loads = ask(network, spec, question)
            if loads is None:
                raise _unsteady(spec.id, at)
            found.append(Neighbour(spec.id, title, Job(spec.id, lambda loads=loads: _Stream(network, loads))))
            continue
        if program.first(Migrate) is not None:
            raise _unsteady(spec.id, at)
        found.append(_running(prices, replace(program, name=spec.id), title, where))
    return found


def _unsteady(workload_id: str, place: str) -> AnalysisError:
    return AnalysisError(f"{workload_id!r} is no steady traffic", place=place, remedy="name transfers or training")


def _running(prices: Prices, program: Program, title: str, place: str) -> Neighbour:
    if program.arrivals is None and math.isfinite(program.times):
        # what is done once goes on as long as machines move
        program = replace(program, times=math.inf)
    job = replace(job_of(program, place), start=0.0)
    step = periodic_step(job)
    if not step:
        return Neighbour(program.name, title, job)
    return Neighbour(program.name, title, job, settle(prices, [job], {job.name: step})[1][job.name].time)


def kept(neighbour: Neighbour, alone: Run, together: Run) -> Beside:
    """What a neighbour keeps beside migrations, from runs of the same length with and without them."""
    job = neighbour.job
    name, before, after = main_metric(job), values_of(alone, job), values_of(together, job)
    times = after[name] / before[name] if before.get(name) and name in after else None
    loads = [run.mean_load(program=job.name)[: run.table.network.n_link_resources] for run in (alone, together)]
    busiest = int(np.argmax(loads[0])) if len(loads[0]) else 0
    rates = [float(load[busiest]) if len(load) else 0.0 for load in loads]
    return Beside(neighbour.id, neighbour.title, rates[0], rates[1], times)


class _Stream(Process):
    """A workload that is known by its loads alone: one stream that asks for what each link carried."""

    def __init__(self, network: Network, loads: ChannelLoads) -> None:
        used = np.zeros(network.n_resources)
        raw = loads.utilization * np.repeat(network.rate, 2)
        for channel in np.flatnonzero(raw > 0).tolist():
            link = channel >> 1
            width = int(network.cables[link])
            begin = int(network.first_resource[link]) + (channel & 1) * (width if network.full[link] else 0)
            # both directions of a shared bus are in its utilization already
            used[begin : begin + width] = np.maximum(used[begin : begin + width], raw[channel] / width)
        busy = np.flatnonzero(used > 0)
        one, none = np.ones(1 if len(busy) else 0), np.zeros(1 if len(busy) else 0)
        ptr = np.array([0, len(busy)] if len(busy) else [0])
        engine = np.full(len(one), -1)
        self._task = Priced(Cost(ptr, busy.astype(np.int64), used[busy], one * np.inf, one, one, none, engine))

    @property
    def tasks(self) -> Sequence[Priced]:
        """The stream."""
        return [self._task]

    def start(self, now: float) -> Sequence[Item]:
        """The stream, from the beginning."""
        return [Item(self._task, "traffic")]

    def finished(self, item: Item, now: float) -> Sequence[Item]:
        """Nothing: it does not end."""
        return ()

    def waits_for(self) -> str:
        """Nothing."""
        return ""
