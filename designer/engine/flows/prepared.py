"""The incidence prepared for solving: what follows from routes and weights, whatever the capacities and demands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from designer.engine.flows.tolerances import KEPT_BLOCK
from designer.errors import AnalysisError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Private:
    """Resources that one activity has for itself: they cap its level and take no part in the sharing.

    Parameters
    ----------
    activity
        (n,) activities that have some, ascending.
    start
        (n,) their first entry below.
    resource, pull
        (n_entries,) the resource, and usage × weight.
    """

    activity: IntArray
    start: IntArray
    resource: IntArray
    pull: FloatArray

    def lower(self, ceiling: FloatArray, capacity: FloatArray) -> FloatArray:
        """Levels (n_activities,) that the activities cannot pass, with these resources taken in [B/s]."""
        own = np.minimum.reduceat(capacity.take(self.resource, mode="clip") / self.pull, self.start)
        lowered = ceiling.copy()
        lowered[self.activity] = np.minimum(ceiling.take(self.activity), own)
        return lowered


@dataclass(frozen=True, slots=True)
class PreparedIncidence:
    """Activity-major arrays over the resources that several activities share.

    Parameters
    ----------
    private
        The other resources in use; None if there is none.
    live
        (n_live,) activities that use a shared resource, or None if all do.
    used
        (n_used,) the shared resources, or None if all are.
    column
        (n_shared_entries,) place of the resource in ``used``; machine integers, which gathers take without conversion.
    pull
        (n_shared_entries,) usage × weight: what the entry adds to its resource per unit of level.
    count, start
        (n_live,) number of entries and first entry of each activity.
    total_pull, users
        (n_used,) sum of ``pull`` and number of entries per resource.
    """

    private: Private | None
    live: IntArray | None
    used: IntArray | None
    column: IntArray
    pull: FloatArray
    count: IntArray
    start: IntArray
    total_pull: FloatArray
    users: IntArray

    @classmethod
    def of(
        cls, ptr: IntArray, resource: NDArray[np.int32], usage: FloatArray, weight: FloatArray, n_resources: int
    ) -> PreparedIncidence:
        """Prepare an incidence. Raises AnalysisError when usage × weight leaves the range of floats."""
        _keep_freed_memory()
        count = np.diff(ptr)
        pull = usage * np.repeat(weight, count)
        _refuse_extremes(pull)
        column = resource.astype(np.intp)
        users = np.bincount(column, minlength=n_resources)
        alone = np.flatnonzero((users == 1).take(column))
        private = None
        if len(alone):
            private = _private(alone, np.repeat(np.arange(len(count)), count).take(alone), column, pull)
            together = np.flatnonzero((users != 1).take(column))
            count = count - np.bincount(np.repeat(np.arange(len(count)), count).take(alone), minlength=len(count))
            column, pull = column.take(together), pull.take(together)
        live, used = None, None
        if not count.all():
            live = np.flatnonzero(count)
            count = count.take(live)
        shared = users > 1
        if not shared.all():
            used = np.flatnonzero(shared)
            column = (np.cumsum(shared) - 1).take(column)
            users = users.take(used)
        start = np.cumsum(count) - count
        total_pull = sums(column, pull, n_resources if used is None else len(used))
        for array in (live, used, column, pull, count, start, total_pull, users):
            if array is not None:
                array.setflags(write=False)
        return cls(private, live, used, column, pull, count, start, total_pull, users)


def _keep_freed_memory() -> None:
    """Ask the C library to keep freed arrays instead of handing each back to the system and faulting it in again.

    glibc raises its limits to the largest block it has seen freed; one untouched block costs a few microseconds and
    halves the time of a mid-size re-solve. At most twice the block stays with the process. Harmless elsewhere.
    """
    np.empty(KEPT_BLOCK, np.uint8)


def _private(alone: IntArray, activity: IntArray, column: IntArray, pull: FloatArray) -> Private:
    start = np.flatnonzero(np.diff(activity, prepend=-1))
    arrays = (activity[start], start, column.take(alone), pull.take(alone))
    for array in arrays:
        array.setflags(write=False)
    return Private(*arrays)


def _refuse_extremes(pull: FloatArray) -> None:
    fine = (pull > 0) & np.isfinite(pull)
    if not fine.all():
        raise AnalysisError(
            "usage times weight is too small or too large to compute with",
            place=f"incidence.usage[{int(np.argmin(fine))}]",
            remedy="scale the weights towards 1; only their ratios matter",
        )


def sums(group: NDArray[Any], values: FloatArray, n_groups: int) -> FloatArray:
    """(n_groups,) sum of the values of each group."""
    # numpy's types know bincount without weights only
    return cast(FloatArray, np.bincount(group, values, n_groups))


def column_order(column: NDArray[Any]) -> IntArray:
    """(nnz,) positions of the entries ordered by column, then by position.

    Sorting plain numbers that carry their position is several times faster than an index sort.
    """
    nnz = max(len(column), 1)
    key = column.astype(np.int64) * nnz + np.arange(len(column))
    key.sort()
    return key % nnz
