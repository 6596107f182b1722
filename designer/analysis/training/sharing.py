"""Collectives beside the input and background traffic of a step: one solve for all that is on the links at once.

While a group communicates, its collective is one activity among the flows of the input and of workloads that run
beside it; traffic of parameter servers joins them flow by flow. Readers ask for what the step uses up; what the
collective keeps of its bandwidth makes it longer, and what readers lose meanwhile makes their samples later.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.collectives.activities import Activity
from designer.analysis.flows import Incidence, solve
from designer.analysis.network import TIE_TOLERANCE
from designer.analysis.network.frame import STRUCTURES_LIMIT
from designer.analysis.network.partition import SAME_TOLERANCE
from designer.analysis.routes.folding import Fold
from designer.analysis.routes.hop_loads import Common, Hops
from designer.analysis.training.costs import Arrangement, Kept, RoutedCosts, arrangement_of
from designer.analysis.training.feeding import Feed
from designer.analysis.training.parameter_servers import ServerCosts
from designer.analysis.training.preparation import TrainingPlan
from designer.analysis.transfers import FlowProblem, TransferAnswer
from designer.formulas.communication import RankGroup
from designer.formulas.pipeline.step_composition import StepEstimate
from designer.memo import memo
from designer.sources import Constant, Status

Bool = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: a longer step asks for samples more slowly, and is less long for it: rounds meet in between
ROUNDS_LIMIT: Final = 4
#: steps this close together are the same, relative
SETTLED_TOLERANCE: Final = 1e-3
_SHOWN: Final = Constant(0.0, 0.0, 0.0, "assumed-training", Status.ASSUMED, "1", "nothing hides, to count all traffic")


@dataclass(frozen=True, slots=True, eq=False)
class Shared:
    """What sharing leaves.

    Parameters
    ----------
    kept
        Share of its bandwidth each communicator keeps inside and between servers, where it is not all of it.
    servers
        Share of their rate that traffic to parameter servers and back keep [1].
    lost
        Time by which the samples of a step come later than if no group communicated [s].
    """

    kept: Mapping[Arrangement, tuple[Kept, ...]]
    servers: Kept
    lost: float

    @property
    def slower(self) -> bool:
        """True if any collective keeps less than all."""
        return bool(self.kept) or self.servers != (1.0, 1.0)

    def costs(self, alone: RoutedCosts | ServerCosts) -> RoutedCosts | ServerCosts:
        """The costs of collectives on links that are shared."""
        if not self.slower:
            return alone
        if isinstance(alone, ServerCosts):
            return replace(alone, routed=replace(alone.routed, kept=self.kept, used={}), kept=self.servers)
        return replace(alone, kept=self.kept, used={})


@dataclass(frozen=True, slots=True, eq=False)
class _Beside:
    """The flows beside the collectives: those of readers first."""

    problem: FlowProblem
    readers: int
    need: float | None = None

    def asking(self, need: float) -> _Beside:
        """The same when each reader asks for `need` [B/s]."""
        return replace(self, need=need)

    @property
    def reads(self) -> Bool:
        """Which rows are readers."""
        return self.problem.flow < self.readers

    @property
    def flows(self) -> Incidence:
        """The flows with what each asks for."""
        flows = self.problem.incidence
        return flows if self.need is None else flows.with_demand(np.where(self.reads, self.need, flows.demand))


def _expanded(beside: _Beside, answer: TransferAnswer) -> _Beside:
    """The same with every flow for itself."""
    return replace(beside, problem=answer.expanded())


def share_links(
    plan: TrainingPlan,
    costs: RoutedCosts | ServerCosts,
    busy: StepEstimate,
    beside: TransferAnswer,
    fed: Feed | None,
    stored: float,
) -> Shared:
    """What the collectives of a step and the flows beside them leave each other.

    Parameters
    ----------
    costs, busy
        The collectives and the step without sharing.
    beside
        The flows of the input, then of the background; of the background alone where there is no input.
    stored
        Bytes of a sample as stored [B].
    """
    last, need, slowest = Shared({}, (1.0, 1.0), 0.0), 0.0, dict[RankGroup, float]()
    found = last
    others = _Beside(beside.problem, fed.readers if fed is not None else 0)
    if isinstance(costs, ServerCosts) or not _in_classes(plan, costs, others):
        others = _expanded(others, beside)
    step = float(busy.step_time)
    for _ in range(ROUNDS_LIMIT):
        need = plan.local_batch * stored / step
        kept, servers, slowest = _left(plan, costs, others.asking(need))
        found = Shared(kept, servers, 0.0)
        if not found.slower or (found.kept, servers) == (last.kept, last.servers):
            break
        longer = float(plan.estimate(found.costs(costs)).step_time)
        if not stored or abs(longer - step) <= SETTLED_TOLERANCE * step:
            break
        last, step = found, (step + longer) / 2
    return replace(found, lost=_lost(plan, costs, found, others, slowest, fed, need))


def _left(
    plan: TrainingPlan, costs: RoutedCosts | ServerCosts, others: _Beside
) -> tuple[dict[Arrangement, tuple[Kept, ...]], Kept, dict[RankGroup, float]]:
    """What every collective keeps, then what servers keep, and the rate of the slowest reader meanwhile [B/s]."""
    problem, flows, reads = others.problem, others.flows, others.reads
    kept: dict[Arrangement, tuple[Kept, ...]] = {}
    slowest: dict[RankGroup, float] = {}
    routed = costs.routed if isinstance(costs, ServerCosts) else costs
    for group in routed.used:
        arrangement = arrangement_of(plan.layout, group)
        rows: list[Kept] = []
        for one in plan.ranks.communicators(arrangement):
            inside, a = _activity_beside(one.inside, problem, flows, reads)
            between, b = _activity_beside(one.between, problem, flows, reads)
            rows.append((inside, between))
            slowest[group] = min(slowest.get(group, np.inf), a, b)
        if any(pair != (1.0, 1.0) for pair in rows):
            kept[arrangement] = tuple(rows)
    servers = (1.0, 1.0)
    if isinstance(costs, ServerCosts):
        n = costs.routed.ranks.network.n_resources
        out, a = _transfer_beside(costs.out, flows, reads, n)
        back, b = _transfer_beside(costs.back, flows, reads, n)
        servers, slowest[RankGroup.DATA] = (out, back), min(a, b)
    return kept, servers, slowest


def _in_classes(plan: TrainingPlan, costs: RoutedCosts, others: _Beside) -> bool:
    """Whether every collective puts the same on all resources that are alike to the flows beside it."""
    if others.problem.fold is None:
        return True
    return all(
        activity is None or on_classes(others.problem, activity.hops) is not None
        for group in costs.used
        for one in plan.ranks.communicators(arrangement_of(plan.layout, group))
        for activity in (one.inside, one.between)
    )


@memo(most=STRUCTURES_LIMIT)
def on_classes(problem: FlowProblem, hops: Hops) -> Common | None:
    """What hops put on the resources of a problem in classes that its flows use; None where it is not alike in one."""
    lead, usage = hops.every()
    alike = np.ones(len(lead), dtype=bool)
    if problem.used is None:
        return Common(lead, usage)
    if problem.fold is not None:
        lead, usage, alike = _on_leads(problem.fold, hops)
    if not len(problem.used):
        return Common(lead[:0], usage[:0])
    place = np.minimum(np.searchsorted(problem.used, lead), len(problem.used) - 1)
    rows = np.flatnonzero(problem.used[place] == lead)
    return Common(place[rows], usage[rows]) if alike[rows].all() else None


@memo(most=STRUCTURES_LIMIT)
def _on_leads(fold: Fold, hops: Hops) -> tuple[Int, Float, Bool]:
    """The first resource of each class that hops meet, what they put on it, and whether on all of the class alike."""
    resource, every = hops.every()
    stands_for = fold.every_resource()
    lead = stands_for[resource]
    first, at, of, met = np.unique(lead, return_index=True, return_inverse=True, return_counts=True)
    usage = every[at]
    alike = met == np.bincount(stands_for)[first]
    alike[of[~np.isclose(every, usage[of], SAME_TOLERANCE, 0.0)]] = False
    return first, usage, alike


def _activity_beside(
    activity: Activity | None, problem: FlowProblem, flows: Incidence, reads: Bool
) -> tuple[float, float]:
    """The share of its bandwidth an activity keeps, and the rate of the slowest reader meanwhile [B/s]."""
    common = on_classes(problem, activity.hops) if activity is not None else None
    if activity is None or common is None:
        return 1.0, np.inf
    mine = np.zeros(len(flows.capacity), dtype=bool)
    mine[common.resource] = True
    met = mine[flows.resource]
    if not met.any():
        return 1.0, np.inf
    asks = np.repeat(flows.demand, np.diff(flows.ptr))
    used = np.bincount(flows.resource[met], flows.usage[met] * asks[met], len(flows.capacity))
    used[common.resource] += common.usage * activity.rate
    if not (used[common.resource] > flows.capacity[common.resource] * (1 + TIE_TOLERANCE)).any():
        return 1.0, np.inf
    # a hop counts like a flow, so an activity of hops with small shares counts for more of them
    weight = 1 / activity.hops.top_share
    joint = Incidence(
        np.append(flows.ptr, flows.ptr[-1] + len(common.resource)),
        np.concatenate([flows.resource, common.resource.astype(np.int32)]),
        np.concatenate([flows.usage, common.usage]),
        flows.capacity,
        np.append(flows.weight, weight),
        np.append(flows.demand, activity.rate),
    )
    rate = solve(joint).rate
    return min(1.0, float(rate[-1] / activity.rate)), float(rate[:-1][reads].min()) if reads.any() else np.inf


def _transfer_beside(answer: TransferAnswer, flows: Incidence, reads: Bool, n: int) -> tuple[float, float]:
    """The share of their rate flows to servers keep, and the rate of the slowest reader meanwhile [B/s].

    Both number the `n` resources of the network alike, and limits of their own after them.
    """
    mine = answer.incidence
    moved = np.where(mine.resource >= n, mine.resource + len(flows.capacity) - n, mine.resource)
    joint = Incidence(
        np.concatenate([flows.ptr, flows.ptr[-1] + mine.ptr[1:]]),
        np.concatenate([flows.resource, moved]).astype(np.int32),
        np.concatenate([flows.usage, mine.usage]),
        np.concatenate([flows.capacity, mine.capacity[n:]]),
        np.concatenate([flows.weight, mine.weight]),
        np.concatenate([flows.demand, mine.demand]),
    )
    rate = solve(joint).rate
    first = len(flows.ptr) - 1
    kept = float(rate[first:].min() / answer.rate[answer.rate > 0].min())
    return min(1.0, kept), float(rate[:first][reads].min()) if reads.any() else np.inf


def _lost(
    plan: TrainingPlan,
    costs: RoutedCosts | ServerCosts,
    found: Shared,
    others: _Beside,
    slowest: Mapping[RankGroup, float],
    fed: Feed | None,
    need: float,
) -> float:
    """Time by which samples come later because groups communicate, hidden or not [s].

    Notes
    -----
    Readers that keep up while groups communicate lose nothing. Where some do not, all of them read whenever they can
    to catch up, so what each group takes from them is told by readers that ask for all they get alone.
    """
    if fed is None or min(slowest.values(), default=np.inf) >= min(need, fed.rate) * (1 - TIE_TOLERANCE):
        return 0.0
    asked = others.asking(fed.rate)
    _, _, rates = _left(plan, costs, asked)
    software = replace(plan.software, tensor_overlap=_SHOWN, data_overlap=_SHOWN)
    whole = replace(plan, software=software).estimate(found.costs(costs))
    times = {group: float(getattr(whole, f"{group}_communication")) for group in rates}
    return sum(times[group] * max(0.0, 1 - rate / fed.rate) for group, rate in rates.items())
