"""The time of a training step as an expression: arithmetic, memory, launches, channels of its traffic, and input.

How much of the traffic hides depends on how fast accelerators compute, and layers are as slow as the slower of their
arithmetic and their memory traffic. So the step is estimated again where something is faster; its parts say which
resources there are.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

from designer.analysis.bottlenecks import Resources, arithmetic, described, memory_bandwidth
from designer.analysis.collective_times import expression
from designer.analysis.expression import Longest, Scenario, Solved, Sum, Term, Tie, Time, shares
from designer.analysis.results import Bottleneck
from designer.analysis.training.costs import COLLECTIVES, RoutedCosts
from designer.analysis.training.feeding import LOADING
from designer.analysis.training.parameter_servers import ServerCosts
from designer.analysis.training.preparation import TrainingPlan
from designer.analysis.training.step import RoutedStep
from designer.formulas.communication import RankGroup
from designer.formulas.pipeline.step_composition import StepEstimate
from designer.sources import Constant
from designer.units import BytesPerSecond, FlopPerSecond, Seconds, format_quantity

#: kernel launches and what the host does for a step
OVERHEAD: Final = Bottleneck("limit", "overhead", "launches and host overhead", "")
#: whose band scales a step
ESTIMATE: Final = "training"
_STAGES: Final = {
    "read": "reading",
    "network": "the network",
    "decode": "decoding",
    "copy": "copying to the accelerator",
}


@dataclass(frozen=True, slots=True, eq=False)
class StepTime:
    """The time of a step, and its resources in words.

    Parameters
    ----------
    ties, estimate
        What may hold back the step without its input, and that step where resources take so many times as long.
    """

    time: Time
    words: Mapping[Hashable, Bottleneck | Callable[[], Bottleneck]]
    ties: tuple[Tie, ...]
    estimate: Callable[[Scenario], StepEstimate]

    def part(self, seconds: Callable[[StepEstimate], float]) -> Time:
        """A part of the step as a time of its own; all parts are off together."""
        solved = Solved(seconds(self.estimate({})), self.ties, lambda slower: seconds(self.estimate(slower)))
        return Sum((solved,), 1.0, ESTIMATE)

    def bottleneck(self, resource: Hashable) -> Bottleneck:
        """A resource in words."""
        found = self.words[resource]
        return found if isinstance(found, Bottleneck) else found()


def busy_time(plan: TrainingPlan, costs: RoutedCosts | ServerCosts, step: StepEstimate) -> StepTime:
    """A step whose samples are always there.

    Parameters
    ----------
    step
        The step with these costs.
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
    links = _links(costs, step)
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
        asked = plan
        if waiting != 1.0:
            own = plan.software
            quicker = replace(own, launch=_scaled(own.launch, waiting), step_floor=_scaled(own.step_floor, waiting))
            asked = replace(plan, software=quicker)
        again = asked.estimate(_slower(costs, slower), accelerator=other, faster=1 / by)
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


def step_time(routed_step: RoutedStep) -> StepTime:
    """A step with its input."""
    busy = busy_time(routed_step.plan, routed_step.costs, routed_step.busy)
    if routed_step.feed is None or routed_step.samples is None:
        return busy
    loading, whole = routed_step.input[0], routed_step.step.step_time
    if routed_step.overlapped:
        if routed_step.step.input_stall <= 0:
            return busy
        binding = routed_step.feed.answer.binding
        waits = f"the step waits {routed_step.step.input_stall / whole:.0%} of its time for samples"
        words = {one: replace(one, why=f"{one.why}; {waits}") for one in binding}
        fed = Solved(loading, (binding,), lambda slower: _loading(loading, binding, slower))
        return StepTime(Longest((busy.time, fed)), {**busy.words, **words}, busy.ties, busy.estimate)
    size = routed_step.plan.local_batch * routed_step.samples.stored
    stages = {_stage(name, size / rate, routed_step): size / rate for name, rate in routed_step.feed.stages.items()}
    scale = loading / sum(stages.values())
    terms = [Term(one, seconds * scale) for one, seconds in stages.items()]
    return StepTime(Sum((busy.time, *terms)), {**busy.words, **{one: one for one in stages}}, busy.ties, busy.estimate)


def _loading(loading: float, binding: tuple[Bottleneck, ...], slower: Scenario) -> float:
    """Time of the input where all that binds it, or one of it alone, is faster: what its transfer gains."""
    faster = [one for one in binding if slower.get(one, 1.0) < 1]
    if not faster:
        return loading * max(slower.get(one, 1.0) for one in binding)
    if len(faster) == len(binding):
        return loading / (binding[0].gain_together or 1.0)
    return loading / max(one.gain_if_doubled or 1.0 for one in faster)


def _stage(name: str, seconds: float, routed_step: RoutedStep) -> Bottleneck:
    """A stage of input that is not hidden; a worker whose rate is measured reads its samples in that time as well."""
    decodes = name == "decode" and routed_step.path.decode_rate > 0
    whole = format_quantity(routed_step.step.step_time, "duration")
    why = f"no batches ahead: {format_quantity(seconds, 'duration')} of {whole}"
    label = f"{LOADING if decodes else _STAGES[name]} before computing"
    return Bottleneck("limit", f"input:{name}", label, why)


def _links(costs: RoutedCosts | ServerCosts, step: StepEstimate) -> dict[Tie, dict[Hashable, Callable[[], Bottleneck]]]:
    """What the collectives of a step wait for, by group, with words."""
    routed = costs.routed if isinstance(costs, ServerCosts) else costs
    found: dict[Tie, dict[Hashable, Callable[[], Bottleneck]]] = {}
    for group, (kind, size, one) in routed.used.items():
        shown = float(getattr(step, f"{group}_communication"))
        if shown <= 0:
            continue
        why = f"{_WORDS[group]} traffic not hidden takes {shown / step.step_time:.0%} of the step"
        left = routed.left(group)
        if left < 1:
            why += f", with {left:.0%} of the links left beside other traffic"
        resources = Resources(one.network)
        for tie in shares(expression(one, one.time(COLLECTIVES[kind], size))):
            mine = {resource: partial(_worded, resources, resource, why) for resource in tie}
            found[tie] = {**mine, **found.get(tie, {})}
    return found


def _worded(resources: Resources, resource: Hashable, why: str) -> Bottleneck:
    plain = described(resources, resource)
    return replace(plain, why="; ".join(text for text in (plain.why, why) if text))


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


def _slower(costs: RoutedCosts | ServerCosts, slower: Scenario) -> RoutedCosts | ServerCosts:
    if isinstance(costs, ServerCosts):
        return replace(costs, routed=replace(costs.routed, slower=slower))
    return replace(costs, slower=slower)


def _scaled(constant: Constant, by: float) -> Constant:
    return replace(constant, value=constant.value * by, low=constant.low * by, high=constant.high * by)
