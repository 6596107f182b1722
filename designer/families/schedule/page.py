"""Schedules: what workloads get of accelerators that machines hold for some hours."""

from __future__ import annotations

from designer.present import numbers
from designer.present.answer import Answer
from designer.present.blocks import Change, Share, Stack
from designer.present.family import Family

_RATES = ("tokens_per_second", "samples_per_second")
_PARTS = (("hours_computing", "Workloads"), ("hours_held", "Machines"), ("hours_unused", "Nobody"))


def _headline(answer: Answer) -> str:
    text = f"Workloads get {answer.text('hours_computing')} of the accelerator hours"
    rate = next((name for name in _RATES if answer.metric(name) is not None), "")
    return f"{text}, in the mean {answer.text(rate)}." if rate else f"{text}."


def _share_stacks(answer: Answer) -> tuple[str, tuple[Stack, ...]]:
    parts = sorted(((title, answer.value(name)) for name, title in _PARTS), key=lambda part: -part[1])
    shares = tuple(Share(title, numbers.percent(share), share) for title, share in parts if share > 0)
    return "Who has the accelerators", (Stack("All hours", "100%", shares),)


def _changes(answer: Answer) -> tuple[Change, ...]:
    del answer
    return ()


FAMILY = Family(
    ("schedule",),
    _headline,
    ("hours_computing", *_RATES, "hours_unused", "switch_time", "mean_power", "peak_power", "energy_per_day"),
    _share_stacks,
    _changes,
)
