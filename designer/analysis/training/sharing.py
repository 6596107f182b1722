"""Collectives beside the input and background traffic of a step: one solve for all that is on the links at once.

While a group communicates, its collective is one activity among the flows of the input and of workloads that run
beside it. Readers ask for what the step uses up; what the collective keeps of its bandwidth makes it longer, and what
readers lose meanwhile makes their samples later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.communicator import Activity
from designer.analysis.flows import Incidence, solve
from designer.analysis.network import TIE_TOLERANCE
from designer.analysis.training.costs import Arrangement, Kept, RoutedCosts, arrangement_of
from designer.analysis.training.feeding import Feed
from designer.analysis.training.preparation import Plan
from designer.analysis.transfers import TransferAnswer
from designer.formulas.communication import Group
from designer.formulas.pipeline.step_composition import StepEstimate
from designer.sources import Constant, Status

Float = npt.NDArray[np.float64]

#: the longer step asks for samples more slowly, which the next round takes into account
ROUNDS_LIMIT: Final = 3
_SHOWN: Final = Constant(0.0, 0.0, 0.0, "assumed-training", Status.ASSUMED, "1", "nothing hides, to count all traffic")


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """What sharing leaves.

    Parameters
    ----------
    kept
        Share of its bandwidth each communicator keeps inside and between servers, where it is not all of it.
    readers
        Share of its rate alone the slowest reader has, on average over the step [1].
    """

    kept: Mapping[Arrangement, tuple[Kept, ...]]
    readers: float


ALONE: Final = Shared({}, 1.0)


def share_links(
    plan: Plan, costs: RoutedCosts, busy: StepEstimate, beside: TransferAnswer, fed: Feed | None, stored: float
) -> Shared:
    """What the collectives of a step and the flows beside them leave each other.

    Parameters
    ----------
    busy
        The step without sharing.
    beside
        The flows of the input, then of the background; of the background alone where there is no input.
    stored
        Bytes of a sample as stored [B].
    """
    arrangements = {group: arrangement_of(plan.layout, group) for group in costs.used}
    readers = fed.readers if fed is not None else 0
    found, step = ALONE, busy
    for _ in range(ROUNDS_LIMIT):
        need = plan.local_batch * stored / step.step_time
        kept: dict[Arrangement, tuple[Kept, ...]] = {}
        slowest: dict[Group, float] = {}
        for group, arrangement in arrangements.items():
            rows: list[Kept] = []
            for one in plan.ranks.communicators(arrangement):
                inside, a = _beside(one.inside, beside, readers, need)
                between, b = _beside(one.between, beside, readers, need)
                rows.append((inside, between))
                slowest[group] = min(slowest.get(group, np.inf), a, b)
            if any(pair != (1.0, 1.0) for pair in rows):
                kept[arrangement] = tuple(rows)
        shared = replace(costs, kept=kept, used={}) if kept else costs
        again = plan.estimate(shared)
        late = _late(plan, shared, again, slowest, fed, need)
        settled = abs(again.step_time - step.step_time) <= TIE_TOLERANCE * step.step_time
        found, step = Shared(kept, late), again
        if settled:
            break
    return found


def _beside(activity: Activity | None, beside: TransferAnswer, readers: int, need: float) -> tuple[float, float]:
    """The share of its bandwidth an activity keeps, and the rate of the slowest reader meanwhile [B/s]."""
    if activity is None:
        return 1.0, np.inf
    flows = beside.incidence
    alive = np.flatnonzero(beside.rate > 0)
    reads = alive < readers
    asks = np.where(reads, need, flows.demand)
    mine = np.zeros(len(flows.capacity), dtype=bool)
    mine[activity.resource] = True
    if not mine[flows.resource].any():
        return 1.0, np.inf
    used = np.bincount(flows.resource, flows.usage * np.repeat(asks, np.diff(flows.ptr)), len(flows.capacity))
    used[activity.resource] += activity.usage * activity.rate
    crowded = used > flows.capacity * (1 + TIE_TOLERANCE)
    if not crowded[activity.resource].any():
        return 1.0, np.inf
    # a hop counts like a flow, so an activity of hops with small shares counts for more of them
    weight = 1 / float(activity.legs.share.max())
    joint = Incidence(
        np.append(flows.ptr, flows.ptr[-1] + len(activity.resource)),
        np.concatenate([flows.resource, activity.resource.astype(np.int32)]),
        np.concatenate([flows.usage, activity.usage]),
        flows.capacity,
        np.append(flows.weight, weight),
        np.append(asks, activity.rate),
    )
    rate = solve(joint).rate
    return float(rate[-1] / activity.rate), float(rate[:-1][reads].min()) if reads.any() else np.inf


def _late(
    plan: Plan, costs: RoutedCosts, step: StepEstimate, slowest: Mapping[Group, float], fed: Feed | None, need: float
) -> float:
    """Rate of the slowest reader over the step, over its rate while no group communicates [1]."""
    if fed is None or min(slowest.values(), default=np.inf) >= min(need, fed.rate) * (1 - TIE_TOLERANCE):
        return 1.0
    shown = replace(plan, software=replace(plan.software, tensor_overlap=_SHOWN, data_overlap=_SHOWN))
    whole = shown.estimate(replace(costs, used={}))
    lost, left = 0.0, 1.0
    for group, rate in sorted(slowest.items(), key=lambda item: item[1]):
        share = min(left, float(getattr(whole, f"{group}_communication")) / max(step.step_time, whole.step_time))
        left -= share
        lost += share * max(0.0, 1 - rate / fed.rate)
    return 1 - lost
