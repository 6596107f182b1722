"""What binds a training step: each candidate is tried at twice its capacity, the best of them bind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from designer.analysis.collectives import told
from designer.analysis.results import Bound
from designer.analysis.training.costs import arrangement_of
from designer.analysis.training.feeding import LOADING
from designer.analysis.training.step import DrawnStep, together, with_costs
from designer.formulas.accelerator import Accelerator
from designer.units import BytesPerSecond, FlopPerSecond, format_quantity

#: nothing else is on the links
_ALL: Final = ((1.0, 1.0),)
#: what saves less than this share of the step is not worth naming
NOTICE_TOLERANCE: Final = 1.005
_WORDS: Final = {
    "tensor": "tensor-parallel", "context": "context-parallel", "expert": "expert-parallel", "data": "data-parallel",
    "pipeline": "pipeline",
}  # fmt: skip


def bottlenecks(drawn: DrawnStep) -> tuple[tuple[Bound, ...], tuple[Bound, ...]]:
    """What binds the step, and what would next; each with the gain of doubling it."""
    found = [b for b in _candidates(drawn) if (b.gain_if_doubled or 1.0) >= NOTICE_TOLERANCE or b.gain_together]
    found = [b for b in found if max(b.gain_if_doubled or 1.0, b.gain_together or 1.0) >= NOTICE_TOLERANCE]
    if not found:
        floor = Bound("limit", "overhead", "launches and host overhead", "nothing twice as wide makes the step shorter")
        return (floor,), ()

    def gain(bound: Bound) -> float:
        return max(bound.gain_if_doubled or 1.0, bound.gain_together or 1.0)

    found.sort(key=gain, reverse=True)
    line = 1 + (gain(found[0]) - 1) / 2
    return tuple(b for b in found if gain(b) >= line), tuple(b for b in found if gain(b) < line)


def _candidates(drawn: DrawnStep) -> list[Bound]:
    return [*_computing(drawn), *_input(drawn), *_collectives(drawn), *_servers(drawn), *_bubble(drawn)]


def _computing(drawn: DrawnStep) -> list[Bound]:
    plan, step = drawn.plan, drawn.step
    part, name = plan.accelerator, plan.precision.name
    whole = step.step_time
    busy = step.compute + step.recompute + step.optimizer
    path = plan.ranks.network.net.path(int(plan.ranks.parts[0]))
    share = f"computing takes {busy / whole:.0%} of the step"
    faster: Mapping[str, tuple[str, str, str, Accelerator, float]] = {
        "arithmetic": (
            "compute",
            f"{part.name} (arithmetic)",
            f"{name} at {format_quantity(part.peak(name), 'flops')} peak, MFU {step.mfu:.0%}; {share}",
            replace(part, flops={k: FlopPerSecond(2 * v) for k, v in part.flops.items()}),
            2.0,
        ),
        "memory": (
            "part",
            f"{part.name} (memory bandwidth)",
            f"memory {format_quantity(part.memory_bandwidth, 'rate')}; {share}",
            replace(part, memory_bandwidth=BytesPerSecond(2 * part.memory_bandwidth)),
            1.0,
        ),
    }
    found: list[Bound] = []
    for what, label, why, wider, measured in faster.values():
        other = plan.estimate(drawn.costs, accelerator=wider, faster=measured).step_time
        gain = whole / together(drawn, other, drawn.input[0])
        found.append(Bound(what, path, label, why, gain, gain, plan.layout.ranks))
    return found


def _input(drawn: DrawnStep) -> list[Bound]:
    """What the samples wait for, where the step waits for samples."""
    if drawn.feed is None or drawn.step.input_stall <= 0:
        return []
    loading, whole = drawn.input[0], drawn.step.step_time
    if not drawn.overlapped:
        return _serial(drawn)
    found: list[Bound] = []
    for bound in drawn.feed.answer.binding:

        def gain(factor: float | None) -> float | None:
            return None if factor is None else whole / together(drawn, drawn.busy.step_time, loading / factor)

        why = f"{bound.why}; the step waits {drawn.step.input_stall / whole:.0%} of its time for samples"
        found.append(
            replace(
                bound, why=why, gain_if_doubled=gain(bound.gain_if_doubled), gain_together=gain(bound.gain_together)
            )
        )
    return found


def _serial(drawn: DrawnStep) -> list[Bound]:
    """Without batches ahead every stage is on the way: each tried twice as fast."""
    assert drawn.feed is not None
    assert drawn.samples is not None
    size = drawn.plan.local_batch * drawn.samples.stored
    whole, loading = drawn.step.step_time, drawn.input[0]
    found = [
        Bound(
            "limit", f"input:{name}", f"{_stage(name, drawn)} before computing",
            f"no batches ahead: {format_quantity(size / rate, 'duration')} of {format_quantity(whole, 'duration')}",
            gain := whole / (whole - size / rate / 2), gain,
        )
        for name, rate in drawn.feed.stages.items()
    ]  # fmt: skip
    hidden = whole / max(drawn.busy.step_time, size / drawn.feed.rate)
    found.append(
        Bound("limit", "input:prefetch", "loading one batch after the other",
              f"loading {format_quantity(loading, 'duration')} is not hidden behind computing", hidden, hidden)
    )  # fmt: skip
    return found


def _stage(name: str, drawn: DrawnStep) -> str:
    """A stage in words; a worker whose rate is given as measured reads its samples in that time as well."""
    return LOADING if name == "decode" and drawn.path.decode_rate > 0 else _STAGES[name]


_STAGES: Final = {
    "read": "reading",
    "network": "the network",
    "decode": "decoding",
    "copy": "copying to the accelerator",
}


def _collectives(drawn: DrawnStep) -> list[Bound]:
    routed, whole = drawn.routed, drawn.step.step_time
    if drawn.step.communication <= 0:
        return []
    found: list[Bound] = []
    for group, (_, _, one) in list(routed.used.items()):
        if arrangement_of(routed.layout, group)[1] <= 1:
            continue
        for side, activity in (("inside", one.inside), ("between", one.between)):
            if activity is None:
                continue
            gain = whole / with_costs(drawn, replace(routed, widen=(group, side)))
            if gain < NOTICE_TOLERANCE:
                continue
            exposed = float(getattr(drawn.step, f"{group}_communication"))
            why = f"{_WORDS[group]} traffic not hidden takes {exposed / whole:.0%} of the step"
            left = min(kept[side == "between"] for kept in routed.kept.get(arrangement_of(routed.layout, group), _ALL))
            if left < 1:
                why += f", with {left:.0%} of the links left beside other traffic"
            found += [replace(b, why=f"{b.why}; {why}") for b in _alike(told(one, activity, gain, first=True))]
    return found


def _alike(bounds: list[Bound]) -> list[Bound]:
    """Links that bind in the same way told once."""
    found: dict[str, list[Bound]] = {}
    for bound in bounds:
        found.setdefault(bound.why, []).append(bound)
    return [replace(same[0], alike=sum(b.alike for b in same)) for same in found.values()]


def _servers(drawn: DrawnStep) -> list[Bound]:
    costs = drawn.costs
    if drawn.routed is costs:
        return []
    exposed, whole = drawn.step.data_communication, drawn.step.step_time
    found: list[Bound] = []
    for answer in (costs.out, costs.back):  # pyright: ignore[reportAttributeAccessIssue, reportUnknownArgumentType]
        gain = whole / (whole - exposed / (2 * 2))
        found += [
            replace(b, why=f"{b.why}; traffic of parameter servers", gain_if_doubled=None, gain_together=gain)
            for b in answer.binding
        ]
    return found


def _bubble(drawn: DrawnStep) -> list[Bound]:
    bubble, whole = drawn.step.bubble, drawn.step.step_time
    if bubble <= 0:
        return []
    gain = whole / (whole - bubble / 2)
    why = f"stages idle {bubble / whole:.0%} of the step; twice the microbatches halve that"
    return [Bound("limit", "bubble", "pipeline bubble", why, gain, gain)]
