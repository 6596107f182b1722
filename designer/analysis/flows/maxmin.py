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
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from designer.analysis.flows.certificate import check
from designer.analysis.flows.heap import finish
from designer.analysis.flows.incidence import Incidence, unbounded_error
from designer.analysis.flows.layout import FloatArray, IntArray, sums
from designer.analysis.flows.tolerances import ENTRIES_PER_STEP, FIRST_ROUNDS, ROUND_OVERHEAD, TIE

Method = Literal["auto", "rounds", "heap"]

_UNLIMITED: Final = "nothing limits the rate: no finite demand and no resource of finite capacity"


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
        (n_activities,) the round in which the rate was settled, from 1; 0 for activities that use no resource.
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
    layout = incidence.layout
    live, weight = layout.live, layout.weight
    demand = incidence.demand if live is None else incidence.demand[live]
    ceiling = demand / weight
    if len(weight):
        capacity = incidence.capacity if layout.used is None else incidence.capacity[layout.used]
        filling = _Filling(incidence, ceiling, capacity)
        filling.run(method)
        level, frozen_in, rounds, used_method = filling.level, filling.frozen_in, filling.rounds, filling.method
    else:
        level, frozen_in, rounds, used_method = ceiling, np.zeros(0, np.int64), 0, "rounds"
    # a demand is met to the last bit, not only to rounding of weight × (demand / weight)
    rate = np.where(level >= ceiling, demand, level * weight)
    if live is not None:
        rate, level, frozen_in = _with_rowless(incidence, live, rate, frozen_in)
    # inf - inf: whatever shares a resource with an unbounded rate has none either
    if not np.isfinite(level).all():
        first = int(np.argmax(np.isposinf(level)))
        raise unbounded_error(first, _UNLIMITED)
    for array in (rate, level, frozen_in):
        array.setflags(write=False)
    proof = check(incidence, rate)
    if not proof.ok:
        raise AssertionError(f"max-min answer failed its certificate: {proof}")
    return Allocation(rate, level, rounds, used_method, frozen_in)


def _with_rowless(
    incidence: Incidence, live: IntArray, live_rate: FloatArray, live_frozen_in: IntArray
) -> tuple[FloatArray, FloatArray, IntArray]:
    """Activities that use no resource get their demand."""
    rate = incidence.demand.copy()
    rate[live] = live_rate
    if np.isposinf(rate).any():
        raise unbounded_error(int(np.argmax(np.isposinf(rate))), _UNLIMITED)
    frozen_in = np.zeros(len(rate), np.int64)
    frozen_in[live] = live_frozen_in
    return rate, rate / incidence.weight, frozen_in


class _Filling:
    """Local-bottleneck rounds on the activities not yet settled.

    Why local rounds are exact: freezing activities at or below a resource's present level never lowers that level. So
    a resource all of whose activities have no lower resource elsewhere, and no lower demand, can be settled at once,
    whatever happens far away.
    """

    def __init__(self, incidence: Incidence, ceiling: FloatArray, capacity: FloatArray) -> None:
        layout = incidence.layout
        self.level = np.empty(len(ceiling))
        self.frozen_in = np.empty(len(ceiling), np.int64)
        self.rounds = 0
        self.method = "rounds"
        # the rest, not yet settled
        self._ids: IntArray | None = None
        self._column, self._pull = layout.column, layout.pull
        self._count, self._start = layout.count, layout.start
        self._ceiling = ceiling
        # per resource: capacity left, pull of the rest, level of the round before
        self._left, self._total_pull = capacity, layout.total_pull
        self._floor: FloatArray | None = None

    def run(self, method: Method) -> None:
        """Settle all."""
        # resources with nothing left on them divide 0 by 0; nobody reads those levels
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            if method == "heap":
                self._finish_with_heap()
                return
            while True:
                before = len(self._ceiling)
                if self._round():
                    return
                settled = before - len(self._ceiling)
                if method == "auto" and self.rounds >= FIRST_ROUNDS and self._crawls(settled):
                    self._finish_with_heap()
                    return

    def _crawls(self, settled: int) -> bool:
        """Whether going on in rounds of this yield would cost more than one heap pass over the rest."""
        rounds_to_go = len(self._ceiling) / settled
        nnz = len(self._column)
        return rounds_to_go * (ROUND_OVERHEAD + nnz / ENTRIES_PER_STEP) > nnz

    def _round(self) -> bool:
        """One round; True when all are settled."""
        self.rounds += 1
        column, count, start = self._column, self._count, self._start
        resource_level = self._levels()
        entry_level = resource_level.take(column)
        lowest = np.minimum.reduceat(entry_level, start)
        level = np.minimum(lowest, self._ceiling)
        # a resource waits if one of its activities will stop below the resource's present level
        waiting = np.zeros(len(resource_level), np.bool_)
        waiting[column.take(np.flatnonzero(np.repeat(level * (1 + TIE), count) < entry_level))] = True
        open_ = np.bitwise_and.reduceat(waiting.take(column), start)
        open_ &= self._ceiling > lowest
        ids = self._ids
        if not open_.any():
            if ids is None:
                self.level, self.frozen_in = level, np.full(len(level), self.rounds)
            else:
                self.level[ids] = level
                self.frozen_in[ids] = self.rounds
            return True
        self._settle(np.flatnonzero(~open_), level)
        self._keep(np.flatnonzero(open_), open_, np.where(open_, 0.0, level), resource_level)
        return False

    def _levels(self) -> FloatArray:
        level = self._left / self._total_pull
        # exact levels never fall; rounding in what is left must not make one do so
        return level if self._floor is None else np.maximum(level, self._floor, out=level)

    def _settle(self, done: IntArray, level: FloatArray) -> None:
        ids = done if self._ids is None else self._ids[done]
        self.level[ids] = level[done]
        self.frozen_in[ids] = self.rounds

    def _keep(self, rest: IntArray, open_: NDArray[np.bool_], taken: FloatArray, resource_level: FloatArray) -> None:
        """Take the settled activities out and go on with the rest."""
        column, pull, count = self._column, self._pull, self._count
        n_resources = len(resource_level)
        entry_open = np.repeat(open_, count)
        gone = np.flatnonzero(~entry_open)
        stay = np.flatnonzero(entry_open)
        used = sums(column.take(gone), pull.take(gone) * np.repeat(taken, count).take(gone), n_resources)
        left = np.maximum(self._left - used, 0.0)
        column, pull = column.take(stay), pull.take(stay)
        self._ids = rest if self._ids is None else self._ids[rest]
        self._count, self._ceiling = count[rest], self._ceiling[rest]
        self._start = np.cumsum(self._count) - self._count
        if len(column) * 2 < n_resources:
            in_use = np.zeros(n_resources, np.bool_)
            in_use[column] = True
            column = (np.cumsum(in_use) - 1).take(column)
            kept = np.flatnonzero(in_use)
            left, resource_level, n_resources = left[kept], resource_level[kept], len(kept)
        self._column, self._pull, self._left, self._floor = column, pull, left, resource_level
        self._total_pull = sums(column, pull, n_resources)

    def _finish_with_heap(self) -> None:
        level, order, levels = finish(
            self._column, self._pull, self._start, self._ceiling, self._left, self._levels(), self._total_pull
        )
        ids = slice(None) if self._ids is None else self._ids
        self.level[ids] = level
        self.frozen_in[ids] = order + self.rounds
        self.method = "heap" if self.rounds == 0 else "rounds, then heap"
        self.rounds += levels
