"""Storage: loading of data, checkpoints, and how many GPUs a store feeds."""

from __future__ import annotations

from designer.present.answer import Answer
from designer.present.blocks import Change
from designer.present.changes import suggest
from designer.present.family import Family, nowhere


def _headline(answer: Answer) -> str:
    if answer.metric("data_stored"):
        used = f", {answer.text('store_used')} of the store" if answer.metric("store_used") else ""
        return f"Versions take {answer.text('data_stored')}{used}; a new one takes {answer.text('version_time')}."
    if answer.metric("checkpoint_time"):
        text = f"Writes a checkpoint in {answer.text('checkpoint_time')}"
        ettr = f"; {answer.text('ettr')} of the time trains" if answer.metric("ettr") else ""
        return f"{text}{ettr}."
    if answer.metric("accelerators"):
        return (
            f"Feeds at most {answer.text('accelerators')} GPUs."
            if answer.value("accelerators") != 1
            else ("Feeds one GPU.")
        )
    rate = next((n for n in ("samples_per_second", "data_rate_per_gpu", "rate") if answer.metric(n)), "")
    return f"Loads {answer.text(rate)}." if rate else "Loads the data."


def _changes(answer: Answer) -> tuple[Change, ...]:
    return (suggest(answer),)


FAMILY = Family(
    ("checkpointing", "data_loading", "storage_sizing", "data_versions"),
    _headline,
    (
        "version_time",
        "data_stored",
        "data_copied",
        "store_used",
        "data_per_day",
        "checkpoint_time",
        "checkpoint_stall",
        "ettr",
        "restore_time",
        "checkpoint_size",
        "best_interval",
        "lost_share",
        "accelerators",
        "samples_per_second",
        "data_rate_per_gpu",
        "rate",
        "input_time",
        "input_cores",
    ),
    nowhere,
    _changes,
)
