"""Alike works on alike resources as one: the coarsest equitable partition of all tasks of a run.

Works of a task are alike if they have the same amount, cap, weight and latency and use alike resources alike; resources
are alike if they have the same capacity and alike works use them alike. All works of a task begin together, so what is
alike stays alike through the whole run, and one stands for all, with what all of them take of a resource together.
Exact, by the argument for equitable partitions of max-min problems: averaging over a class never lowers anyone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.costs import Cost
from designer.analysis.costs.resources import Capacities
from designer.analysis.hashing import Hash, mix, rounded
from designer.analysis.partition import by_value, refined

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: pairs of classes that are counted in a table rather than sorted
_DENSE_LIMIT: Final = 1_000_000


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
    more
        How many a resource stands for that have no numbers of their own; those left out stand for none.
    """

    works: tuple[tuple[Alike, ...], ...]
    stands_for: Int
    more: Mapping[int, int] = field(default_factory=dict[int, int])


def classes_of(
    costs: Sequence[Cost], capacity: Capacities | Sequence[float], slots: Mapping[int, int], apart: Collection[int] = ()
) -> Classes:
    """The classes of all works of some tasks.

    Parameters
    ----------
    apart
        Resources that something happens to by themselves: a link that fails.
    """
    figures = np.asarray(capacity.all if isinstance(capacity, Capacities) else capacity, dtype=np.float64)
    n_res = len(figures)
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
    # what nothing uses has no class: the rest is numbered anew
    met = np.zeros(n_res, dtype=bool)
    met[resource], met[engine[on_engine]] = True, True
    used = np.flatnonzero(met)
    place = np.cumsum(met) - 1
    names = ("amount", "cap", "weight", "latency")
    numbers = [np.concatenate([getattr(cost, name) for cost in costs]) for name in names]
    waits = [cost.after if cost.after is not None else np.zeros(cost.n_works) for cost in costs]
    numbers.append(np.concatenate(waits))
    colour = mix(task, _turn(task, engine), *(rounded(values) for values in numbers))
    kind, single = np.zeros(n_res, dtype=np.int64), np.zeros(n_res, dtype=np.int64)
    kind[list(slots)] = list(slots.values())
    single[list(apart)] = 1 + np.arange(len(apart))
    paint = mix(rounded(figures[used]), kind[used], single[used])
    figure = rounded(usage)
    # what the very same works use alike is alike: a collective meets a million resources in some dozens of ways
    met_by = np.zeros(len(used), dtype=np.uint64)
    np.add.at(met_by, place[resource], mix(work, figure))
    np.add.at(met_by, place[engine[on_engine]], mix(on_engine, np.full(len(on_engine), -1)))
    same = by_value(mix(paint.view(np.int64), met_by.view(np.int64)))
    lead = np.zeros(n_res, dtype=bool)
    lead[used[same.first]] = True
    rows, held = np.flatnonzero(lead[resource]), on_engine[lead[engine[on_engine]]]
    # of what waits alone nothing is used at all
    place = same.of[place] if len(used) else place
    work, resource, usage = work[rows], place[resource[rows]], usage[rows]
    entry_work = np.concatenate([work, held])
    entry_resource = np.concatenate([resource, place[engine[held]]])
    entry_usage = np.concatenate([figure[rows], np.full(len(held), -1)])
    label = mix(entry_usage)
    times = np.concatenate([np.ones(n, dtype=np.int64), same.many])
    colour = refined(np.concatenate([colour, paint[same.first]]), [(entry_work, n + entry_resource, label)], times)
    paints = by_value(colour[n:])
    members = np.bincount(paints.of, same.many).astype(np.int64)
    usage = usage * same.many[resource]
    entries = _Entries(work, resource, usage, np.where(engine >= 0, place[engine], -1))
    first = used[same.first[paints.first]]
    found: list[tuple[Alike, ...]] = []
    for k in range(len(costs)):
        mine = slice(int(offset[k]), int(offset[k + 1]))
        found.append(_of_task(colour[mine], int(offset[k]), entries, paints.of, first, members))
    own[used] = first[paints.of][same.of]
    return Classes(tuple(found), own)


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """What each work takes of all resources used as one is, works in order; and the engine each work holds."""

    work: Int
    resource: Int
    usage: Float
    engine: Int


def _of_task(colour: Hash, offset: int, entries: _Entries, paint: Int, first: Int, members: Int) -> tuple[Alike, ...]:
    works = by_value(colour)
    which, heads, counts = works.of, works.first, works.many
    low, high = np.searchsorted(entries.work, [offset, offset + len(colour)])
    mine = which[entries.work[low:high] - offset]
    n_paint = len(members)
    key = mine * n_paint + paint[entries.resource[low:high]]
    if len(heads) * n_paint <= max(_DENSE_LIMIT, len(key)):
        sums = np.bincount(key, entries.usage[low:high], len(heads) * n_paint)
        keys = np.flatnonzero(np.bincount(key, minlength=len(sums)))
        total = sums[keys]
    else:
        keys, back = np.unique(key, return_inverse=True)
        total = np.bincount(back, entries.usage[low:high], len(keys))
    uses: list[list[tuple[int, float]]] = [[] for _ in range(len(heads))]
    groups, on = np.divmod(keys, n_paint)
    each = (groups.tolist(), first[on].tolist(), (total / members[on]).tolist())
    for group, resource, value in zip(*each, strict=True):
        uses[group].append((resource, value))
    found: list[Alike] = []
    for group in np.argsort(heads, kind="stable").tolist():
        at = int(entries.engine[offset + int(heads[group])])
        held = int(first[paint[at]]) if at >= 0 else -1
        found.append(Alike(int(heads[group]), int(counts[group]), tuple(sorted(uses[group])), held))
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
