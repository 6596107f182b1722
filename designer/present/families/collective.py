"""Collectives: all-reduce and its relatives over a group of GPUs."""

from __future__ import annotations

from designer.present.answer import Answer, shares_of
from designer.present.blocks import Change, Stack
from designer.present.changes import suggest
from designer.present.family import Family
from designer.present.limits import named


def _headline(answer: Answer) -> str:
    text = f"Takes {answer.text('communication_time')}" if answer.metric("communication_time") else "Runs"
    return f"{text}, {answer.text('bus_bandwidth')} bus bandwidth." if answer.metric("bus_bandwidth") else f"{text}."


def _where(answer: Answer) -> tuple[str, tuple[Stack, ...]]:
    total = answer.value("communication_time")
    every = [*named(answer.result.binding, answer.design), *named(answer.result.next, answer.design)]
    parts = [(one.short, one.share * total) for one in every if one.share > 0]
    if total <= 0 or not parts or sum(amount for _, amount in parts) > 1.02 * total:
        return "", ()
    shares = shares_of(parts, total, "s", every[0].short)
    return "Where the time goes", (Stack("One collective", answer.text("communication_time"), shares),)


def _changes(answer: Answer) -> tuple[Change, ...]:
    return (suggest(answer),)


FAMILY = Family(
    ("collective",), _headline, ("communication_time", "bus_bandwidth", "algorithm_bandwidth"), _where, _changes
)
