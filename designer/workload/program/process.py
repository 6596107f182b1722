"""Processes: what the clock asks what to do next. A program is one; whatever decides as it goes is another."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Protocol

from designer.workload.program.steps import Program, Step
from designer.workload.program.tasks import Mark, Task


@dataclass(eq=False, slots=True)
class Item:
    """One task to be done once.

    Parameters
    ----------
    step, number
        Which step of a program, and of which item.
    scale
        How many times the amount of the task.
    wait
        Time that goes by before it is ready, at least [s].
    """

    task: Task
    step: str
    number: int = 0
    scale: float = 1.0
    wait: float = 0.0


class Restart(tuple[Item, ...]):
    """What begins after all else that is under way in the process has been dropped."""

    __slots__ = ()


class Process(Protocol):
    """Decides what is done next from what has happened; knows no link and no formula.

    Attributes
    ----------
    tasks
        Every task it may ask for, amounts aside: so that equal ranks can be recognised before the clock starts.
    """

    @property
    def tasks(self) -> Sequence[Task]:
        """Tasks it may ask for."""
        ...

    def start(self, now: float) -> Iterable[Item]:
        """The items that begin at once."""
        ...

    def finished(self, item: Item, now: float) -> Iterable[Item]:
        """What begins because `item` ended."""
        ...

    def waits_for(self) -> str:
        """What it is waiting for, in words; empty if it is done."""
        ...


ARRIVAL = "arrival"


class Script:
    """A program as a process: counts what each step of each item still waits for."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self._draw = random.Random(program.seed)
        self._order = {step.name: k for k, step in enumerate(program.steps)}
        self._after = [tuple(self._order[name] for name in step.after) for step in program.steps]
        self._lags = [tuple((self._order[name], lag) for name, lag in lags.items()) for lags in lags_of(program)]
        #: per step: steps of the same item that follow, and steps of later items with their lag
        self._then: list[list[int]] = [[] for _ in program.steps]
        self._later: list[list[tuple[int, int]]] = [[] for _ in program.steps]
        for k in range(len(program.steps)):
            for before in set(self._after[k]):
                self._then[before].append(k)
            for before, lag in self._lags[k]:
                self._later[before].append((k, lag))
        #: per item: how many things each of its steps still waits for; items open up one after the other
        self._open: dict[int, list[int]] = {}
        self._left: dict[int, int] = {}
        self._opened = 0
        #: the last item of which anything has begun
        self._latest = -1
        self._done: list[int] = [0] * len(program.steps)
        #: per step: finished items beyond the first that is not
        self._ahead: list[set[int]] = [set() for _ in program.steps]
        self._times: Iterator[float] | None = None
        #: when the arrival that is waited for comes, counted from the start of the program [s]
        self._next: float | None = None
        #: items that were there before anything arrived
        self._given = 0
        self._arrived = 0
        self._began = 0.0
        self._last_arrival = 0.0

    @property
    def tasks(self) -> Sequence[Task]:
        """All tasks of its steps."""
        arrives = [_ARRIVES] if self.program.arrivals is not None else []
        return [*arrives, *(step.task for step in self.program.steps)]

    def start(self, now: float) -> list[Item]:
        """First steps of the first items, or the first arrival."""
        self._began = now
        if self.program.arrivals is None:
            return self._open_items()
        self._times = iter(self.program.arrivals)
        return self._next_arrival(now)

    def resume(self, now: float, began: float, times: Iterator[float], given: int) -> list[Item]:
        """The first items of a program that began earlier, of which some are there and others are still to come.

        Parameters
        ----------
        times
            Arrivals that have not been counted, from when it began [s].
        given
            Items that are there.
        """
        self._began, self._times, self._given = began, times, given
        return [*self._open_items(), *self._next_arrival(now)]

    def to_come(self) -> Iterator[float]:
        """Arrivals that have not been counted, counted from the start of the program [s]."""
        first = [] if self._next is None else [self._next]
        return chain(first, self._times or ())

    @property
    def waits_for_arrival(self) -> bool:
        """True if an arrival is still to come."""
        return self._next is not None

    def finished(self, item: Item, now: float) -> list[Item]:
        """Steps that waited for this one last."""
        if item.step == ARRIVAL:
            self._arrived += 1
            return [*self._open_items(), *self._next_arrival(now)]
        return self._finish(self._order[item.step], item.number)

    def waits_for(self) -> str:
        """The first step that has not been done."""
        program = self.program
        if self._arrived and self._times is None and not self._open:
            return ""
        for number in sorted(self._open):
            waiting = self._open[number]
            for k, count in enumerate(waiting):
                if count > 0:
                    first = [program.steps[b].name for b in self._after[k] if not self._is_done(b, number)]
                    late = [
                        f"{program.steps[b].name} of item {number - lag + 1}"
                        for b, lag in self._lags[k]
                        if number >= lag and not self._is_done(b, number - lag)
                    ]
                    return f"{program.steps[k].name} of item {number + 1} waits for {', '.join([*first, *late])}"
            return f"item {number + 1} is not done"
        return ""

    def _next_arrival(self, now: float) -> list[Item]:
        self._next = None
        if self._times is None or self._arrived * self.program.batch >= self.program.times:
            self._times = None
            return []
        at = next(self._times, None)
        if at is None:
            self._times = None
            return []
        self._next = at
        return [Item(_ARRIVES, ARRIVAL, self._arrived, wait=max(0.0, self._began + at - now))]

    def _may_open(self) -> bool:
        number, program = self._opened, self.program
        if number >= program.times:
            return False
        if program.arrivals is None:
            return number <= self._latest + 1
        there = self._given + self._arrived * program.batch
        return number < there and (program.batch == 1 or number <= self._latest + 1)

    def _open_items(self) -> list[Item]:
        found: list[Item] = []
        while self._may_open():
            number = self._opened
            self._opened += 1
            self._open[number] = waiting = [0] * len(self._order)
            self._left[number] = len(waiting)
            for k in range(len(waiting)):
                waiting[k] = len(set(self._after[k]))
                waiting[k] += sum(1 for b, lag in self._lags[k] if number >= lag and not self._is_done(b, number - lag))
            ready = [k for k, count in enumerate(waiting) if count == 0]
            for k in ready:
                found += self._begin(k, number)
        return found

    def _is_done(self, step: int, number: int) -> bool:
        return number < self._done[step] or number in self._ahead[step]

    def _begin(self, k: int, number: int) -> list[Item]:
        step: Step = self.program.steps[k]
        self._latest = max(self._latest, number)
        if (number + 1) % step.every:
            return self._finish(k, number)
        scale = self._draw.expovariate(1.0) if step.draw == "exponential" else 1.0
        return [Item(step.task, step.name, number, scale)]

    def _finish(self, k: int, number: int) -> list[Item]:
        found: list[Item] = []
        todo = [(k, number)]
        while todo:
            k, number = todo.pop()
            self._latest = max(self._latest, number)
            self._ahead[k].add(number)
            while self._done[k] in self._ahead[k]:
                self._ahead[k].remove(self._done[k])
                self._done[k] += 1
            followers = [(then, number) for then in self._then[k]]
            followers += [(then, number + lag) for then, lag in self._later[k]]
            for then, item in followers:
                waiting = self._open.get(item)
                if waiting is None:
                    continue
                waiting[then] -= 1
                if waiting[then] == 0:
                    step = self.program.steps[then]
                    if (item + 1) % step.every:
                        todo.append((then, item))
                    else:
                        found += self._begin(then, item)
            self._left[number] -= 1
            if self._left[number] == 0:
                del self._open[number], self._left[number]
        return [*found, *self._open_items()]


def lags_of(program: Program) -> list[dict[str, int]]:
    """What steps wait for in earlier items; where nothing says so, items come one after the other."""
    found = [dict(step.lags) for step in program.steps]
    if program.arrivals is not None:
        return found
    followed = {name for step in program.steps for name in step.after}
    last = [step.name for step in program.steps if step.name not in followed]
    sequential = not any(found)
    for step, lags in zip(program.steps, found, strict=True):
        if not step.after and not lags:
            lags |= dict.fromkeys(last, 1) if sequential else {step.name: 1}
    return found


_ARRIVES = Mark("arrival")
