"""Clients of a split deployment: each sends its next request when engines for answers have given its last token.

Engines run ahead of each other by no more than the way between them takes, so each sees in time what the others did:
a request reaches engines for prompts after its path, and engines for answers after its hand-over.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from heapq import heappop, heappush
from typing import Final

import numpy as np

from designer.errors import Cancelled
from designer.families.serving.engine_state import Book, Held, Requests, Steps
from designer.families.serving.formulas._release import Scheduling
from designer.families.serving.records import Counts, ServingRun, streamed
from designer.families.serving.scheduler import engine
from designer.sources import Constant, Status

#: engines are looked at no more often, even where a request has no path
_LEAST: Final = Constant(1e-3, 1e-4, 5e-3, "assumed-serving", Status.ASSUMED, "s", "less than a step")
#: looks at all engines between two looks at whether someone cancelled
_LOOK_LIMIT: Final = 1024


class Side:
    """Engines that are equivalent and take turns, each with the requests it was handed.

    Parameters
    ----------
    steps, how, capacity
        Of one engine.
    """

    def __init__(self, count: int, steps: Steps, how: Scheduling, capacity: int) -> None:
        self.capacity, self.how = capacity, how
        #: tokens of the longest request that fits
        self.most = capacity // how.groups
        self.books = [Book(Requests([], [], []), 0.0, called=True) for _ in range(count)]
        self._engines: list[Generator[Held, tuple[float, float]]] = []
        for book in self.books:
            self._engines.append(engine(steps, book, how, capacity, hold=0.0))
            next(self._engines[-1])
        self._now = [0.0] * count
        self._wake = [math.inf] * count
        #: numbers of the requests of each engine, in its order
        self.ids: list[list[int]] = [[] for _ in range(count)]
        self._due: list[tuple[float, int, tuple[int, int, int]]] = []
        self._turn = 0

    def come(self, at: float, number: int, tokens: tuple[int, int, int]) -> None:
        """A request will be there at a time [s]: its prompt, its output, and what of the prompt is cached."""
        heappush(self._due, (at, number, tokens))

    @property
    def next(self) -> float:
        """When something happens next; inf for never [s]."""
        return min(*self._wake, self._due[0][0] if self._due else math.inf)

    def until(self, end: float) -> list[tuple[float, int, float]]:
        """Go on until a time; when requests were answered, their numbers, and when work on them began [s]."""
        while self._due and self._due[0][0] < end:
            at, number, (prompt, output, cached) = heappop(self._due)
            which = self._turn % len(self.books)
            self._turn += 1
            local = self.books[which].write(Requests([prompt], [output], [at], cached=[cached])).start
            self.books[which].coming.append((at, local))
            self.ids[which].append(number)
            # one in the middle of a step sees it when the step is over
            self._wake[which] = min(self._wake[which], max(at, self._now[which]))
        return [one for which in range(len(self.books)) for one in self._ahead(which, end)]

    def _ahead(self, which: int, end: float) -> list[tuple[float, int, float]]:
        if self._wake[which] >= end:
            return []
        book, now = self.books[which], max(self._now[which], self._wake[which])
        book.touched.clear()
        while now < end:
            now, wake = self._engines[which].send((now, end))
            self._wake[which] = wake
            if now >= end or wake >= end:
                break
            now = wake
        self._now[which] = now
        done, ids, taken = book.done, self.ids[which], book.taken
        return [(done[k], ids[k], taken[k]) for k in dict.fromkeys(book.touched) if not math.isnan(done[k])]


def run_split_clients(
    sides: tuple[Side, Side],
    requests: Requests,
    path: float,
    handed: Callable[[int, float], float],
    cancelled: Callable[[], bool] | None,
) -> ServingRun:
    """All requests of clients, through engines for prompts, the hand-over, and engines for answers.

    Parameters
    ----------
    sides
        Engines for prompts and engines for answers.
    path
        A request's way to the queue [s].
    handed
        Time of the hand-over of a request, by its number and the time its prompt was read for [s].

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    """
    reading, saying = sides
    n = len(requests.prompt)
    cached = requests.cached or [0] * n
    sent, ready, there = np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan)
    least = min((handed(i, math.inf) for i in range(min(n, _LOOK_LIMIT))), default=path)
    ahead = max(_LEAST.value, min(path, least))
    upcoming = refused = looks = 0

    def send(now: float, answered: int = -1) -> None:
        nonlocal upcoming, refused
        follows = bool(requests.pause) and answered >= 0
        while (i := answered + requests.clients if follows else upcoming) < n:
            upcoming += 1
            answered = i
            sent[i] = now = now + (requests.pause[i] if follows else 0.0)
            if requests.prompt[i] + requests.output[i] <= min(reading.most, saying.most):
                reading.come(now + path, i, (requests.prompt[i], 1, cached[i]))
                return
            refused += 1

    for _ in range(min(requests.clients, n)):
        send(0.0)
    while (now := min(reading.next, saying.next)) < math.inf:
        looks += 1
        if not looks % _LOOK_LIMIT and cancelled is not None and cancelled():
            raise Cancelled("stopped")
        for at, i, began in reading.until(now + ahead):
            ready[i] = at
            there[i] = at + handed(i, at - began)
            saying.come(there[i], i, (requests.prompt[i], requests.output[i], requests.prompt[i] - 1))
        for at, i, _ in sorted(saying.until(now + ahead)):
            send(at, i)
    return _all_requests(sides, requests, (sent, ready, there), refused)


def _all_requests(
    sides: tuple[Side, Side], requests: Requests, times: Sequence[np.ndarray], refused: int
) -> ServingRun:
    """What became of all requests; turns are those of the first engine for answers."""
    reading, saying = sides
    n = len(requests.prompt)
    taken, first, done = np.full(n, np.nan), np.full(n, np.nan), np.full(n, np.nan)
    for book, ids in zip(reading.books, reading.ids, strict=True):
        taken[ids] = book.taken
    runs = [streamed(book.run(saying.capacity), saying.how) for book in saying.books]
    for run, ids in zip(runs, saying.ids, strict=True):
        first[ids], done[ids] = run.first, run.done
    counts = runs[0].counts
    return ServingRun(
        times[0],
        first,
        done,
        np.array(requests.prompt, dtype=np.int64),
        np.array(requests.output, dtype=np.int64),
        float(np.nanmax(done)),
        runs[0].turns,
        Counts(
            counts.turns,
            counts.steps,
            counts.tokens_in,
            counts.tokens_out,
            counts.preempted,
            refused,
            counts.kv_peak,
            counts.kv_capacity,
        ),
        taken,
        times[1],
        times[2],
        runs[0].messages,
        runs[0].stream_interval,
    )
