"""Exact weighted max-min fair rates with demand caps.

Raise the level (rate / weight) of all activities together; one stops at its demand or when a resource it uses is full.
Progressive filling finds that unique answer from the lowest resource upwards. Here every resource that is *locally*
lowest freezes its activities in the same vectorised round; where such rounds free too few, a heap finishes the rest.

Sources
-------
bertsekas-gallager-1992 for the definition and the bottleneck condition.
"""

from __future__ import annotations

from dataclasses import dataclass
from heapq import heapify, heappop, heapreplace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from designer.engine.flows.certificate import check
from designer.engine.flows.incidence import (
    ENTRIES_PER_STEP,
    FIRST_ROUNDS,
    ROUND_OVERHEAD,
    STALE_SUM,
    TIE,
    FloatArray,
    Incidence,
    IntArray,
    column_order,
    sums,
)
from designer.errors import AnalysisError

Method = Literal["auto", "rounds", "heap"]


@dataclass(frozen=True, slots=True, eq=False)
class Allocation:
    """The max-min fair answer.

    Parameters
    ----------
    rate
        (n_activities,) [B/s].
    level
        (n_activities,) rate / weight [B/s].
    rounds
        How many rounds of freezing it took; one round of the heap is one level.
    method
        "rounds", "heap", or "rounds, then heap".
    frozen_in
        (n_activities,) the round in which the rate was settled, from 1; 0 for activities that share no resource.
    """

    rate: FloatArray
    level: FloatArray
    rounds: int
    method: str
    frozen_in: IntArray


def solve(incidence: Incidence, *, method: Method = "auto") -> Allocation:
    """Weighted max-min fair rates [B/s], proven by a certificate before they are returned.

    Parameters
    ----------
    incidence
        Activities, resources, capacities, weights and demands.
    method
        "auto" runs vectorised rounds and changes to the heap where those crawl; the others force one way.

    Returns
    -------
    Allocation
        Rates, levels and the order in which they were settled.

    Raises
    ------
    AnalysisError
        When nothing limits an activity: no finite demand, and no resource of finite capacity.
    AssertionError
        When the answer fails its certificate, which would be a mistake in the solver.

    Notes
    -----
    Flow-level steady state: no queueing, no incast, no congestion-control transients.
    """
    layout, demand, weight = incidence.layout, incidence.demand, incidence.weight
    demand_level = demand / weight
    ceiling = demand_level
    if layout.private is not None:
        ceiling = layout.private.lower(demand_level, incidence.capacity)
    filling = _Filling(incidence, ceiling)
    filling.run(method)
    level, frozen_in = filling.level, filling.frozen_in
    # inf - inf: whatever shares a resource with an unbounded rate has none either
    if not level.max(initial=0.0) < np.inf:
        raise AnalysisError(
            "nothing limits the rate: no finite demand and no resource of finite capacity",
            place=f"activity {int(np.argmax(np.isposinf(level)))}",
            remedy="give the activity a resource or a finite demand",
        )
    # a demand is met to the last bit, not only to rounding of weight × (demand / weight)
    rate = np.where(level >= demand_level, demand, level * weight)
    for array in (rate, level, frozen_in):
        array.setflags(write=False)
    proof = check(incidence, rate)
    if not proof.ok:
        raise AssertionError(f"max-min answer failed its certificate: {proof}")
    return Allocation(rate, level, filling.rounds, filling.method, frozen_in)


class _Filling:
    """Local-bottleneck rounds on the activities not yet settled.

    Why local rounds are exact: freezing activities at or below a resource's present level never lowers that level. So
    a resource all of whose activities have no lower resource elsewhere, and no lower demand, can be settled at once,
    whatever happens far away.
    """

    def __init__(self, incidence: Incidence, ceiling: FloatArray) -> None:
        layout = incidence.layout
        self.level = ceiling
        self.frozen_in = np.zeros(len(ceiling), np.int64)
        self.rounds = 0
        self.method = "rounds"
        # what is not yet settled; None = all
        self._ids = layout.live
        self._ceiling = ceiling if layout.live is None else ceiling.take(layout.live)
        self._column, self._pull = layout.column, layout.pull
        self._count, self._start = layout.count, layout.start
        # per resource: capacity left, pull and number of the rest, level of the round before
        self._left = incidence.capacity if layout.used is None else incidence.capacity.take(layout.used)
        self._total_pull, self._users = layout.total_pull, layout.users
        self._floor: FloatArray | None = None

    def run(self, method: Method) -> None:
        """Settle all."""
        if len(self._count) == 0:
            return
        self.level = self.level.copy()
        # resources with nothing left on them divide 0 by 0; nobody reads those levels
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if method == "heap":
                self._finish_with_heap()
                return
            before = len(self._count)
            while not self._round():
                settled, before = before - len(self._count), len(self._count)
                if method == "auto" and self.rounds >= FIRST_ROUNDS and self._crawls(settled):
                    self._finish_with_heap()
                    return

    def _crawls(self, settled: int) -> bool:
        """True if going on in rounds of this yield would cost more than one heap pass over the rest."""
        rounds_to_go = len(self._ceiling) / settled
        nnz = len(self._column)
        return rounds_to_go * (ROUND_OVERHEAD + nnz / ENTRIES_PER_STEP) > nnz

    def _round(self) -> bool:
        """One round; True when all are settled."""
        self.rounds += 1
        column, count, start = self._column, self._count, self._start
        resource_level = self._levels()
        # indices are sound by construction; "clip" spares checking each one, half the time of a gather
        entry_level = resource_level.take(column, mode="clip")
        lowest = np.minimum.reduceat(entry_level, start)
        level = np.minimum(lowest, self._ceiling)
        settled = self._ceiling <= lowest
        # a resource settles its activities when it is the lowest of every one of them
        at_lowest = ((level * (1 + TIE)).repeat(count) >= entry_level).nonzero()[0]
        candidate = column.take(at_lowest, mode="clip")
        # counted, not summed: the smallest share left behind would inherit the rounding of the largest
        settles = np.bincount(candidate, minlength=len(resource_level)) == self._users
        activity = np.arange(len(count)).repeat(count).take(at_lowest)
        settled[activity[settles.take(candidate)]] = True
        done = settled.nonzero()[0]
        ids = done if self._ids is None else self._ids.take(done)
        self.level[ids] = level.take(done)
        self.frozen_in[ids] = self.rounds
        if len(done) == len(count):
            return True
        self._keep(settled, level, resource_level)
        return False

    def _levels(self) -> FloatArray:
        level = self._left / self._total_pull
        # exact levels never fall; rounding in what is left must not make one do so
        return level if self._floor is None else np.maximum(level, self._floor, out=level)

    def _keep(self, settled: NDArray[np.bool_], level: FloatArray, resource_level: FloatArray) -> None:
        """Take the settled activities out and go on with the rest."""
        column, pull, count = self._column, self._pull, self._count
        n_resources = len(resource_level)
        entry_settled = np.repeat(settled, count)
        gone, stay, rest = np.flatnonzero(entry_settled), np.flatnonzero(~entry_settled), np.flatnonzero(~settled)
        freed = column.take(gone, mode="clip")
        taken = pull.take(gone, mode="clip")
        taken *= level[settled].repeat(count[settled])
        left = self._left - sums(freed, taken, n_resources)
        np.maximum(left, 0.0, out=left)
        users = self._users - np.bincount(freed, minlength=n_resources)
        column, pull = column.take(stay, mode="clip"), pull.take(stay, mode="clip")
        self._ids = rest if self._ids is None else self._ids[rest]
        self._count, self._ceiling = count[rest], self._ceiling[rest]
        self._start = np.cumsum(self._count) - self._count
        if len(column) < n_resources:
            in_use = users > 0
            column = (np.cumsum(in_use) - 1).take(column)
            left, users, resource_level = left[in_use], users[in_use], resource_level[in_use]
        self._column, self._pull, self._left, self._users, self._floor = column, pull, left, users, resource_level
        self._total_pull = sums(column, pull, len(left))

    def _finish_with_heap(self) -> None:
        level, order, levels = finish(
            self._column, self._pull, self._start, self._ceiling, self._left, self._levels(), self._total_pull
        )
        ids = slice(None) if self._ids is None else self._ids
        self.level[ids] = level
        self.frozen_in[ids] = order + self.rounds
        self.method = "heap" if self.rounds == 0 else "rounds, then heap"
        self.rounds += levels


# Progressive filling with a heap, for instances where many bottlenecks depend on each other one after the other.
# O(nnz log n_resources) whatever the depth. Pure Python on lists: single steps on arrays are slower.


def finish(
    column: IntArray,
    pull: FloatArray,
    start: IntArray,
    ceiling: FloatArray,
    left: FloatArray,
    resource_level: FloatArray,
    total_pull: FloatArray,
) -> tuple[FloatArray, IntArray, int]:
    """Settle all activities of a (sub-)problem in the order of their levels.

    Parameters
    ----------
    column, pull, start
        Activity-major entries: resource, usage × weight; (n,) first entry of each activity.
    ceiling
        (n,) demand / weight [B/s].
    left
        (n_resources,) capacity left [B/s].
    resource_level
        (n_resources,) left / total pull, a lower bound of the level at which the resource fills [B/s].
    total_pull
        (n_resources,) sum of pull.

    Returns
    -------
    tuple
        Level of each activity [B/s], its place in the order of distinct levels from 1, and the number of those.
    """
    return _Heap(column, pull, start, ceiling, left, resource_level, total_pull).run()


class _Heap:
    def __init__(
        self,
        column: IntArray,
        pull: FloatArray,
        start: IntArray,
        ceiling: FloatArray,
        left: FloatArray,
        resource_level: FloatArray,
        total_pull: FloatArray,
    ) -> None:
        n_resources = len(left)
        per_resource = np.bincount(column, minlength=n_resources)
        # by resource
        order = column_order(column)
        row = np.repeat(np.arange(len(start)), np.diff(start, append=len(column)))
        self._user = row[order].tolist()
        self._user_pull = pull[order].tolist()
        self._first = [0, *np.cumsum(per_resource).tolist()]
        self._open = per_resource.tolist()
        self._left = left.tolist()
        self._total = total_pull.tolist()
        self._stale_below = (total_pull * STALE_SUM).tolist()
        # by activity
        self._column = column.tolist()
        self._pull = pull.tolist()
        self._start = [*start.tolist(), len(column)]
        self._level: list[float] = [-1.0] * len(start)
        self._place: list[int] = [0] * len(start)
        capped = np.flatnonzero(np.isfinite(ceiling))
        self._capped = capped[np.argsort(ceiling[capped], kind="stable")].tolist()
        self._ceiling = ceiling.tolist()
        self._keys: list[tuple[float, int]] = [
            (key, r) for r, key in enumerate(resource_level.tolist()) if self._open[r]
        ]
        heapify(self._keys)
        self._distinct = 0
        self._distinct_level = -1.0

    def run(self) -> tuple[FloatArray, IntArray, int]:
        keys, level, capped, ceiling = self._keys, self._level, self._capped, self._ceiling
        next_capped = 0
        while True:
            while next_capped < len(capped) and level[capped[next_capped]] >= 0:
                next_capped += 1
            key = keys[0][0] if keys else float("inf")
            if next_capped < len(capped) and ceiling[capped[next_capped]] <= key:
                activity = capped[next_capped]
                self._freeze(activity, ceiling[activity])
            elif not keys:
                break
            else:
                self._examine(*keys[0])
        return np.array(level), np.array(self._place, np.int64), self._distinct

    def _examine(self, key: float, resource: int) -> None:
        """Look at the resource on top: drop it, put it back at the level it has risen to, or freeze its activities."""
        if not self._open[resource]:
            heappop(self._keys)
            return
        if self._total[resource] < self._stale_below[resource]:
            self._add_up(resource)
        level = max(self._left[resource] / self._total[resource], key)
        if level > key * (1 + TIE):
            heapreplace(self._keys, (level, resource))
            return
        heappop(self._keys)
        for activity in self._user[self._first[resource] : self._first[resource + 1]]:
            if self._level[activity] < 0:
                self._freeze(activity, level)

    def _add_up(self, resource: int) -> None:
        """Sum the pull of the open activities afresh: a small difference of large numbers is mostly rounding."""
        span = slice(self._first[resource], self._first[resource + 1])
        level = self._level
        total = sum(p for a, p in zip(self._user[span], self._user_pull[span], strict=True) if level[a] < 0)
        self._total[resource] = total
        self._stale_below[resource] = total * STALE_SUM

    def _freeze(self, activity: int, level: float) -> None:
        if level > self._distinct_level * (1 + TIE) or not self._distinct:
            self._distinct += 1
            self._distinct_level = level
        self._level[activity] = level
        self._place[activity] = self._distinct
        left, total, open_ = self._left, self._total, self._open
        column, pull = self._column, self._pull
        for entry in range(self._start[activity], self._start[activity + 1]):
            resource = column[entry]
            pulled = pull[entry]
            left[resource] -= pulled * level
            total[resource] -= pulled
            open_[resource] -= 1
