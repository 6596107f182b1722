"""What to do for more requests or shorter answers: what a request takes alone, and what more of a part brings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from designer.engine.results import Bottleneck
from designer.families.serving.answers import Served, asked_rate
from designer.families.serving.bottlenecks import phases
from designer.families.serving.drafting import Drafted, gain, pays_until
from designer.families.serving.formulas.attention_prefill import prefill_area
from designer.families.serving.placement import Placement
from designer.findings import Finding, Severity
from designer.units import format_quantity


def alone(served: Served) -> tuple[float, float, float]:
    """First token, time per token and whole answer of a mean request that meets no other [s]."""
    requests, placement = served.sent.requests, served.placement
    prompt, output = float(np.mean(requests.prompt)), float(np.mean(requests.output))
    found = float(np.mean(requests.cached)) if requests.cached else 0.0
    reading = served.prompts or placement
    first = reading.release.overheads.path + placement.fetch + _reading(reading, prompt, found)
    steps = placement.timed
    if served.pull is not None:
        # the engine that answers computes the last token of the prompt again
        first += served.pull.time + steps.step(1, prompt, 1, 0, 0.0)
    token = steps.decode(1) + steps.context() * (prompt + output / 2)
    return first, token, first + token * max(0.0, output - 1)


def _reading(placement: Placement, prompt: float, found: float) -> float:
    """All of a prompt but for what is found in caches, in steps as long as the budget lets them be [s]."""
    left, done, time = max(1, round(prompt - found)), found, 0.0
    while left > 0:
        taken = min(left, placement.scheduling.budget) if placement.scheduling.chunked else left
        left -= taken
        time += placement.steps.step(taken, prefill_area(taken, done), 0 if left else 1, 0, 0.0)
        done += taken
    return time


def remedy(what: str, limit: float, shortest: float) -> str:
    """For a limit that does not hold [s]."""
    if shortest > limit:
        each = format_quantity(shortest, "duration")
        other = "shorter prompts" if what == "ttft" else "narrower weights"
        return (
            f"one request alone takes {each}, so more replicas do not help: use wider replicas, quicker accelerators "
            f"or {other}"
        )
    return f"a request alone takes {format_quantity(shortest, 'duration')}: use more replicas, or a lower load"


def more(served: Served, binding: Sequence[Bottleneck]) -> list[Finding]:
    """How much of what is drawn the load uses, and what one more of it would bring."""
    placement, stands = served.placement, served.stands
    most, asked = served.most[0] * stands, asked_rate(served)
    if not asked or served.saturated:
        return []
    pieces = [
        f"{format_quantity(asked, 'frequency')} of {format_quantity(most, 'frequency')} that can be answered at all"
    ]
    if served.prompts is None and placement.each == 1:
        devices = placement.split.devices
        gpus = f"{devices} x {placement.device.name}" if devices > 1 else f"one {placement.device.name}"
        pieces.append(f"one more replica ({gpus}) brings {format_quantity(served.most[0], 'frequency')}")
    elif served.short:
        pieces.append(f"what ends first is {served.short}")
    for phase in phases(served):
        mine = [b for b in binding if b.why.startswith(f"{phase.name}:") and b.gain_if_doubled]
        if mine:
            best = max(mine, key=lambda b: b.gain_if_doubled or 0.0)
            pieces.append(f"twice as much of {best.label} makes {phase.name} {best.gain_if_doubled:.2f} times as fast")
    advice = "replicas take more requests; wider replicas and quicker accelerators shorten answers"
    return [Finding("SERVE-MORE", Severity.INFO, "; ".join(pieces), (), advice)]


def drafting(served: Served, running: float) -> list[Finding]:
    """Up to how many requests at once drafts pay, and whether they do where so many decode at once."""
    placement = served.placement
    drafted = placement.timed
    if not isinstance(drafted, Drafted):
        return []
    requests = served.sent.requests
    context = float(np.mean(requests.prompt)) + float(np.mean(requests.output)) / 2
    fits = max(1, min(placement.scheduling.slots, int(placement.capacity / context)))
    most = pays_until(placement.steps, drafted, context, fits)
    now = gain(placement.steps, drafted, max(1, round(running)), context)
    if most >= fits:
        until = f"as many requests as fit, {fits:,} a replica"
    else:
        until = f"{most:,} requests at once in a replica" if most else "no number of requests"
    text = (
        f"drafting {drafted.drafts} tokens pays up to {until}; with the {max(1, round(running)):,} that decode at once "
        f"a token comes {now:.2f} times as fast as without"
    )
    if now < 1:
        return [Finding("SERVE-DRAFTS", Severity.WARNING, text, (), "draft fewer tokens or none at this load")]
    return [Finding("SERVE-DRAFTS", Severity.INFO, text, (), "draft where fewer requests decode at once than that")]
