"""One replica of a served model on the clock: its engine runs ahead by a window, and is put right afterwards.

The scheduler says how long a window computes and how long it joins devices. The clock says how long both really take
next to what else is going on; all that was written down for that window is stretched to it, and the next one begins
from
there. Alone nothing is stretched, so requests are answered as in a run without a clock.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, replace
from heapq import heappop
from typing import Final

from designer.families.serving.drafting import Drafted
from designer.families.serving.engine_state import TURN, Book, Held, Requests, Steps
from designer.families.serving.formulas.step_time import Joins, Split, StepTime
from designer.families.serving.placement import Placement
from designer.families.serving.scheduler import engine
from designer.sources import Constant, Status
from designer.workload.program.process import Item
from designer.workload.program.tasks import Task

#: an engine runs ahead of the clock by so much: many steps, and far less than what it meets lasts
WINDOW: Final = Constant(
    0.5, 0.05, 1.0, "assumed-serving", Status.ASSUMED, "s", "tens of steps; what it meets is shared in the mean"
)
#: next to others, how long a window takes is known when it is over: it is shorter
MET_WINDOW: Final = Constant(0.1, 0.05, 0.5, "assumed-serving", Status.ASSUMED, "s", "several steps")
#: nothing is taken to be so many times as slow as it is alone, or as quick
PACE_LIMIT: Final = 100
#: engines that are handed requests by others look up more often, so that none waits long for being seen
SHORT_WINDOW: Final = Constant(0.03, 0.02, 0.1, "assumed-serving", Status.ASSUMED, "s", "a few steps")
#: one step at a time
ONE_STEP: Final = Constant(1e-9, 1e-9, 1e-9, "assumed-serving", Status.ASSUMED, "s", "less than any step")
#: relative to what is planned, a window this much longer is no longer at all
_SAME_TOLERANCE: Final = 1e-9
COMPUTES: Final = "computes"
_JOINS: Final = "joins"
_EXCHANGES: Final = "exchanges"
_WIDTH: Final = len(TURN)


class Metered:
    """Steps that remember how much of those with prompts is joining devices.

    Attributes
    ----------
    pace
        How many times as long as alone steps are taken to be, from what they were last [1].
    """

    def __init__(self, placement: Placement) -> None:
        self._steps: Steps = placement.timed
        self._bare: Steps | None = None
        #: steps in which only those that share heads are joined; None where nothing else is
        self._heads: Steps | None = None
        if placement.group is not None:
            self._bare = _with_joining(placement, Joins())
            if exchanges(placement.split):
                self._heads = _with_joining(placement, Joins(placement.steps.joins.reduce))
        self._prompts: deque[tuple[float, float, float]] = deque()
        #: True if the last step that was asked for holds prompts
        self._reads = False
        self.pace = 1.0

    def decode(self, requests: int) -> float:
        """Time of a decoding step of so many requests, without their contexts [s]."""
        self._reads = False
        return self.pace * self._steps.decode(requests)

    def context(self) -> float:
        """Time a decoding step takes for each token of context it reads [s]."""
        return self.pace * self._steps.context()

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        """Time of a step with so many tokens of prompts next to requests that decode [s]."""
        time = self._steps.step(tokens, area, finishing, requests, context)
        taken = self.pace * time
        if self._bare is not None:
            bare = self._bare.step(tokens, area, finishing, requests, context)
            heads = self._heads.step(tokens, area, finishing, requests, context) if self._heads is not None else time
            self._prompts.append((taken, heads - bare, time - heads))
            self._reads = True
        return taken

    def uneven(self, full: int, tokens: int) -> float:
        """What experts take less than if all groups were as full as the fullest [s]."""
        less = self.pace * self._steps.uneven(full, tokens)
        if self._reads and less:
            taken, near, apart = self._prompts.pop()
            self._prompts.append((taken - less, near, apart))
        return less

    def joined(self, stated: Sequence[float]) -> tuple[float, float]:
        """Of some turns, as they were stated: joining those that share heads, and what stages and groups send, alone
        [s].

        A step passes both by turns, so each has its links to itself while it lasts.
        """
        if self._bare is None:
            return 0.0, 0.0
        near, apart, prompts = 0.0, 0.0, self._prompts
        for k in range(0, len(stated), _WIDTH):
            if prompts and stated[k + 1] == prompts[0][0]:
                _, first, then = prompts.popleft()
            else:
                running = int(stated[k + 4])
                whole, bare = self._steps.decode(running), self._bare.decode(running)
                heads = self._heads.decode(running) if self._heads is not None else whole
                first, then = stated[k + 3] * (heads - bare), stated[k + 3] * (whole - heads)
            near += first
            apart += then
        return max(0.0, near), max(0.0, apart)


def exchanges(split: Split) -> bool:
    """True if a replica sends more than those that share heads: between its stages, or between groups of attention."""
    return split.data > 1 or split.pipeline > 1


def _with_joining(placement: Placement, joins: Joins) -> Steps:
    """Steps of a placement with some of what joins its devices."""
    steps, asked = placement.steps, placement.deployment
    found = StepTime(
        steps.shape,
        steps.device,
        steps.split,
        steps.weights,
        placement.cache_format,
        steps.overheads,
        joins,
        steps.adapters,
        setup=steps.setup,
    )
    return Drafted(found, asked.drafts, placement.curve, placement.draft_steps) if asked.drafts else found


@dataclass(frozen=True, slots=True, eq=False)
class Tasks:
    """What one replica asks the clock for: a second of computing, a second of joining its devices; None for none.

    Parameters
    ----------
    speeds
        Resources that are the speed of the machines it runs in.
    exchange
        A second of sending between its stages, or between its groups of attention.
    """

    compute: Task
    join: Task | None
    speeds: tuple[int, ...] = ()
    exchange: Task | None = None

    @property
    def all(self) -> tuple[Task, ...]:
        """All of them."""
        return tuple(task for task in (self.compute, self.join, self.exchange) if task is not None)


class Replica:
    """One engine, held after every window.

    Parameters
    ----------
    called
        True if requests come to it when `come` says so, and not at their time.
    """

    def __init__(
        self,
        placement: Placement,
        requests: Requests,
        window: float,
        path: float,
        begin: float,
        *,
        called: bool = False,
    ) -> None:
        self.placement, self.window = placement, window
        self.steps = Metered(placement)
        at = [begin + t for t in requests.at]
        self.book = Book(replace(requests, at=at), path, called=called)
        #: when those that are on their way come if nothing is in it, and which of them are there
        self.due: list[tuple[float, int]] = []
        self.there: set[int] = set()
        self.asked = 0
        if requests.clients:
            # clients begin when the program does
            self.book.sent[: self.book.upcoming] = [begin] * self.book.upcoming
            late = [(begin + t, i) for t, i in self.book.coming]
            self.book.coming.clear()
            self.book.coming.extend(late)
        self._engine: Generator[Held, tuple[float, float]] = engine(
            self.steps, self.book, placement.scheduling, placement.capacity, hold=0.0
        )
        next(self._engine)
        self.begin = self.reached = 0.0
        self.rows = 0
        self.number = 0
        #: of the window that runs: joining those that share heads, and sending between stages and groups [s]
        self.joins = self.exchanges = 0.0
        self.idle = True
        #: True if it is in machines, which may be paused
        self.may_pause = False
        #: when those may be paused next, at the earliest [s]
        self.stops: Callable[[], float] = never
        #: True if the last window took as long as it was taken to: nothing that is met has changed
        self.steady = True
        #: when there is something to do again [s]
        self.wake = math.inf

    def ahead(self, now: float) -> tuple[float, float]:
        """The next window: computing [s], and where there is nothing to do, when there will be [s]."""
        book = self.book
        book.touched.clear()
        self.begin, self.rows = now, len(book.stated) // _WIDTH
        # what comes while a machine is paused is seen when the step is over that it was paused in
        quiet = self.steps.pace == 1 or (self.steady and not self.may_pause)
        length = self.window if quiet else min(self.window, MET_WINDOW.value)
        length = max(ONE_STEP.value, min(length, self.stops() - now))
        self.reached, wake = self._engine.send((now, self._next_wake(now, length)))
        if self.reached <= now:
            self.idle, self.wake = True, wake
            return 0.0, wake
        self.idle = False
        self.number += 1
        # as the scheduler sees it; the clock is stated what it takes alone
        whole = (self.reached - now) / self.steps.pace
        joins, exchanged = self.steps.joined(book.stated[self.rows * _WIDTH :])
        self.joins = min(whole, joins)
        self.exchanges = min(whole - self.joins, exchanged)
        return whole - self.joins - self.exchanges, math.inf

    def follows(self, tasks: Tasks, name: str, done: str) -> Item | None:
        """What comes after a stretch of the window, by the last word of its step; None where that was the last."""
        kinds = ((_JOINS, tasks.join, self.joins), (_EXCHANGES, tasks.exchange, self.exchanges))
        words = (COMPUTES, *(word for word, _, _ in kinds))
        if done not in words:
            return None
        for word, task, time in kinds[words.index(done) :]:
            if task is not None and time > 0:
                return Item(task, f"{name} {word}", self.number, time)
        return None

    def _next_wake(self, now: float, length: float) -> float:
        """When to look up again: at the end of the window, or when a request is due [s]."""
        while self.due and self.due[0][1] in self.there:
            self.there.discard(heappop(self.due)[1])
        if not self.due:
            return now + length
        soon = self.due[0][0]
        return min(now + length, soon if soon > now else now + SHORT_WINDOW.value)

    def come(self, number: int, now: float) -> None:
        """A request is there."""
        self.there.add(number)
        self.book.coming.append((now, number))

    def over(self, now: float, pauses: Sequence[tuple[float, float]]) -> float:
        """The window is over; the time the engine takes it to be [s].

        Parameters
        ----------
        pauses
            When its machines were paused, and until when [s].
        """
        whole, took = self.reached - self.begin, now - self.begin
        if abs(took - whole) <= _SAME_TOLERANCE * max(now, whole):
            # the sum of its parts, rounded; arrivals are where the scheduler met them
            self.steady = True
            return self.reached
        self.steady = False
        stood = [(max(at, self.begin), min(end, now)) for at, end in pauses if at < now and end > self.begin]
        still = [(at, end - at) for at, end in stood]
        factor = max(0.0, took - sum(t for _, t in still)) / whole
        self.book.stretch(self.begin, factor, self.rows, still)
        # the next one is taken to be as slow, so that requests that come meanwhile are seen when they come
        pace = min(max(factor * self.steps.pace, 1 / PACE_LIMIT), PACE_LIMIT)
        self.steps.pace = 1.0 if abs(pace - 1) <= _SAME_TOLERANCE else pace
        return now


def never() -> float:
    """When machines are paused that nothing moves [s]."""
    return math.inf
