"""Alike works on alike resources as one: the coarsest equitable partition of all tasks of a run.

Works of a task are alike if they have the same amount, cap, weight and latency and use alike resources alike; resources
are alike if they have the same capacity and alike works use them alike. All works of a task begin together, so what is
alike stays alike through the whole run, and one stands for all, with what all of them take of a resource together.
Exact, by the argument for equitable partitions of max-min problems: averaging over a class never lowers anyone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.costs import Cost
from designer.analysis.hashing import mix

Int = npt.NDArray[np.int64]

#: binary digits of a usage that count: what differs by rounding is alike
_DIGITS: Final = 40
#: rounds until a partition stays as it is; symmetric fabrics need fewer than ten
_ROUNDS: Final = 200
#: exponents of two lie within
_EXPONENTS_LIMIT: Final = 4096


@dataclass(frozen=True, slots=True, eq=False)
class Alike:
    """One work that stands for `count` others like it: entries are what all take of each resource, per unit of one."""

    first: int
    count: int
    uses: tuple[tuple[int, float], ...]
    engine: int


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """What is alike.

    Parameters
    ----------
    works : per cost, its classes
    stands_for : (n_resources,) the resource whose load each resource has
    """

    works: tuple[tuple[Alike, ...], ...]
    stands_for: Int


def classes_of(
    costs: Sequence[Cost], capacity: Sequence[float], slots: Mapping[int, int], apart: Collection[int] = ()
) -> Classes:
    """The classes of all works of some tasks.

    Parameters
    ----------
    apart
        Resources that something happens to by themselves: a link that fails.
    """
    n_res = len(capacity)
    sizes = [cost.n_works for cost in costs]
    n = sum(sizes)
    own = np.arange(n_res, dtype=np.int64)
    if not n:
        return Classes(tuple(() for _ in costs), own)
    task = np.repeat(np.arange(len(costs)), sizes)
    offset = np.concatenate([[0], np.cumsum(sizes)])
    count = np.concatenate([np.diff(cost.ptr) for cost in costs])
    resource = np.concatenate([cost.resource for cost in costs]).astype(np.int64)
    usage = np.concatenate([cost.usage for cost in costs])
    work = np.repeat(np.arange(n), count)
    engine = np.concatenate([cost.engine for cost in costs]).astype(np.int64)
    on_engine = np.flatnonzero(engine >= 0)
    names = ("amount", "cap", "weight", "latency")
    numbers = [np.concatenate([getattr(cost, name) for cost in costs]) for name in names]
    colour = _compact(mix(task, _turn(task, engine), *(_rounded(values) for values in numbers)))
    kind = np.zeros(n_res, dtype=np.int64)
    kind[list(slots)] = list(slots.values())
    single = np.zeros(n_res, dtype=np.int64)
    single[list(apart)] = 1 + np.arange(len(apart))
    paint = _compact(mix(_rounded(np.array(capacity)), kind, single))
    entry_work = np.concatenate([work, on_engine])
    entry_resource = np.concatenate([resource, engine[on_engine]])
    entry_usage = np.concatenate([_rounded(usage), np.full(len(on_engine), -1)])
    before = 0
    for _ in range(_ROUNDS):
        there = np.zeros(n, dtype=np.uint64)
        np.add.at(there, entry_work, mix(paint[entry_resource], entry_usage))
        here = np.zeros(n_res, dtype=np.uint64)
        np.add.at(here, entry_resource, mix(colour[entry_work], entry_usage))
        colour, paint = _compact(mix(colour, there.view(np.int64))), _compact(mix(paint, here.view(np.int64)))
        now = int(colour.max()) + int(paint.max())
        if now == before:
            break
        before = now
    _, first, members = np.unique(paint, return_index=True, return_counts=True)
    stands_for = first[paint]
    used = np.zeros(n_res, dtype=bool)
    used[entry_resource] = True
    stands_for = np.where(used, stands_for, own)
    found: list[tuple[Alike, ...]] = []
    for k in range(len(costs)):
        rows = slice(int(offset[k]), int(offset[k + 1]))
        found.append(_of_task(colour[rows], int(offset[k]), work, resource, usage, engine, paint, first, members))
    return Classes(tuple(found), stands_for)


def _of_task(
    colour: Int,
    offset: int,
    work: Int,
    resource: Int,
    usage: npt.NDArray[np.float64],
    engine: Int,
    paint: Int,
    first: Int,
    members: Int,
) -> tuple[Alike, ...]:
    _, heads, which, counts = np.unique(colour, return_index=True, return_inverse=True, return_counts=True)
    low, high = np.searchsorted(work, [offset, offset + len(colour)])
    mine = which[work[low:high] - offset]
    key = mine * (int(paint.max()) + 1) + paint[resource[low:high]]
    keys, back = np.unique(key, return_inverse=True)
    total = np.bincount(back, usage[low:high], len(keys))
    uses: list[list[tuple[int, float]]] = [[] for _ in range(len(heads))]
    for one, value in zip(keys.tolist(), total.tolist(), strict=True):
        group, on = divmod(one, int(paint.max()) + 1)
        uses[group].append((int(first[on]), value / int(members[on])))
    found: list[Alike] = []
    for group in np.argsort(heads, kind="stable").tolist():
        at = int(engine[offset + int(heads[group])])
        held = int(first[paint[at]]) if at >= 0 else -1
        found.append(Alike(int(heads[group]), int(counts[group]), tuple(uses[group]), held))
    return tuple(found)


def _turn(task: Int, engine: Int) -> Int:
    """Which work of its task on its engine each is: those that queue there come one after the other."""
    key = task * (int(engine.max(initial=0)) + 2) + engine + 1
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    start = np.searchsorted(ordered, ordered)
    turn = np.empty(len(key), dtype=np.int64)
    turn[order] = np.arange(len(key)) - start
    return np.where(engine >= 0, turn, 0)


def _rounded(values: npt.NDArray[np.float64]) -> Int:
    """Numbers as integers that are equal where the values are, but for rounding."""
    finite = np.where(np.isfinite(values), values, 0.0)
    mantissa, exponent = np.frexp(finite)
    found = np.round(mantissa * 2.0**_DIGITS).astype(np.int64) * _EXPONENTS_LIMIT + exponent
    return np.where(np.isfinite(values), found, -1)


def _compact(values: npt.NDArray[np.uint64]) -> Int:
    """The same classes, numbered from 0."""
    return np.unique(values, return_inverse=True)[1].astype(np.int64)
