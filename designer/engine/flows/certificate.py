"""Proof of a max-min answer in one pass, independent of the solver.

Rates are weighted max-min fair exactly when they are feasible and every activity is at its demand or has a
bottleneck: a full resource on which no activity has a higher level (rate / weight).

Sources
-------
bertsekas-gallager-1992.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from designer.engine.flows.incidence import SLACK, FloatArray, Incidence, IntArray


@dataclass(frozen=True, slots=True)
class Certificate:
    """What the check found.

    Parameters
    ----------
    ok
        Feasible, and every activity is bound.
    worst_overload
        Largest load / capacity − 1, or rate / demand − 1 [1]; negative where all have room.
    unbound
        How many activities neither meet their demand nor have a bottleneck.
    """

    ok: bool
    worst_overload: float
    unbound: int


@dataclass(frozen=True, slots=True, eq=False)
class Witness:
    """Where each activity is bound.

    Parameters
    ----------
    load
        (n_resources,) [B/s].
    entry
        (n_binding,) incidence entries whose resource binds their activity, ascending.
    by_demand
        (n_activities,) whether the rate meets the demand.
    """

    load: FloatArray
    entry: IntArray
    by_demand: NDArray[np.bool_]


def witness(incidence: Incidence, rate: FloatArray) -> Witness:
    """Full resources on which an activity's level is highest, and met demands; reads only the incidence."""
    rows, capacity, resource = incidence.rows, incidence.capacity, incidence.place
    load = incidence.load(rate)
    full = load >= capacity * (1 - SLACK)
    entry = incidence.entries_of(full)
    level = (rate / incidence.weight).take(rows.take(entry))
    on = resource.take(entry)
    highest = np.zeros(len(capacity))
    np.maximum.at(highest, on, level)
    entry = entry[level >= highest.take(on) * (1 - SLACK)]
    return Witness(load, entry, rate >= incidence.demand * (1 - SLACK))


def check(incidence: Incidence, rate: FloatArray) -> Certificate:
    """Whether rates, (n_activities,) [B/s], are the max-min answer: feasible, and every activity bound.

    A negative or undefined rate counts as an infinite overload.
    """
    if len(rate) == 0:
        return Certificate(True, -1.0, 0)
    if not rate.min() >= 0:
        return Certificate(False, float("inf"), len(rate))
    found = witness(incidence, rate)
    overload = float((found.load / incidence.capacity).max(initial=0.0)) - 1
    over = rate > incidence.demand
    if over.any():
        with np.errstate(divide="ignore"):
            overload = max(overload, float((rate[over] / incidence.demand[over]).max()) - 1)
    bound = found.by_demand
    bound[incidence.rows.take(found.entry)] = True
    unbound = len(rate) - int(np.count_nonzero(bound))
    return Certificate(unbound == 0 and overload <= SLACK, overload, unbound)
