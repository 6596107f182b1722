"""Collectives: all-reduce and its relatives over a group of GPUs."""

from __future__ import annotations

from designer.present.answer import Answer, stack_of
from designer.present.blocks import Change, Stack
from designer.present.changes import suggest
from designer.present.family import Family


def _headline(answer: Answer) -> str:
    text = f"Takes {answer.text('communication_time')}" if answer.metric("communication_time") else "Runs"
    return f"{text}, {answer.text('bus_bandwidth')} bus bandwidth." if answer.metric("bus_bandwidth") else f"{text}."


def _time_stacks(answer: Answer) -> tuple[str, tuple[Stack, ...]]:
    stacks = tuple(stack_of(answer, step, "One collective") for step in answer.result.steps if step.parts)
    return ("Where the time goes", stacks) if stacks else ("", ())


def _changes(answer: Answer) -> tuple[Change, ...]:
    return (suggest(answer),)


FAMILY = Family(
    ("collective",), _headline, ("communication_time", "bus_bandwidth", "algorithm_bandwidth"), _time_stacks, _changes
)
