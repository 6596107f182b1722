"""Which activity uses which resource, and how much: the one input of every flow study.

An *activity* is a flow or a whole collective, whose rate is one number. A *resource* is one direction of a link, or a
memory, bridge or port whose capacity several activities share. With usage matrix ``A``, rates ``x`` obey
``A x <= capacity``, ``x <= demand`` and ``x = weight * level``.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from designer.engine.flows.prepared import FloatArray, IntArray, PreparedIncidence, column_order, sums
from designer.engine.flows.tolerances import FEW_ENTRIES, MATRIX_ENTRIES, MATRIX_FROM
from designer.errors import AnalysisError

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
