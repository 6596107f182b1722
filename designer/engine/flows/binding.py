"""What binds each activity.

A full resource on an activity's path is not yet its bottleneck: it may be full because of faster activities. It
binds only those whose level (rate / weight) is the highest on it. Several resources may bind at once; then only raising
all of them helps, so sets are returned, never one of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from designer.engine.flows.certificate import witness
from designer.engine.flows.incidence import Incidence, IntArray
from designer.engine.flows.maxmin import Allocation


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
