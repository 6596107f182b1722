"""Progressive filling with a heap, for instances where many bottlenecks depend on each other one after the other.

O(nnz log n_resources) whatever the depth. Pure Python on lists: single steps on arrays are slower.
"""

from __future__ import annotations

from heapq import heapify, heappop, heapreplace

import numpy as np

from designer.engine.flows.prepared import FloatArray, IntArray, column_order
from designer.engine.flows.tolerances import STALE_SUM, TIE


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
