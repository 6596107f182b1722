"""Transfers: data moved from one set of parts to another."""

from __future__ import annotations

from typing import Final

from designer.present.answer import Answer
from designer.present.blocks import Change
from designer.present.changes import suggest
from designer.present.family import Family, nowhere

#: all GPUs get as much where the total is so near to as many times the least
_EVEN: Final = 1e-6


def _headline(answer: Answer) -> str:
    if answer.metric("batch_time") is not None:
        return f"A batch takes {answer.text('batch_time')}, the network included."
    every = answer.text("rate") if answer.metric("rate") else ""
    each = answer.text("data_rate_per_gpu") if answer.metric("data_rate_per_gpu") else ""
    time = f"Takes {answer.text('transfer_time')} at " if answer.metric("transfer_time") else ""
    total, least = answer.value("rate"), answer.value("data_rate_per_gpu")
    if each and every != each and not time and least > 0 and abs(total / least - answer.result.n_flows) < _EVEN:
        return f"Each GPU gets {each}, {every} in all."
    if each and every != each:
        return f"{time or 'Moves '}{every}; the slowest GPU gets {each}."
    return f"{time or 'Moves '}{every or each}."


def _changes(answer: Answer) -> tuple[Change, ...]:
    return (suggest(answer),)


FAMILY = Family(
    ("transfer", "remote"), _headline, ("batch_time", "rate", "data_rate_per_gpu", "transfer_time"), nowhere, _changes
)
