"""Steps with what they consist of, as stacks of a page."""

from __future__ import annotations

from typing import Final

from designer.engine.results import Step
from designer.present import numbers
from designer.present.answer import Answer, shares_of
from designer.present.blocks import Stack
from designer.present.limits import named, tied

#: parts of a step that are less than its last digit are left out [1]
_DIGIT: Final = 5e-4


def stack_of(answer: Answer, step: Step, title: str) -> Stack:
    """A step with what it consists of; links of one kind are one part, and so is what is tied."""
    parts: dict[str, float] = {}
    for spent in step.parts:
        name = tied(named(spent.held, answer.design))
        parts[name] = parts.get(name, 0.0) + spent.seconds
    limiting = [one for one in (*answer.result.binding, *answer.result.next) if one.phase in (step.phase, "")]
    first = tied(named(limiting[:1], answer.design))
    if first not in parts:
        # what limits is tied with something else, or is no part of a step
        first = max(parts, key=parts.__getitem__)
    shown = [(name, amount) for name, amount in parts.items() if amount >= _DIGIT * step.seconds]
    shares = shares_of(shown, step.seconds, "s", first)
    return Stack(title, numbers.shown(step.seconds, "s"), shares)
