"""Serving engines as a process on the clock: replicas side by side, their cold start, and what they fetch."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from heapq import heappush
from typing import Final

import numpy as np

from designer.engine.clock.interruptions import is_paused, was_paused
from designer.families.serving.alone import Following, of_all, of_replica
from designer.families.serving.deployment import Load
from designer.families.serving.formulas.hand_over import left_to_move
from designer.families.serving.load import FILLING_LIMIT, Sent, sent_to_one
from designer.families.serving.placement import Placement
from designer.families.serving.records import streamed
from designer.families.serving.replica import (
    COMPUTES,
    ONE_STEP,
    WINDOW,
    Replica,
    Tasks,
    never,
)
from designer.families.serving.request_log import RequestLog, until_end
from designer.families.serving.tiers import Tier, sent_from
from designer.sources import Constant, Estimate, Status
from designer.units import Seconds
from designer.workload.program.process import Item
from designer.workload.program.tasks import Delay, Mark, Task

#: no step takes longer
LONGEST_STEP: Final = Constant(10.0, 1.0, 60.0, "assumed-serving", Status.ASSUMED, "s", "a step of all a budget holds")
#: requests that closed loops have in stock beyond their clients
_STOCK_LIMIT: Final = 1000
#: seeds of what comes after the first requests of a load are so far apart
SEEDS_APART_LIMIT: Final = 1_000_003

ARRIVES: Final = Mark("next request")
ENGINE_START: Final = "engine start"
_FETCHES: Final = "fetches"
PAUSES: Final = "pauses"


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
    extra_wait
        Time a hand-over takes in addition to its bytes [s].
    pieces
        Pieces they are sent in: chunks of a prompt, or layers.
    pace
        Time a byte to every device takes alone [s/B].
    """

    move: Task
    size: Callable[[int], float]
    extra_wait: Callable[[int], float]
    pieces: Callable[[int], float]
    pace: float

    def early(self, tokens: int, reading: float) -> float:
        """Bytes that are sent while a prompt is read, which takes so long [s] [B]."""
        moving = self.size(tokens) * self.pace
        return (moving - left_to_move(Seconds(moving), self.pieces(tokens), Seconds(reading))) / self.pace


def never_any(speeds: Sequence[int]) -> float:
    """When machines are paused where nothing is said of it [s]."""
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
    following
        Where requests go if replicas follow the load; None where all take turns.
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
        following: Following | None = None,
    ) -> None:
        self._following = following
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
        self.leg: Estimate | None = None
        #: what a day like a log costs, with so many replicas in the mean; None without prices
        self.costs: Callable[..., Mapping[str, Estimate]] | None = None
        #: when any of some machines may be paused next, at the earliest [s]
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
        self._begin = self._last = now
        fetches = bool(self._fetches)
        sent = self._send_next()
        # a client that has its answer asks at once: what it fetches then begins with the end of a step
        window = ONE_STEP.value if fetches and self.load.kind == "clients" else WINDOW.value
        self.replicas = [Replica(self.placement, s.requests, window, self._path, now, called=fetches) for s in sent]
        for replica, tasks in zip(self.replicas, self._tasks, strict=True):
            replica.may_pause = bool(tasks.speeds)
            replica.stops = partial(self.stops, tasks.speeds) if tasks.speeds else never
        self._last = self._last_sent(now)
        if self._loading is None:
            return self._all_windows(now)
        self._pending = len(self._loading.moves)
        return [Item(task, name) for name, task in self._loading.moves]

    def finished(self, item: Item, now: float) -> Iterable[Item]:
        """The next window of a replica."""
        if not item.step.startswith("replica"):
            return self._weights_loaded(item, now)
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
        found = RequestLog(self._extra, self._saturated, arriving=self.load.kind != "clients")
        for replica in self.replicas:
            book = replica.book
            run = streamed(book.run(self.placement.capacity), self.placement.scheduling)
            asked = book.upcoming if book.clients else int(np.searchsorted(run.sent, end, side="right"))
            # a run shorter than the load's own has less of it to fill its engines with
            first = self.first if book.clients else min(self.first, asked // FILLING_LIMIT)
            found.parts.append((until_end(run, asked, end), first))
        if self.costs is not None and end > self._begin:
            mean = self._following.mean(end - self._begin) if self._following is not None else 0.0
            found.costs = partial(self.costs, together=mean)
        return found

    def _all_windows(self, now: float) -> list[Item]:
        return [item for k in range(len(self.replicas)) for item in self._window(k, now)]

    def _weights_loaded(self, item: Item, now: float) -> list[Item]:
        assert self._loading is not None
        if item.step == ENGINE_START:
            return self._all_windows(now)
        self._pending -= 1
        return [] if self._pending else [Item(Delay(1.0), ENGINE_START, 0, self._loading.start)]

    def _next(self, which: int, item: Item, now: float) -> list[Item]:
        replica, tasks = self.replicas[which], self._tasks[which]
        if item.step.endswith(PAUSES):
            return self._window(which, now)
        following = replica.follows(tasks, f"replica {which + 1}", item.step.split()[-1])
        if following is not None:
            return [following]
        if replica.idle:
            return self._window(which, max(replica.wake, now) if now > replica.wake + ONE_STEP.value else replica.wake)
        stood = was_paused(self.set, tasks.speeds) if tasks.speeds and self.set else ()
        return self._window(which, replica.over(now, stood))

    def _window(self, which: int, now: float) -> list[Item]:
        replica = self.replicas[which]
        if is_paused(self.set, self._tasks[which].speeds):
            # nobody looks what has come: that is done once the machine runs again
            replica.idle = False
            return [Item(self._tasks[which].compute, f"replica {which + 1} {PAUSES}", replica.number, ONE_STEP.value)]
        self._stock(replica, now)
        begun = [item for k in range(len(self._fetches)) for item in self._fetch_items(k, now)]
        computes, wake = replica.ahead(now)
        if replica.idle:
            if math.isinf(wake):
                return begun
            return [*begun, Item(ARRIVES, f"replica {which + 1} waits", replica.number, wait=max(0.0, wake - now))]
        return [*begun, Item(self._tasks[which].compute, f"replica {which + 1} {COMPUTES}", replica.number, computes)]

    def _fetch_items(self, which: int, now: float) -> list[Item]:
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
                book.write(self._next_requests(0).requests)
        elif load.kind == "rate":
            # a step may be longer than its window
            while self._known_until() < now + 2 * replica.window + LONGEST_STEP.value:
                self._chunk += 1
                offset = self._last
                for one, more in zip(self.replicas, self._send_next(), strict=True):
                    requests = more.requests
                    one.book.write(replace(requests, at=[offset + t for t in requests.at]))
                self._last = self._last_sent(offset)

    def _last_sent(self, least: float) -> float:
        """When the last request that was drawn is sent [s]."""
        return max((r.book.sent[-1] for r in self.replicas if r.book.sent), default=least)

    def _known_until(self) -> float:
        """Until when all requests are drawn [s]."""
        if self._following is not None:
            # a replica that is stopped has none
            return self._last
        return min(r.book.sent[-1] for r in self.replicas)

    def _send_next(self) -> list[Sent]:
        """What each replica is sent next."""
        count, following = len(self._tasks), self._following
        if following is None:
            return [self._next_requests(k) for k in range(count)]
        load = of_all(replace(self.load, seed=self._chunk_seed()), count)
        room = self.placement.capacity
        sent = sent_to_one(load, 1, self.placement.place, room)
        if load.kind == "trace":
            requests, which = following.routed(sent, room, load.routing)
        else:
            requests = sent.requests
            # later requests come after all that were sent before
            which = following.sent([self._last - self._begin + t for t in requests.at])
        return [Sent(of_replica(requests, which, k), 0) for k in range(count)]

    def _chunk_seed(self) -> int:
        return self.load.seed + self._chunk * SEEDS_APART_LIMIT

    def _next_requests(self, which: int) -> Sent:
        return sent_from(replace(self.load, seed=self._chunk_seed()), self.placement, which, self._tier)
