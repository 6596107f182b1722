"""Groups of attention that share experts: each has a scheduler, slots, step tokens and a cache of its own.

All groups step together, so a step is as long as that of the fullest group, while experts have the tokens of all.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Final

from designer.errors import AnalysisError, Cancelled
from designer.families.serving.engine_state import LOOK_LIMIT, SPAN_LIMIT, TURN, Book, EngineState, Held, Steps
from designer.families.serving.formulas._release import Scheduling

#: more groups than this are run as so many that represent several each, which share what these have
LANES_LIMIT: Final = 8
#: a jump that would end this close before an arrival ends with it, relative to a step
_EDGE_TOLERANCE: Final = 1e-12


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
            one.write(turns)
            one.now, hold = yield one.now, one.now
            one.refresh()
        if turns >= look:
            look = turns + LOOK_LIMIT
            one.write(turns)
            if cancelled is not None and cancelled():
                raise Cancelled("stopped")
        if coming and coming[0][0] <= one.now:
            one.take()
        if one.idle:
            if live:
                one.write(turns)
                one.now, hold = yield one.now, coming[0][0] if coming else math.inf
                one.refresh()
            else:
                one.now = coming[0][0]
            continue
        if one.admit():
            one.read()
        elif any(lane.running for lane in one.lanes):
            until = coming[0][0] if coming else hold
            one.decode(hold if hold < until else until)
        elif coming:
            one.now = max(one.now, coming[0][0])
        else:
            raise AnalysisError("the engine cannot go on", remedy="give it more room for keys and values")
        one.end()
    one.write(turns)
    book.now = one.now


def _context(lane: EngineState) -> int:
    """Cached tokens that requests of a group read in a step."""
    return lane.context


class _Groups:
    """Groups between two steps, each an engine whose steps are those of all."""

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

    @property
    def idle(self) -> bool:
        """True if there is nothing to do."""
        return not any(lane.running or lane.waiting or lane.split >= 0 for lane in self.lanes)

    def take(self) -> None:
        """Requests that have come are in the queues of the groups that have the fewest."""
        coming, lanes = self.book.coming, self.lanes
        held = [lane.running + len(lane.waiting) + (lane.split >= 0) for lane in lanes]
        while coming and coming[0][0] <= self.now:
            least = held.index(min(held))
            held[least] += 1
            lanes[least].waiting.append(coming.popleft()[1])

    def refresh(self) -> None:
        """Steps may take another time than when the engine was held."""
        self.growth = self.steps.context()
        self._lengths.clear()

    def admit(self) -> bool:
        """Put prompts into the next step of each group; True if any has some."""
        found = False
        for lane in self.lanes:
            lane.fill, lane.area, lane.ready = 0, 0.0, []
            running = lane.running
            robbed = running > 0 and lane.reserve < 1 and lane.cached + running > lane.capacity and lane.preempt()
            if lane.waiting or lane.split >= 0:
                lane.now = self.now
                found = lane.admit(robbed) > 0 or found
        return found

    def read(self) -> None:
        """A step with prompts in some groups; where the engine mixes them, all others decode."""
        count, begin, mixed = self.count, self.now, self.mixed
        fill = ready = most = context = running = tokens = 0
        area = 0.0
        for lane in self.lanes:
            tokens += lane.fill
            fill, area, ready = max(fill, lane.fill), max(area, lane.area), max(ready, len(lane.ready))
            if mixed and lane.running:
                running += lane.running
                most, context = max(most, lane.running), max(context, lane.context)
        length = self.steps.step(count * fill, count * area, count * ready, count * most, count * context)
        length -= self.steps.uneven(count * (fill + most), tokens + running)
        self._tell(begin, length, 0.0, 1, running)
        self.now = begin + length
        for lane in self.lanes:
            beside = lane.running if mixed else 0
            if beside or lane.fill:
                lane.now = self.now
                lane.stepped_on(beside, lane.context)

    def decode(self, until: float) -> None:
        """Steps that only decode, in one jump: until one ends, there is no more room, or a time has come [s]."""
        count, now = self.count, self.now
        busy = [lane for lane in self.lanes if lane.running]
        k = min(lane.most_steps() for lane in busy)
        most, together = max(lane.running for lane in busy), sum(lane.running for lane in busy)
        length = self._lengths.get((most, together))
        if length is None:
            length = self.steps.decode(count * most) - self.steps.uneven(count * most, together)
            self._lengths[most, together] = length
        longest = max(busy, key=_context)
        one = length + self.growth * count * longest.context
        more = self.growth * count * longest.running
        wait = until - now
        if k * one + more * k * (k - 1) / 2 > wait:
            if more > 0:
                half = one - more / 2
                last = math.ceil((math.sqrt(half * half + 2 * more * wait) - half) / more - _EDGE_TOLERANCE)
            else:
                last = math.ceil(wait / one)
            k = min(k, max(last, 1))
        if not self.jumps:
            k = 1
        self._tell(now, one, more, k, together)
        self.now = now + (k * one + more * k * (k - 1) / 2)
        for lane in busy:
            lane.spoke(k)
            lane.now = self.now

    def end(self) -> None:
        """Requests that have their last token leave."""
        for lane in self.lanes:
            if lane.ends and (lane.ends[0] < (lane.count + 1) * SPAN_LIMIT or lane.preempted):
                lane.now = self.now
                lane.end()

    def _tell(self, begin: float, first: float, growth: float, steps: int, running: int) -> None:
        cached = waiting = 0
        for lane in self.lanes:
            cached += lane.cached
            waiting += len(lane.waiting)
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
