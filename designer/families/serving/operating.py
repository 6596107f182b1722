"""Step tokens and slots that a good operator would choose where none are asked for, so that limits hold."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Final

from designer.families.serving.deployment import Serving
from designer.families.serving.formulas.attention_prefill import prefill_area
from designer.families.serving.placement import Placement
from designer.findings import Finding, Severity
from designer.units import format_quantity

#: step tokens of a scheduler that are tried, the most first; fewer than the last make prompts too slow for any use
BUDGETS_LIMIT: Final = (16384, 8192, 4096, 2048, 1024, 512)


def operated(
    placement: Placement, asked: Serving, prompt: float, output: float, keeps_up: Callable[[Placement], bool]
) -> tuple[Placement, tuple[Finding, ...]]:
    """A placement with the step tokens and slots that keep the limit of a token, and why they were chosen.

    Parameters
    ----------
    prompt, output
        Of a mean request [tokens].
    keeps_up
        Whether a placement can answer what is asked: nothing is chosen with which it cannot.

    Notes
    -----
    A step that reads prompts is felt by every request that decodes meanwhile: it may be no longer than a token.
    More requests at once than decode within that time wait in the queue instead.
    """
    limit = asked.limits.tpot
    if not limit:
        return placement, ()
    stated: list[Finding] = []
    for choose in (_budget, _slots):
        chosen = choose(placement, limit, prompt, output)
        if chosen is not None and keeps_up(chosen[0]):
            placement, finding = chosen
            stated.append(finding)
    return placement, tuple(stated)


def _budget(placement: Placement, limit: float, prompt: float, output: float) -> tuple[Placement, Finding] | None:
    """The most step tokens with which a step that reads prompts takes no longer than a token may."""
    how, groups = placement.scheduling, placement.split.data
    own = how.budget // groups
    if placement.deployment.budget or not how.chunked:
        return None
    before = _reading(placement, own, prompt, output)
    if before <= limit:
        return None
    for each in BUDGETS_LIMIT:
        time = _reading(placement, each, prompt, output) if each < own else math.inf
        # where no step is that short, the shortest disturbs least
        if time <= limit or (each == BUDGETS_LIMIT[-1] and time < before):
            text = (
                f"steps hold {each:,} tokens instead of the default {own:,}: one that reads prompts takes "
                f"{format_quantity(time, 'duration')} instead of {format_quantity(before, 'duration')}; the limit of a "
                f"token is {format_quantity(limit, 'duration')}"
            )
            finding = Finding("SERVE-OPERATED", Severity.INFO, text, (), "set budget to choose yourself")
            return replace(placement, scheduling=replace(how, budget=each * groups)), finding
    return None


def _reading(placement: Placement, each: int, prompt: float, output: float) -> float:
    """A step full of prompts in every group, next to as many requests as come with them [s]."""
    how, groups = placement.scheduling, placement.split.data
    whole = min(float(each), prompt)
    pairs = each / whole * prefill_area(round(whole), max(0.0, (prompt - whole) / 2))
    decoding = 1 if how.mixed else 0
    tokens = max(1, each - decoding) * groups
    context = decoding * groups * (prompt + output / 2)
    return placement.steps.step(tokens, pairs * groups, groups, decoding * groups, context)


def _slots(placement: Placement, limit: float, prompt: float, output: float) -> tuple[Placement, Finding] | None:
    """The most requests at once that decode within the time a token may take."""
    how, groups = placement.scheduling, placement.split.data
    own = how.slots // groups
    if placement.deployment.slots or placement.deployment.drafts:
        return None
    steps, whole = placement.steps, prompt + output / 2
    room = max(1, min(own, int(placement.each_holds / whole)))

    def time(each: int) -> float:
        return steps.decode(each * groups) + steps.context() * each * groups * whole

    if time(room) <= limit or time(1) > limit:
        return None
    low, high = 1, room
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if time(middle) <= limit else (low, middle)
    text = (
        f"at most {low:,} requests run at once instead of the default {own:,}: with {room:,}, for which there is room, "
        f"a token takes {format_quantity(time(room), 'duration')}; its limit is {format_quantity(limit, 'duration')}"
    )
    finding = Finding("SERVE-OPERATED", Severity.INFO, text, (), "set slots to choose yourself")
    return replace(placement, scheduling=replace(how, slots=low * groups)), finding
