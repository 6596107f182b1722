"""Max-min fairness as a sequence of linear programs: slow, and shares nothing with the solver under test."""

from __future__ import annotations

import numpy as np
from scipy.optimize import linprog

from designer.engine.flows import Incidence


def matrix(incidence: Incidence) -> np.ndarray:
    """(n_resources, n_activities) usage, written entry by entry."""
    usage = np.zeros((incidence.n_resources, incidence.n_activities))
    for activity in range(incidence.n_activities):
        for entry in range(incidence.ptr[activity], incidence.ptr[activity + 1]):
            usage[incidence.resource[entry], activity] += incidence.usage[entry]
    return usage


def lexicographic_rates(incidence: Incidence) -> np.ndarray:
    """(n_activities,) rates: maximise the common level, fix what cannot rise further, repeat.

    Activities whose constraint ``rate >= weight × level`` has a positive dual are stuck in every optimum.
    """
    usage, n = matrix(incidence), incidence.n_activities
    fixed = np.full(n, np.nan)
    while np.isnan(fixed).any():
        open_ = np.flatnonzero(np.isnan(fixed))
        # columns: rates, level; rows: capacities, then weight × level - rate <= 0 of the open ones
        above = np.zeros((len(open_), n + 1))
        above[np.arange(len(open_)), open_] = -1
        above[:, n] = incidence.weight[open_]
        rows = np.vstack([np.hstack([usage, np.zeros((len(usage), 1))]), above])
        limits = np.concatenate([incidence.capacity, np.zeros(len(open_))])
        demands = [None if np.isinf(d) else d for d in incidence.demand]
        bounds = [(0, demands[i]) if np.isnan(fixed[i]) else (fixed[i] * (1 - 1e-12), fixed[i]) for i in range(n)]
        cost = np.zeros(n + 1)
        cost[n] = -1
        answer = linprog(cost, A_ub=rows, b_ub=limits, bounds=[*bounds, (0, None)], method="highs")
        assert answer.status == 0, answer.message
        stuck = open_[np.abs(answer.ineqlin.marginals[len(usage) :]) > 1e-9]
        assert len(stuck)
        fixed[stuck] = incidence.weight[stuck] * answer.x[n]
    return fixed


def highest_throughput(incidence: Incidence) -> np.ndarray:
    """(n_activities,) rates of greatest sum: what fairness is not."""
    bounds = [(0, None if np.isinf(d) else d) for d in incidence.demand]
    cost = -np.ones(incidence.n_activities)
    return linprog(cost, A_ub=matrix(incidence), b_ub=incidence.capacity, bounds=bounds, method="highs").x
