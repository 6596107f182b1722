"""The quotient of a run: works of one class advance as one, on resources of one class.

Works of a task are in one class if they have the same amount, cap, weight and latency and use resources of one class in
the same way; resources are in one class if they have the same capacity and works of one class use them in the same way.
All works of a task begin together, so classes hold through the whole run, and one work advances for all, with what all
of them take of a resource together. Flows of a large transfer come as one work for each class of them
(`designer.engine.routes.folding`) with a multiplicity. Their classes are kept where all other works use the resources
of each class in the same way; where they do not, or something happens to one resource of a class, every flow is a work.
Exact, by the argument for equitable partitions of max-min problems: averaging over a class never lowers anyone.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.costs import Cost
from designer.engine.costs.pricing import every_work
from designer.engine.costs.resources import Capacities
from designer.engine.network.hashing import Hash, mix, rounded
from designer.engine.network.partition import Partition, by_value, refined

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: pairs of classes that are counted in a table rather than sorted
_DENSE_LIMIT: Final = 1_000_000


@dataclass(frozen=True, slots=True, eq=False)
class WorkClass:
    """Works of a task that advance as one.

    Parameters
    ----------
    first, multiplicity
        The first of the works, and how many they are.
    uses
        Resources, and what all works of the class take of each per unit of one.
    engine
        The engine that the first holds as a whole, −1 for none.
    """

    first: int
    multiplicity: int
    uses: tuple[tuple[int, float], ...]
    engine: int


@dataclass(frozen=True, slots=True, eq=False)
class Quotient:
    """Classes of the works and resources of a run.

    Parameters
    ----------
    works : per cost, its classes
    stands_for : (n_resources,) the first resource of the class of each, whose load it has
    more
        How many a resource represents that have no numbers of their own; those left out represent none.
    """

    works: tuple[tuple[WorkClass, ...], ...]
    represents: Int
    more: Mapping[int, int] = field(default_factory=dict[int, int])


def quotient(
    costs: Sequence[Cost], capacity: Capacities | Sequence[float], slots: Mapping[int, int], apart: Collection[int] = ()
) -> tuple[list[Cost], Quotient]:
    """The coarsest quotient of some tasks, and their costs, with every work where classes of flows do not hold.

    Parameters
    ----------
    apart
        Resources that something happens to by themselves: a link that fails.
    """
    found = _quotient(costs, capacity, slots, apart)
    if found is None:
        # which makes limits of single flows known
        costs = [every_work(cost) for cost in costs]
        found = _quotient(costs, capacity, slots, apart)
        assert found is not None
    return list(costs), found


def _quotient(  # noqa: PLR0915
    costs: Sequence[Cost], capacity: Capacities | Sequence[float], slots: Mapping[int, int], apart: Collection[int]
) -> Quotient | None:
    """The quotient; None where classes of flows that a cost is given in do not hold."""
    figures = np.asarray(capacity.all if isinstance(capacity, Capacities) else capacity, dtype=np.float64)
    n_res = len(figures)
    sizes = [cost.n_works for cost in costs]
    n = sum(sizes)
    own = np.arange(n_res, dtype=np.int64)
    if not n:
        return Quotient(tuple(() for _ in costs), own)
    task = np.repeat(np.arange(len(costs)), sizes)
    offset = np.concatenate([[0], np.cumsum(sizes)])
    count = np.concatenate([np.diff(cost.ptr) for cost in costs])
    resource = np.concatenate([cost.resource for cost in costs]).astype(np.int64)
    usage = np.concatenate([cost.usage for cost in costs])
    work = np.repeat(np.arange(n), count)
    engine = np.concatenate([cost.engine for cost in costs]).astype(np.int64)
    on_engine = np.flatnonzero(engine >= 0)
    # flows in classes: none of these works is in a class with another one
    given = np.repeat([cost.folded is not None for cost in costs], sizes)
    lead = _leads(costs, resource[given[work]], n_res)
    if lead is None:
        return None
    # what nothing uses has no class: the rest has numbers of its own, engines that works hold come last
    met = np.zeros(n_res, dtype=bool)
    met[resource] = True
    met |= met[lead]
    engines = np.unique(engine[on_engine])
    met[engines] = False
    used = np.concatenate([np.flatnonzero(met), engines])
    place, n_shared = np.zeros(n_res, dtype=np.int64), len(used) - len(engines)
    place[used] = np.arange(len(used))
    names = ("amount", "cap", "weight", "latency")
    numbers = [np.concatenate([getattr(cost, name) for cost in costs]) for name in names]
    numbers.append(np.concatenate([np.zeros(cost.n_works) if cost.after is None else cost.after for cost in costs]))
    single_work = np.where(given, 1 + np.arange(n), 0)
    colour = mix(task, _queue_positions(task, engine), single_work, *(rounded(values) for values in numbers))
    kind, single = np.zeros(n_res, dtype=np.int64), np.zeros(n_res, dtype=np.int64)
    kind[list(slots)] = list(slots.values())
    single[list(apart)] = 1 + np.arange(len(apart))
    paint = mix(rounded(figures[used]), kind[used], single[used])
    figure = rounded(usage)
    # resources that the same works use in the same way are equivalent: some dozens of ways for a million resources
    met_by = np.zeros(len(used), dtype=np.uint64)
    sign, flows = mix(work, figure), given[work]
    np.add.at(met_by, place[resource[flows]], sign[flows])
    head = place[lead[used]]
    met_by = met_by[head]
    np.add.at(met_by, place[resource[~flows]], sign[~flows])
    same = by_value(mix(*(each[:n_shared].view(np.int64) for each in (paint, met_by))))
    alone = np.arange(len(engines))
    same = Partition(
        np.concatenate([same.of, len(same) + alone]),
        np.concatenate([same.first, n_shared + alone]),
        np.concatenate([same.many, np.ones_like(alone)]),
    )
    if not np.array_equal(same.of, same.of[head]):
        return None
    is_first = np.zeros(n_res, dtype=bool)
    is_first[used[same.first]] = True
    rows, held = np.flatnonzero(is_first[resource]), on_engine[is_first[engine[on_engine]]]
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
    found: list[tuple[WorkClass, ...]] = []
    for k, cost in enumerate(costs):
        mine = slice(int(offset[k]), int(offset[k + 1]))
        works = _of_task(colour[mine], int(offset[k]), entries, paints.of, first, members)
        if cost.folded is not None:
            works = tuple(replace(one, multiplicity=int(cost.folded.many[one.first])) for one in works)
        found.append(works)
    own[used] = first[paints.of][same.of]
    more: dict[int, int] = {}
    for limit, many in (pair for cost in costs if cost.folded is not None for pair in cost.folded.limits.items()):
        more[int(own[limit])] = more.get(int(own[limit]), 0) + many
    return Quotient(tuple(found), own, more)


def _leads(costs: Sequence[Cost], met: Int, n_resources: int) -> Int | None:
    """For each resource that flows in classes meet the one that represents it there, itself for all others.

    Parameters
    ----------
    met
        Resources that these flows meet.

    Returns
    -------
    array or None
        None where several costs are in classes, or other works meet a limit that represents several.
    """
    lead = np.arange(n_resources, dtype=np.int64)
    folded = [cost.folded for cost in costs if cost.folded is not None]
    if not folded:
        return lead
    several = {limit for limit, many in folded[0].limits.items() if many > 1}
    limited = np.zeros(n_resources, dtype=bool)
    limited[list(several)] = True
    if len(folded) > 1 or any(limited[cost.resource].any() for cost in costs if cost.folded is None):
        return None
    n = folded[0].fold.network.n_resources
    by_flows = np.zeros(n_resources, dtype=bool)
    by_flows[met] = True
    lead[:n] = folded[0].fold.every_resource()
    return np.where(by_flows[lead], lead, np.arange(n_resources))


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """What each work takes of all resources used as one is, works in order; and the engine each work holds."""

    work: Int
    resource: Int
    usage: Float
    engine: Int


def _of_task(
    colour: Hash, offset: int, entries: _Entries, paint: Int, first: Int, members: Int
) -> tuple[WorkClass, ...]:
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
    found: list[WorkClass] = []
    for group in np.argsort(heads, kind="stable").tolist():
        at = int(entries.engine[offset + int(heads[group])])
        held = int(first[paint[at]]) if at >= 0 else -1
        found.append(WorkClass(int(heads[group]), int(counts[group]), tuple(sorted(uses[group])), held))
    return tuple(found)


def _queue_positions(task: Int, engine: Int) -> Int:
    """Which work of its task on its engine each is: those that queue there come one after the other."""
    key = task * (int(engine.max(initial=0)) + 2) + engine + 1
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    start = np.searchsorted(ordered, ordered)
    turn = np.empty(len(key), dtype=np.int64)
    turn[order] = np.arange(len(key)) - start
    return np.where(engine >= 0, turn, 0)
