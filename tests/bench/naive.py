"""Progressive filling with dictionaries and sets, as a first script would have it: the baseline of the ratios."""

from __future__ import annotations

import math

import numpy as np

from designer.engine.flows import Incidence


def naive(incidence: Incidence, tie: float = 1e-10) -> np.ndarray:
    """(n_activities,) max-min rates: find the lowest level anywhere, freeze what it binds, repeat."""
    weight, demand = incidence.weight.tolist(), incidence.demand.tolist()
    uses: dict[int, dict[int, float]] = {}
    on: dict[int, dict[int, float]] = {}
    for activity in range(incidence.n_activities):
        span = slice(incidence.ptr[activity], incidence.ptr[activity + 1])
        uses[activity] = dict(zip(incidence.resource[span].tolist(), incidence.usage[span].tolist(), strict=True))
        for resource, usage in uses[activity].items():
            on.setdefault(resource, {})[activity] = usage
    left = {resource: float(incidence.capacity[resource]) for resource in on}
    rate: dict[int, float] = {}
    rest = set(uses)
    while rest:
        levels = {r: left[r] / sum(u * weight[a] for a, u in users.items()) for r, users in on.items() if users}
        level = min(min(levels.values(), default=math.inf), min(demand[a] / weight[a] for a in rest))
        frozen = {a for a in rest if demand[a] / weight[a] <= level * (1 + tie)}
        for resource, at in levels.items():
            if at <= level * (1 + tie):
                frozen |= set(on[resource])
        for activity in frozen:
            rate[activity] = min(level * weight[activity], demand[activity])
            for resource, usage in uses[activity].items():
                left[resource] = max(0.0, left[resource] - usage * rate[activity])
                del on[resource][activity]
        rest -= frozen
    return np.array([rate[a] for a in range(incidence.n_activities)])
