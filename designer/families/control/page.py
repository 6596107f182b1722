"""Control loops: how soon a command follows what was seen, and whether the loop keeps its pace."""

from __future__ import annotations

from designer.present import numbers
from designer.present.answer import Answer
from designer.present.blocks import Change, Share, Stack
from designer.present.changes import suggest
from designer.present.family import Family

#: stretches of a turn by the metric that ends them
_STRETCHES = (("sense_time", "Capture and frames"), ("decide_time", "Model"), ("command_time", "Command"))


def _headline(answer: Answer) -> str:
    pace = answer.text("loops_per_second")
    return f"Reacts in {answer.text('reaction_time')}, {pace}."


def _time_stacks(answer: Answer) -> tuple[str, tuple[Stack, ...]]:
    whole = answer.value("reaction_time")
    parts = [(title, answer.value(name)) for name, title in _STRETCHES if answer.metric(name) is not None]
    rest = whole - sum(seconds for _, seconds in parts)
    parts += [("Way to the actuators", rest)] if rest > 0.001 * whole else []
    shares = tuple(
        Share(title, numbers.shown(seconds, "s"), seconds / whole)
        for title, seconds in sorted(parts, key=lambda part: -part[1])
    )
    return "Where the time goes", (Stack("A turn", numbers.shown(whole, "s"), shares),)


def _changes(answer: Answer) -> tuple[Change, ...]:
    return (suggest(answer),)


FAMILY = Family(
    ("control",),
    _headline,
    ("reaction_time", "loops_per_second", "decide_time", "sense_time", "command_time"),
    _time_stacks,
    _changes,
)
