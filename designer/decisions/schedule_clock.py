"""A timetable on the clock: machines are written to the store and read from it over links, with all else."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from designer.decisions.schedule import Phase, followed, mean_of, metrics_of, phase_name, switch_moves
from designer.engine.clock.records import Readings
from designer.engine.costs.pricing import CostKind, Expansion, Priced, Prices, Settled, alone
from designer.families.schedule.kinds import FollowTimetable
from designer.sources import EIGHTY, Estimate
from designer.workload.program.process import Item
from designer.workload.program.tasks import Mark, Task

_SUSPEND, _RESUME, _COMPUTE, _PHASE = "suspend machines", "resume machines", "compute", "phase"
_EDGE: Final = Mark("phase")


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
    second
        A second of computing.
    """

    phases: Sequence[Phase]
    moves: Sequence[tuple[Task | None, Task | None]]
    second: Task
    total: int
    set: Sequence[tuple[float, int, float]] = ()
    leg: Estimate | None = None
    began: float = 0.0
    computes: dict[int, float] = field(default_factory=dict[int, float])
    worked: dict[int, float] = field(default_factory=dict[int, float])
    took: dict[tuple[int, str], float] = field(default_factory=dict[tuple[int, str], float])
    since: dict[tuple[int, str], float] = field(default_factory=dict[tuple[int, str], float])

    def stops(self, speeds: Sequence[int]) -> float:
        """Return when machines get another speed: never by this."""
        del speeds
        return float("inf")

    @property
    def tasks(self) -> Sequence[Task]:
        """Moves of machines, computing, and the edges."""
        return [_EDGE, self.second, *(task for pair in self.moves for task in pair if task is not None)]

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
        phase = self.phases[k]
        begins = item.step == _SUSPEND if self.moves[k][0] is not None else item.task is _EDGE
        if not begins or not phase.working_accelerators:
            return []
        left = self.began + phase.starts + max(0.0, phase.seconds - phase.come.value) - now
        if left <= 0:
            return []
        self.computes[k], self.worked[k] = now, left
        return [Item(self.second, _COMPUTE, k, scale=left)]

    def waits_for(self) -> str:
        """Nothing: the clock goes on by itself."""
        return ""

    def log(self, end: float) -> DayLog:
        """What the hours came to until a time [s]."""
        gone = [min(max(0.0, end - self.began - phase.starts), phase.seconds) for phase in self.phases]
        if not sum(gone):
            return DayLog(Readings({}, {}))
        work = [min(max(0.0, end - self.computes.get(k, end)), self.worked.get(k, 0.0)) for k in range(len(gone))]
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
    make = partial(Day, phases, pairs, Priced(alone(1.0)), total)
    return Expansion(make, tuple(make().tasks), settle=partial(_settle, phases, total))


def _settle(phases: Sequence[Phase], total: int, explained: bool, cancelled: object) -> Settled:
    """The hours by themselves need no clock."""
    del explained, cancelled
    found, binding = mean_of(phases, total)
    return Settled(found, binding, (), ())


COST = CostKind(FollowTimetable, price)
