"""What a run was, as data: tasks with their times, loads over time, and what held whom back.

A run is computed, then looked at: a time bar, a Gantt chart, plots, a trace file and the report all read this. Times
are seconds from the start of the clock; loads are in units of the resource: bytes a second for links and memories,
works for engines.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.clock.records import AnsweredRequests, TaskRun, WorkRun
from designer.engine.costs.resources import ResourceTable
from designer.engine.results import Bottleneck
from designer.errors import AnalysisError
from designer.findings import Finding
from designer.workload.program.process import ARRIVAL
from designer.workload.program.restarting import COLD_START, FAILURE, RESTORE

# Loads of a run as intervals in arrays: one for each time that a work takes so much of a resource.

#: a load below this part of its peak is the rounding of a sum
_NOTHING_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Loads: each of `value` on `resource` from `begin` to `end`, by a program. All : (n,)"""

    begin: Float
    end: Float
    resource: Int
    value: Float
    program: Int

    @staticmethod
    def of(works: Sequence[WorkRun], tasks: Sequence[TaskRun], programs: Sequence[str], end: float) -> Intervals:
        """The loads of all works; what has not ended goes on to the end of the run and beyond."""
        number = {name: k for k, name in enumerate(programs)}
        rows: list[tuple[float, float, int, float, int]] = []
        for work in works:
            mine = number[tasks[work.task].program]
            if work.engine >= 0 and not math.isnan(work.began):
                rows.append((work.began, math.inf if math.isnan(work.ended) else work.ended, work.engine, 1.0, mine))
            last = len(work.log) - 1
            for k, (at, rate, _) in enumerate(work.log):
                if rate > 0:
                    then = work.log[k + 1][0] if k < last else math.inf
                    rows += [(at, then, resource, rate * usage, mine) for resource, usage in work.uses]
        columns = tuple(zip(*rows, strict=True)) or ((), (), (), (), ())
        return Intervals(
            np.array(columns[0], np.float64),
            np.array(columns[1], np.float64),
            np.array(columns[2], np.int64),
            np.array(columns[3], np.float64),
            np.array(columns[4], np.int64),
        )

    def at(self, time: float, count: int, program: int = -1) -> Float:
        """(count,) load of each resource just after a time."""
        rows = (self.begin <= time) & (time < self.end)
        if program >= 0:
            rows &= self.program == program
        return np.bincount(self.resource[rows], self.value[rows], count).astype(np.float64)

    def mean(self, begin: float, end: float, count: int, program: int = -1) -> Float:
        """(count,) mean load of each resource between two times."""
        held = np.minimum(self.end, end) - np.maximum(self.begin, begin)
        rows = held > 0
        if program >= 0:
            rows &= self.program == program
        amount = self.value[rows] * held[rows]
        return np.bincount(self.resource[rows], amount, count) / (end - begin)

    def pieces(self, resource: int, program: int = -1) -> tuple[Float, Float]:
        """Times and the load of a resource from each on, piecewise constant: (n,) [s] and (n,)."""
        rows = self.resource == resource
        if program >= 0:
            rows &= self.program == program
        begin, end, value = self.begin[rows], self.end[rows], self.value[rows]
        open_ended = ~np.isfinite(end)
        times = np.unique(np.concatenate([[0.0], begin, end[~open_ended]]))
        change = np.zeros(len(times))
        np.add.at(change, np.searchsorted(times, begin), value)
        np.add.at(change, np.searchsorted(times, end[~open_ended]), -value[~open_ended])
        load = np.cumsum(change)
        load[np.abs(load) <= _NOTHING_TOLERANCE * np.abs(load).max(initial=0.0)] = 0.0
        return times, load


Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Series:
    """A load over time in equal intervals: mean, and extremes, so that peaks survive thinning."""

    time: Float
    mean: Float
    low: Float
    high: Float


@dataclass(frozen=True, eq=False)
class Run:
    """A run.

    Parameters
    ----------
    end
        The time reached [s].
    done
        Whether nothing was left to do; else it was ended by a limit, or could not go on.
    programs
        Names.
    tasks, works
        All of them, in the order in which they became ready.
    table
        What resource numbers mean; ``table.capacity`` is at the start.
    changes
        (time, resource, capacity) of failures, degradations and repairs, in order of time.
    stands_for
        (n_resources,) resources that are equivalent have one load, that of this number.
    events
        How many the clock saw.
    holds
        Memory that programs take while they run, by part [B].
    requests
        What became of the requests of programs that serve some.
    more
        How many a resource represents that have no numbers of their own.
    cut
        True if it ended with its events used up, and more would have happened.
    """

    end: float
    done: bool
    programs: tuple[str, ...]
    tasks: Sequence[TaskRun]
    works: Sequence[WorkRun]
    table: ResourceTable
    changes: tuple[tuple[float, int, float], ...]
    represents: Int
    events: int
    findings: tuple[Finding, ...] = ()
    holds: Mapping[str, Mapping[int, float]] = field(default_factory=dict[str, Mapping[int, float]])
    requests: Mapping[str, AnsweredRequests] = field(default_factory=dict[str, AnsweredRequests])
    more: Mapping[int, int] = field(default_factory=dict[int, int])
    cut: bool = False

    def count_equal(self, resource: int) -> int:
        """How many resources one represents, itself among them."""
        many = self.multiplicity
        return self.more.get(resource, int(many[resource]) if resource < len(many) else 0)

    @cached_property
    def multiplicity(self) -> Int:
        """How many resources each one represents, itself among them; 0 where another one does. : (n_resources,)"""
        return np.bincount(self.represents, minlength=len(self.represents))

    @cached_property
    def full(self) -> frozenset[int]:
        """Resources that held back any work."""
        held = {resource for work in self.works for _, _, by in work.log for resource in by}
        return frozenset(np.flatnonzero(np.isin(self.represents, list(held))).tolist())

    @cached_property
    def intervals(self) -> Intervals:
        """All loads; made when first asked for."""
        return Intervals.of(self.works, self.tasks, self.programs, self.end)

    @cached_property
    def _inner(self) -> Mapping[int, list[int]]:
        found: dict[int, list[int]] = {}
        for number, task in enumerate(self.tasks):
            if task.parent >= 0:
                found.setdefault(task.parent, []).append(number)
        return found

    def _number(self, program: str) -> int:
        if program and program not in self.programs:
            raise AnalysisError(f"no program {program!r} ran", remedy=f"those that did: {', '.join(self.programs)}")
        return self.programs.index(program) if program else -1

    def ends(self, program: str, step: str) -> list[float]:
        """When each item of a step of a program ended, in order of the items [s]; those not done are left out."""
        mine = [t for t in self.tasks if t.program == program and t.step == step and t.parent < 0]
        return [t.ended for t in sorted(mine, key=lambda t: t.number) if t.done]

    def times(self, program: str, step: str) -> list[float]:
        """How long each item of a step took from when it could begin [s]."""
        return [t.time for t in self.tasks if t.program == program and t.step == step and t.parent < 0 and t.done]

    def whole_items(self, program: str, begin: float, end: float) -> tuple[float, float]:
        """The part of a time in which the slowest step of other programs is done a whole number of times [s].

        All of the time where no other program does anything twice in it.
        """
        found: dict[tuple[str, str], list[float]] = {}
        for t in self.tasks:
            if t.program != program and t.parent < 0 and begin <= t.ended <= end:
                found.setdefault((t.program, t.step), []).append(t.ended)
        slowest = min((each for each in found.values() if max(each) > min(each)), key=len, default=[begin, end])
        return min(slowest), max(slowest)

    def held_for(self, program: str) -> list[tuple[float, float]]:
        """When a program has its memory: while it runs, but not from a failure until it has read its state again."""
        mine = [t for t in self.tasks if t.program == program and t.parent < 0]
        if not mine:
            return []
        open_ended = any(math.isnan(t.ended) for t in mine)
        last = math.inf if open_ended else max(t.ended for t in mine)
        edges = [min(t.ready for t in mine)]
        for task in sorted((t for t in mine if t.done and t.step in (FAILURE, RESTORE)), key=lambda t: t.ended):
            has = len(edges) % 2 == 1
            if has == (task.step == FAILURE):
                edges.append(task.ended)
        if len(edges) % 2:
            edges.append(last)
        return list(zip(edges[::2], edges[1::2], strict=True))

    def under_way(self, program: str) -> float:
        """How long a program had something to do: not while it waited for what arrives [s]."""
        spans = [
            (t.ready, self.end if math.isnan(t.ended) else t.ended)
            for t in self.tasks
            if t.program == program and t.parent < 0 and t.step not in (ARRIVAL, FAILURE) and t.ready <= self.end
        ]
        # from a failure on it waits for what is mended
        failed = [t.ended for t in self.tasks if t.program == program and t.step == FAILURE and t.done]
        cold = [t.ready for t in self.tasks if t.program == program and t.step == COLD_START]
        spans += [(at, min((c for c in cold if c >= at), default=self.end)) for at in failed]
        total, reached = 0.0, -math.inf
        for begin, end in sorted(spans):
            total += max(0.0, min(end, self.end) - max(begin, reached))
            reached = max(reached, min(end, self.end))
        return total

    def latencies(self, program: str, step: str) -> list[float]:
        """How long it took from when each item could begin until a step of it ended [s]."""
        began: dict[int, float] = {}
        for t in self.tasks:
            if t.program == program and t.parent < 0 and t.step != ARRIVAL:
                began.setdefault(t.number, t.ready)
        mine = [t for t in self.tasks if t.program == program and t.step == step and t.parent < 0 and t.done]
        return [t.ended - began[t.number] for t in mine]

    def kept(self, program: str, step: str, safe: str, batch: int = 0) -> int:
        """Items of a step that are done and that no failure undid, at the end of the run.

        Parameters
        ----------
        batch
            Items that arrive at once and are safe when the last of them is done; 0 where none arrive.
        """
        mine = [t for t in self.tasks if t.program == program and t.parent < 0 and t.done]
        failed = max((t.ended for t in mine if t.step == FAILURE), default=-math.inf)
        known = [t for t in mine if t.ended <= failed]
        ends = [t.number + 1 for t in known if batch and t.step == step and not (t.number + 1) % batch]
        count = max([t.number + 1 for t in known if t.step == safe] + ends, default=0)
        return max((t.number + 1 for t in mine if t.step == step and t.ended > failed), default=count)

    @property
    def marks(self) -> Mapping[str, tuple[float, ...]]:
        """Ends of all top-level steps, by ``program/step``: the named instants of the run [s]."""
        found: dict[str, list[float]] = {}
        for task in self.tasks:
            if task.parent < 0 and task.done:
                found.setdefault(f"{task.program}/{task.step}", []).append(task.ended)
        return {name: tuple(sorted(times)) for name, times in found.items()}

    def capacity_at(self, time: float) -> Float:
        """(n_resources,) capacity at a time."""
        found = self.table.capacity.all[: len(self.represents)]
        for at, resource, capacity in self.changes:
            if at <= time:
                found[resource] = capacity
        return found

    def load_at(self, time: float, program: str = "") -> Float:
        """(n_resources,) load just after a time; of one program alone, where named."""
        count = len(self.represents)
        return self.intervals.at(time, count, self._number(program))[self.represents]

    def channels_mean(self, begin: float = 0.0, end: float = math.inf) -> Float:
        """(n_channels,) mean utilisation of every channel between two times [1]."""
        return self._channels(self._shares(self.mean_load(begin, end)))

    def _channels(self, share: Float) -> Float:
        network = self.table.network
        links = np.arange(network.net.n_links)
        first, cables = network.first_resource[links], network.cables[links]
        out = share[first]
        back = share[first + np.where(network.full[links], cables, 0)]
        return np.stack([out, back], axis=1).ravel()

    def pieces(self, resource: int, program: str = "") -> tuple[Float, Float]:
        """Times and the load from each on, piecewise constant, of one resource: (n,) [s] and (n,)."""
        return self.intervals.pieces(int(self.represents[resource]), self._number(program))

    def series(self, resource: int, begin: float, end: float, count: int, program: str = "") -> Series:
        """The load of a resource in `count` equal intervals from `begin` to `end` [s]."""
        times, load = self.pieces(resource, program)
        edges = np.linspace(begin, max(end, begin), count + 1)
        at = np.concatenate([times, [max(self.end, float(times[-1]))]])
        area = np.concatenate([[0.0], np.cumsum(load * np.diff(at))])

        def until(when: Float) -> Float:
            k = np.clip(np.searchsorted(times, when, side="right") - 1, 0, len(times) - 1)
            return area[k] + load[k] * np.maximum(np.minimum(when, at[-1]) - times[k], 0.0)

        width = np.diff(edges)
        total = np.diff(until(edges))
        first = np.clip(np.searchsorted(times, edges[:-1], side="right") - 1, 0, len(times) - 1)
        last = np.clip(np.searchsorted(times, edges[1:], side="left") - 1, 0, len(times) - 1)
        last = np.maximum(first, last)
        low = np.array([load[a : b + 1].min() for a, b in zip(first, last, strict=True)])
        high = np.array([load[a : b + 1].max() for a, b in zip(first, last, strict=True)])
        mean = np.divide(total, width, out=load[first].astype(np.float64), where=width > 0)
        return Series((edges[:-1] + edges[1:]) / 2, mean, low, high)

    def mean_load(self, begin: float = 0.0, end: float = math.inf, program: str = "") -> Float:
        """(n_resources,) mean load between two times, engines included."""
        end = min(end, self.end)
        if end <= begin:
            return self.load_at(end, program)
        count = len(self.represents)
        return self.intervals.mean(begin, end, count, self._number(program))[self.represents]

    def loaded(self, count: int) -> list[tuple[Bottleneck, int]]:
        """What carries most of its capacity in the mean, equivalent ones listed once, with its number."""
        return [(self.table.bottleneck(k), k) for k, _ in self._most_loaded(count)]

    def busiest(self, count: int) -> list[tuple[Bottleneck, float]]:
        """What carries most of its capacity in the mean, equivalent ones listed once, and that share [1]."""
        return [(self.table.bottleneck(k), share) for k, share in self._most_loaded(count)]

    def _most_loaded(self, count: int) -> list[tuple[int, float]]:
        # only what represents others is loaded itself
        heads = np.unique(self.intervals.resource)
        if not len(heads):
            return []
        end, n = self.end, len(self.represents)
        load = self.intervals.mean(0.0, end, n) if end > 0 else self.intervals.at(end, n)
        slots = self._slots()
        room = self.table.capacity.of(heads)
        room[:] = [slots.get(k, most) for k, most in zip(heads.tolist(), room.tolist(), strict=True)]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = load[heads] / room
        share = np.where(np.isfinite(share), share, 0.0)
        order = np.argsort(-share, kind="stable")[:count]
        return [(int(heads[k]), float(share[k])) for k in order.tolist() if share[k] > 0]

    def _slots(self) -> dict[int, int]:
        """Slots of the engines there were; tasks priced later may have added some."""
        return {engine: slots for engine, slots in self.table.slots.items() if engine < len(self.represents)}

    def _shares(self, load: Float) -> Float:
        room = self.table.capacity.all[: len(self.represents)]
        for engine, slots in self._slots().items():
            room[engine] = slots
        with np.errstate(divide="ignore", invalid="ignore"):
            share = load / room
        return np.where(np.isfinite(share), share, 0.0)

    def busy(self, resource: int, begin: float = 0.0, end: float = math.inf, program: str = "") -> float:
        """Mean load ÷ capacity of a resource between two times [1]."""
        end = min(end, self.end)
        if end <= begin:
            return 0.0
        most = self.table.slots.get(resource, 0) or self.table.capacity[resource]
        return float(self.mean_load(begin, end, program)[resource]) / most if most else 0.0

    def inner(self, task: int) -> list[int]:
        """Tasks that one is made of, in order; empty for a primitive one."""
        return self._inner.get(task, [])

    def moved(self, program: str, step: str) -> tuple[float, float]:
        """Units that a step has done, all items together, and the time in which it did anything [s]."""
        amount = 0.0
        spans: list[tuple[float, float]] = []
        for work in self.works:
            task = self.tasks[work.task]
            if task.program != program or task.step != step:
                continue
            for k, (at, rate, _) in enumerate(work.log):
                then = work.log[k + 1][0] if k + 1 < len(work.log) else self.end
                amount += rate * work.equal * max(0.0, then - at)
                if rate > 0 and then > at:
                    spans.append((at, then))
        time, reached = 0.0, -math.inf
        for begin, end in sorted(spans):
            time += max(0.0, end - max(begin, reached))
            reached = max(reached, end)
        return amount, time

    def rate_now(self, program: str, step: str) -> float:
        """Units a second that a step does at the end of the run."""
        return sum(
            work.log[-1][1] * work.equal
            for work in self.works
            if work.log and self.tasks[work.task].program == program and self.tasks[work.task].step == step
        )

    def path(self, task: int | None = None) -> list[int]:
        """The critical path: what a task (the last to end, if none is named) waited for last, and so on, in order."""
        if task is None:
            done = [k for k, t in enumerate(self.tasks) if t.parent < 0 and t.done]
            if not done:
                return []
            task = max(done, key=lambda k: (self.tasks[k].ended, k))
        found: list[int] = []
        while task >= 0:
            found.append(task)
            task = self.tasks[task].by
        return found[::-1]
