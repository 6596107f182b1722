"""The scheduler of a serving engine, run step by step: what is admitted, split, preempted, and when it ends.

Between two changes (a completion, an arrival, no room left) all steps are alike but for their growing context, so they
are taken in one jump: k steps take k A + B k (k - 1) / 2. Requests carry the count of steps at which they end, so a
step costs the same however many run.
"""

from __future__ import annotations

import heapq
import math
from array import array
from collections import deque
from collections.abc import Callable, Generator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np

from designer.analysis.serving.records import Counts, ServingRun
from designer.analysis.serving.streaming import streamed
from designer.errors import AnalysisError, Cancelled
from designer.formulas.serving._release import Scheduling

#: turns between two looks at whether someone cancelled
LOOK_LIMIT: Final = 4096
#: an arrival this close to the end of a step comes before it, relative to the step
_EDGE_TOLERANCE: Final = 1e-12
#: more than requests are ever admitted in one run
_SPAN_LIMIT: Final = 2**32
#: dead entries of the list of running requests are cleared beyond this many for each that lives
_DEAD_LIMIT: Final = 4
_SPARE_LIMIT: Final = 64


#: what is told of a turn, see `ServingRun`
TURN: Final = ("begin", "first", "growth", "steps", "running", "cached", "waiting")


class Steps(Protocol):
    """Where the lengths of steps come from."""

    def decode(self, requests: int) -> float: ...
    def context(self) -> float: ...
    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float: ...


@dataclass(frozen=True, slots=True)
class Requests:
    """What is sent.

    Parameters
    ----------
    prompt, output : (n,) tokens
    at : (n,) when [s], in order; empty where clients send
    clients
        In a closed loop: each sends its next request when it has its answer; 0 for an open loop.
    cached : (n,) tokens of each prompt that are in the prefix cache; empty for none
    fetched : (n,) how many of those lie beyond the GPU and are fetched first; empty for none
    """

    prompt: Sequence[int]
    output: Sequence[int]
    at: Sequence[float] = ()
    clients: int = 0
    cached: Sequence[int] = field(default=())
    fetched: Sequence[int] = field(default=())

    def __post_init__(self) -> None:
        if not len(self.prompt) == len(self.output) or (not self.clients and len(self.at) != len(self.prompt)):
            raise AnalysisError("requests lack a length or a time", remedy="give prompt, output and arrival of each")
        if len(self.prompt) and (min(self.prompt) < 1 or min(self.output) < 1):
            raise AnalysisError(
                "a request has no prompt or no output", place="requests", remedy="give 1 token or more of both"
            )


def run_requests(
    steps: Steps,
    requests: Requests,
    how: Scheduling,
    capacity: int,
    path: float = 0.0,
    *,
    jump: bool = True,
    cancelled: Callable[[], bool] | None = None,
) -> ServingRun:
    """Every request through one engine.

    Parameters
    ----------
    capacity
        Tokens whose keys and values fit.
    path
        A request's way to the queue [s].
    jump
        True if alike steps are taken at once; the result is the same.

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    """
    book = Book(requests, path)
    # never held, it goes through to its end
    with suppress(StopIteration):
        next(engine(steps, book, how, capacity, jump=jump, cancelled=cancelled))
    return streamed(book.run(capacity), how)


class Book:
    """What an engine is asked and what it has answered so far; more may be written in while the engine is held.

    Parameters
    ----------
    path
        A request's way to the queue [s].
    called
        True if someone else writes down in `coming` when a request gets there.

    Attributes
    ----------
    coming
        Requests on their way to the queue: when they get there [s], and which; in an open loop in order, in a closed
        one as answers go.
    touched
        Requests of which a time was written down since this was emptied; kept while an engine is held now and then.
    """

    def __init__(self, requests: Requests, path: float, *, called: bool = False) -> None:
        n = len(requests.prompt)
        self.clients = requests.clients
        self.path, self.called = path, called
        self.asked = list(requests.prompt), list(requests.output)
        self.prompt, self.left = list(requests.prompt), list(requests.output)
        self.hits = list(requests.cached) or [0] * n
        self.fetched = list(requests.fetched) or [0] * n
        self.sent, self.first, self.done = [0.0] * n, [math.nan] * n, [math.nan] * n
        #: when each prompt was first worked on
        self.taken = [math.nan] * n
        self.version_of, self.began = [0] * n, [0] * n
        self.coming: deque[tuple[float, int]] = deque()
        self.told = array("d")
        self.touched: list[int] = []
        self.upcoming = 0
        self.now = 0.0
        self.counts: tuple[int, int, int, int, int, int, int] = (0, 0, 0, 0, 0, 0, 0)
        if self.clients:
            for _ in range(min(self.clients, n)):
                self.send(0.0)
        else:
            self.sent = list(requests.at)
            if not called:
                self.coming.extend(zip([at + path for at in self.sent], range(n), strict=True))

    def send(self, now: float) -> None:
        """A client has its answer and sends its next request."""
        number = self.upcoming
        if self.clients and number < len(self.prompt):
            self.sent[number] = now
            if not self.called:
                self.coming.append((now + self.path, number))
            self.touched.append(number)
            self.upcoming = number + 1

    def write(self, requests: Requests) -> range:
        """More requests, later than those there are; their numbers."""
        old, n = len(self.prompt), len(requests.prompt)
        for rows, more in zip(self.asked, (requests.prompt, requests.output), strict=True):
            rows.extend(more)
        self.prompt.extend(requests.prompt)
        self.left.extend(requests.output)
        self.hits.extend(list(requests.cached) or [0] * n)
        self.fetched.extend(list(requests.fetched) or [0] * n)
        self.sent.extend(requests.at or [0.0] * n)
        for rows in (self.first, self.done, self.taken):
            rows.extend([math.nan] * n)
        for rows in (self.version_of, self.began):
            rows.extend([0] * n)
        if not self.clients and not self.called:
            self.coming.extend((at + self.path, old + k) for k, at in enumerate(requests.at))
        return range(old, old + n)

    def stretch(self, begin: float, factor: float, rows: int, pauses: Sequence[tuple[float, float]] = ()) -> None:
        """What was written down after a time took longer by a factor, and stood still now and then.

        Parameters
        ----------
        begin
            Since when [s].
        rows
            Turns that were told before it.
        pauses
            When it stood still, and for how long [s].
        """

        def late(time: float) -> float:
            if not time > begin:
                return time
            time = begin + (time - begin) * factor
            for at, length in pauses:
                if time > at:
                    time += length
            return time

        times = (self.first, self.done, self.taken, *((self.sent,) if self.clients else ()))
        for i in dict.fromkeys(self.touched):
            for row in times:
                row[i] = late(row[i])
                # quicker than it was thought to be: nothing is answered before it was asked
                if factor < 1 and not self.clients and row[i] < self.sent[i]:
                    row[i] = self.sent[i]
        if self.clients and not self.called:
            coming = [(late(at), i) for at, i in self.coming]
            self.coming.clear()
            self.coming.extend(coming)
        width = len(TURN)
        told = self.told[rows * width :]
        del self.told[rows * width :]
        for k in range(0, len(told), width):
            turn = told[k : k + width]
            turn[0] = begin + (turn[0] - begin) * factor
            turn[1] *= factor
            turn[2] *= factor
            self._recorded(turn, pauses)

    def _recorded(self, turn: array[float], pauses: Sequence[tuple[float, float]]) -> None:
        """A turn of alike steps; one that stands still in the middle is three: before, the step that waited, after."""
        at, first, growth, steps, *rest = turn
        for pause, length in pauses:
            if at >= pause:
                at += length
                continue
            # steps that are over before it: the most k with k A + B k (k - 1) / 2 at most what is left until it
            left, half = pause - at, first - growth / 2
            over = (math.sqrt(half * half + 2 * growth * left) - half) / growth if growth > 0 else left / first
            over = min(math.floor(over), steps)
            if over == steps:
                break
            if over:
                self.told.extend((at, first, growth, over, *rest))
            before = over * first + growth * over * (over - 1) / 2
            waited = first + growth * over
            self.told.extend((at + before, waited + length, 0.0, 1.0, *rest))
            at += before + waited + length
            first, steps = waited + growth, steps - over - 1
            if not steps:
                return
        self.told.extend((at, first, growth, steps, *rest))

    def run(self, capacity: int) -> ServingRun:
        """What has become of all requests so far."""
        turns, steps, tokens_in, tokens_out, preempted, refused, peak = self.counts
        gone = np.isnan(np.array(self.done))
        return ServingRun(
            np.array(self.sent),
            np.where(gone, np.nan, np.array(self.first)),
            np.array(self.done),
            np.array(self.asked[0], dtype=np.int64),
            np.array(self.asked[1], dtype=np.int64),
            self.now,
            np.array(self.told).reshape(-1, len(TURN)),
            Counts(turns, steps, tokens_in, tokens_out, preempted, refused, peak, capacity),
            np.where(gone, np.nan, np.array(self.taken)),
        )


#: where an engine is held: the time it has reached, and until when it has nothing to do, inf for until it is asked [s]
Held = tuple[float, float]


def engine(
    steps: Steps,
    book: Book,
    how: Scheduling,
    capacity: int,
    *,
    jump: bool = True,
    hold: float = math.inf,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Held, tuple[float, float]]:
    """An engine at work; held at the first step that ends at `hold` or later, and whenever it has nothing to do.

    It goes on with the time it is then, and the time at which it is to be held again [s]. One that is never held ends
    when all is answered.

    Raises
    ------
    AnalysisError
        If the first request in the queue can never be admitted.
    Cancelled
        If `cancelled` says so.
    """
    prompt, left, hits = book.prompt, book.left, book.hits
    first, done, taken = book.first, book.done, book.taken
    coming, touched, send = book.coming, book.touched, book.send
    version_of, began = book.version_of, book.began
    live, clients = hold < math.inf, book.clients
    n = len(prompt)

    waiting: deque[int] = deque()
    #: step at which a request ends, times a span, plus its version: one number is compared quicker than three
    ends: list[int] = []
    whose = [-1]  # request of every version
    order: list[tuple[int, int]] = []  # (request, version) by admission, for preemption
    version = 0
    # said here: worked out from all that it comes from, and from itself, the checker of types takes ten seconds
    take: int
    split, split_done = -1, 0  # the one prompt that is being split, and how much of it is done
    now, count = 0.0, 0  # time, and steps in which requests decoded
    running = cached = context = promised = 0
    finished = refused = turns = stepped = preempted = tokens_in = tokens_out = peak = 0
    #: what is told of turns, until it is written down: a list grows quicker than an array
    lines: list[float] = []
    reserve, budget, slots = how.reserve, how.budget, how.slots
    mixed, chunked = how.mixed, how.chunked
    # room is taken by whole blocks: what the last one of a request leaves empty when it ends is counted from its start
    block = how.block
    growth = steps.context()
    #: lengths of steps by how many decode, but for what grows with their context
    lengths: dict[int, float] = {}
    step, decode, length_of = steps.step, steps.decode, lengths.get
    tell, arrive, take_next, admitted = lines.extend, coming.popleft, waiting.popleft, order.append
    push, pop = heapq.heappush, heapq.heappop
    span, look = _SPAN_LIMIT, LOOK_LIMIT
    #: nothing was read in a turn that only decodes
    none: list[int] = []
    room = free = beside = 0

    while live or finished + refused < n:
        turns += 1
        if now >= hold:
            _written(book, lines)
            book.counts = turns, stepped, tokens_in, tokens_out, preempted, refused, peak
            now, hold = yield now, now
            growth = steps.context()
            lengths.clear()
        if turns >= look:
            look = turns + LOOK_LIMIT
            _written(book, lines)
            if cancelled is not None and cancelled():
                raise Cancelled("stopped")
        while coming and coming[0][0] <= now:
            waiting.append(arrive()[1])
        if not running and not waiting and split < 0:
            if live:
                _written(book, lines)
                book.counts = turns, stepped, tokens_in, tokens_out, preempted, refused, peak
                now, hold = yield now, coming[0][0] if coming else math.inf
                growth = steps.context()
                lengths.clear()
            else:
                now = coming[0][0]
            continue
        # room for the next token of every running request; else the youngest goes back, with what it said as prompt
        robbed = False
        while running and cached + running > capacity and reserve < 1:
            while version_of[order[-1][0]] != order[-1][1]:
                order.pop()
            if running == 1 and split < 0:
                break
            i = order.pop()[0]
            told_so_far = count - began[i]
            version_of[i] = 0
            running -= 1
            held = prompt[i] + told_so_far
            context -= held
            cached -= held + -(prompt[i] + left[i]) % block
            promised -= left[i] - told_so_far
            # the last token is not cached yet: it is computed again with the rest
            prompt[i] += told_so_far + 1
            left[i] -= told_so_far + 1
            hits[i] = 0
            waiting.appendleft(i)
            preempted += 1
            robbed = True
        fill, area = 0, 0.0
        ready = none
        if waiting or split >= 0:
            ready = []
            beside = running if mixed else 0
            room, free = budget - beside, capacity - cached - beside
        if split >= 0:
            take = min(prompt[split] - split_done, room, max(free, 0))
            if take > 0:
                fill, area = take, take * (split_done + take / 2)
                cached += take
                room -= take
                free -= take
                split_done += take
                if split_done == prompt[split]:
                    ready.append(split)
                    split = -1
        if waiting and split < 0 and not robbed:
            while waiting and running + len(ready) < slots and room > 0:
                i = waiting[0]
                whole = prompt[i]
                spare = -(whole + left[i]) % block
                if whole + left[i] + spare > capacity:
                    take_next()
                    refused += 1
                    send(now)
                    continue
                if reserve and cached + reserve * (promised + left[i]) + whole + spare > capacity:
                    break
                hit = hits[i]
                if hit >= whole:
                    hit = whole - 1
                new = whole - hit
                take = room if chunked and new > room else new
                if (take > room and fill) or hit + take + spare > free:
                    break
                take_next()
                if taken[i] != taken[i]:
                    taken[i] = now
                    if live:
                        touched.append(i)
                fill += take
                area += take * (hit + take / 2)
                cached += hit + take + spare
                room -= take
                free -= hit + take + spare
                promised += left[i]
                if take == new:
                    ready.append(i)
                else:
                    split, split_done = i, hit + take
                    break
        begin = now
        if fill:
            beside = running if mixed else 0
            length = step(fill, area, len(ready), beside, context if mixed else 0)
            now += length
            tell((begin, length, 0.0, 1.0, beside, cached, len(waiting)))
            if beside:
                count += 1
                context += beside
                cached += beside
                tokens_out += beside
                promised -= beside
            stepped += 1
            tokens_in += fill
        elif not running:
            if not waiting and split < 0 and not coming:
                continue  # the last ones were refused
            if not coming:
                raise AnalysisError("the engine cannot go on", remedy="give it more room for keys and values")
            now = max(now, coming[0][0])
            continue
        else:
            end = ends[0]
            if preempted:
                mark = end % span
                while version_of[whose[mark]] != mark:
                    pop(ends)
                    end = ends[0]
                    mark = end % span
            k = end // span - count
            if reserve < 1:
                fits = (capacity - cached) // running
                if fits < k:
                    k = fits if fits > 1 else 1
            length = length_of(running)
            if length is None:
                length = lengths[running] = decode(running)
            one, more = length + growth * context, growth * running
            until = coming[0][0] if coming else hold
            if hold < until:
                until = hold
            wait = until - now
            if k * one + more * k * (k - 1) / 2 > wait:
                # the smallest k with k A + B k (k - 1) / 2 >= what is left until the arrival
                if more > 0:
                    half = one - more / 2
                    last = math.ceil((math.sqrt(half * half + 2 * more * wait) - half) / more - _EDGE_TOLERANCE)
                else:
                    last = math.ceil(wait / one)
                if last < k:
                    k = last if last > 1 else 1
            if not jump:
                k = 1
            now += k * one + more * k * (k - 1) / 2
            tell((begin, one, more, k, running, cached, len(waiting)))
            count += k
            spoken = running * k
            context += spoken
            cached += spoken
            tokens_out += spoken
            promised -= spoken
            stepped += k
        if cached > peak:
            peak = cached
        over = (count + 1) * span
        while ends and (ends[0] < over or (preempted and version_of[whose[ends[0] % span]] != ends[0] % span)):
            at, mark = divmod(pop(ends), span)
            i = whose[mark]
            if version_of[i] != mark:
                continue
            version_of[i] = 0
            running -= 1
            held = prompt[i] + at - began[i]
            context -= held
            cached -= held + -(prompt[i] + left[i]) % block
            promised -= left[i] - (at - began[i])
            done[i] = now
            if live:
                touched.append(i)
            finished += 1
            if clients:
                send(now)
        for i in ready:
            tokens_out += 1
            if live:
                touched.append(i)
            if first[i] != first[i]:
                first[i] = now
            if left[i] <= 1:
                cached -= prompt[i] + -(prompt[i] + left[i]) % block
                promised -= left[i]
                done[i] = now
                finished += 1
                send(now)
            else:
                version += 1
                version_of[i], began[i] = version, count
                running += 1
                context += prompt[i]
                whose.append(i)
                push(ends, (count + left[i] - 1) * span + version)
                admitted((i, version))
        if len(order) > _DEAD_LIMIT * (running + _SPARE_LIMIT):
            order[:] = [pair for pair in order if version_of[pair[0]] == pair[1]]
    _written(book, lines)
    book.now = now
    book.counts = turns, stepped, tokens_in, tokens_out, preempted, refused, peak


def _written(book: Book, lines: list[float]) -> None:
    """Write down what was told of turns since the last time."""
    book.told.fromlist(lines)
    lines.clear()
