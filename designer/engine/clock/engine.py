"""The clock: an event-driven fluid simulation of works on shared and on exclusive resources.

Between events every work runs at its max-min rate. An event (a start, an end, a change of capacity) touches only the
component it happens in: the works that share a resource with it, transitively. Events a rounding apart are one batch,
so that symmetric works stay together. Whatever decides what is done is a process; the clock knows no special case.
"""

from __future__ import annotations

import heapq
import math
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import numpy as np

from designer.engine.clock.work import Component, Work, WorkProcess
from designer.engine.flows import Incidence, binding, solve
from designer.engine.flows.incidence import SLACK
from designer.errors import AnalysisError, Cancelled
from designer.sources import Constant, Status

#: from so many works in a component on, the vectorised solver is the quicker one
MANY: Final = int(Constant(40, 20, 80, "flows-timing", Status.ASSUMED, note="0.3 ms of array calls").value)
#: two levels this near are one
_TIE_TOLERANCE: Final = 1e-12

#: resources that hold a work back; empty where it gets all it asks for
Bottleneck = tuple[int, ...]


def allocate(works: Sequence[Work], capacity: Mapping[int, float]) -> list[tuple[float, Bottleneck]]:
    """Rate of each work and what holds it back; a work on a resource without capacity gets nothing."""
    if len(works) == 1:
        return [_rate_alone(works[0], capacity)]
    return _fill(works, capacity) if len(works) < MANY else _solve(works, capacity)


def _rate_alone(work: Work, capacity: Mapping[int, float]) -> tuple[float, Bottleneck]:
    shape = work.shape
    rate, bottleneck = shape.cap, []
    for resource, usage in shape.uses:
        most = capacity[resource] / usage
        if most < rate:
            rate, bottleneck = most, [resource]
        elif most == rate and bottleneck:
            bottleneck.append(resource)
    return rate, tuple(bottleneck)


def _fill(works: Sequence[Work], capacity: Mapping[int, float]) -> list[tuple[float, Bottleneck]]:
    left: dict[int, float] = {}
    pull: dict[int, float] = {}
    count: dict[int, int] = {}
    for work in works:
        weight = work.shape.weight
        for resource, usage in work.shape.uses:
            if resource in pull:
                pull[resource] += usage * weight
                count[resource] += 1
            else:
                pull[resource], count[resource], left[resource] = usage * weight, 1, capacity[resource]
    found: dict[Work, tuple[float, Bottleneck]] = {}
    todo = list(works)
    while todo:
        level = min(work.shape.cap / work.shape.weight for work in todo)
        for resource, value in pull.items():
            at = left[resource] / value
            level = min(at, level)
        limit = level * (1 + _TIE_TOLERANCE)
        tight = {resource for resource, value in pull.items() if left[resource] <= limit * value}
        rest: list[Work] = []
        for work in todo:
            shape = work.shape
            held = tuple(resource for resource, _ in shape.uses if resource in tight)
            if not held and shape.cap > limit * shape.weight:
                rest.append(work)
                continue
            rate = min(level * shape.weight, shape.cap)
            found[work] = (rate, held)
            for resource, usage in shape.uses:
                # users are counted: what is left of a sum never says that a resource is free
                count[resource] -= 1
                if count[resource]:
                    left[resource] = max(0.0, left[resource] - usage * rate)
                    pull[resource] -= usage * shape.weight
                else:
                    del left[resource], pull[resource], count[resource]
        assert len(rest) < len(todo), "filling makes no progress"
        todo = rest
    answer = [found[work] for work in works]
    _prove(works, [rate for rate, _ in answer], capacity)
    return answer


def _prove(works: Sequence[Work], rates: Sequence[float], capacity: Mapping[int, float]) -> None:
    """The certificate of ``designer.engine.flows``, for a few works."""
    load: dict[int, float] = {}
    highest: dict[int, float] = {}
    for work, rate in zip(works, rates, strict=True):
        level = rate / work.shape.weight
        for resource, usage in work.shape.uses:
            load[resource] = load.get(resource, 0.0) + rate * usage
            highest[resource] = max(highest.get(resource, 0.0), level)
    full = {r for r, value in load.items() if value >= capacity[r] * (1 - SLACK)}
    over = [r for r in full if load[r] > capacity[r] * (1 + SLACK)]
    assert not over, f"resource {over} carries more than it can"
    for work, rate in zip(works, rates, strict=True):
        shape = work.shape
        if rate >= shape.cap * (1 - SLACK):
            continue
        level = rate / shape.weight
        held = any(r in full and level >= highest[r] * (1 - SLACK) for r, _ in shape.uses)
        assert held, "a max-min answer failed its certificate"


def _solve(works: Sequence[Work], capacity: Mapping[int, float]) -> list[tuple[float, Bottleneck]]:
    stopped = [any(capacity[r] <= 0 for r, _ in work.shape.uses) for work in works]
    moving = [work for work, stop in zip(works, stopped, strict=True) if not stop]
    answer: list[tuple[float, Bottleneck]] = []
    if moving:
        resources = sorted({r for work in moving for r, _ in work.shape.uses})
        number = {r: k for k, r in enumerate(resources)}
        incidence = Incidence.from_rows(
            [[(number[r], usage) for r, usage in work.shape.uses] for work in moving],
            [capacity[r] for r in resources],
            [work.shape.weight for work in moving],
            [work.shape.cap for work in moving],
        )
        # proven by the solver itself
        allocation = solve(incidence)
        held = binding(incidence, allocation)
        names = np.array(resources, dtype=np.int64)
        rates = allocation.rate.tolist()
        answer = [(rates[k], tuple(names[held.of(k)].tolist())) for k in range(len(moving))]
    found = iter(answer)
    stuck = [tuple(r for r, _ in work.shape.uses if capacity[r] <= 0) for work in works]
    return [(0.0, stuck[k]) if stop else next(found) for k, stop in enumerate(stopped)]


#: events this close together, relative to the time, are one batch: some forty roundings
BATCH: Final = Constant(
    1e-14, 1e-15, 1e-12, "flows-numerics", Status.ASSUMED, note="far below any latency, above the rounding of sums"
).value
#: a work with less than this part of its amount left is done
REST: Final = Constant(1e-12, 1e-14, 1e-10, "flows-numerics", Status.ASSUMED).value
#: rates of components of so many works and more are kept: in programs that repeat, the same works meet again
KEPT_FROM_LIMIT: Final = 2
KEPT_LIMIT: Final = 4096
#: more works that take no time than this at one instant are a loop
INSTANT_LIMIT: Final = 100_000
#: batches between two looks at whether someone cancelled
LOOK_LIMIT: Final = 32

_START, _ENTER, _END, _ARRIVE, _CAPACITY = ("start", "enter", "end", "arrive", "capacity")


class Clock:
    """Runs processes on resources.

    Parameters
    ----------
    capacity
        Of every resource, or by number of all that works take or hold; 0 lets nothing through.
    slots
        How many works an engine serves at a time; resources that are no engines are not named.
    cancelled
        Asked every few events.

    Attributes
    ----------
    now
        Time [s].
    works
        All that were asked for, in order, if they are recorded.
    events, solves
        How many there have been.
    """

    def __init__(
        self,
        capacity: Sequence[float] | Mapping[int, float],
        slots: Mapping[int, int] | None = None,
        *,
        record: bool = True,
        cancelled: Callable[[], bool] | None = None,
        most_events: float = math.inf,
    ) -> None:
        self.capacity = dict(capacity) if isinstance(capacity, Mapping) else dict(enumerate(capacity))
        bad = next((k for k, value in self.capacity.items() if not value >= 0), None)
        if bad is not None:
            raise AnalysisError(f"capacity {self.capacity[bad]}", place=f"resource {bad}", remedy="give 0 or more")
        self.now = 0.0
        self.works: list[Work] = []
        self.events = self.solves = 0
        self.stopped = False
        self._record, self._cancelled, self.most_events = record, cancelled, most_events
        self._heap: list[tuple[float, int, str, Any, Any]] = []
        self._sequence = 0
        self._users: defaultdict[int, dict[Work, None]] = defaultdict(dict)
        self._free = dict(slots or {})
        self._queue: dict[int, list[tuple[int, float, int, Work]]] = {engine: [] for engine in self._free}
        self._instant: deque[Work] = deque()
        self._moving: dict[Work, None] = {}
        self._dirty: dict[Component, None] = {}
        self._known: OrderedDict[tuple[int, ...], dict[int, tuple[float, Bottleneck]]] = OrderedDict()

    def add(self, process: WorkProcess, at: float = 0.0) -> None:
        """A process that starts at a time [s]."""
        if not self.now <= at < math.inf:
            raise AnalysisError(f"a start at {at:g} s", remedy=f"start at {self.now:g} s or later")
        self._push(at, _START, process)

    def set_capacity(self, at: float, resource: int, capacity: float) -> None:
        """From a time on a resource has another capacity; 0 for failed."""
        if not self.now <= at < math.inf or not capacity >= 0:
            raise AnalysisError(f"capacity {capacity:g} at {at:g} s", remedy="give 0 or more of both")
        self._push(at, _CAPACITY, resource, capacity)

    def stop(self) -> None:
        """End the run after what happens now."""
        self.stopped = True

    def drop(self, works: Iterable[Work]) -> None:
        """Give up works that are not done; what they held is free from now on."""
        at = self.now
        given_up = [work for work in works if math.isnan(work.ended)]
        for work in given_up:
            work.dropped = True
            work.ended = at
        for work in given_up:
            component, engine = work.component, work.shape.engine
            if component is not None:
                self._advance(component, at)
                self._leave(work, component)
                self._dirty[component] = None
                if work.rate and self._record:
                    work.log.append((at, 0.0, ()))
            if engine >= 0 and not math.isnan(work.began):
                self._release(engine, at)

    def _leave(self, work: Work, component: Component) -> None:
        del component.works[work], self._moving[work]
        component.thinned = True
        for resource, _ in work.shape.uses:
            del self._users[resource][work]
        work.component = None

    def _release(self, engine: int, at: float) -> None:
        """The next in the queue of an engine begins."""
        queue = self._queue[engine]
        while queue:
            work = heapq.heappop(queue)[3]
            if not work.dropped:
                self._begin(work, at)
                return
        self._free[engine] += 1

    def run(self, until: float = math.inf) -> float:
        """Run until a time, until nothing is left to happen, or until stopped; the time reached [s].

        Raises
        ------
        Cancelled
            If asked to.
        AnalysisError
            If works that take no time follow each other without end.
        """
        heap, batches = self._heap, 0
        while heap and not self.stopped and heap[0][0] <= until and self.events < self.most_events:
            batches += 1
            if self._cancelled is not None and batches % LOOK_LIMIT == 1 and self._cancelled():
                raise Cancelled("stopped")
            at = self.now = heap[0][0]
            limit = at * (1 + BATCH)
            while heap and heap[0][0] <= limit:
                _, _, kind, what, more = heapq.heappop(heap)
                self._happen(kind, what, more, at)
            dirty, self._dirty = self._dirty, {}
            for component in dirty:
                self._settle(component, at)
        # one that is cut short has reached what happened last
        if not self.stopped and not self.cut and math.isfinite(until):
            self.now = max(self.now, until)
        return self.now

    @property
    def cut(self) -> bool:
        """True if more would happen, and no more events are looked at."""
        return self.events >= self.most_events and not self.idle

    @property
    def idle(self) -> bool:
        """True if nothing more will happen."""
        return all(_stale(kind, what, more) for _, _, kind, what, more in self._heap)

    def waiting(self) -> list[Work]:
        """Works that were asked for and are not done: in a queue, or with no rate."""
        queued = [row[3] for queue in self._queue.values() for row in sorted(queue, key=lambda r: r[:3])]
        queued = [work for work in queued if not work.dropped]
        return queued + list(self._moving)

    def left(self, work: Work) -> float:
        """What is left of a work now."""
        component = work.component
        if component is None or math.isinf(work.left):
            return work.left
        return max(0.0, work.left - work.rate * (self.now - component.at))

    def _push(self, at: float, kind: str, what: Any, more: Any = None) -> None:
        self._sequence += 1
        heapq.heappush(self._heap, (at, self._sequence, kind, what, more))

    def _happen(self, kind: str, what: Any, more: Any, at: float) -> None:
        if kind == _END:
            if what.stamp != more:
                return  # something happened in the component meanwhile
            self.events += 1
            self._advance(what, at)
            self._dirty[what] = None
            near = at * BATCH
            for work in [w for w in what.works if w.left < math.inf and w.left <= max(REST * w.amount, w.rate * near)]:
                if work.dropped:
                    continue  # by what another of them led to
                self._leave(work, what)
                self._end(work, at)
        else:
            self.events += 1
            if kind == _START:
                self._ask(what, what.start(at), at)
            elif kind == _ENTER:
                self._enter(what, at)
            elif kind == _ARRIVE:
                self._end(what, at)
            else:
                self._change(what, more, at)
        turns = 0
        while self._instant:
            turns += 1
            if turns > INSTANT_LIMIT:
                raise AnalysisError(
                    f"at {at:g} s tasks that take no time follow each other without end",
                    remedy="give a task in the loop a size or a time",
                )
            if turns % LOOK_LIMIT == 0 and self._cancelled is not None and self._cancelled():
                raise Cancelled("stopped")
            self._end(self._instant.popleft(), at)

    def _ask(self, process: WorkProcess, works: Any, at: float) -> None:
        for work in works or ():
            work.process, work.ready = process, at
            if self._record:
                self.works.append(work)
            if work.delay > 0:
                self._push(at + work.delay, _ENTER, work)
            else:
                self._enter(work, at)

    def _enter(self, work: Work, at: float) -> None:
        """A work whose delay is over: to its engine, or into the queue for it."""
        if work.dropped:
            return
        engine = work.shape.engine
        if engine < 0:
            self._begin(work, at)
        elif self._free[engine] > 0:
            self._free[engine] -= 1
            self._begin(work, at)
        else:
            self._sequence += 1
            heapq.heappush(self._queue[engine], (work.priority, at, self._sequence, work))

    def _begin(self, work: Work, at: float) -> None:
        work.began = at
        shape = work.shape
        if work.amount == 0 or (not shape.uses and math.isinf(shape.cap)):
            self._instant.append(work)
            return
        met: dict[Component, None] = {}
        for resource, _ in shape.uses:
            users = self._users[resource]
            for other in users:
                # all users of a resource are in one component
                assert other.component is not None
                met[other.component] = None
                break
            users[work] = None
        joined = max(met, key=lambda c: len(c.works)) if met else Component(at)
        self._advance(joined, at)
        for component in met:
            if component is joined:
                continue
            self._advance(component, at)
            component.stamp += 1
            joined.thinned = joined.thinned or component.thinned
            for other in component.works:
                other.component = joined
            joined.works.update(component.works)
            component.works = {}
            self._dirty.pop(component, None)
        joined.works[work] = self._moving[work] = None
        work.component = joined
        self._dirty[joined] = None

    def _end(self, work: Work, at: float) -> None:
        if work.dropped:
            return
        work.left = 0.0
        if work.rate and self._record:
            work.log.append((at, 0.0, ()))
        work.rate = 0.0
        if work.after > 0:
            self._push(at + work.after, _ARRIVE, work)
            work.after = 0.0
            return
        work.ended = at
        engine = work.shape.engine
        if engine >= 0:
            self._release(engine, at)
        process = work.process
        assert process is not None
        self._ask(process, process.finished(work, at), at)

    def _change(self, resource: int, capacity: float, at: float) -> None:
        self.capacity[resource] = capacity
        self._known.clear()
        for work in self._users[resource]:
            assert work.component is not None
            self._advance(work.component, at)
            self._dirty[work.component] = None
            break

    @staticmethod
    def _advance(component: Component, at: float) -> None:
        passed = at - component.at
        if passed > 0:
            for work in component.works:
                work.left -= work.rate * passed
        component.at = at

    def _settle(self, component: Component, at: float) -> None:
        component.stamp += 1
        if not component.works:
            return
        for part in self._parts(component, at) if component.thinned else (component,):
            self._allocate(part, at)

    def _allocate(self, component: Component, at: float) -> None:
        works = list(component.works)
        self.solves += 1
        if len(works) >= KEPT_FROM_LIMIT:
            key = tuple(sorted(work.shape.number for work in works))
            known = self._known.get(key)
            if known is None:
                if len(self._known) >= KEPT_LIMIT:
                    # those that have not met for longest go first
                    self._known.popitem(last=False)
                answer = allocate(works, self.capacity)
                known = {work.shape.number: one for work, one in zip(works, answer, strict=True)}
                self._known[key] = known
            else:
                self._known.move_to_end(key)
            found = [known[work.shape.number] for work in works]
        else:
            found = allocate(works, self.capacity)
        first = math.inf
        for work, (rate, bottleneck) in zip(works, found, strict=True):
            if rate != work.rate or (not work.log and self._record):
                work.rate = rate
                if self._record:
                    work.log.append((at, rate, bottleneck))
            if rate > 0:
                left = work.left / rate
                first = min(first, left)
        if first < math.inf:
            self._push(at + max(first, 0.0), _END, component, component.stamp)

    def _parts(self, component: Component, at: float) -> list[Component]:
        """The component, or what it has fallen into."""
        component.thinned = False
        if len(component.works) == 1:
            return [component]
        seen: set[Work] = set()
        met: set[int] = set()
        parts: list[dict[Work, None]] = []
        for first in component.works:
            if first in seen:
                continue
            mine: dict[Work, None] = {}
            todo = [first]
            seen.add(first)
            while todo:
                work = todo.pop()
                mine[work] = None
                for resource, _ in work.shape.uses:
                    if resource in met:
                        continue
                    met.add(resource)
                    for other in self._users[resource]:
                        if other not in seen:
                            seen.add(other)
                            todo.append(other)
            parts.append(mine)
        if len(parts) == 1:
            return [component]
        component.works = {}
        found: list[Component] = []
        for mine in parts:
            part = Component(at)
            part.works = mine
            for work in mine:
                work.component = part
            found.append(part)
        return found


def _stale(kind: str, what: Any, more: Any) -> bool:
    """True for an event that changes nothing any more."""
    return (kind == _END and what.stamp != more) or (kind in (_ENTER, _ARRIVE) and what.dropped)
