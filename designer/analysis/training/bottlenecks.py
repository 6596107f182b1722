"""What binds a training step: each candidate is tried at twice its capacity, the best of them bind."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from designer.analysis.bottlenecks import NOTICE_TOLERANCE, arithmetic, memory_bandwidth, ranked, tried
from designer.analysis.collectives import collective_bottlenecks
from designer.analysis.results import Bottleneck
from designer.analysis.training.costs import arrangement_of
from designer.analysis.training.feeding import LOADING
from designer.analysis.training.step import RoutedStep, together, with_costs
from designer.units import BytesPerSecond, FlopPerSecond, format_quantity

#: nothing else is on the links
_ALL: Final = ((1.0, 1.0),)
_WORDS: Final = {
    "tensor": "tensor-parallel",
    "context": "context-parallel",
    "expert": "expert-parallel",
    "data": "data-parallel",
    "pipeline": "pipeline",
}


def bottlenecks(routed_step: RoutedStep) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
    """What binds the step, and what would next; each with the gain of doubling it."""
    now, then = ranked(_candidates(routed_step))
    if now:
        return now, then
    why = "nothing twice as wide makes the step shorter"
    return (Bottleneck("limit", "overhead", "launches and host overhead", why),), ()


def _candidates(routed_step: RoutedStep) -> list[Bottleneck]:
    return [
        *_computing(routed_step),
        *_input(routed_step),
        *_collectives(routed_step),
        *_servers(routed_step),
        *_bubble(routed_step),
    ]


def _computing(routed_step: RoutedStep) -> list[Bottleneck]:
    plan, step = routed_step.plan, routed_step.step
    part, name = plan.accelerator, plan.precision.name
    whole = step.step_time
    busy = step.compute + step.recompute + step.optimizer
    path = plan.ranks.network.net.path(int(plan.ranks.parts[0]))
    share = f"computing takes {busy / whole:.0%} of the step"
    half = f"{name} at {format_quantity(part.peak(name), 'flops')} peak, MFU {step.mfu:.0%}; {share}"
    reads = f"memory {format_quantity(part.memory_bandwidth, 'rate')}; {share}"
    quicker = replace(part, flops={k: FlopPerSecond(2 * v) for k, v in part.flops.items()})
    wider = replace(part, memory_bandwidth=BytesPerSecond(2 * part.memory_bandwidth))
    found: list[Bottleneck] = []
    for one, better, measured in (
        (arithmetic(path, part.name, half, plan.layout.ranks), quicker, 2.0),
        (memory_bandwidth(path, part.name, reads, plan.layout.ranks), wider, 1.0),
    ):
        other = plan.estimate(routed_step.costs, accelerator=better, faster=measured).step_time
        found.append(tried(one, whole, together(routed_step, other, routed_step.input[0])))
    return found


def _input(routed_step: RoutedStep) -> list[Bottleneck]:
    """What the samples wait for, where the step waits for samples."""
    if routed_step.feed is None or routed_step.step.input_stall <= 0:
        return []
    loading, whole = routed_step.input[0], routed_step.step.step_time
    if not routed_step.overlapped:
        return _serial(routed_step)
    found: list[Bottleneck] = []
    for bottleneck in routed_step.feed.answer.binding:

        def gain(factor: float | None) -> float | None:
            return (
                None if factor is None else whole / together(routed_step, routed_step.busy.step_time, loading / factor)
            )

        why = f"{bottleneck.why}; the step waits {routed_step.step.input_stall / whole:.0%} of its time for samples"
        found.append(
            replace(
                bottleneck,
                why=why,
                gain_if_doubled=gain(bottleneck.gain_if_doubled),
                gain_together=gain(bottleneck.gain_together),
            )
        )
    return found


def _serial(routed_step: RoutedStep) -> list[Bottleneck]:
    """Without batches ahead every stage is on the way: each tried twice as fast."""
    assert routed_step.feed is not None
    assert routed_step.samples is not None
    size = routed_step.plan.local_batch * routed_step.samples.stored
    whole, loading = routed_step.step.step_time, routed_step.input[0]
    found = [
        Bottleneck(
            "limit",
            f"input:{name}",
            f"{_stage(name, routed_step)} before computing",
            f"no batches ahead: {format_quantity(size / rate, 'duration')} of {format_quantity(whole, 'duration')}",
            gain := whole / (whole - size / rate / 2),
            gain,
        )
        for name, rate in routed_step.feed.stages.items()
    ]
    hidden = whole / max(routed_step.busy.step_time, size / routed_step.feed.rate)
    found.append(
        Bottleneck(
            "limit",
            "input:prefetch",
            "loading one batch after the other",
            f"loading {format_quantity(loading, 'duration')} is not hidden behind computing",
            hidden,
            hidden,
        )
    )
    return found


def _stage(name: str, routed_step: RoutedStep) -> str:
    """A stage in words; a worker whose rate is given as measured reads its samples in that time as well."""
    return LOADING if name == "decode" and routed_step.path.decode_rate > 0 else _STAGES[name]


_STAGES: Final = {
    "read": "reading",
    "network": "the network",
    "decode": "decoding",
    "copy": "copying to the accelerator",
}


def _collectives(routed_step: RoutedStep) -> list[Bottleneck]:
    routed, whole = routed_step.routed, routed_step.step.step_time
    if routed_step.step.communication <= 0:
        return []
    found: list[Bottleneck] = []
    for group, (_, _, one) in list(routed.used.items()):
        if arrangement_of(routed.layout, group)[1] <= 1:
            continue
        for side, activity in (("inside", one.inside), ("between", one.between)):
            if activity is None:
                continue
            gain = whole / with_costs(routed_step, replace(routed, widen=(group, side)))
            if gain < NOTICE_TOLERANCE:
                continue
            exposed = float(getattr(routed_step.step, f"{group}_communication"))
            why = f"{_WORDS[group]} traffic not hidden takes {exposed / whole:.0%} of the step"
            left = min(kept[side == "between"] for kept in routed.kept.get(arrangement_of(routed.layout, group), _ALL))
            if left < 1:
                why += f", with {left:.0%} of the links left beside other traffic"
            found += [
                replace(b, why=f"{b.why}; {why}")
                for b in _alike(collective_bottlenecks(one, activity, gain, first=True))
            ]
    return found


def _alike(bottlenecks: list[Bottleneck]) -> list[Bottleneck]:
    """Links that bind in the same way listed once."""
    found: dict[str, list[Bottleneck]] = {}
    for bottleneck in bottlenecks:
        found.setdefault(bottleneck.why, []).append(bottleneck)
    return [replace(same[0], alike=sum(b.alike for b in same)) for same in found.values()]


def _servers(routed_step: RoutedStep) -> list[Bottleneck]:
    costs = routed_step.costs
    if routed_step.routed is costs:
        return []
    exposed, whole = routed_step.step.data_communication, routed_step.step.step_time
    found: list[Bottleneck] = []
    for answer in (costs.out, costs.back):  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType]
        gain = whole / (whole - exposed / (2 * 2))
        found += [
            replace(b, why=f"{b.why}; traffic of parameter servers", gain_if_doubled=None, gain_together=gain)
            for b in answer.binding
        ]
    return found


def _bubble(routed_step: RoutedStep) -> list[Bottleneck]:
    bubble, whole = routed_step.step.bubble, routed_step.step.step_time
    if bubble <= 0:
        return []
    gain = whole / (whole - bubble / 2)
    why = f"stages idle {bubble / whole:.0%} of the step; twice the microbatches halve that"
    return [Bottleneck("limit", "bubble", "pipeline bubble", why, gain, gain)]
