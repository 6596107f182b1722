"""Classes of works where flows are given in classes already: what else there is has only to agree with them.

Flows of a large transfer come as one work for each class of them (`designer.analysis.folding`). Beside them run works
that stand alone, such as a collective, and works that each hold an engine of their own, such as computing on every
accelerator. Where a lone work takes the same of all resources of a class, the classes hold for both together;
resources that no flow meets are alike where they can do as much and every lone work takes as much of them. So nothing
is expanded, and the classes are equitable as those of `designer.analysis.clock.classes`. Where they do not agree, or
something happens to a resource by itself, the answer is none, and every work is looked at.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from designer.analysis.clock.classes import Alike, Classes
from designer.analysis.costs import Cost
from designer.analysis.costs.resources import ResourceTable
from designer.analysis.partition import SAME_TOLERANCE
from designer.analysis.partition import classes_of as classes_of_rows

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


def folded_classes(costs: Sequence[Cost], table: ResourceTable, apart: Collection[int]) -> Classes | None:
    """The classes of all works of some tasks, one of which is given in classes; None where all have to be looked at.

    Parameters
    ----------
    apart
        Resources that something happens to by themselves: a link that fails.
    """
    folded = [cost for cost in costs if cost.folded is not None]
    lone = [cost for cost in costs if cost.folded is None and _is_lone(cost)]
    holding = [cost for cost in costs if cost.folded is None and not _is_lone(cost)]
    n = table.network.n_resources
    if len(folded) != 1 or apart or not all(_hold_alike(cost, table.slots) for cost in holding):
        return None
    if any((cost.resource >= n).any() for cost in lone):
        return None
    stands_for = np.arange(len(table.capacity), dtype=np.int64)
    for cost in holding:
        queue = cost.engine
        before = stands_for[queue]
        # all of them still by themselves, or together already
        if not np.array_equal(before, queue) and not ((before == before[0]).all() and _same_set(stands_for, queue)):
            return None
        stands_for[queue] = int(queue.min())
    uses = _lone_uses(folded[0], lone, table, stands_for)
    if uses is None:
        return None
    works: list[tuple[Alike, ...]] = []
    for cost in costs:
        if cost.folded is not None:
            works.append(_of_classes(cost, cost.folded.many))
        elif _is_lone(cost):
            works.append((Alike(0, 1, uses.pop(0), -1),))
        else:
            works.append((Alike(0, cost.n_works, (), int(stands_for[cost.engine[0]])),))
    return Classes(tuple(works), stands_for, folded[0].folded.limits if folded[0].folded is not None else {})


def _is_lone(cost: Cost) -> bool:
    """One work, or none, that holds no engine."""
    return cost.n_works == 1 and int(cost.engine[0]) < 0


def _hold_alike(cost: Cost, slots: Mapping[int, int]) -> bool:
    """Works that take nothing but an engine each, all as long, on engines that are alike."""
    if not cost.n_works or len(cost.resource) or (cost.engine < 0).any():
        return False
    if len(np.unique(cost.engine)) < cost.n_works or len({slots[e] for e in cost.engine.tolist()}) > 1:
        return False
    return all((column == column[0]).all() for column in (cost.amount, cost.cap, cost.weight, cost.latency))


def _same_set(stands_for: Int, queue: Int) -> bool:
    """True if some engines are all that stand together."""
    return int((stands_for == stands_for[queue[0]]).sum()) == len(queue)


def _of_classes(cost: Cost, many: Int) -> tuple[Alike, ...]:
    """The works of a cost that is given in classes."""
    ends, rows = cost.ptr.tolist(), list(zip(cost.resource.tolist(), cost.usage.tolist(), strict=True))
    uses = [tuple(sorted(rows[low:high])) for low, high in pairwise(ends)]
    return tuple(Alike(k, count, uses[k], -1) for k, count in enumerate(many.tolist()))


def _lone_uses(
    flows: Cost, lone: Sequence[Cost], table: ResourceTable, stands_for: Int
) -> list[tuple[tuple[int, float], ...]] | None:
    """What each lone work takes of one resource of every class; None where it is not the same of all of one.

    `stands_for` : (n_resources,) gets the resource that stands for each.
    """
    assert flows.folded is not None
    fold, n = flows.folded.fold, table.network.n_resources
    met = np.zeros(n, dtype=bool)
    met[flows.resource[flows.resource < n]] = True
    lead, many = fold.resource(np.arange(n))
    by_flows = met[lead]
    stands_for[:n] = np.where(by_flows, lead, stands_for[:n])
    found: list[dict[int, float]] = []
    beyond = np.zeros(n, dtype=bool)
    for cost in lone:
        mine = by_flows[cost.resource]
        resource, usage = cost.resource[mine], cost.usage[mine]
        first, at, of, count = np.unique(lead[resource], return_index=True, return_inverse=True, return_counts=True)
        if not np.array_equal(count, many[resource[at]]) or not np.allclose(usage, usage[at][of], SAME_TOLERANCE, 0.0):
            return None
        found.append(dict(zip(first.tolist(), usage[at].tolist(), strict=True)))
        beyond[cost.resource[~mine]] = True
    rest = np.flatnonzero(beyond)
    figures: list[Float] = [table.capacity.of(rest)]
    for cost in lone:
        taken = np.zeros(n)
        taken[cost.resource] = cost.usage
        figures.append(taken[rest])
    alike = classes_of_rows(np.zeros(len(rest), dtype=np.int64), figures=tuple(figures))
    heads = rest[alike.first]
    stands_for[rest] = heads[alike.of]
    for entries, taken in zip(found, figures[1:], strict=True):
        amount = taken[alike.first]
        entries |= dict(zip(heads[amount > 0].tolist(), amount[amount > 0].tolist(), strict=True))
    return [tuple(sorted(entries.items())) for entries in found]
