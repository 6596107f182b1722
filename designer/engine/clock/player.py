"""Plays programs on a drawing: prices their tasks, recognises equivalent ranks, runs the clock, and keeps what
happened."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol, runtime_checkable

import numpy as np

from designer.engine.clock.engine import Clock
from designer.engine.clock.jobs import NO_CHANGES, Change, Changes, Job, PartChange
from designer.engine.clock.quotient import Quotient, quotient
from designer.engine.clock.records import AnsweredRequests, TaskRun, WorkRun
from designer.engine.clock.run import Run
from designer.engine.clock.work import Shape, Work
from designer.engine.costs import Cost, Expansion, Price, Prices
from designer.errors import AnalysisError, Cancelled
from designer.findings import Finding, Severity
from designer.sources import Estimate
from designer.workload.program import Item, Process, Restart, Restarting, Task

#: events after which a run is ended: two minutes, two gigabytes, and nobody can look at more
EVENTS_LIMIT: Final = 1_000_000


#: works of a job that may fail that are kept in mind before those that are done are left out
_UNDER_WAY_LIMIT: Final = 4096


#: partitions into classes that are kept with prices: of all together, of each alone, of all but one
CLASSES_LIMIT: Final = 16


#: expansions inside expansions
_NAMED_LIMIT: Final = 3


_DEPTH_LIMIT: Final = 8


def play(
    prices: Prices,
    jobs: Sequence[Job],
    *,
    until: float = math.inf,
    changes: Changes = NO_CHANGES,
    stop: Callable[[TaskRun], bool] | None = None,
    cancelled: Callable[[], bool] | None = None,
    most_events: float = EVENTS_LIMIT,
) -> Run:
    """Run jobs together.

    Parameters
    ----------
    until
        When to end at the latest [s].
    stop
        Asked when a task ended; True ends the run.
    cancelled
        Asked all the time.

    Raises
    ------
    AnalysisError
        If a task cannot be done on this drawing, or tasks that take no time follow each other without end.
    Cancelled
        If asked to.
    """
    names = [job.name for job in jobs]
    if len(set(names)) < len(names):
        raise AnalysisError("two programs of one name", remedy="name each once")
    if not until >= 0:
        raise AnalysisError(f"a run until {until:g} s", remedy="give a time of 0 or more")
    return _Player(prices, jobs, changes, stop, cancelled).run(until, most_events)


@runtime_checkable
class Recording(Protocol):
    """A process that keeps what became of its requests.

    Attributes
    ----------
    set
        (time, resource, share) of machines whose speed was set in the run, as it goes on.
    stops
        When any of some machines may be given another speed next, at the earliest [s].
    leg
        The round trip to its clients; None where latencies are those at the server [s].
    """

    set: Sequence[tuple[float, int, float]]
    stops: Callable[[Sequence[int]], float]
    leg: Estimate | None

    def log(self, end: float) -> AnsweredRequests:
        """What has become of them by a time [s]."""
        ...


@dataclass(slots=True, eq=False)
class _Live:
    """A task under way."""

    item: Item
    number: int
    pending: int
    process: Process
    parent: _Live | None


class _Player:
    def __init__(
        self,
        prices: Prices,
        jobs: Sequence[Job],
        changes: Changes,
        stop: Callable[[TaskRun], bool] | None,
        cancelled: Callable[[], bool] | None,
    ) -> None:
        self.prices, self.jobs, self.changes, self.stop = prices, jobs, changes, stop
        self.cancelled = cancelled
        self.processes = [job.process() for job in jobs]
        self.findings: dict[Finding, None] = {}
        self.costs: dict[Task, int] = {}
        self.listed: list[Cost] = []
        self.holds: dict[str, dict[int, float]] = {}
        for job, process in zip(jobs, self.processes, strict=True):
            self._declare(process.tasks, job.place, 0)
            self._hold(job.name, process.tasks)
        #: by engine of a part that something happens to, whether it works: what is computed there takes all of it
        self.working: dict[int, int] = {}
        self.events = (*changes.events, *self._of_parts())
        self.quotient = self._quotient()
        self.tasks: list[TaskRun] = []
        self.logs: dict[str, Recording] = {}
        #: (time, resource, capacity) that tasks set
        self.set: list[tuple[float, int, float]] = []
        #: by resource that is a machine's speed, the works at whose end it may be set again
        self.until_set: dict[int, list[Work]] = {}
        self.clock = self._clock()
        self.players = [_JobPlayer(self, job, process) for job, process in zip(jobs, self.processes, strict=True)]

    def _declare(self, tasks: Iterable[Task], place: str, depth: int) -> None:
        if depth > _DEPTH_LIMIT:
            raise AnalysisError("a task made of itself", place=place)
        for task in tasks:
            if self.cancelled is not None and self.cancelled():
                raise Cancelled("stopped")
            unit, _ = self.prices.unit(task)
            if unit in self.costs:
                continue
            price: Price = self.prices.price(unit, place)
            self.findings |= dict.fromkeys(price.findings)
            if isinstance(price, Expansion):
                self.costs[unit] = -1
                self._declare(price.tasks, place, depth + 1)
            else:
                self.costs[unit] = len(self.listed)
                self.listed.append(price.slowed(self.changes.slower) if self.changes.slower else price)

    def _hold(self, name: str, tasks: Iterable[Task]) -> None:
        """The memory a program takes: of tasks that take the same, the most any of them does."""
        held = self.holds.setdefault(name, {})
        for task in tasks:
            price = self.prices.price(self.prices.unit(task)[0], "")
            if not held:
                held |= price.holds
            for part, size in price.holds.items() if held != price.holds else ():
                held[part] = max(held.get(part, 0.0), size)
            if isinstance(price, Expansion):
                self._hold(name, price.tasks)

    def _of_parts(self) -> list[Change]:
        """What happens to parts, as changes of what computes there; of an engine of several parts some are left."""
        table = self.prices.table
        hit: dict[int, list[PartChange]] = {}
        for change in self.changes.parts:
            hit.setdefault(change.part, []).append(change)
        found: list[Change] = []
        for part, changes in hit.items():
            turns = table.known_turns(part)
            found += [Change(c.at, turns, c.share) for c in changes if turns >= 0]
        for engine in list(table.slots) if hit else ():
            mine = table.parts_of(engine)
            if not hit.keys() & set(mine):
                continue
            self.working[engine] = table.working(engine)
            shares = dict.fromkeys(mine, 1.0)
            for change in sorted((c for part in set(mine) for c in hit.get(part, ())), key=lambda c: c.at):
                shares[change.part] = change.share
                found.append(Change(change.at, self.working[engine], sum(shares.values()) / len(shares)))
        return found

    def _quotient(self) -> Quotient:
        """The classes of all tasks; `listed` has every flow by itself where classes of flows do not hold."""
        table = self.prices.table
        apart = {change.resource for change in self.events} | set(self.changes.apart) | set(self.working) | table.apart
        apart |= {number for numbers in table.machines.values() for number in numbers}
        key = (tuple(self.listed), len(table.capacity), tuple(sorted(apart)))
        kept = self.prices.classes.get(key)
        if kept is None:
            # runs on the same prices differ in who runs and in how long things take, seldom in what is equivalent
            while len(self.prices.classes) >= CLASSES_LIMIT:
                del self.prices.classes[next(iter(self.prices.classes))]
            kept = self.prices.classes[key] = quotient(self.listed, table.capacity, table.slots, key[2])
        self.listed, found = kept
        assert isinstance(found, Quotient)
        return found

    def _clock(self) -> Clock:
        table = self.prices.table
        represents = self.quotient.represents
        capacity: dict[int, float] = {}
        slots: dict[int, int] = {}
        for one in (one for works in self.quotient.works for one in works):
            if one.engine >= 0:
                slots[one.engine] = table.slots[one.engine]
            for resource, _ in one.uses:
                capacity[resource] = table.capacity[resource]
        for change in self.events:
            capacity[change.resource] = table.capacity[change.resource]
        for resource, times in self.changes.wider.items():
            if resource not in table.slots:
                capacity[int(represents[resource])] = table.capacity[resource] * times
        clock = Clock(capacity, slots, cancelled=self.cancelled)
        for change in self.events:
            clock.set_capacity(change.at, change.resource, table.capacity[change.resource] * change.share)
        return clock

    def run(self, until: float, most_events: float) -> Run:
        for job, player in zip(self.jobs, self.players, strict=True):
            self.clock.add(player, job.start)
        self.clock.most_events = most_events
        end = self.clock.run(until)
        works = self._works()
        done = not self.clock.stopped and self.clock.idle
        # what is still under way at the end of a run cut short is not stuck
        cut_short = self.clock.stopped or self.clock.cut or (until < math.inf and not done)
        stuck = [] if cut_short else self._stuck_findings()
        if self.clock.cut:
            text = f"ended at {end:g} s after {self.clock.events:,} events"
            self.findings[Finding("CLOCK-LONG", Severity.WARNING, text, (), "simulate a shorter time")] = None
        table = self.prices.table
        events = [(c.at, c.resource, table.capacity[c.resource] * c.share) for c in self.events]
        changes = tuple(sorted([*events, *self.set], key=lambda c: c[0]))
        return Run(
            end,
            done and not stuck,
            tuple(job.name for job in self.jobs),
            self.tasks,
            works,
            table,
            changes,
            self.quotient.represents,
            self.clock.events,
            (*self.findings, *stuck, *saturations(self.prices, self.jobs)),
            {name: held for name, held in self.holds.items() if held},
            {name: log.log(end).behind(log.leg) for name, log in self.logs.items()},
            self.quotient.more,
            cut=self.clock.cut,
        )

    def set_speed(self, machine: str, share: float, at: float) -> None:
        """From a time on a machine has a share of its speed."""
        for resource in self.prices.table.machines.get(machine, ()):
            self.clock.set_capacity(at, resource, share)
            self.set.append((at, resource, share))

    def stops(self, speeds: Sequence[int]) -> float:
        """When any of some speeds may be set again, at the earliest: what leads to that at the most it can have [s]."""
        clock, earliest = self.clock, math.inf
        for resource in speeds:
            works = [work for work in self.until_set.get(resource, ()) if math.isnan(work.ended)]
            if not works:
                continue
            needs = 0.0
            for work in works:
                shape = work.shape
                most = min(shape.cap, *(clock.capacity[r] / usage for r, usage in shape.uses), math.inf)
                needs = max(needs, clock.left(work) / most if most > 0 else math.inf)
            earliest = min(earliest, clock.now + needs)
        return earliest

    def _works(self) -> list[WorkRun]:
        found: list[WorkRun] = []
        mine: dict[int, list[int]] = {}
        for work in self.clock.works:
            live, equal, uses, group, unit, time = work.ticket
            mine.setdefault(live.number, []).append(len(found))
            task = self.tasks[live.number]
            if not math.isnan(work.began):
                task.began = work.began if math.isnan(task.began) else min(task.began, work.began)
            found.append(
                WorkRun(
                    live.number,
                    equal,
                    work.ready,
                    work.began,
                    work.ended,
                    work.shape.engine,
                    group,
                    uses,
                    tuple(work.log),
                    work.amount,
                    unit,
                    time,
                )
            )
        for number, works in mine.items():
            self.tasks[number].works = tuple(works)
        for task in self.tasks:
            if task.parent >= 0 and not math.isnan(task.began):
                above = self.tasks[task.parent]
                above.began = task.began if math.isnan(above.began) else min(above.began, task.began)
        return found

    def _stuck_findings(self) -> list[Finding]:
        """Programs that can never go on, and what they wait for."""
        found: list[Finding] = []
        table = self.prices.table
        for player, process in zip(self.players, self.processes, strict=True):
            for work in self.clock.waiting():
                if work.process is not player or math.isinf(work.left):
                    continue
                live: _Live = work.ticket[0]
                task = self.tasks[live.number]
                dead = [r for r, _ in work.shape.uses if self.clock.capacity[r] <= 0] or [work.shape.engine]
                names = [table.id(r) for r in dead if r >= 0]
                stated = ", ".join(names[:_NAMED_LIMIT]) or "a rate above 0"
                if len(names) > _NAMED_LIMIT:
                    stated += f" and {len(names) - _NAMED_LIMIT} more"
                what = f"{task.step} of item {task.number + 1} waits for {stated}"
                found.append(_stuck_findings(player.job.name, what, names))
                break
            else:
                what = process.waits_for()
                if what and not player.live:
                    found.append(_stuck_findings(player.job.name, what, []))
        return found


def _chain(live: _Live | None) -> Iterable[int]:
    """A task and those it is a part of."""
    while live is not None:
        yield live.number
        live = live.parent


def _stuck_findings(name: str, what: str, where: Sequence[str]) -> Finding:
    remedy = "give what it waits for some capacity" if where else "let something end that it waits for"
    return Finding("CLOCK-STUCK", Severity.ERROR, f"{name} can never go on: {what}", tuple(where), remedy)


class _JobPlayer:
    """One process on the clock."""

    def __init__(self, player: _Player, job: Job, process: Process) -> None:
        self.player, self.job, self.process = player, job, process
        self.live = 0
        self._shapes: dict[int, list[tuple[Shape, float, float, float, int]]] = {}
        self._longer: dict[int, tuple[float, float]] = {}
        self._nothing = Shape()
        #: works not known to be done, where all that is under way may have to be dropped
        self._under_way: list[Work] = []
        self._drops = isinstance(process, Restarting)

    def start(self, now: float) -> Iterable[Work]:
        works: list[Work] = []
        self._launch(self.process.start(now), self.process, None, -1, now, works)
        return self._track_works(works)

    def _track_works(self, works: list[Work]) -> list[Work]:
        if self._drops:
            self._under_way += works
            if len(self._under_way) > _UNDER_WAY_LIMIT:
                self._under_way = [work for work in self._under_way if math.isnan(work.ended)]
        return works

    def finished(self, work: Work, now: float) -> Iterable[Work]:
        live: _Live = work.ticket[0]
        live.pending -= 1
        works: list[Work] = []
        if not live.pending:
            self._end(live, now, works)
        return self._track_works(works)

    def _end(self, live: _Live, now: float, works: list[Work]) -> None:
        self.live -= 1
        task = self.player.tasks[live.number]
        task.ended = now
        if self.player.stop is not None and live.parent is None and self.player.stop(task):
            self.player.clock.stop()
        parent = live.parent
        items = live.process.finished(live.item, now)
        if isinstance(items, Restart):
            self._drop(now)
        begun = self._launch(items, live.process, parent, live.number, now, works)
        if parent is not None:
            parent.pending += begun - 1
            if not parent.pending:
                self._end(parent, now, works)

    def _drop(self, now: float) -> None:
        """Give up all that is under way."""
        clock, tasks = self.player.clock, self.player.tasks
        clock.drop([work for work in self._under_way if math.isnan(work.ended)])
        for number in dict.fromkeys(above for work in self._under_way for above in _chain(work.ticket[0])):
            task = tasks[number]
            if math.isnan(task.ended):
                task.ended, task.dropped = now, True
        self._under_way.clear()
        self.live = 0

    def _launch(
        self, items: Iterable[Item], process: Process, parent: _Live | None, by: int, now: float, works: list[Work]
    ) -> int:
        count = 0
        for item in items:
            count += 1
            self._begin(item, process, parent, by, now, works)
        return count

    def _begin(
        self, item: Item, process: Process, parent: _Live | None, by: int, now: float, works: list[Work]
    ) -> None:
        player = self.player
        number = len(player.tasks)
        above = parent.number if parent is not None else -1
        ready = now + item.wait
        player.tasks.append(TaskRun(self.job.name, item.step, item.number, ready, by, above))
        self.live += 1
        unit, times = player.prices.unit(item.task)
        at = player.costs.get(unit)
        if at is None:
            raise AssertionError(f"{self.job.name} asks for {item.step}, a task that it did not name")
        live = _Live(item, number, 1, process, parent)
        if at < 0:
            expansion = player.prices.price(unit, self.job.place)
            assert isinstance(expansion, Expansion)
            slower = player.changes.slower
            inner = expansion.under(slower) if expansion.under is not None and slower else expansion.make()
            if isinstance(inner, Recording):
                player.logs[self.job.name] = inner
                inner.set, inner.stops = player.set, player.stops
            live.pending = self._launch(inner.start(now), inner, live, -1, now, works)
            if not live.pending:
                live.pending = 1
                works.append(Work(0.0, self._nothing, ticket=(live, 1, (), "", "", None)))
            return
        shapes = self._shapes.get(at)
        if shapes is None:
            shapes = self._shapes[at] = self._shapes_of(at)
            slower = player.changes.slower
            self._longer[at] = player.listed[at].longer(slower) if slower else (1.0, 1.0)
        cost = player.listed[at]
        for machine, share in cost.speeds:
            player.set_speed(machine, share, ready)
        longer, later = self._longer[at]
        scale = times * item.scale * longer
        live.pending = len(shapes) or 1
        for shape, amount, latency, after, equal in shapes:
            works.append(
                Work(
                    amount * scale,
                    shape,
                    delay=item.wait + latency * later,
                    after=after * later,
                    priority=self.job.priority,
                    ticket=(live, equal, shape.uses, cost.group, cost.unit, cost.time),
                )
            )
        for machine, _ in cost.speeds:
            mine = works[len(works) - len(shapes) :]
            player.until_set |= dict.fromkeys(player.prices.table.machines.get(machine, ()), mine)
        if not shapes:
            works.append(Work(0.0, self._nothing, delay=item.wait, ticket=(live, 1, (), "", "", None)))

    def _shapes_of(self, at: int) -> list[tuple[Shape, float, float, float, int]]:
        cost = self.player.listed[at]
        found: list[tuple[Shape, float, float, float, int]] = []
        for one in self.player.quotient.works[at]:
            k = one.first
            uses, cap = one.uses, float(cost.cap[k])
            if one.engine in self.player.working and cap < math.inf:
                uses = (*uses, (self.player.working[one.engine], 1 / cap))
            shape = Shape(uses, float(cost.weight[k]) * self.job.weight, cap, one.engine)
            after = float(cost.after[k]) if cost.after is not None else 0.0
            found.append((shape, float(cost.amount[k]), float(cost.latency[k]), after, one.multiplicity))
        return found


def saturations(prices: Prices, jobs: Sequence[Job]) -> list[Finding]:
    """Arrivals faster than what they need can be done, with the rate at which that begins."""
    found: list[Finding] = []
    table = prices.table
    for job in jobs:
        program = job.program
        if program is None or program.arrivals is None or program.arrivals.shape == "trace":
            continue
        need = np.zeros(len(table.capacity))
        for step in program.steps:
            unit, times = prices.unit(step.task)
            price = prices.price(unit, job.place)
            if isinstance(price, Expansion) or not np.isfinite(price.amount).all():
                continue
            amount = price.amount * times * program.batch / step.every
            np.add.at(need, price.resource, np.repeat(amount, np.diff(price.ptr)) * price.usage)
            held = price.engine >= 0
            np.add.at(need, price.engine[held], amount[held] / price.cap[held])
        room = table.capacity.all
        room[list(table.slots)] = list(table.slots.values())
        used = need > 0
        if not used.any():
            continue
        rates = room[used] / need[used]
        worst = int(np.flatnonzero(used)[int(np.argmin(rates))])
        most = float(rates.min())
        if program.arrivals.rate > most:
            text = (
                f"{program.arrivals.rate:.4g} items of {job.name} a second arrive, {table.id(worst)} does {most:.4g}, "
                "so they pile up without end"
            )
            remedy = f"let fewer than {most:.4g} a second arrive, or widen it"
            found.append(Finding("CLOCK-SATURATED", Severity.ERROR, text, (table.id(worst),), remedy))
    return found
