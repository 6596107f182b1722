"""The incidence prepared for solving: only activities with resources, only resources in use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from designer.errors import AnalysisError

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Layout:
    """Activity-major arrays that do not change when a capacity or a demand does.

    Parameters
    ----------
    live
        (n_live,) activities that use a resource, or None if all do.
    used
        (n_used,) resources in use, or None if all are.
    column
        (nnz,) position of each entry's resource in ``used``; machine integers, which gathers take without conversion.
    pull
        (nnz,) usage × weight: what the entry adds to its resource per unit of level.
    count, start
        (n_live,) number of entries and first entry of each activity.
    weight
        (n_live,) weight of each activity.
    total_pull
        (n_used,) sum of ``pull`` per resource.
    """

    live: IntArray | None
    used: IntArray | None
    column: IntArray
    pull: FloatArray
    count: IntArray
    start: IntArray
    weight: FloatArray
    total_pull: FloatArray

    @classmethod
    def of(
        cls, ptr: IntArray, resource: NDArray[np.int32], usage: FloatArray, weight: FloatArray, n_resources: int
    ) -> Layout:
        """Prepare an incidence. Raises AnalysisError when usage × weight leaves the range of floats."""
        count = np.diff(ptr)
        pull = usage * np.repeat(weight, count)
        if not ((pull > 0) & np.isfinite(pull)).all():
            entry = int(np.argmin((pull > 0) & np.isfinite(pull)))
            raise AnalysisError(
                "usage times weight is too small or too large to compute with",
                place=f"incidence.usage[{entry}]",
                remedy="scale the weights towards 1; only their ratios matter",
            )
        live, used, column = None, None, resource.astype(np.intp)
        start = ptr[:-1].copy()
        if not count.all():
            live = np.flatnonzero(count)
            count, start, weight = count[live], start[live], weight[live]
        in_use = np.zeros(n_resources, np.bool_)
        in_use[column] = True
        if not in_use.all():
            used = np.flatnonzero(in_use)
            column = (np.cumsum(in_use) - 1).take(column)
        total_pull = sums(column, pull, n_resources if used is None else len(used))
        arrays = (live, used, column, pull, count, start, weight, total_pull)
        for array in arrays:
            if array is not None:
                array.setflags(write=False)
        return cls(*arrays)


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
