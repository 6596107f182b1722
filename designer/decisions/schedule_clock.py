"""A timetable on the clock: machines are written to the store and read from it over links, with all else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np

from designer.analysis.simulation.jobs import job_of_workload
from designer.decisions.schedule import Phase, followed, mean_of, metrics_of, phase_name, switch_moves
from designer.engine.clock.player import play
from designer.engine.clock.records import Readings
from designer.engine.costs.pricing import CostKind, Expansion, Priced, Prices, Settled, Uses, alone
from designer.engine.machines.guest_network import partitioned_network
from designer.engine.network import build_network
from designer.families.schedule.kinds import FollowTimetable
from designer.sources import EIGHTY, Estimate
from designer.workload.program.process import Item
from designer.workload.program.tasks import Mark, Task

_SUSPEND, _RESUME, _COMPUTE, _PHASE = "suspend machines", "resume machines", "compute", "phase"
_EDGE: Final = Mark("phase")
#: hours in which workloads share links are looked at in so many pieces
_PIECES_LIMIT: Final = 48
#: less than this share of a phase is none
_EDGE_TOLERANCE = 1e-9
#: mean use of links is that of so long a run, or of so many events
_LOOKED: Final = 60.0
_EVENTS_LIMIT: Final = 20_000


@dataclass(frozen=True, eq=False)
class DayLog:
    """What became of a timetable by a time: as of a served model, metrics read from its run."""

    readings: Readings
    extra: float = 0.0
    saturated: bool = False

    def behind(self, leg: Estimate | None) -> DayLog:
        """Return itself: nobody waits behind a network."""
        del leg
        return self

    def seen_later_by(self, metric: str) -> Estimate:
        """Return no time."""
        del metric
        return Estimate.exact(0.0, "s")


@dataclass(eq=False)
class Day:
    """A timetable as a process: suspends at the edges, resumes so that machines are there at theirs, computes between.

    Parameters
    ----------
    moves
        By phase: machines that leave at its begin, and those that come back by its end; None for none.
    seconds
        By phase: a second of computing of its workloads, and whether it takes of links.
    """

    phases: Sequence[Phase]
    moves: Sequence[tuple[Task | None, Task | None]]
    seconds: Sequence[tuple[Task, bool]]
    total: int
    set: Sequence[tuple[float, int, float]] = ()
    leg: Estimate | None = None
    began: float = 0.0
    computes: dict[int, float] = field(default_factory=dict[int, float])
    worked: dict[int, float] = field(default_factory=dict[int, float])
    done: dict[int, float] = field(default_factory=dict[int, float])
    took: dict[tuple[int, str], float] = field(default_factory=dict[tuple[int, str], float])
    since: dict[tuple[int, str], float] = field(default_factory=dict[tuple[int, str], float])

    def stops(self, speeds: Sequence[int]) -> float:
        """Return when machines get another speed: never by this."""
        del speeds
        return float("inf")

    @property
    def tasks(self) -> Sequence[Task]:
        """Moves of machines, computing, and the edges."""
        return [
            _EDGE,
            *(task for task, _ in self.seconds),
            *(task for pair in self.moves for task in pair if task is not None),
        ]

    def start(self, now: float) -> Iterable[Item]:
        """All that happens by the clock."""
        self.began = now
        last = self.phases[-1]
        found = [Item(_EDGE, "end", len(self.phases) - 1, wait=last.starts + last.seconds)]
        for k, (phase, (leave, come)) in enumerate(zip(self.phases, self.moves, strict=True)):
            found.append(Item(_EDGE, phase_name(phase, self.phases), k, wait=phase.starts))
            if leave is not None:
                self.since[k, _SUSPEND] = now + phase.starts
                found.append(Item(leave, _SUSPEND, k, wait=phase.starts))
            if come is not None:
                begin = phase.starts + max(0.0, phase.seconds - phase.come.value)
                self.since[k, _RESUME] = now + begin
                found.append(Item(come, _RESUME, k, wait=begin))
        return found

    def finished(self, item: Item, now: float) -> Iterable[Item]:
        """Computing once machines have gone, until others come back."""
        k = item.number
        if item.step in (_SUSPEND, _RESUME):
            self.took[k, item.step] = now - self.since[k, item.step]
        phase, (second, shared) = self.phases[k], self.seconds[k]
        left = self.began + phase.starts + max(0.0, phase.seconds - phase.come.value) - now
        if item.step == _COMPUTE:
            self.done[k] = self.done.get(k, 0.0) + self.worked[k]
            piece, self.worked[k] = self.worked[k], 0.0
            begins = left > _EDGE_TOLERANCE * phase.seconds
        else:
            begins = item.step == _SUSPEND if self.moves[k][0] is not None else item.task is _EDGE
            # what others take of its links makes it slower, and its hours still end by the clock
            piece = left / _PIECES_LIMIT if shared else left
        if not begins or left <= 0 or not phase.working_accelerators:
            return []
        self.computes[k], self.worked[k] = now, min(piece, left)
        return [Item(second, _COMPUTE, k, scale=self.worked[k])]

    def waits_for(self) -> str:
        """Nothing: the clock goes on by itself."""
        return ""

    def log(self, end: float) -> DayLog:
        """What the hours came to until a time [s]."""
        gone = [min(max(0.0, end - self.began - phase.starts), phase.seconds) for phase in self.phases]
        if not sum(gone):
            return DayLog(Readings({}, {}))
        work = [
            self.done.get(k, 0.0) + min(max(0.0, end - self.computes.get(k, end)), self.worked.get(k, 0.0))
            for k in range(len(gone))
        ]
        longest = Estimate.exact(max(self.took.values(), default=0.0), "s")
        found = metrics_of(self.phases, gone, [work] * len(("value", "low", "high")), self.total, longest)
        errors = {name: (m.high - m.low) / 2 / EIGHTY.value for name, m in found.items()}
        return DayLog(Readings({name: m.value for name, m in found.items()}, errors))


def price(prices: Prices, task: FollowTimetable, place: str) -> Expansion:
    """The phases of a timetable.

    Raises
    ------
    AnalysisError
        As the answer of ``analyze``.
    """
    phases, total, _ = followed(prices, task, place)
    pairs: list[tuple[Task | None, Task | None]] = []
    for k in range(len(phases)):
        leave, come = switch_moves(prices, phases, k, task.store, place)
        pairs.append((leave and Priced(leave), come and Priced(come)))
    states = {id(phase.state): phase for phase in phases}
    known = {key: _second(prices, phase) for key, phase in states.items()}
    make = partial(Day, phases, pairs, [known[id(phase.state)] for phase in phases], total)
    return Expansion(make, tuple(make().tasks), settle=partial(_settle, phases, total))


def _second(prices: Prices, phase: Phase) -> tuple[Task, bool]:
    """A second of computing of the workloads of a phase, with their mean use of links, and whether there is some."""
    table, uses = prices.table, Uses.of({})
    for name, doing in phase.state.doing.items():
        if doing.design is None:
            continue
        own = Prices(partitioned_network(build_network(doing.design)))
        run = play(own, [job_of_workload(doing.design.workloads[name])], until=_LOOKED, most_events=_EVENTS_LIMIT)
        load, n = run.mean_load(), own.network.n_resources
        for k in np.flatnonzero(load > 0).tolist():
            limit = own.table.shared(k)
            if k < n or limit is not None:
                number = k if limit is None else table.limit(limit)
                uses = uses.plus(Uses.of({number: float(load[k])}))
    if not len(uses.resource):
        return Priced(alone(1.0)), False
    # a flow to each accelerator, over the resources that are used most
    capacity = table.capacity.of(uses.resource)
    most = int(np.argmax(uses.amount / capacity))
    equal = np.isclose(uses.amount, uses.amount[most]) & (capacity == capacity[most])
    weight = phase.working_accelerators / float(uses.amount[equal].sum())
    return Priced(alone(1.0, uses=uses, weight=weight)), True


def _settle(phases: Sequence[Phase], total: int, explained: bool, cancelled: object) -> Settled:
    """The hours by themselves need no clock."""
    del explained, cancelled
    found, binding = mean_of(phases, total)
    return Settled(found, binding, (), ())


COST = CostKind(FollowTimetable, price)
