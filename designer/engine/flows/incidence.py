"""Which activity uses which resource, and how much: the one input of every flow study.

An *activity* is a flow or a whole collective, whose rate is one number. A *resource* is one direction of a link, or a
memory, bridge or port whose capacity several activities share. With usage matrix ``A``, rates ``x`` obey
``A x <= capacity``, ``x <= demand`` and ``x = weight * level``.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from designer.errors import AnalysisError
from designer.sources import Constant, Status

#: two levels this near, relatively, are one level while solving
TIE: Final = Constant(
    1e-10, 1e-12, 1e-9, "flows-numerics", Status.ASSUMED, note="far above rounding, far below any datasheet's digits"
).value

#: slack of the certificate and of "saturated" and "highest level", relative; wider than TIE, which it has to absorb
SLACK: Final = Constant(
    1e-9, 1e-10, 1e-6, "flows-numerics", Status.ASSUMED, note="rates agree with linear programs to the same figure"
).value

#: a running sum that fell below this part of its start is added up afresh
STALE_SUM: Final = Constant(
    1e-3, 1e-6, 0.5, "flows-numerics", Status.ASSUMED, note="keeps cancellation below about 1e-12 relative"
).value

#: fixed cost of one vectorised round, in heap steps (one step = one incidence entry)
ROUND_OVERHEAD: Final = Constant(
    40.0, 20.0, 100.0, "flows-timing", Status.ASSUMED, note="about 30 us of array calls against 0.7 us"
).value

#: incidence entries a vectorised round handles in the time of one heap step; rounds freezing under ~1 % then lose
ENTRIES_PER_STEP: Final = Constant(100.0, 40.0, 200.0, "flows-timing", Status.ASSUMED).value

#: rounds before the heap is considered: the first ones freeze most activities of ordinary clusters
FIRST_ROUNDS: Final = int(Constant(3, 2, 6, "flows-timing", Status.ASSUMED).value)

#: loads are added up by a matrix from so many entries on, and when they are asked for this often: making it costs as
#: much as a few sums
MATRIX_ENTRIES: Final = int(Constant(16_384, 4096, 65_536, "flows-timing", Status.ASSUMED).value)
MATRIX_FROM: Final = int(Constant(8, 2, 32, "flows-timing", Status.ASSUMED).value)

#: entries of some resources are gathered resource by resource where they are this part of all, or less
FEW_ENTRIES: Final = int(Constant(8, 4, 32, "flows-timing", Status.ASSUMED).value)

#: size of the block that teaches the allocator to keep memory [B]; glibc heeds blocks below 32 MiB only
KEPT_BLOCK: Final = int(
    Constant(31 * 2**20, 2**20, 32 * 2**20, "man-mallopt-3", Status.SECONDARY, unit="B", note="M_MMAP_THRESHOLD").value
)


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


_Array = TypeVar("_Array", bound=NDArray[Any])


@dataclass(frozen=True, slots=True)
class Columns:
    """The incidence seen from the resources.

    Parameters
    ----------
    ptr
        (n_resources + 1,) where the entries of each resource begin.
    activity
        (nnz,) activity of each entry, ascending inside a resource.
    entry
        (nnz,) position of the entry in the activity-major arrays.
    """

    ptr: IntArray
    activity: IntArray
    entry: IntArray

    def users(self, resource: int) -> IntArray:
        """Activities that use a resource, ascending."""
        return self.activity[self.ptr[resource] : self.ptr[resource + 1]]


@dataclass(slots=True)
class _Derived:
    """What follows from routes and weights alone; shared by all copies that differ in capacity or demand."""

    rows: IntArray | None = None
    place: IntArray | None = None
    columns: Columns | None = None
    layout: PreparedIncidence | None = None
    #: usage by resource and activity, and how often loads were asked for
    matrix: Any = None
    asked: int = 0


@dataclass(frozen=True, eq=False)
class Incidence:
    """Activities × resources with usage, capacity, weight and demand; immutable.

    The arrays are copied and made read-only, because a shared index array that another library sorts in place would
    give wrong rates that still look right. A resource named twice by one activity counts with the sum of both usages.

    Parameters
    ----------
    ptr
        (n_activities + 1,) int64, where each activity's entries begin.
    resource
        (nnz,) int32, resource of each entry.
    usage
        (nnz,) [resource unit per unit of rate], > 0: 1 for a plain hop, 2 for a memory that is written and read.
    capacity
        (n_resources,) [B/s], > 0; inf = unlimited.
    weight
        (n_activities,) [1], > 0; the level of an activity is rate / weight.
    demand
        (n_activities,) [B/s], >= 0; inf = as much as it can get.

    Raises
    ------
    AnalysisError
        When an array has the wrong length, an index is out of range or a value is not allowed.
    """

    ptr: IntArray
    resource: NDArray[np.int32]
    usage: FloatArray
    capacity: FloatArray
    weight: FloatArray
    demand: FloatArray
    _derived: _Derived = field(init=False, repr=False, default_factory=_Derived)

    def __post_init__(self) -> None:
        capacity = _capacity(self.capacity, None)
        ptr = _integers("ptr", self.ptr)
        resource = _integers("resource", self.resource)
        usage = _floats("usage", self.usage, len(resource))
        if len(ptr) == 0 or ptr[0] != 0 or ptr[-1] != len(resource) or (ptr[1:] < ptr[:-1]).any():
            raise AnalysisError(
                f"row starts must rise from 0 to the number of entries ({len(resource)})", place="incidence.ptr"
            )
        _refuse("resource", (resource < 0) | (resource >= len(capacity)), f"must lie in 0…{len(capacity) - 1}")
        _refuse("usage", ~((usage > 0) & np.isfinite(usage)), "must be finite and above 0")
        n_activities = len(ptr) - 1
        weight = _floats("weight", self.weight, n_activities)
        _refuse("weight", ~((weight > 0) & np.isfinite(weight)), "must be finite and above 0")
        ptr, resource, usage = _without_twins(ptr, resource, usage, len(capacity))
        self._set_array("ptr", ptr)
        self._set_array("resource", resource.astype(np.int32))
        self._set_array("usage", usage)
        self._set_array("capacity", capacity)
        self._set_array("weight", weight)
        self._set_array("demand", _demand(self.demand, n_activities))

    @classmethod
    def from_rows(
        cls,
        rows: Sequence[Sequence[tuple[int, float]]],
        capacity: ArrayLike,
        weight: ArrayLike | None = None,
        demand: ArrayLike | None = None,
    ) -> Incidence:
        """An incidence from one list of (resource, usage) per activity.

        Parameters
        ----------
        rows
            For each activity its pairs of resource and usage.
        capacity
            (n_resources,) [B/s].
        weight
            (n_activities,) [1]; all 1 if left out.
        demand
            (n_activities,) [B/s]; all uncapped if left out.

        Examples
        --------
        Two flows share a link; one goes on over a slower one.

        >>> from designer.engine.flows import solve
        >>> shared = Incidence.from_rows([[(0, 1.0)], [(0, 1.0), (1, 1.0)]], capacity=[10.0, 2.0])
        >>> solve(shared).rate.tolist()
        [8.0, 2.0]
        """
        pairs = [pair for row in rows for pair in row]
        ptr = np.zeros(len(rows) + 1, np.int64)
        np.cumsum([len(row) for row in rows], out=ptr[1:])
        return cls(
            ptr,
            np.array([resource for resource, _ in pairs], np.int32),
            np.array([usage for _, usage in pairs], np.float64),
            np.asarray(capacity, np.float64),
            np.ones(len(rows)) if weight is None else np.asarray(weight, np.float64),
            np.full(len(rows), np.inf) if demand is None else np.asarray(demand, np.float64),
        )

    @property
    def n_activities(self) -> int:
        """Number of activities."""
        return len(self.weight)

    @property
    def n_resources(self) -> int:
        """Number of resources."""
        return len(self.capacity)

    @property
    def nnz(self) -> int:
        """Number of incidence entries."""
        return len(self.resource)

    @property
    def rows(self) -> IntArray:
        """(nnz,) activity of each entry."""
        if self._derived.rows is None:
            self._derived.rows = _frozen(np.repeat(np.arange(self.n_activities), np.diff(self.ptr)))
        return self._derived.rows

    @property
    def place(self) -> IntArray:
        """(nnz,) ``resource`` as machine integers, which gathers take without converting them every time."""
        if self._derived.place is None:
            self._derived.place = _frozen(self.resource.astype(np.int64))
        return self._derived.place

    @property
    def columns(self) -> Columns:
        """The entries ordered by resource; made once per set of routes."""
        if self._derived.columns is None:
            entry = column_order(self.resource)
            ptr = np.zeros(self.n_resources + 1, np.int64)
            np.cumsum(np.bincount(self.resource, minlength=self.n_resources), out=ptr[1:])
            self._derived.columns = Columns(_frozen(ptr), _frozen(self.rows[entry]), _frozen(entry))
        return self._derived.columns

    @property
    def layout(self) -> PreparedIncidence:
        """The arrays the solver works on; made once per set of routes."""
        if self._derived.layout is None:
            self._derived.layout = PreparedIncidence.of(
                self.ptr, self.resource, self.usage, self.weight, self.n_resources
            )
        return self._derived.layout

    def load(self, rate: FloatArray) -> FloatArray:
        """(n_resources,) what activities at these rates, (n_activities,), put on each resource [B/s].

        Routes that are solved again and again get a matrix, which is three times as quick as adding up entries.
        """
        derived = self._derived
        derived.asked += 1
        if derived.matrix is None and derived.asked >= MATRIX_FROM and self.nnz >= MATRIX_ENTRIES:
            # loaded here only: most designs are small
            from scipy.sparse import csr_array

            columns, shape = self.columns, (self.n_resources, self.n_activities)
            derived.matrix = csr_array((self.usage.take(columns.entry), columns.activity, columns.ptr), shape=shape)
        if derived.matrix is not None:
            return cast(FloatArray, derived.matrix @ rate)
        used = rate.repeat(np.diff(self.ptr))
        used *= self.usage
        return sums(self.place, used, self.n_resources)

    def entries_of(self, chosen: NDArray[np.bool_]) -> IntArray:
        """Positions of the entries of some resources, (n_resources,), ascending."""
        columns = self._derived.columns
        if columns is not None:
            resources = chosen.nonzero()[0]
            first = columns.ptr.take(resources)
            count = columns.ptr.take(resources + 1) - first
            total = int(count.sum())
            if total * FEW_ENTRIES <= self.nnz:
                inside = np.arange(total) + (first - np.cumsum(count) + count).repeat(count)
                entry = columns.entry.take(inside)
                entry.sort()
                return entry
        return chosen.take(self.place, mode="clip").nonzero()[0]

    def with_capacity(self, capacity: ArrayLike) -> Incidence:
        """The same routes with other capacities, (n_resources,) [B/s]. Cheap: routes are shared.

        Raises
        ------
        AnalysisError
            When the length differs or a capacity is not above 0.
        """
        twin = self._twin()
        twin._set_array("capacity", _capacity(capacity, self.n_resources))
        return twin

    def with_demand(self, demand: ArrayLike) -> Incidence:
        """The same routes with other demands, (n_activities,) [B/s]. Cheap: routes are shared.

        Raises
        ------
        AnalysisError
            When the length differs or a demand is negative.
        """
        twin = self._twin()
        twin._set_array("demand", _demand(demand, self.n_activities))
        return twin

    def with_usage(self, usage: ArrayLike) -> Incidence:
        """The same entries with other usages, (nnz,) > 0.

        Raises
        ------
        AnalysisError
            When the length differs or a usage is not finite and above 0.
        """
        found = _floats("usage", usage, self.nnz)
        _refuse("usage", ~((found > 0) & np.isfinite(found)), "must be finite and above 0")
        twin = self._twin()
        twin._set_array("usage", found)
        known = self._derived
        object.__setattr__(twin, "_derived", _Derived(rows=known.rows, place=known.place, columns=known.columns))
        return twin

    def _twin(self) -> Incidence:
        return copy.copy(self)

    def _set_array(self, name: str, array: NDArray[Any]) -> None:
        object.__setattr__(self, name, _frozen(array))


def _frozen(array: _Array) -> _Array:
    array.setflags(write=False)
    return array


def _floats(name: str, values: ArrayLike, length: int | None) -> FloatArray:
    array = np.array(values, np.float64)
    if array.ndim != 1 or (length is not None and len(array) != length):
        wanted = "one dimension" if length is None else f"{length} values in one dimension"
        raise AnalysisError(f"needs {wanted}, has shape {array.shape}", place=f"incidence.{name}")
    return array


def _integers(name: str, values: ArrayLike) -> IntArray:
    array = np.asarray(values)
    if array.ndim != 1 or (array.dtype.kind not in "iu" and array.size):
        raise AnalysisError(
            f"needs whole numbers in one dimension, has {array.dtype} of shape {array.shape}",
            place=f"incidence.{name}",
        )
    return array.astype(np.int64)


def _capacity(values: ArrayLike, length: int | None) -> FloatArray:
    array = _floats("capacity", values, length)
    _refuse("capacity", ~(array > 0), "must be above 0", "remove a dead link from the routes, or give it a speed")
    return array


def _demand(values: ArrayLike, length: int) -> FloatArray:
    array = _floats("demand", values, length)
    _refuse("demand", ~(array >= 0), "must be 0 or more, inf if uncapped")
    return array


def _refuse(name: str, wrong: NDArray[np.bool_], text: str, remedy: str | None = None) -> None:
    if wrong.any():
        first, count = int(np.argmax(wrong)), int(np.count_nonzero(wrong))
        more = f" ({count - 1} more like it)" if count > 1 else ""
        raise AnalysisError(f"{name} {text}{more}", place=f"incidence.{name}[{first}]", remedy=remedy)


def _without_twins(
    ptr: IntArray, resource: IntArray, usage: FloatArray, n_resources: int
) -> tuple[IntArray, IntArray, FloatArray]:
    """Sum the usages of a resource that one activity names more than once."""
    if len(resource) < 2:
        return ptr, resource, usage
    rising = resource[1:] > resource[:-1]
    starts = ptr[1:-1]
    rising[starts[(starts > 0) & (starts < len(resource))] - 1] = True
    if rising.all():
        return ptr, resource, usage
    row = np.repeat(np.arange(len(ptr) - 1), np.diff(ptr))
    key = row * n_resources + resource
    ordered = np.sort(key)
    if (ordered[1:] != ordered[:-1]).all():
        return ptr, resource, usage
    unique, inverse = np.unique(key, return_inverse=True)
    merged_ptr = np.searchsorted(unique, np.arange(len(ptr), dtype=np.int64) * n_resources)
    return merged_ptr.astype(np.int64), unique % n_resources, sums(inverse, usage, len(unique))
