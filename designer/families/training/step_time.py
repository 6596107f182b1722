"""The time of a training step as an expression: arithmetic, memory, launches and channels of its traffic.

How much of the traffic hides depends on how fast accelerators compute, and layers are as slow as the slower of their
arithmetic and their memory traffic. So the step is estimated again where something is faster; its parts say which
resources there are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from designer.engine.account.bottlenecks import Resources, arithmetic, described, memory_bandwidth
from designer.engine.account.expression import Scenario, Solved, Sum, Tie, Time, shares
from designer.engine.results import Bottleneck
from designer.families.collective.times import expression
from designer.families.training.formulas.step_composition import StepEstimate
from designer.families.training.parameter_servers import ServerCosts
from designer.families.training.preparation import TrainingPlan
from designer.families.training.routed_costs import COLLECTIVES, RoutedCosts
from designer.families.training.step import ESTIMATE
from designer.formulas.communication import RankGroup
from designer.sources import Constant
from designer.units import BytesPerSecond, FlopPerSecond, Seconds, format_quantity

#: kernel launches and what the host does for a step
OVERHEAD: Final = Bottleneck("limit", "overhead", "launches and host overhead", "")


@dataclass(frozen=True, slots=True, eq=False)
class StepTime:
    """The time of a step without its input, and its resources in words.

    Parameters
    ----------
    ties, estimate
        What may hold back the step, and the step where resources take so many times as long.
    """

    time: Time
    words: Mapping[Hashable, Bottleneck | Callable[[], Bottleneck]]
    ties: tuple[Tie, ...]
    estimate: Callable[[Scenario], StepEstimate]

    def part(self, seconds: Callable[[StepEstimate], float]) -> Time:
        """A part of the step as a time of its own; all parts are off together."""
        solved = Solved(seconds(self.estimate({})), self.ties, lambda slower: seconds(self.estimate(slower)))
        return Sum((solved,), 1.0, ESTIMATE)

    def bottleneck(self, resource: Hashable) -> Bottleneck | None:
        """A resource in words; None where it is none of the step."""
        found = self.words.get(resource)
        return found if found is None or isinstance(found, Bottleneck) else found()


def busy_time(plan: TrainingPlan, costs: RoutedCosts | ServerCosts, step: StepEstimate, left: float = 1.0) -> StepTime:
    """A step whose samples are always there.

    Parameters
    ----------
    step
        The step with these costs.
    left
        Share of the links that the traffic not hidden has next to other traffic, for words [1].
    """
    part, name = plan.accelerator, plan.precision.name
    path = plan.ranks.network.net.path(int(plan.ranks.parts[0]))
    busy = f"computing takes {(step.compute + step.recompute + step.optimizer) / step.step_time:.0%} of the step"
    half = f"{name} at {format_quantity(part.peak(name), 'flops')} peak, MFU {step.mfu:.0%}; {busy}"
    reads = f"memory {format_quantity(part.memory_bandwidth, 'rate')}; {busy}"
    sums = arithmetic(path, part.name, half, plan.layout.ranks)
    moves = memory_bandwidth(path, part.name, reads, plan.layout.ranks)
    idle = Bottleneck("limit", "bubble", "pipeline bubble", "twice the microbatches halve it")
    words: dict[Hashable, Bottleneck | Callable[[], Bottleneck]] = {one: one for one in (sums, moves, OVERHEAD)}
    ties: list[Tie] = [(sums,), (moves,), (OVERHEAD,)]
    if step.bubble > 0:
        words[idle] = idle
        ties.append((idle,))
    links = _links(costs, step, left)
    words |= {resource: one for tie in links.values() for resource, one in tie.items()}
    ties += links
    servers = _servers(costs)
    words |= {one: one for tie in servers for one in tie}
    ties += servers
    known: dict[frozenset[tuple[Hashable, float]], StepEstimate] = {frozenset(): step}

    def estimate(slower: Scenario) -> StepEstimate:
        key = frozenset(slower.items())
        if key not in known:
            known[key] = estimated(slower)
        return known[key]

    def estimated(slower: Scenario) -> StepEstimate:
        by, reading, waiting = (slower.get(one, 1.0) for one in (sums, moves, OVERHEAD))
        other = replace(
            part,
            flops={k: FlopPerSecond(v / by) for k, v in part.flops.items()},
            memory_bandwidth=BytesPerSecond(part.memory_bandwidth / reading),
        )
        asked = plan.without_releases()
        if waiting != 1.0:
            own = plan.software
            quicker = replace(
                own, launch=_scale_constant(own.launch, waiting), step_floor=_scale_constant(own.step_floor, waiting)
            )
            asked = replace(asked, software=quicker)
        again = asked.estimate(_slow_costs(costs, slower), accelerator=other, faster=1 / by)
        spared = float(again.bubble) * (1 - slower.get(idle, 1.0))
        # what is sent and what is fetched take half of the traffic each
        sent = sum(1 - max(slower.get(one, 1.0) for one in tie) for tie in servers) / 2 * again.data_communication
        return replace(
            again,
            step_time=Seconds(again.step_time - spared - sent),
            bubble=Seconds(again.bubble - spared),
            data_communication=Seconds(again.data_communication - sent),
        )

    solved = Solved(float(step.step_time), tuple(ties), lambda slower: float(estimate(slower).step_time))
    return StepTime(solved, words, tuple(ties), estimate)


def _links(
    costs: RoutedCosts | ServerCosts, step: StepEstimate, left: float
) -> dict[Tie, dict[Hashable, Callable[[], Bottleneck]]]:
    """What the collectives of a step wait for, by group, with words."""
    routed = costs.routed if isinstance(costs, ServerCosts) else costs
    found: dict[Tie, dict[Hashable, Callable[[], Bottleneck]]] = {}
    for group, (kind, size, one) in routed.used.items():
        shown = float(getattr(step, f"{group}_communication"))
        if shown <= 0:
            continue
        why = f"{_WORDS[group]} traffic not hidden takes {shown / step.step_time:.0%} of the step"
        if left < 1:
            why += f", with {left:.0%} of the links left by other traffic"
        resources = Resources(one.network)
        for tie in shares(expression(one, one.time(COLLECTIVES[kind], size))):
            mine = {resource: partial(_describe_bottleneck, resources, resource, why) for resource in tie}
            found[tie] = {**mine, **found.get(tie, {})}
    return found


def _describe_bottleneck(resources: Resources, resource: Hashable, why: str) -> Bottleneck:
    plain = described(resources, resource)
    text = "; ".join(text for text in (plain.why, why) if text)
    return replace(plain, why=text, both_ways=plain.what == "channel")


_WORDS: Final = {
    RankGroup.TENSOR: "tensor-parallel",
    RankGroup.CONTEXT: "context-parallel",
    RankGroup.EXPERT: "expert-parallel",
    RankGroup.DATA: "data-parallel",
    RankGroup.PIPELINE: "pipeline",
}


def _servers(costs: RoutedCosts | ServerCosts) -> list[tuple[Bottleneck, ...]]:
    if not isinstance(costs, ServerCosts):
        return []
    ways = [
        tuple(replace(b, gain_if_doubled=None, gain_together=None) for b in a.binding) for a in (costs.out, costs.back)
    ]
    return [tuple(replace(b, why=f"{b.why}; traffic of parameter servers") for b in way) for way in ways if way]


def _slow_costs(costs: RoutedCosts | ServerCosts, slower: Scenario) -> RoutedCosts | ServerCosts:
    if isinstance(costs, ServerCosts):
        return replace(costs, routed=replace(costs.routed, slower=slower))
    return replace(costs, slower=slower)


def _scale_constant(constant: Constant, by: float) -> Constant:
    return replace(constant, value=constant.value * by, low=constant.low * by, high=constant.high * by)
