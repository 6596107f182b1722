"""Typed results of a study. SI units; every metric carries its band and sources."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar, overload

import numpy as np
import numpy.typing as npt

from designer.displayed import Displayed
from designer.engine.network.partition import Int, Numbers, Partition
from designer.findings import Finding
from designer.sources import Estimate

Float = npt.NDArray[np.float64]
_NONE = np.empty(0)
#: codes of findings that a workload does not fit
_UNFIT = ("TRAIN-MEMORY",)
_Row = TypeVar("_Row")


class Rows(Sequence[_Row], Generic[_Row]):
    """Rows for people, made when somebody looks: naming ten thousand channels costs more than allocating them.

    Parameters
    ----------
    make
        Makes all rows; None where each is made by itself.
    one, count
        Makes the row of a number, and how many there are, or what states that.
    rank : (count,) what rows are compared by, known without making them
    many
        Makes the rows of several numbers at once, where that is quicker than one by one.
    """

    def __init__(
        self,
        make: Callable[[], Sequence[_Row]] | None = None,
        one: Callable[[int], _Row] | None = None,
        count: int | Callable[[], int] = 0,
        rank: npt.NDArray[np.float64] | None = None,
        many: Callable[[Sequence[int]], Sequence[_Row]] | None = None,
    ) -> None:
        assert (make is None) is not (one is None)
        self._make, self._one, self._counted, self._many = make, one, count, many
        self._rows: Sequence[_Row] = ()
        self._known: dict[int, _Row] = {}
        self.rank = rank

    @property
    def _count(self) -> int:
        if not isinstance(self._counted, int):
            self._counted = self._counted()
        return self._counted

    def _computed_rows(self) -> Sequence[_Row]:
        if self._make is not None:
            self._rows, self._make = self._make(), None
        return self._rows

    def _row_at(self, index: int) -> _Row:
        assert self._one is not None
        if not -self._count <= index < self._count:
            raise IndexError(index)
        index %= self._count
        found = self._known.get(index)
        if found is None:
            found = self._known[index] = self._one(index)
        return found

    @overload
    def __getitem__(self, index: int) -> _Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[_Row]: ...
    def __getitem__(self, index: int | slice) -> _Row | Sequence[_Row]:
        if self._one is None:
            return self._computed_rows()[index]
        if isinstance(index, slice):
            return self.several(range(*index.indices(self._count)))
        return self._row_at(index)

    def several(self, numbers: Sequence[int]) -> list[_Row]:
        """Some rows; those that are not known yet are made together."""
        missing = [i for i in numbers if i not in self._known]
        if self._many is not None and len(missing) > 1:
            self._known.update(zip(missing, self._many(missing), strict=True))
        return [self._row_at(i) for i in numbers]

    def __len__(self) -> int:
        return len(self._computed_rows()) if self._one is None else self._count

    def __iter__(self) -> Iterator[_Row]:
        if self._one is None:
            return iter(self._computed_rows())
        return (
            iter(self.several(range(self._count))) if self._many is not None else map(self._row_at, range(self._count))
        )


@dataclass(frozen=True, slots=True)
class Bottleneck:
    """Something that limits a workload.

    Parameters
    ----------
    what
        ``channel``, ``part``, ``compute`` or ``limit``.
    id
        Path of the channel or part, or name of the limit.
    gain_if_doubled
        How many times better the workload gets if this alone has twice the capacity; None where not asked.
    gain_together
        The same for the whole tied set at once.
    equal
        How many equal members of groups bind in the same way; this one represents them.
    share
        Share of the time it takes with all it is tied with [1]; 0 where not known.
    phase
        Part of the work it limits, of a served model: ``prompts``, ``decoding`` or ``cold start``; else empty.
    both_ways
        True if `equal` counts both directions of each link, as where collectives are joined over them.
    """

    what: str
    id: str
    label: str
    why: str
    gain_if_doubled: float | None = None
    gain_together: float | None = None
    equal: int = 1
    share: float = 0.0
    phase: str = ""
    both_ways: bool = False

    @property
    def gain(self) -> float | None:
        """What doubling it with all it is tied with gains [1], itself alone where that was not tried."""
        return self.gain_together if self.gain_together is not None else self.gain_if_doubled


@dataclass(frozen=True, slots=True)
class Spent:
    """Seconds of a step that one resource takes, or that several tied ones take at the same time [s]."""

    held: tuple[Bottleneck, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Step:
    """A typical step or batch of a served model, or a collective, and where its time goes.

    Parameters
    ----------
    phase
        ``prompts``, ``decoding``, ``batch`` or ``collective``.
    seconds
        Its length [s].
    parts
        The longest first; they add up to the length.
    """

    phase: str
    seconds: float
    parts: tuple[Spent, ...]


@dataclass(frozen=True, slots=True)
class Flow:
    """One flow and its path. ``via`` lists channel ids from source to target as far as they form one path."""

    id: str
    source: str
    target: str
    via: tuple[str, ...]
    rate: float
    low: float
    high: float
    bound_by: tuple[str, ...]
    unit: str = "B/s"


@dataclass(frozen=True, slots=True)
class Curve:
    """A line to plot: x and y in SI units, with a band where there is one."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()


#: what is in a table: text, or a number in the SI unit of its column; None for nothing
Cell = str | float | None


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table; numbers in it are in the SI `unit`, "" for text and counts."""

    name: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Table:
    """Named rows, one per virtual machine, host or whatever the workload is about."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True, slots=True)
class WorkloadResult:
    """What one workload does on the design."""

    id: str
    kind: str
    title: str
    metrics: Mapping[str, Estimate]
    binding: tuple[Bottleneck, ...]
    next: tuple[Bottleneck, ...]
    flows: Sequence[Flow]
    n_flows: int
    findings: tuple[Finding, ...] = ()
    curves: Mapping[str, tuple[Curve, ...]] = field(default_factory=dict[str, tuple[Curve, ...]])
    tables: Mapping[str, Table] = field(default_factory=dict[str, Table])
    steps: tuple[Step, ...] = ()

    @property
    def unfit(self) -> Finding | None:
        """The finding that the workload does not fit in memory; its metrics are those it would have if it did."""
        return next((f for f in self.findings if f.code in _UNFIT), None)


@dataclass(frozen=True, slots=True, eq=False)
class LoadsOfClasses:
    """What channels carry, once for each class of them.

    Parameters
    ----------
    load, utilization : (n_classes,) as `ChannelLoads` has them
    """

    classes: Partition[Numbers]
    load: Float
    utilization: Float


class ChannelLoads:
    """Load of every channel under one workload; worked out when somebody looks.

    Those stated in classes are spread over all channels each time they are asked for: `at` asks for some alone.

    Parameters
    ----------
    load : (n_channels,) payload [B/s]
    utilization : (n_channels,) share of what the channel can achieve, 0 to 1
    """

    def __init__(self, load: Float, utilization: Float) -> None:
        self._found: _Stated | Callable[[], _Stated] = (load, utilization)

    @staticmethod
    def none(n_links: int) -> ChannelLoads:
        """Nothing on any channel."""
        nothing = np.zeros(2 * n_links)
        return ChannelLoads(nothing, nothing)

    @staticmethod
    def made(make: Callable[[], _Stated]) -> ChannelLoads:
        """Loads that `make` works out: load and utilization of channels, or of classes of them."""
        loads = ChannelLoads(_NONE, _NONE)
        loads._found = make
        return loads

    @property
    def stored(self) -> tuple[Float, Float] | LoadsOfClasses:
        """What is known: load and utilization of all channels, or of classes of them."""
        if callable(self._found):
            self._found = self._found()
        return self._found

    def in_classes(self) -> LoadsOfClasses:
        """Loads in classes; of one channel each where none are equivalent."""
        stored = self.stored
        if isinstance(stored, LoadsOfClasses):
            return stored
        every = np.arange(len(stored[0]))
        return LoadsOfClasses(Partition(every.astype(np.int32), every), *stored)

    @property
    def load(self) -> Float:
        """Payload of each channel [B/s]. : (n_channels,)"""
        stored = self.stored
        return stored.load[stored.classes.of] if isinstance(stored, LoadsOfClasses) else stored[0]

    @property
    def utilization(self) -> Float:
        """Share of what each channel can achieve, 0 to 1. : (n_channels,)"""
        stored = self.stored
        return stored.utilization[stored.classes.of] if isinstance(stored, LoadsOfClasses) else stored[1]

    def at(self, channels: Int) -> tuple[Float, Float]:
        """Load and utilization of some channels. : (n,)"""
        stored = self.stored
        if isinstance(stored, LoadsOfClasses):
            of = stored.classes.of[channels]
            return stored.load[of], stored.utilization[of]
        return stored[0][channels], stored[1][channels]

    def busiest(self, most: int) -> Int:
        """Loaded channels, the fullest first, and by number where they are as full; at most so many."""
        stored = self.stored
        if not isinstance(stored, LoadsOfClasses):
            busy = np.flatnonzero(stored[0] > 0)
            return busy[np.argsort(-stored[1][busy], kind="stable")][:most]
        loaded = np.flatnonzero(stored.load > 0)
        size = stored.classes.many[loaded]
        order = np.argsort(-stored.utilization[loaded], kind="stable")
        # classes that could be among them: all that are as full as the one with which there are enough
        enough = int(np.searchsorted(np.cumsum(size[order]), most))
        least = stored.utilization[loaded[order[min(enough, len(order) - 1)]]] if len(order) else 0.0
        more = stored.utilization[loaded] > least
        full = stored.classes.members(loaded[more], int(size[more].sum()))
        full = full[np.argsort(-stored.utilization[stored.classes.of[full]], kind="stable")][:most]
        level = loaded[stored.utilization[loaded] == least]
        return np.concatenate([full, stored.classes.members(level, most - len(full))])


_Stated = tuple[Float, Float] | LoadsOfClasses


@dataclass(frozen=True, slots=True)
class ChannelRow:
    """One channel with its load, for tables and JSON."""

    id: str
    source: str
    target: str
    kind: str
    capacity: float
    load: float
    utilization: float
    status: str


@dataclass(frozen=True, slots=True)
class Analysis(Displayed):
    """The answer of a study."""

    name: str
    file: str | None
    workloads: tuple[WorkloadResult, ...]
    channels: Sequence[ChannelRow]
    findings: Sequence[Finding]
    loads: Mapping[str, ChannelLoads] = field(default_factory=dict[str, ChannelLoads])
