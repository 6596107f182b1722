"""A training step as tasks: computing on every rank, hidden traffic next to it, and what is not hidden after it.

The closed form of the step says how long each part takes alone, and how much of the traffic hides. Alone, the parts
add up to it; on links that others use too, the traffic takes longer, and what hid behind computing may come to light.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from designer.engine.costs.move import flows_of
from designer.engine.costs.pricing import Cost, CostKind, Expansion, Priced, Prices, Uses, alone, on_engines
from designer.families.collective.costs import occupied
from designer.families.training.formulas.step_composition import COMMUNICATION_BAND, SOURCES, StepEstimate
from designer.families.training.parameter_servers import ServerCosts, server_costs
from designer.families.training.preparation import TrainingPlan, prepare
from designer.families.training.routed_costs import RoutedCosts, arrangement_of
from designer.families.training.step_time import ESTIMATE, StepTime, busy_time
from designer.families.training.tasks import TrainStep
from designer.formulas.communication import RankGroup
from designer.sources import Constant, Status
from designer.units import Bytes
from designer.workload.program.process import Script
from designer.workload.program.steps import Program, Step

_TRAFFIC_SOURCES: Final = ("nccl-tuning", "collectives-fit", COMMUNICATION_BAND.source)
#: the part of a step that is no traffic
COMPUTE: Final = "compute"
_NONE_HIDDEN: Final = Constant(0.0, 0.0, 0.0, "assumed-training", Status.ASSUMED, "1", "nothing hides")


def price(prices: Prices, task: TrainStep, place: str) -> Expansion:
    """The step of a job.

    Raises
    ------
    AnalysisError
        If the job does not fit the drawing.
    """
    plan = prepare(prices.network, task.job, place, prices.running)
    servers = task.parameter_servers
    costs = server_costs(plan.ranks, plan.layout, servers) if servers else plan.ranks.costs(plan.layout)
    return parts(prices, plan, costs, plan.estimate(costs))


def parts(prices: Prices, plan: TrainingPlan, costs: RoutedCosts | ServerCosts, busy: StepEstimate) -> Expansion:
    """A step as the parts it is made of; parameters as of `parts_of`."""
    steps: list[Step] = []
    before = tuple[str, ...]()
    for part in parts_of(prices, plan, costs, busy):
        parallel = part.hidden or not steps
        steps.append(Step(part.name, Priced(part.cost), after=() if parallel else before))
        before = (*before, part.name) if parallel else (part.name,)
    program = Program("step", tuple(steps))
    ranks = plan.ranks.parts[: plan.layout.ranks].tolist()
    holds = dict.fromkeys(ranks, float(busy.memory.total))
    time = busy_time(plan, costs, busy).part(lambda step: float(step.step_time))
    return Expansion(lambda: Script(program), tuple(step.task for step in steps), plan.findings, holds, time)


def whole(plan: TrainingPlan, costs: RoutedCosts | ServerCosts, busy: StepEstimate) -> Cost:
    """A step of which only the time is wanted; parameters as of `parts_of`."""
    sources = {*SOURCES}
    if isinstance(costs, ServerCosts):
        sources |= {*costs.out.sources}
    if _groups_with_traffic(costs):
        sources |= {*_TRAFFIC_SOURCES}
    return alone(
        float(busy.step_time),
        low=busy.low / busy.step_time,
        high=busy.high / busy.step_time,
        group=ESTIMATE,
        sources=tuple(sorted(sources)),
        time=busy_time(plan, costs, busy).part(lambda step: float(step.step_time)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """A part of a step; `hidden` traffic runs with computing, which comes first, and all else after both in turn."""

    name: str
    cost: Cost
    hidden: bool = False


def parts_of(
    prices: Prices, plan: TrainingPlan, costs: RoutedCosts | ServerCosts, busy: StepEstimate
) -> Iterator[Part]:
    """Computing, the traffic that hides behind it, then what comes after.

    Parameters
    ----------
    busy
        The step with these costs when samples are always there.
    """
    time = busy_time(plan, costs, busy)
    yield Part(COMPUTE, _compute_part(prices, plan, busy, time))
    for group, hidden in hidden_traffic(plan, costs, busy).items():
        yield Part(f"hidden {group} traffic", _traffic(prices, plan, costs, group, hidden, busy), True)
    for group in _groups_with_traffic(costs):
        shown = float(getattr(busy, f"{group}_communication"))
        if shown > 0:
            name = f"{group}_communication"
            cost = _traffic(prices, plan, costs, group, shown, busy)
            yield Part(f"{group} traffic", replace(cost, time=time.part(lambda step, name=name: getattr(step, name))))


def hidden_traffic(
    plan: TrainingPlan, costs: RoutedCosts | ServerCosts, busy: StepEstimate
) -> Mapping[RankGroup, float]:
    """Seconds of traffic that hide behind computing, by group; parameters as of `parts_of`."""
    blocking = dict.fromkeys(("tensor_overlap", "data_overlap", "expert_overlap", "pipeline_overlap"), _NONE_HIDDEN)
    seen = replace(plan.without_releases(), software=replace(plan.software, **blocking))
    found = seen.estimate(costs)
    names = {group: f"{group}_communication" for group in _groups_with_traffic(costs)}
    each = {group: float(getattr(found, name)) - float(getattr(busy, name)) for group, name in names.items()}
    return {group: hidden for group, hidden in each.items() if hidden > 0}


def _groups_with_traffic(costs: RoutedCosts | ServerCosts) -> list[RankGroup]:
    """Groups that have traffic, those over parameter servers included."""
    routed = costs.routed if isinstance(costs, ServerCosts) else costs
    found = set(routed.used) | ({RankGroup.DATA} if isinstance(costs, ServerCosts) else set())
    return [group for group in RankGroup if group in found]


def _compute_part(prices: Prices, plan: TrainingPlan, busy: StepEstimate, time: StepTime) -> Cost:
    """All of the step that is no traffic, on the engine of every rank."""
    seconds = float(busy.step_time - busy.communication)
    ranks = plan.ranks.parts[: plan.layout.ranks].tolist()
    n = len(ranks)
    engines, turns = on_engines(prices, ranks, plan.guest)
    ptr = np.concatenate([[0], np.cumsum(np.bincount([row for row, _ in turns], minlength=n))]).astype(np.int64)
    return Cost(
        ptr,
        np.array([resource for _, resource in turns], dtype=np.int64),
        np.ones(len(turns)),
        np.full(n, seconds),
        np.ones(n),
        np.ones(n),
        np.zeros(n),
        engines,
        busy.low / busy.step_time,
        busy.high / busy.step_time,
        ESTIMATE,
        "s",
        SOURCES,
        time=time.part(lambda step: float(step.step_time - step.communication)),
    )


def _traffic(
    prices: Prices,
    plan: TrainingPlan,
    costs: RoutedCosts | ServerCosts,
    group: RankGroup,
    seconds: float,
    busy: StepEstimate,
) -> Cost:
    """Traffic of the groups of a kind that takes so long alone, on all the links of all of them."""
    if isinstance(costs, ServerCosts):
        if group is RankGroup.DATA:
            return _of_servers(prices, costs, seconds, busy)
        costs = costs.routed
    groups = list(plan.ranks.communicators(arrangement_of(plan.layout, group)))
    uses, weight = occupied(prices.network, groups)
    kind, size, slowest = costs.used[group]
    del kind
    latency = _latency_share(plan, costs, group, size)
    del slowest
    return alone(
        seconds * (1 - latency),
        latency=seconds * latency,
        uses=uses,
        weight=weight,
        low=busy.low / busy.step_time,
        high=busy.high / busy.step_time,
        group=ESTIMATE,
        sources=_TRAFFIC_SOURCES,
    )


def _latency_share(plan: TrainingPlan, costs: RoutedCosts, group: RankGroup, size: float) -> float:
    """Share of the time of a group's largest collective that its steps wait, links idle [1]."""
    kind, _, one = costs.used[group]
    name = {"send": "send-recv"}.get(kind.value, kind.value)
    time = one.time(name, float(Bytes(size)))
    return min(1.0, time.latency_term / time.time) if time.time > 0 else 0.0


def _of_servers(prices: Prices, costs: ServerCosts, seconds: float, busy: StepEstimate) -> Cost:
    """To parameter servers and back: what each direction carries in its share of the time."""
    out, back = costs.out, costs.back
    rates = float(out.rate.min()), float(back.rate.min())
    size = seconds / (1 / rates[0] + 1 / rates[1])
    there = flows_of(prices, out, np.full(int((out.rate > 0).sum()), size), "servers:out")
    home = flows_of(prices, back, np.full(int((back.rate > 0).sum()), size), "servers:back")
    # one after the other: both as one activity that takes a share of each link
    # each takes size ÷ rate of the time
    uses = Uses.of({})
    for cost in (there, home):
        resource, back_of = np.unique(cost.resource, return_inverse=True)
        uses = uses.plus(
            Uses(resource, (np.bincount(back_of, cost.usage, len(resource)) * (size / seconds)).astype(np.float64))
        )
    most = float(np.max(uses.amount / prices.table.capacity.of(uses.resource), initial=0.0))
    spare = 1.0 if most <= 1 else 1 / most
    return alone(
        seconds,
        uses=uses.scaled(spare),
        weight=1 / min(rates),
        low=busy.low / busy.step_time,
        high=busy.high / busy.step_time,
        group=ESTIMATE,
        sources=out.sources,
    )


COST = CostKind(TrainStep, price)
