"""What binds each activity, and what would bind it next.

A full resource on an activity's path is not yet its bottleneck: it may be full because of faster activities. It
binds only those whose level (rate / weight) is the highest on it. Several resources may bind at once; then only raising
all of them helps, so sets are returned, never one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from designer.analysis.flows.certificate import witness
from designer.analysis.flows.incidence import Incidence
from designer.analysis.flows.maxmin import Allocation, solve
from designer.analysis.flows.prepared import FloatArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """The binding set of every activity, activity-major.

    Parameters
    ----------
    ptr
        (n_activities + 1,) where each activity's resources begin.
    resource
        (n_binding,) binding resources, ascending inside an activity.
    by_demand
        (n_activities,) whether the activity gets all it demands.
    """

    ptr: IntArray
    resource: IntArray
    by_demand: NDArray[np.bool_]

    def of(self, activity: int) -> IntArray:
        """Resources that bind an activity; empty if only its demand does."""
        return self.resource[self.ptr[activity] : self.ptr[activity + 1]]

    def union(self, activities: Iterable[int]) -> IntArray:
        """Resources that bind any of the activities, ascending."""
        chosen = np.zeros(len(self.ptr) - 1, dtype=bool)
        chosen[np.fromiter(activities, dtype=np.int64)] = True
        return np.unique(self.resource[chosen.repeat(np.diff(self.ptr))])


@dataclass(frozen=True, slots=True, eq=False)
class NextBottleneck:
    """What binds when the present bottleneck is out of the way.

    Parameters
    ----------
    activities
        (n,) the activities asked about.
    first
        Resources that bind them now, ascending.
    then
        Resources that bind them once those of ``first`` are unlimited, ascending; empty if none does.
    rate_now, rate_then
        (n,) rates before and after [B/s]; inf where nothing else limits the activity.
    by_demand
        (n,) whether the activity then gets all it demands.
    """

    activities: IntArray
    first: IntArray
    then: IntArray
    rate_now: FloatArray
    rate_then: FloatArray
    by_demand: NDArray[np.bool_]


def binding(incidence: Incidence, allocation: Allocation) -> Binding:
    """The set of full resources on which each activity's level is the highest, and whether its demand is met."""
    found = witness(incidence, allocation.rate)
    resource = incidence.resource.take(found.entry).astype(np.int64)
    row = incidence.rows.take(found.entry)
    if len(row) > 1:
        order = np.lexsort((resource, row))
        resource, row = resource[order], row[order]
    ptr = np.zeros(incidence.n_activities + 1, np.int64)
    np.cumsum(np.bincount(row, minlength=incidence.n_activities), out=ptr[1:])
    for array in (ptr, resource, found.by_demand):
        array.setflags(write=False)
    return Binding(ptr, resource, found.by_demand)


def next_bottleneck(
    incidence: Incidence, activities: int | ArrayLike, allocation: Allocation | None = None
) -> NextBottleneck:
    """The resources that bind once all that bind the given activities now are unlimited, by an exact re-solve.

    Parameters
    ----------
    incidence
        The problem.
    activities
        One activity, or those an objective depends on, such as the slowest ones.
    allocation
        Its solution, if at hand.

    Returns
    -------
    NextBottleneck
        Both binding sets and both rates.

    Raises
    ------
    AnalysisError
        When the problem has no solution.
    """
    asked = np.atleast_1d(np.asarray(activities)).astype(np.int64)
    now = solve(incidence) if allocation is None else allocation
    first = binding(incidence, now).union(asked.tolist())
    capacity = incidence.capacity.copy()
    capacity[first] = np.inf
    raised = incidence.with_capacity(capacity)
    free = _free(raised)
    # an activity that nothing limits any more loads no limited resource: leave it out of the re-solve
    after = solve(raised.with_demand(np.where(free, 0.0, raised.demand)) if free.any() else raised)
    bottleneck = binding(raised, after)
    return NextBottleneck(
        asked,
        first,
        bottleneck.union(asked[~free[asked]].tolist()),
        now.rate[asked],
        np.where(free[asked], np.inf, after.rate[asked]),
        bottleneck.by_demand[asked],
    )


def _free(incidence: Incidence) -> NDArray[np.bool_]:
    """Activities with neither a finite demand nor a resource of finite capacity."""
    limited = np.isfinite(incidence.demand)
    limited[incidence.rows[np.isfinite(incidence.capacity).take(incidence.resource)]] = True
    return ~limited
