"""The scheduler of a serving engine, run step by step: what is admitted, split, preempted, and when it ends.

Between two changes (a completion, an arrival, no room left) all steps are equivalent but for their growing context, so
they
are taken in one jump: k steps take k A + B k (k - 1) / 2. Requests carry the count of steps at which they end, so a
step costs the same however many run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from contextlib import suppress
from dataclasses import replace
from typing import Final

from designer.errors import AnalysisError, Cancelled
from designer.families.serving.engine_state import (
    LOOK_LIMIT,
    SPAN_LIMIT,
    TURN,
    Book,
    EngineState,
    Held,
    Requests,
    Steps,
    steps_until,
)
from designer.families.serving.formulas._release import Scheduling
from designer.families.serving.records import ServingRun, streamed


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
        True if equal steps are taken at once; the result is the same.

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
    work = groups_at_work if how.groups > 1 else _at_work
    return work(steps, book, how, capacity, jump=jump, hold=hold, cancelled=cancelled)


def _at_work(
    steps: Steps,
    book: Book,
    how: Scheduling,
    capacity: int,
    *,
    jump: bool = True,
    hold: float = math.inf,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Held, tuple[float, float]]:
    """An engine with one scheduler at work."""
    live = hold < math.inf
    one = EngineState(steps, book, how, capacity, jump=jump, live=live)
    coming, waiting, ends, span = book.coming, one.waiting, one.ends, SPAN_LIMIT
    n, look, preempts, turns = len(book.prompt), LOOK_LIMIT, how.reserve < 1, 0
    while live or one.finished + one.refused < n:
        turns += 1
        if one.now >= hold:
            hold = yield from _held(one, turns, one.now)
        if turns >= look:
            look = _looked(one, turns, cancelled)
        while coming and coming[0][0] <= one.now:
            waiting.append(coming.popleft()[1])
        running = one.running
        if not running and not waiting and one.split < 0:
            if live:
                hold = yield from _held(one, turns, coming[0][0] if coming else math.inf)
            else:
                one.now = coming[0][0]
            continue
        robbed = running > 0 and preempts and one.cached + running > capacity and one.preempt()
        if (waiting or one.split >= 0) and one.admit(robbed):
            one.read()
        elif one.running:
            until = coming[0][0] if coming else hold
            one.decode(hold if hold < until else until)
        else:
            one.skip(coming)
            continue
        if ends and (ends[0] < (one.count + 1) * span or one.preempted):
            one.end()
    one.write(turns)
    book.now = one.now


def _held(one: EngineState | _Groups, turns: int, until: float) -> Generator[Held, tuple[float, float], float]:
    """Hold an engine, and go on at the time it is then; return when it is to be held again [s]."""
    one.write(turns)
    one.now, hold = yield one.now, until
    one.refresh()
    return hold


def _looked(one: EngineState | _Groups, turns: int, cancelled: Callable[[], bool] | None) -> int:
    """Write down what has been done, and return the turn of the next look.

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    """
    one.write(turns)
    if cancelled is not None and cancelled():
        raise Cancelled("stopped")
    return turns + LOOK_LIMIT


# Groups of attention that share experts: each has a scheduler, slots, step tokens and a cache of its own. All
# groups step together, so a step is as long as that of the fullest group, while experts have the tokens of all.

#: more groups than this are run as so many that represent several each, which share what these have
LANES_LIMIT: Final = 8


def lanes_of(groups: int) -> int:
    """How many groups are run for so many: the most that divide them, up to a limit."""
    return max(k for k in range(1, min(groups, LANES_LIMIT) + 1) if groups % k == 0)


def groups_at_work(
    steps: Steps,
    book: Book,
    how: Scheduling,
    capacity: int,
    *,
    jump: bool = True,
    hold: float = math.inf,
    cancelled: Callable[[], bool] | None = None,
) -> Generator[Held, tuple[float, float]]:
    """An engine of several groups at work, held as `scheduler.engine` is.

    A request goes to the group that has the fewest, and stays there.

    Raises
    ------
    AnalysisError
        If the first request in a queue can never be admitted.
    Cancelled
        If `cancelled` says so.
    """
    live = hold < math.inf
    one = _Groups(steps, book, how, capacity, jump=jump, live=live)
    coming, look, turns = book.coming, LOOK_LIMIT, 0
    while live or coming or not one.idle:
        turns += 1
        if one.now >= hold:
            hold = yield from _held(one, turns, one.now)
        if turns >= look:
            look = _looked(one, turns, cancelled)
        if coming and coming[0][0] <= one.now:
            one.take()
        if one.idle:
            if live:
                hold = yield from _held(one, turns, coming[0][0] if coming else math.inf)
            else:
                one.now = coming[0][0]
            continue
        if one.admit():
            one.read()
        elif one.decodes:
            until = coming[0][0] if coming else hold
            one.decode(hold if hold < until else until)
        elif coming:
            one.now = max(one.now, coming[0][0])
        else:
            raise AnalysisError("the engine cannot go on", remedy="give it more room for keys and values")
        one.end()
    one.write(turns)
    book.now = one.now


class _Groups:
    """Groups between two steps, each an engine whose steps are those of all.

    All groups that decode take the same steps, so what grows with these is known by the count of steps: a group is
    brought up to date only where it has prompts, ends an answer or lacks room. A step costs the same whatever their
    number.
    """

    def __init__(self, steps: Steps, book: Book, how: Scheduling, capacity: int, *, jump: bool, live: bool) -> None:
        self.steps, self.book, self.jumps = steps, book, jump
        count = self.count = lanes_of(how.groups)
        each = replace(how, budget=max(1, how.budget // count), slots=max(1, how.slots // count), groups=1)
        self.mixed = how.mixed
        self.lanes = [EngineState(steps, book, each, capacity // count, jump=jump, live=live) for _ in range(count)]
        self.now = 0.0
        self.growth = steps.context()
        self._lengths: dict[tuple[int, int], float] = {}
        self._lines: list[float] = []
        self._stepped = self._spoken = self._peak = 0
        #: decoding steps of all groups so far, and those up to which each is up to date
        self._step, self._reached = 0, [0] * count
        self._running, self._held = [0] * count, [0] * count
        #: cached tokens and contexts of groups at step 0, had they always decoded what they do now
        self._cached, self._context = [0] * count, [0] * count
        self._decoding = self._all_cached = 0
        #: steps at which the first answer of a group ends, and at which it has no more room
        self._ends, self._full = [math.inf] * count, [math.inf] * count
        #: groups with prompts to read, and those that read some in the next step
        self._asked: set[int] = set()
        self._fills: list[int] = []

    @property
    def idle(self) -> bool:
        """True if there is nothing to do."""
        return not self._asked and not self._decoding

    @property
    def decodes(self) -> bool:
        """True if a request decodes."""
        return self._decoding > 0

    def _catch_up(self, k: int) -> EngineState:
        """A group with all decoding steps so far."""
        lane, behind = self.lanes[k], self._step - self._reached[k]
        if behind:
            lane.spoke(behind)
            self._reached[k] = self._step
        return lane

    def _note(self, k: int) -> None:
        """Note what a group that is up to date has and when it needs to be looked at next."""
        lane, step = self.lanes[k], self._step
        running, cached = lane.running, lane.cached - step * lane.running
        self._decoding += running - self._running[k]
        self._all_cached += cached - self._cached[k]
        self._running[k], self._cached[k], self._context[k] = running, cached, lane.context - step * running
        self._ends[k] = self._full[k] = math.inf
        if running:
            self._ends[k] = step + lane.next_end()
            if lane.reserve < 1:
                self._full[k] = step + max(0, (lane.capacity - lane.cached) // running)
        queued = len(lane.waiting) + (lane.split >= 0)
        self._held[k] = running + queued
        if queued:
            self._asked.add(k)
        else:
            self._asked.discard(k)

    def take(self) -> None:
        """Requests that have come are in the queues of the groups that have the fewest."""
        coming, held = self.book.coming, self._held
        while coming and coming[0][0] <= self.now:
            least = held.index(min(held))
            held[least] += 1
            self.lanes[least].waiting.append(coming.popleft()[1])
            self._asked.add(least)

    def refresh(self) -> None:
        """Steps may take another time than when the engine was held."""
        self.growth = self.steps.context()
        self._lengths.clear()

    def admit(self) -> bool:
        """Put prompts into the next step of each group; True if any has some."""
        step, full = self._step, self._full
        self._fills = fills = []
        lacking = min(full) <= step
        if not lacking and not self._asked:
            return False
        for k in range(self.count) if lacking else sorted(self._asked):
            if k not in self._asked and full[k] > step:
                continue
            lane = self._catch_up(k)
            lane.fill, lane.area, lane.ready, lane.now = 0, 0.0, [], self.now
            robbed = full[k] <= step and lane.preempt()
            if (lane.waiting or lane.split >= 0) and lane.admit(robbed) > 0:
                # the rest is noted once the step is over
                fills.append(k)
                cached = lane.cached - step * lane.running
                self._all_cached += cached - self._cached[k]
                self._cached[k] = cached
                if not robbed:
                    continue
            self._note(k)
        return bool(fills)

    def _contexts(self) -> list[int]:
        """Cached tokens that requests of each group read in the next step."""
        step = self._step
        return [context + step * running for context, running in zip(self._context, self._running)]  # noqa: B905

    def read(self) -> None:
        """A step with prompts in some groups; where the engine mixes them, all others decode."""
        count, begin = self.count, self.now
        lanes = [self.lanes[k] for k in self._fills]
        fill = tokens = ready = 0
        area = 0.0
        for lane in lanes:
            tokens += lane.fill
            fill, area, ready = max(fill, lane.fill), max(area, lane.area), max(ready, len(lane.ready))
        most = context = running = 0
        if self.mixed and self._decoding:
            running, most, context = self._decoding, max(self._running), max(self._contexts())
        length = self.steps.step(count * fill, count * area, count * ready, count * most, count * context)
        length -= self.steps.uneven(count * (fill + most), tokens + running)
        self._record_steps(begin, length, 0.0, 1, running)
        self.now = begin + length
        self._step += running > 0
        for k, lane in zip(self._fills, lanes, strict=True):
            lane.now = self.now
            lane.stepped_on(lane.running if self.mixed else 0, lane.context)
            self._reached[k] = self._step
            self._note(k)

    def decode(self, until: float) -> None:
        """Steps that only decode, in one jump: until one ends, there is no more room, or a time has come [s]."""
        count, now, step = self.count, self.now, self._step
        k = min(min(self._ends), max(min(self._full), step + 1)) - step
        most, together = max(self._running), self._decoding
        length = self._lengths.get((most, together))
        if length is None:
            length = self.steps.decode(count * most) - self.steps.uneven(count * most, together)
            self._lengths[most, together] = length
        contexts = self._contexts()
        context = max(contexts)
        one = length + self.growth * count * context
        more = self.growth * count * self._running[contexts.index(context)]
        wait = until - now
        if k * one + more * k * (k - 1) / 2 > wait:
            k = min(k, max(steps_until(wait, one, more), 1))
        if not self.jumps:
            k = 1
        k = int(k)
        self._record_steps(now, one, more, k, together)
        self.now = now + (k * one + more * k * (k - 1) / 2)
        self._step += k

    def end(self) -> None:
        """Requests that have their last token leave."""
        step = self._step
        if min(self._ends) > step:
            return
        for k, at in enumerate(self._ends):
            if at <= step:
                lane = self._catch_up(k)
                lane.now = self.now
                lane.end()
                self._note(k)

    def _record_steps(self, begin: float, first: float, growth: float, steps: int, running: int) -> None:
        cached = self._all_cached + self._step * self._decoding
        waiting = sum(len(self.lanes[k].waiting) for k in self._asked) if self._asked else 0
        self._lines.extend((begin, first, growth, steps, running, cached, waiting))
        self._stepped += steps
        self._spoken += steps * running
        self._peak = max(self._peak, cached + steps * running)

    def write(self, turns: int) -> None:
        """Write down what was counted, in so many turns, and stated of turns since the last time."""
        lanes, book = self.lanes, self.book
        assert len(self._lines) % len(TURN) == 0
        book.stated.fromlist(self._lines)
        self._lines.clear()
        read, firsts = sum(lane.tokens_in for lane in lanes), sum(lane.firsts for lane in lanes)
        preempted, refused = sum(lane.preempted for lane in lanes), sum(lane.refused for lane in lanes)
        book.counts = turns, self._stepped, read, self._spoken + firsts, preempted, refused, self._peak
