"""Congestion: the spread of a workload over draws of the hash."""

from __future__ import annotations

from designer.present import numbers
from designer.present.answer import Answer
from designer.present.blocks import Change, Tone
from designer.present.family import Family, nowhere


def _headline(answer: Answer) -> str:
    share = answer.metric("hashed_share")
    if share is None:
        return "Nothing to report."
    if numbers.percent(share.low) == numbers.percent(1.0):
        return "Hashing costs nothing: flows that meet would share a link on any path."
    ends = f"{numbers.percent(share.low)} to {numbers.percent(share.high)} in eight of ten draws"
    return f"With each flow on one path it reaches {answer.text('hashed_share')} of an even split, {ends}."


def _changes(answer: Answer) -> tuple[Change, ...]:
    wanted = str(answer.spec.settings.get("workload", "")) if answer.spec is not None else ""
    command = ("analyze", answer.file, "--workload", wanted, "--set", "policy.ecmp=adaptive")
    return (Change("With adaptive routing", command=command, tone=Tone.PLAIN),)


FAMILY = Family(
    ("congestion",),
    _headline,
    (
        "hashed_share",
        "worst_draw",
        "slowest_flow_share",
        "communication_time",
        "step_time",
        "rate",
        "incast_degree",
        "incast_share",
    ),
    nowhere,
    _changes,
)
