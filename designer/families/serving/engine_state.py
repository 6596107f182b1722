"""The state of a serving engine between two steps, what it is asked and what it has answered."""

from __future__ import annotations

import math
from array import array
from bisect import insort
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from operator import add, mul
from typing import Final, Protocol

import numpy as np

from designer.errors import AnalysisError
from designer.families.serving.formulas._release import Scheduling
from designer.families.serving.records import Counts, ServingRun

#: turns between two looks at whether someone cancelled
LOOK_LIMIT: Final = 4096
#: an arrival this close to the end of a step comes before it, relative to the step
_EDGE_TOLERANCE: Final = 1e-12
#: more than requests are ever admitted in one run
SPAN_LIMIT: Final = 2**32
#: dead entries of the list of running requests are cleared beyond this many for each that lives
_DEAD_LIMIT: Final = 4
_SPARE_LIMIT: Final = 64


#: what is stated of a turn, see `ServingRun`
TURN: Final = ("begin", "first", "growth", "steps", "running", "cached", "waiting")


class Steps(Protocol):
    """Where the lengths of steps come from."""

    def decode(self, requests: int) -> float: ...
    def context(self) -> float: ...
    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float: ...
    def uneven(self, full: int, tokens: int) -> float: ...


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
    pause : (n,) wait of a client before it sends each [s]; then request i of a client is followed by its request
        i + clients, and not by the next that nobody has sent; empty for no wait
    """

    prompt: Sequence[int]
    output: Sequence[int]
    at: Sequence[float] = ()
    clients: int = 0
    cached: Sequence[int] = field(default=())
    fetched: Sequence[int] = field(default=())
    pause: Sequence[float] = field(default=())

    def __post_init__(self) -> None:
        if not len(self.prompt) == len(self.output) or (not self.clients and len(self.at) != len(self.prompt)):
            raise AnalysisError("requests lack a length or a time", remedy="give prompt, output and arrival of each")
        if len(self.prompt) and (min(self.prompt) < 1 or min(self.output) < 1):
            raise AnalysisError(
                "a request has no prompt or no output", place="requests", remedy="give 1 token or more of both"
            )


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
        self.clients, self.pause = requests.clients, requests.pause
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
        self.stated = array("d")
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

    def send(self, now: float, answered: int = -1) -> None:
        """A client has the answer of a request and sends its next one, after its pause; -1 for its first."""
        if self.pause and answered >= 0:
            number = answered + self.clients
            if number < len(self.prompt):
                self.sent[number] = now + self.pause[number]
                insort(self.coming, (self.sent[number] + self.path, number))
                self.touched.append(number)
                self.upcoming += 1
            return
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
        """What was written down after a time took longer by a factor, and were paused now and then.

        Parameters
        ----------
        begin
            Since when [s].
        rows
            Turns that were stated before it.
        pauses
            When it was paused, and for how long [s].
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
        stated = self.stated[rows * width :]
        del self.stated[rows * width :]
        for k in range(0, len(stated), width):
            turn = stated[k : k + width]
            turn[0] = begin + (turn[0] - begin) * factor
            turn[1] *= factor
            turn[2] *= factor
            self._record_turn(turn, pauses)

    def _record_turn(self, turn: array[float], pauses: Sequence[tuple[float, float]]) -> None:
        """A turn of equal steps; one that is paused in the middle is three: before, the step that waited, after."""
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
                self.stated.extend((at, first, growth, over, *rest))
            before = over * first + growth * over * (over - 1) / 2
            waited = first + growth * over
            self.stated.extend((at + before, waited + length, 0.0, 1.0, *rest))
            at += before + waited + length
            first, steps = waited + growth, steps - over - 1
            if not steps:
                return
        self.stated.extend((at, first, growth, steps, *rest))

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
            np.array(self.stated).reshape(-1, len(TURN)),
            Counts(turns, steps, tokens_in, tokens_out, preempted, refused, peak, capacity),
            np.where(gone, np.nan, np.array(self.taken)),
        )


#: where an engine is held: the time it has reached, and until when it has nothing to do, inf for until it is asked [s]
Held = tuple[float, float]


def steps_until(wait: float, first: float, growth: float) -> int:
    """The least k with k · first + growth · k (k - 1) / 2 ≥ wait: steps that decode until a time has come [1]."""
    if growth <= 0:
        return math.ceil(wait / first)
    half = first - growth / 2
    return math.ceil((math.sqrt(half * half + 2 * growth * wait) - half) / growth - _EDGE_TOLERANCE)


class EngineState:
    """The state of an engine between two steps.

    Attributes
    ----------
    ends
        Step at which a request ends, times a span, plus its version: one number is compared quicker than three.
    whose
        Request of every version.
    order
        (request, version) by admission, for preemption.
    split, split_done
        The one prompt that is being split, and how much of it is done; -1 for none.
    now, count
        Time [s], and steps in which requests decoded.
    promised
        Tokens that running requests are still to give.
    ready, fill, area
        Of the step that is put together: prompts that end with it, its tokens of prompts, and the pairs they look at.
    """

    __slots__ = (
        *(
            "steps",
            "book",
            "capacity",
            "jumps",
            "live",
            "budget",
            "slots",
            "mixed",
            "chunked",
            "reserve",
            "block",
            "waiting",
            "ends",
            "whose",
            "order",
            "version",
        ),
        *("split", "split_done", "now", "count", "running", "cached", "context", "promised", "finished", "refused"),
        *("stepped", "preempted", "tokens_in", "spoken", "firsts", "peak", "lines", "tell", "growth", "lengths"),
        *("ready", "fill", "area"),
    )

    def __init__(self, steps: Steps, book: Book, how: Scheduling, capacity: int, *, jump: bool, live: bool) -> None:
        self.steps, self.book, self.capacity = steps, book, capacity
        self.budget, self.slots, self.reserve, self.block = how.budget, how.slots, how.reserve, how.block
        self.mixed, self.chunked = how.mixed, how.chunked
        self.jumps, self.live = jump, live
        self.waiting: deque[int] = deque()
        self.ends: list[int] = []
        self.whose = [-1]
        self.order: list[tuple[int, int]] = []
        self.split, self.split_done = -1, 0
        self.now, self.count = 0.0, 0
        self.running = self.cached = self.promised = 0
        self.context: int = 0
        self.finished = self.refused = self.stepped = self.preempted = 0
        self.tokens_in = self.spoken = self.firsts = self.peak = 0
        #: what is stated of turns, until it is written down: a list grows quicker than an array
        self.lines: list[float] = []
        self.tell = self.lines.extend
        self.growth = steps.context()
        #: lengths of steps by how many decode, but for what grows with their context
        self.lengths: dict[int, float] = {}
        self.ready: list[int] = []
        self.fill, self.area = 0, 0.0

    def write(self, turns: int) -> None:
        """Write down what was counted, in so many turns, and stated of turns since the last time."""
        book, lines, width = self.book, self.lines, len(TURN)
        if lines:
            steps, running, cached = lines[3::width], lines[4::width], lines[5::width]
            spoken = list(map(mul, steps, running))
            self.stepped += int(sum(steps))
            self.spoken += int(sum(spoken))
            self.peak = max(self.peak, int(max(map(add, cached, spoken))))
            book.stated.fromlist(lines)
            lines.clear()
        tokens_out = self.spoken + self.firsts
        book.counts = turns, self.stepped, self.tokens_in, tokens_out, self.preempted, self.refused, self.peak

    def refresh(self) -> None:
        """Steps may take another time than when the engine was held."""
        self.growth = self.steps.context()
        self.lengths.clear()

    def preempt(self) -> bool:
        """Make room for the next token of every running request: the youngest goes back, with its answer as prompt."""
        book, order = self.book, self.order
        version_of, robbed = book.version_of, False
        while self.running and self.cached + self.running > self.capacity:
            while version_of[order[-1][0]] != order[-1][1]:
                order.pop()
            if self.running == 1 and self.split < 0:
                break
            i = order.pop()[0]
            self._leave(i, self.count - book.began[i])
            said = self.count - book.began[i] + 1
            # the last token is not cached yet: it is computed again with the rest
            book.prompt[i] += said
            book.left[i] -= said
            book.hits[i] = 0
            self.waiting.appendleft(i)
            self.preempted += 1
            robbed = True
        return robbed

    def _leave(self, i: int, stated: int) -> None:
        """A running request that has given so many tokens leaves, and its blocks with it."""
        book = self.book
        prompt, left = book.prompt[i], book.left[i]
        book.version_of[i] = 0
        self.running -= 1
        self.context -= prompt + stated
        self.cached -= prompt + stated + -(prompt + left) % self.block
        self.promised -= left - stated

    def admit(self, robbed: bool) -> int:
        """Put prompts into the next step, in order, while its budget, slots and room last; its tokens of prompts.

        Parameters
        ----------
        robbed
            True if a request was preempted for this step: none is taken from the queue then.
        """
        decoding = self.running if self.mixed else 0
        room, free = self.budget - decoding, self.capacity - self.cached - decoding
        self.ready = ready = []
        fill, area = 0, 0.0
        if self.split >= 0:
            fill, area = self._go_on(min(room, max(free, 0)))
            room -= fill
            free -= fill
        if robbed or self.split >= 0:
            self.fill, self.area = fill, area
            return fill
        book, waiting, now, live = self.book, self.waiting, self.now, self.live
        prompt, left, hits, taken = book.prompt, book.left, book.hits, book.taken
        # room is taken by whole blocks: what the last one leaves empty when a request ends is counted from its start
        block, reserve, slots, capacity = self.block, self.reserve, self.slots - self.running, self.capacity
        chunked = self.chunked
        while waiting and len(ready) < slots and room > 0:
            i = waiting[0]
            whole, more = prompt[i], left[i]
            spare = -(whole + more) % block
            if whole + more + spare > capacity:
                waiting.popleft()
                self.refused += 1
                book.send(now, i)
                continue
            if reserve and self.cached + reserve * (self.promised + more) + whole + spare > capacity:
                break
            hit = hits[i]
            if hit >= whole:
                hit = whole - 1
            new = whole - hit
            take = room if chunked and new > room else new
            if (take > room and fill) or hit + take + spare > free:
                break
            waiting.popleft()
            if taken[i] != taken[i]:
                taken[i] = now
                if live:
                    book.touched.append(i)
            fill += take
            area += take * (hit + take / 2)
            held = hit + take + spare
            self.cached += held
            room -= take
            free -= held
            self.promised += more
            if take < new:
                self.split, self.split_done = i, hit + take
                break
            ready.append(i)
        self.fill, self.area = fill, area
        return fill

    def _go_on(self, most: int) -> tuple[int, float]:
        """Go on with the prompt that is being split, by so many tokens at most; how many, and their pairs."""
        split, done = self.split, self.split_done
        whole = self.book.prompt[split]
        take = min(whole - done, most)
        if take <= 0:
            return 0, 0.0
        self.cached += take
        self.split_done = done + take
        if done + take == whole:
            self.ready.append(split)
            self.split = -1
        return take, take * (done + take / 2)

    def read(self) -> None:
        """A step with prompts, next to which requests decode where the engine mixes them."""
        fill, ready, begin, cached = self.fill, self.ready, self.now, self.cached
        decoding, context = (self.running, self.context) if self.mixed else (0, 0)
        length = self.steps.step(fill, self.area, len(ready), decoding, context)
        self.now = begin + length
        self.tell((begin, length, 0.0, 1.0, decoding, cached, len(self.waiting)))
        self.stepped_on(decoding, context)

    def stepped_on(self, decoding: int, context: int) -> None:
        """A step with the prompts put together is over, in which so many requests decoded next to them."""
        fill, ready = self.fill, self.ready
        if decoding:
            self.count += 1
            self.context = context + decoding
            self.cached += decoding
            self.promised -= decoding
        self.tokens_in += fill
        if self.ends and self.ends[0] < (self.count + 1) * SPAN_LIMIT:
            # those that end with this step leave before its prompts have their first token
            self.end()
        if ready:
            self._begin(ready)

    def _begin(self, ready: list[int]) -> None:
        """Prompts that were read have their first token, and decode from now on."""
        book, now, count = self.book, self.now, self.count
        first, left, prompt = book.first, book.left, book.prompt
        self.firsts += len(ready)
        for i in ready:
            if self.live:
                book.touched.append(i)
            if first[i] != first[i]:
                first[i] = now
            more = left[i]
            if more > 1:
                version = len(self.whose)
                book.version_of[i], book.began[i] = version, count
                self.running += 1
                self.context += prompt[i]
                self.whose.append(i)
                self.order.append((i, version))
                heappush(self.ends, (count + more - 1) * SPAN_LIMIT + version)
            else:
                self.cached -= prompt[i] + -(prompt[i] + more) % self.block
                self.promised -= more
                book.done[i] = now
                self.finished += 1
                book.send(now, i)
        if len(self.order) > _DEAD_LIMIT * (self.running + _SPARE_LIMIT):
            version_of = book.version_of
            self.order[:] = [pair for pair in self.order if version_of[pair[0]] == pair[1]]

    def decode(self, until: float) -> None:
        """Steps that only decode, in one jump: until one ends, there is no more room, or a time has come [s]."""
        running, context, now, cached = self.running, self.context, self.now, self.cached
        count, lengths = self.count, self.lengths
        k = (self._first_end() if self.preempted else self.ends[0]) // SPAN_LIMIT - count
        if cached + k * running > self.capacity and self.reserve < 1:
            k = max(1, (self.capacity - cached) // running)
        length = lengths.get(running)
        if length is None:
            length = lengths[running] = self.steps.decode(running)
        one, more = length + self.growth * context, self.growth * running
        wait = until - now
        took = k * one + more * k * (k - 1) / 2
        if took > wait:
            last = steps_until(wait, one, more)
            if last < k:
                k = last if last > 1 else 1
                took = k * one + more * k * (k - 1) / 2
        if not self.jumps:
            k, took = 1, one
        self.tell((now, one, more, k, running, cached, len(self.waiting)))
        spoken = running * k
        self.now, self.count = now + took, count + k
        self.context, self.cached = context + spoken, cached + spoken
        self.promised -= spoken

    def next_end(self) -> int:
        """Steps until a running request has its last token."""
        return (self._first_end() if self.preempted else self.ends[0]) // SPAN_LIMIT - self.count

    def spoke(self, k: int) -> None:
        """All running requests decoded in so many steps."""
        spoken = self.running * k
        self.count += k
        self.context += spoken
        self.cached += spoken
        self.promised -= spoken

    def _first_end(self) -> int:
        """The first of `ends` that is still meant: of requests that were preempted since none is."""
        ends, version_of, whose = self.ends, self.book.version_of, self.whose
        while version_of[whose[ends[0] % SPAN_LIMIT]] != ends[0] % SPAN_LIMIT:
            heappop(ends)
        return ends[0]

    def end(self) -> None:
        """Requests that have their last token leave; in a closed loop their clients send the next one."""
        book, ends = self.book, self.ends
        over, whose, version_of = (self.count + 1) * SPAN_LIMIT, self.whose, book.version_of
        while ends and (
            ends[0] < over or (self.preempted and version_of[whose[ends[0] % SPAN_LIMIT]] != ends[0] % SPAN_LIMIT)
        ):
            at, mark = divmod(heappop(ends), SPAN_LIMIT)
            i = whose[mark]
            if version_of[i] != mark:
                continue
            # as `_leave`, for the many that do
            stated = at - book.began[i]
            held, more = book.prompt[i] + stated, book.left[i] - stated
            version_of[i] = 0
            self.running -= 1
            self.context -= held
            self.cached -= held + -(held + more) % self.block
            self.promised -= more
            book.done[i] = self.now
            if self.live:
                book.touched.append(i)
            self.finished += 1
            if book.clients:
                book.send(self.now, i)

    def skip(self, coming: deque[tuple[float, int]]) -> None:
        """Go to when the next request comes, where nothing can be done now.

        Raises
        ------
        AnalysisError
            If none comes, so that the first one in the queue has room for ever in vain.
        """
        if coming:
            self.now = max(self.now, coming[0][0])
        elif self.waiting or self.split >= 0:
            raise AnalysisError("the engine cannot go on", remedy="give it more room for keys and values")
