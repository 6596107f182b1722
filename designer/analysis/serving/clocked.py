"""Serving engines as a process on the clock: their steps, taken some at a time, beside everything else on the drawing.

The scheduler runs ahead by a window, and says how long that computes and how long it joins devices. The clock says how
long both really take beside what else is going on; all that was written down for that window is stretched to it, and
the next one begins from there. Alone nothing is stretched, so requests are answered as in a run without a clock.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Generator, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from heapq import heappop, heappush
from typing import Final

import numpy as np

from designer.analysis.serving.drafting import Drafted
from designer.analysis.serving.load import FILLING_LIMIT, Sent
from designer.analysis.serving.placement import Placement
from designer.analysis.serving.readings import Readings, percentiles
from designer.analysis.serving.records import Counts, ServingRun
from designer.analysis.serving.scheduler import TURN, Book, Held, Requests, Steps, engine
from designer.analysis.serving.streaming import streamed
from designer.analysis.serving.tiers import Tier, sent_from
from designer.formulas.serving.step_time import Joins, Split, StepTime
from designer.sources import Constant, Status
from designer.workload.program.process import Item
from designer.workload.program.tasks import Delay, Mark, Task
from designer.workload.serving import Load

#: an engine runs ahead of the clock by so much: many steps, and far less than what it meets lasts
WINDOW: Final = Constant(
    0.5, 0.05, 1.0, "assumed-serving", Status.ASSUMED, "s", "tens of steps; what it meets is shared in the mean"
)
#: beside others, how long a window takes is known when it is over: it is shorter
MET_WINDOW: Final = Constant(0.1, 0.05, 0.5, "assumed-serving", Status.ASSUMED, "s", "several steps")
#: nothing is taken to be so many times as slow as it is alone, or as quick
PACE_LIMIT: Final = 100
#: engines that are handed requests by others look up more often, so that none waits long for being seen
SHORT_WINDOW: Final = Constant(0.03, 0.02, 0.1, "assumed-serving", Status.ASSUMED, "s", "a few steps")
#: one step at a time
ONE_STEP: Final = Constant(1e-9, 1e-9, 1e-9, "assumed-serving", Status.ASSUMED, "s", "less than any step")
#: no step takes longer
LONGEST_STEP: Final = Constant(10.0, 1.0, 60.0, "assumed-serving", Status.ASSUMED, "s", "a step of all a budget holds")
#: relative to what is planned, a window this much longer is no longer at all
_SAME_TOLERANCE: Final = 1e-9
#: requests that closed loops have in stock beyond their clients
_STOCK_LIMIT: Final = 1000
#: seeds of what comes after the first requests of a load are so far apart
SEEDS_APART_LIMIT: Final = 1_000_003

ARRIVES: Final = Mark("next request")
ENGINE_START: Final = "engine start"
_FETCHES: Final = "fetches"
COMPUTES: Final = "computes"
_JOINS: Final = "joins"
_EXCHANGES: Final = "exchanges"
STANDS: Final = "stands still"
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
            self._bare = _joining(placement, Joins())
            if exchanges(placement.split):
                self._heads = _joining(placement, Joins(placement.steps.joins.reduce))
        self._prompts: deque[tuple[float, float, float]] = deque()
        self.pace = 1.0

    def decode(self, requests: int) -> float:
        """Time of a decoding step of so many requests, without their contexts [s]."""
        return self.pace * self._steps.decode(requests)

    def context(self) -> float:
        """Time a decoding step takes for each token of context it reads [s]."""
        return self.pace * self._steps.context()

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        """Time of a step with so many tokens of prompts beside requests that decode [s]."""
        time = self._steps.step(tokens, area, finishing, requests, context)
        taken = self.pace * time
        if self._bare is not None:
            bare = self._bare.step(tokens, area, finishing, requests, context)
            heads = self._heads.step(tokens, area, finishing, requests, context) if self._heads is not None else time
            self._prompts.append((taken, heads - bare, time - heads))
        return taken

    def joined(self, told: Sequence[float]) -> tuple[float, float]:
        """Of some turns, as they were told: joining those that share heads, and what stages and groups send, alone [s].

        A step passes both by turns, so each has its links to itself while it lasts.
        """
        if self._bare is None:
            return 0.0, 0.0
        near, apart, prompts = 0.0, 0.0, self._prompts
        for k in range(0, len(told), _WIDTH):
            if prompts and told[k + 1] == prompts[0][0]:
                _, first, then = prompts.popleft()
            else:
                running = int(told[k + 4])
                whole, bare = self._steps.decode(running), self._bare.decode(running)
                heads = self._heads.decode(running) if self._heads is not None else whole
                first, then = told[k + 3] * (heads - bare), told[k + 3] * (whole - heads)
            near += first
            apart += then
        return max(0.0, near), max(0.0, apart)


def exchanges(split: Split) -> bool:
    """True if a replica sends more than those that share heads: between its stages, or between groups of attention."""
    return split.data > 1 or split.pipeline > 1


def _joining(placement: Placement, joins: Joins) -> Steps:
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
    )
    return Drafted(found, asked.drafts, placement.curve) if asked.drafts else found


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


@dataclass(frozen=True, slots=True, eq=False)
class Loading:
    """A cold start: what is loaded at once, then the engine's own start [s]."""

    moves: tuple[tuple[str, Task], ...]
    start: float


@dataclass(frozen=True, slots=True, eq=False)
class Fetching:
    """Keys and values from beyond the GPU: a token to every device of a replica, and how long one takes alone [s]."""

    move: Task
    pace: float


@dataclass(frozen=True, slots=True, eq=False)
class Handing:
    """Hand-over between two replicas: moving a byte to every device, and what a prompt of so many tokens takes.

    Parameters
    ----------
    size
        Bytes each device pulls of a prompt of some tokens.
    beside
        Time a hand-over takes besides its bytes [s].
    """

    move: Task
    size: Callable[[int], float]
    beside: Callable[[int], float]


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
        #: True if it is in machines, which may stand still
        self.stands = False
        #: when those may stand still next, at the earliest [s]
        self.stops: Callable[[], float] = never
        #: True if the last window took as long as it was taken to: nothing that is met has changed
        self.steady = True
        #: when there is something to do again [s]
        self.wake = math.inf

    def ahead(self, now: float) -> tuple[float, float]:
        """The next window: computing [s], and where there is nothing to do, when there will be [s]."""
        book = self.book
        book.touched.clear()
        self.begin, self.rows = now, len(book.told) // _WIDTH
        # what comes while a machine stands still is seen when the step is over that it stood still in
        quiet = self.steps.pace == 1 or (self.steady and not self.stands)
        length = self.window if quiet else min(self.window, MET_WINDOW.value)
        length = max(ONE_STEP.value, min(length, self.stops() - now))
        self.reached, wake = self._engine.send((now, self._held(now, length)))
        if self.reached <= now:
            self.idle, self.wake = True, wake
            return 0.0, wake
        self.idle = False
        self.number += 1
        # as the scheduler sees it; the clock is told what it takes alone
        whole = (self.reached - now) / self.steps.pace
        joins, exchanged = self.steps.joined(book.told[self.rows * _WIDTH :])
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

    def _held(self, now: float, length: float) -> float:
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
            When its machines stood still, and until when [s].
        """
        whole, took = self.reached - self.begin, now - self.begin
        if abs(took - whole) <= _SAME_TOLERANCE * max(now, whole):
            # the sum of its parts, rounded; arrivals stand where the scheduler met them
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
    """When machines stand still that nothing moves [s]."""
    return math.inf


def stands_still(events: Sequence[tuple[float, int, float]], resources: Sequence[int]) -> bool:
    """True if any of some machines stands still now, by what was set."""
    return bool(resources and events) and any(math.isinf(end) for _, end in stood_still(events, resources))


def stood_still(events: Sequence[tuple[float, int, float]], resources: Sequence[int]) -> list[tuple[float, float]]:
    """From when to when any of some machines stood still, by what was set: (time, resource, share) [s]."""
    found: list[tuple[float, float]] = []
    still: set[int] = set()
    begin = math.nan
    for at, resource, share in events:
        if resource not in resources:
            continue
        if share > 0:
            still.discard(resource)
            if not still and not math.isnan(begin):
                found.append((begin, at))
                begin = math.nan
        elif not still:
            begin = at
            still.add(resource)
        else:
            still.add(resource)
    return found if math.isnan(begin) else [*found, (begin, math.inf)]


@dataclass(eq=False)
class RequestLog:
    """What became of the requests of a served model.

    Parameters
    ----------
    extra
        What is not known of the first token beside its steps: logarithm of the factor either way [1].
    saturated
        True if more is asked than can be answered: no latency is told.
    """

    extra: float = 0.0
    saturated: bool = False
    parts: list[tuple[ServingRun, int]] = field(default_factory=list[tuple[ServingRun, int]])

    @cached_property
    def run(self) -> ServingRun:
        """All replicas together: what is not counted first, then in order of sending."""
        runs = [run for run, _ in self.parts]
        counted = np.concatenate([np.arange(len(run.sent)) >= first for run, first in self.parts])

        def joined(name: str) -> np.ndarray:
            return np.concatenate([getattr(run, name) for run in runs])

        sent = joined("sent")
        order = np.lexsort((sent, counted))
        counts = [run.counts for run in runs]
        total = Counts(
            sum(c.turns for c in counts),
            sum(c.steps for c in counts),
            sum(c.tokens_in for c in counts),
            sum(c.tokens_out for c in counts),
            sum(c.preempted for c in counts),
            sum(c.refused for c in counts),
            max(c.kv_peak for c in counts),
            counts[0].kv_capacity,
        )
        return ServingRun(
            sent[order],
            joined("first")[order],
            joined("done")[order],
            joined("prompt")[order],
            joined("output")[order],
            max(run.end for run in runs),
            np.concatenate([run.turns for run in runs]),
            total,
            joined("taken")[order],
            messages=np.concatenate([run.messages for run in runs]),
            stream_interval=runs[0].stream_interval,
        )

    @property
    def first(self) -> int:
        """The first request of `run` that counts."""
        return sum(min(first, len(run.sent)) for run, first in self.parts)

    @cached_property
    def readings(self) -> Readings:
        """Means, percentiles and rates of all that counts."""
        return percentiles(self.run, self.first)

    def between(self, begin: float, end: float, *, outside: bool = False) -> ServingRun:
        """Counted requests sent between two times, and steps that began then; or all others [s]."""
        run = self.run
        sent = (run.sent >= begin) & (run.sent < end)
        turns = (run.turns[:, 0] >= begin) & (run.turns[:, 0] < end)
        messages = (run.messages[:, 0] >= begin) & (run.messages[:, 0] < end)
        if outside:
            sent, turns, messages = ~sent, ~turns, ~messages
        sent &= np.arange(len(run.sent)) >= self.first
        return replace(
            run,
            sent=run.sent[sent],
            first=run.first[sent],
            done=run.done[sent],
            prompt=run.prompt[sent],
            output=run.output[sent],
            turns=run.turns[turns],
            taken=run.taken[sent],
            messages=run.messages[messages],
        )


def never_any(speeds: Sequence[int]) -> float:
    """When machines stand still where nothing is said of it [s]."""
    return math.inf


class Engines:
    """Engines that each read prompts and answer; a process of the clock.

    Parameters
    ----------
    load
        What is asked, with what is found in caches.
    first
        Requests of each replica that fill it, and are not counted.
    path
        A request's way to the queue [s].
    tier, fetches
        What lies beyond the GPU, and how each replica fetches it: a request is in the queue when that is there.
    """

    def __init__(
        self,
        placement: Placement,
        load: Load,
        first: int,
        tasks: Sequence[Tasks],
        loading: Loading | None,
        path: float,
        extra: float,
        *,
        saturated: bool,
        tier: Tier | None = None,
        fetches: Sequence[Fetching] = (),
    ) -> None:
        self.placement, self.load, self.first = placement, load, first
        self._tier, self._fetches = tier, tuple(fetches)
        self._tasks, self._loading = tuple(tasks), loading
        self._path, self._extra, self._saturated = path, extra, saturated
        self.replicas: list[Replica] = []
        self._chunk = 0
        self._last = 0.0
        self._pending = 0
        self._begin = 0.0
        #: (time, resource, share) of machines whose speed was set in this run, as it goes on
        self.set: Sequence[tuple[float, int, float]] = ()
        #: when any of some machines may stand still next, at the earliest [s]
        self.stops: Callable[[Sequence[int]], float] = never_any

    @property
    def tasks(self) -> Sequence[Task]:
        """Computing and joining of all replicas, and what a cold start takes."""
        found: list[Task] = [Delay(1.0), ARRIVES]
        found += [task for _, task in self._loading.moves] if self._loading is not None else []
        for each in self._tasks:
            found += each.all
        return [*found, *(each.move for each in self._fetches)]

    def start(self, now: float) -> Iterable[Item]:
        """Weights are loaded, or the first requests are looked at."""
        self._begin = now
        count, fetches = len(self._tasks), bool(self._fetches)
        sent = [sent_from(self.load, self.placement, k, self._tier) for k in range(count)]
        # a client that has its answer asks at once: what it fetches then begins with the end of a step
        window = ONE_STEP.value if fetches and self.load.kind == "clients" else WINDOW.value
        self.replicas = [Replica(self.placement, s.requests, window, self._path, now, called=fetches) for s in sent]
        for replica, tasks in zip(self.replicas, self._tasks, strict=True):
            replica.stands = bool(tasks.speeds)
            replica.stops = partial(self.stops, tasks.speeds) if tasks.speeds else never
        self._last = max((r.book.sent[-1] for r in self.replicas if r.book.sent), default=now)
        if self._loading is None:
            return self._all(now)
        self._pending = len(self._loading.moves)
        return [Item(task, name) for name, task in self._loading.moves]

    def finished(self, item: Item, now: float) -> Iterable[Item]:
        """The next window of a replica."""
        if not item.step.startswith("replica"):
            return self._loaded(item, now)
        which = int(item.step.split()[1]) - 1
        if item.step.endswith(_FETCHES):
            replica = self.replicas[which]
            replica.come(item.number, now)
            return self._window(which, now) if replica.idle else []
        return self._next(which, item, now)

    def waits_for(self) -> str:
        """Nothing: an engine without requests is done."""
        return ""

    def log(self, end: float) -> RequestLog:
        """What has become of all requests until a time [s]."""
        found = RequestLog(self._extra, self._saturated)
        for replica in self.replicas:
            book = replica.book
            run = streamed(book.run(self.placement.capacity), self.placement.scheduling)
            asked = book.upcoming if book.clients else int(np.searchsorted(run.sent, end, side="right"))
            # a run shorter than the load's own has less of it to fill its engines with
            first = self.first if book.clients else min(self.first, asked // FILLING_LIMIT)
            found.parts.append((until_end(run, asked, end), first))
        return found

    def _all(self, now: float) -> list[Item]:
        return [item for k in range(len(self.replicas)) for item in self._window(k, now)]

    def _loaded(self, item: Item, now: float) -> list[Item]:
        assert self._loading is not None
        if item.step == ENGINE_START:
            return self._all(now)
        self._pending -= 1
        return [] if self._pending else [Item(Delay(1.0), ENGINE_START, 0, self._loading.start)]

    def _next(self, which: int, item: Item, now: float) -> list[Item]:
        replica, tasks = self.replicas[which], self._tasks[which]
        if item.step.endswith(STANDS):
            return self._window(which, now)
        following = replica.follows(tasks, f"replica {which + 1}", item.step.split()[-1])
        if following is not None:
            return [following]
        if replica.idle:
            return self._window(which, max(replica.wake, now) if now > replica.wake + ONE_STEP.value else replica.wake)
        stood = stood_still(self.set, tasks.speeds) if tasks.speeds and self.set else ()
        return self._window(which, replica.over(now, stood))

    def _window(self, which: int, now: float) -> list[Item]:
        replica = self.replicas[which]
        if stands_still(self.set, self._tasks[which].speeds):
            # nobody looks what has come: that is done once the machine runs again
            replica.idle = False
            return [Item(self._tasks[which].compute, f"replica {which + 1} {STANDS}", replica.number, ONE_STEP.value)]
        self._stock(replica, now)
        begun = [item for k in range(len(self._fetches)) for item in self._fetched(k, now)]
        computes, wake = replica.ahead(now)
        if replica.idle:
            if math.isinf(wake):
                return begun
            return [*begun, Item(ARRIVES, f"replica {which + 1} waits", replica.number, wait=max(0.0, wake - now))]
        return [*begun, Item(self._tasks[which].compute, f"replica {which + 1} {COMPUTES}", replica.number, computes)]

    def _fetched(self, which: int, now: float) -> list[Item]:
        """Fetching for requests that are known by now and were not before, each from when it is looked up on."""
        replica, fetch = self.replicas[which], self._fetches[which]
        book = replica.book
        known = book.upcoming if book.clients else len(book.prompt)
        found: list[Item] = []
        for number in range(replica.asked, known):
            ready = max(now, book.sent[number] + self._path)
            tokens = book.fetched[number]
            heappush(replica.due, (ready + tokens * fetch.pace, number))
            task, times = (fetch.move, float(tokens)) if tokens else (ARRIVES, 1.0)
            found.append(Item(task, f"replica {which + 1} {_FETCHES}", number, times, ready - now))
        replica.asked = known
        return found

    def _stock(self, replica: Replica, now: float) -> None:
        """Requests are drawn as they are needed: none of the next window is missing."""
        load = self.load
        if load.kind == "clients":
            book = replica.book
            while len(book.prompt) - book.upcoming < book.clients + _STOCK_LIMIT:
                self._chunk += 1
                book.write(self._more(0).requests)
        elif load.kind == "rate":
            # a step may be longer than its window
            while min(r.book.sent[-1] for r in self.replicas) < now + 2 * replica.window + LONGEST_STEP.value:
                self._chunk += 1
                offset = self._last
                for k, one in enumerate(self.replicas):
                    more = self._more(k).requests
                    one.book.write(replace(more, at=[offset + t for t in more.at]))
                self._last = max(r.book.sent[-1] for r in self.replicas)

    def _more(self, which: int) -> Sent:
        seed = self.load.seed + self._chunk * SEEDS_APART_LIMIT
        return sent_from(replace(self.load, seed=seed), self.placement, which, self._tier)


def until_end(run: ServingRun, asked: int, end: float) -> ServingRun:
    """The first requests of a run, and what of them has happened by a time."""

    def cut(times: np.ndarray) -> np.ndarray:
        return np.where(times[:asked] <= end, times[:asked], np.nan)

    return replace(
        run,
        sent=run.sent[:asked],
        first=cut(run.first),
        done=cut(run.done),
        prompt=run.prompt[:asked],
        output=run.output[:asked],
        taken=cut(run.taken),
        turns=run.turns[run.turns[:, 0] < end],
        messages=run.messages[run.messages[:, 0] < end],
        end=end,
    )
