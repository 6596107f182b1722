"""Weighted max-min rates of a few works, in plain Python; the vectorised solver takes over where there are many.

Every answer is proven before it is used: no resource above its capacity, and every work at its cap or on a full
resource where none has a higher level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import numpy as np

from designer.engine.clock.work import Work
from designer.engine.flows import Incidence, binding, solve
from designer.engine.flows.tolerances import SLACK
from designer.sources import Constant, Status

#: from so many works in a component on, the vectorised solver is the quicker one
MANY: Final = int(Constant(40, 20, 80, "flows-timing", Status.ASSUMED, note="0.3 ms of array calls").value)
#: two levels this near are one
_TIE_TOLERANCE: Final = 1e-12

#: resources that hold a work back; empty where it gets all it asks for
Bottleneck = tuple[int, ...]


def allocate(works: Sequence[Work], capacity: Mapping[int, float]) -> list[tuple[float, Bottleneck]]:
    """Rate of each work and what holds it back; a work on a resource without capacity gets nothing."""
    if len(works) == 1:
        return [_rate_alone(works[0], capacity)]
    return _fill(works, capacity) if len(works) < MANY else _solve(works, capacity)


def _rate_alone(work: Work, capacity: Mapping[int, float]) -> tuple[float, Bottleneck]:
    shape = work.shape
    rate, bottleneck = shape.cap, []
    for resource, usage in shape.uses:
        most = capacity[resource] / usage
        if most < rate:
            rate, bottleneck = most, [resource]
        elif most == rate and bottleneck:
            bottleneck.append(resource)
    return rate, tuple(bottleneck)


def _fill(works: Sequence[Work], capacity: Mapping[int, float]) -> list[tuple[float, Bottleneck]]:
    left: dict[int, float] = {}
    pull: dict[int, float] = {}
    count: dict[int, int] = {}
    for work in works:
        weight = work.shape.weight
        for resource, usage in work.shape.uses:
            if resource in pull:
                pull[resource] += usage * weight
                count[resource] += 1
            else:
                pull[resource], count[resource], left[resource] = usage * weight, 1, capacity[resource]
    found: dict[Work, tuple[float, Bottleneck]] = {}
    todo = list(works)
    while todo:
        level = min(work.shape.cap / work.shape.weight for work in todo)
        for resource, value in pull.items():
            at = left[resource] / value
            level = min(at, level)
        limit = level * (1 + _TIE_TOLERANCE)
        tight = {resource for resource, value in pull.items() if left[resource] <= limit * value}
        rest: list[Work] = []
        for work in todo:
            shape = work.shape
            held = tuple(resource for resource, _ in shape.uses if resource in tight)
            if not held and shape.cap > limit * shape.weight:
                rest.append(work)
                continue
            rate = min(level * shape.weight, shape.cap)
            found[work] = (rate, held)
            for resource, usage in shape.uses:
                # users are counted: what is left of a sum never says that a resource is free
                count[resource] -= 1
                if count[resource]:
                    left[resource] = max(0.0, left[resource] - usage * rate)
                    pull[resource] -= usage * shape.weight
                else:
                    del left[resource], pull[resource], count[resource]
        assert len(rest) < len(todo), "filling makes no progress"
        todo = rest
    answer = [found[work] for work in works]
    _prove(works, [rate for rate, _ in answer], capacity)
    return answer


def _prove(works: Sequence[Work], rates: Sequence[float], capacity: Mapping[int, float]) -> None:
    """The certificate of ``designer.engine.flows``, for a few works."""
    load: dict[int, float] = {}
    highest: dict[int, float] = {}
    for work, rate in zip(works, rates, strict=True):
        level = rate / work.shape.weight
        for resource, usage in work.shape.uses:
            load[resource] = load.get(resource, 0.0) + rate * usage
            highest[resource] = max(highest.get(resource, 0.0), level)
    full = {r for r, value in load.items() if value >= capacity[r] * (1 - SLACK)}
    over = [r for r in full if load[r] > capacity[r] * (1 + SLACK)]
    assert not over, f"resource {over} carries more than it can"
    for work, rate in zip(works, rates, strict=True):
        shape = work.shape
        if rate >= shape.cap * (1 - SLACK):
            continue
        level = rate / shape.weight
        held = any(r in full and level >= highest[r] * (1 - SLACK) for r, _ in shape.uses)
        assert held, "a max-min answer failed its certificate"


def _solve(works: Sequence[Work], capacity: Mapping[int, float]) -> list[tuple[float, Bottleneck]]:
    stopped = [any(capacity[r] <= 0 for r, _ in work.shape.uses) for work in works]
    moving = [work for work, stop in zip(works, stopped, strict=True) if not stop]
    answer: list[tuple[float, Bottleneck]] = []
    if moving:
        resources = sorted({r for work in moving for r, _ in work.shape.uses})
        number = {r: k for k, r in enumerate(resources)}
        incidence = Incidence.from_rows(
            [[(number[r], usage) for r, usage in work.shape.uses] for work in moving],
            [capacity[r] for r in resources],
            [work.shape.weight for work in moving],
            [work.shape.cap for work in moving],
        )
        # proven by the solver itself
        allocation = solve(incidence)
        held = binding(incidence, allocation)
        names = np.array(resources, dtype=np.int64)
        rates = allocation.rate.tolist()
        answer = [(rates[k], tuple(names[held.of(k)].tolist())) for k in range(len(moving))]
    found = iter(answer)
    stuck = [tuple(r for r, _ in work.shape.uses if capacity[r] <= 0) for work in works]
    return [(0.0, stuck[k]) if stop else next(found) for k, stop in enumerate(stopped)]
