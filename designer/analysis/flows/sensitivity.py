"""Which capacity is worth raising: derivatives with respect to all at once, and exact what-ifs for the best few."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike

from designer.analysis.flows.binding import Binding, binding
from designer.analysis.flows.certificate import witness
from designer.analysis.flows.incidence import Incidence
from designer.analysis.flows.maxmin import Allocation, solve
from designer.analysis.flows.objectives import Objective, slowest
from designer.analysis.flows.prepared import FloatArray, IntArray
from designer.analysis.flows.tolerances import DOUBLED
from designer.errors import AnalysisError


def adjoint(incidence: Incidence, allocation: Allocation, objective_gradient: ArrayLike) -> FloatArray:
    """Derivative of an objective with respect to every capacity, (n_resources,) [objective per B/s].

    Parameters
    ----------
    incidence, allocation
        The problem and its solution.
    objective_gradient
        (n_activities,) derivative of the objective with respect to each rate.

    Notes
    -----
    One sweep backwards over the rounds in which rates were settled. A resource ``r`` that settles activities at level
    ``t = (capacity − Σ earlier usage × rate) / Σ usage × weight`` passes on to its capacity what its activities are
    worth, and charges the earlier ones for the room they take.

    Where resources tie, the objective has a kink and no single derivative; an activity's worth is then split evenly
    over the resources that bind it. The result is right for changes that keep the tie, such as raising all by the same
    part, and raising one of them alone gains nothing: ask ``gain_if_doubled`` for the set.

    Raises
    ------
    AnalysisError
        When the gradient has another length than the rates or is not finite.
    """
    worth = np.array(objective_gradient, np.float64)
    if worth.shape != allocation.rate.shape or not np.isfinite(worth).all():
        raise AnalysisError(
            f"the objective needs one finite derivative for each of {len(allocation.rate)} activities, "
            f"has shape {worth.shape}",
            place="objective_gradient",
        )
    return _Sweep(incidence, allocation).run(worth)


class _Sweep:
    """Binding pairs and charged entries, grouped by round and by resource."""

    def __init__(self, incidence: Incidence, allocation: Allocation) -> None:
        self._n_resources = incidence.n_resources
        frozen_in, rows, resource = allocation.frozen_in, incidence.rows, incidence.resource
        found = witness(incidence, allocation.rate)
        # a met demand does not move with any capacity
        pairs = found.entry[~found.by_demand[rows[found.entry]]]
        closed_in = np.zeros(incidence.n_resources, np.int64)
        np.maximum.at(closed_in, resource[pairs].astype(np.intp), frozen_in[rows[pairs]])
        # a resource that closed later than its activity was settled left it room; it binds the others only
        pairs = pairs[frozen_in[rows[pairs]] == closed_in[resource[pairs]]]
        closes = closed_in[resource]
        pairs = pairs[np.lexsort((resource[pairs], closes[pairs]))]
        self._activity = rows[pairs]
        share = incidence.weight[self._activity]
        self._share = share / np.bincount(self._activity, minlength=incidence.n_activities)[self._activity]
        first = np.flatnonzero(np.diff(resource[pairs], prepend=-1))
        self._resource = resource[pairs[first]]
        self._first = first
        self._pull = _sums(incidence.usage[pairs] * incidence.weight[self._activity], first)
        self._round = closes[pairs[first]]
        charged = np.flatnonzero((closes > 0) & (frozen_in[rows] < closes))
        charged = charged[np.lexsort((resource[charged], closes[charged]))]
        self._charged = rows[charged]
        self._usage = incidence.usage[charged]
        position = np.zeros(incidence.n_resources, np.int64)
        position[self._resource] = np.arange(len(self._resource))
        self._charged_position = position[resource[charged]]
        self._charged_round = closes[charged]

    def run(self, worth: FloatArray) -> FloatArray:
        value = np.zeros(len(self._resource))
        rounds = np.unique(self._round)
        cut = np.searchsorted(self._round, np.append(rounds, rounds[-1:] + 1)).tolist()
        pair_cut = [*self._first.tolist(), len(self._activity)]
        charge_cut = np.searchsorted(self._charged_round, np.append(rounds, rounds[-1:] + 1)).tolist()
        for k in range(len(rounds) - 1, -1, -1):
            low, high = cut[k], cut[k + 1]
            pairs = slice(pair_cut[low], pair_cut[high])
            gained = worth.take(self._activity[pairs]) * self._share[pairs]
            value[low:high] = _sums(gained, self._first[low:high] - pair_cut[low]) / self._pull[low:high]
            charge = slice(charge_cut[k], charge_cut[k + 1])
            charged = self._usage[charge] * value.take(self._charged_position[charge])
            np.subtract.at(worth, self._charged[charge], charged)
        result = np.zeros(self._n_resources)
        result[self._resource] = value
        return result


def _sums(values: FloatArray, first: IntArray) -> FloatArray:
    return np.add.reduceat(values, first) if len(first) else np.zeros(0)


def gain_if_doubled(
    incidence: Incidence,
    candidates: Sequence[Iterable[int]],
    objective: Objective | None = None,
    allocation: Allocation | None = None,
) -> list[float]:
    """How many times better the objective gets when all resources of a candidate have twice the capacity [1].

    Parameters
    ----------
    incidence
        The problem.
    candidates
        Sets of resources raised together: a single one, all of a part type, a tied set.
    objective
        What is to improve; the slowest rate if left out.
    allocation
        The present solution, if at hand.

    Returns
    -------
    list of float
        One ratio per candidate, from exact re-solves; above 1 is better, below 1 worse (more for one may be less for
        another).

    Notes
    -----
    A tie gains nothing from one of its members. A candidate without which every activity is still bound changes no
    rate, so it is answered 1 without a re-solve.
    """
    goal = slowest() if objective is None else objective
    now = solve(incidence) if allocation is None else allocation
    bottleneck = binding(incidence, now)
    gains: list[float] = []
    for candidate in candidates:
        raised = np.unique(np.fromiter(candidate, np.int64))
        if not _matters(bottleneck, raised, incidence.n_resources):
            gains.append(1.0)
            continue
        capacity = incidence.capacity.copy()
        capacity[raised] *= DOUBLED
        gains.append(goal.gain(now.rate, solve(incidence.with_capacity(capacity)).rate))
    return gains


def _matters(bottleneck: Binding, raised: IntArray, n_resources: int) -> bool:
    """True if some activity loses its last bottleneck when these resources get more room."""
    if len(raised) and (raised[0] < 0 or raised[-1] >= n_resources):
        raise AnalysisError(
            f"resource {int(raised[-1] if raised[0] >= 0 else raised[0])} is not one of 0…{n_resources - 1}",
            place="candidates",
        )
    left = np.ones(n_resources, np.bool_)
    left[raised] = False
    held = bottleneck.by_demand.copy()
    count = np.diff(bottleneck.ptr)
    held[np.repeat(np.arange(len(count)), count)[left[bottleneck.resource]]] = True
    return not bool(held.all())
