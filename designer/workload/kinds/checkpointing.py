"""Checkpointing: the burst of a checkpoint from all ranks to storage, and the restore."""

from collections.abc import Mapping
from typing import Any

from designer.workload.job_settings import LAYOUT, MODEL, job
from designer.workload.jobs import Checkpointing
from designer.workload.kind import Setting, WorkloadKind


def lower(settings: Mapping[str, Any]) -> Checkpointing:
    """One checkpoint operation."""
    return Checkpointing(
        "checkpointing",
        job(settings),
        settings["target"],
        settings["snapshot"],
        settings["restore_from_one"],
        settings["every"],
        settings["mean_time_between_failures"],
    )


WORKLOAD = WorkloadKind(
    name="checkpointing",
    title="Checkpoint",
    reports="training",
    metrics=(
        "checkpoint_time",
        "checkpoint_stall",
        "restore_time",
        "checkpoint_size",
        "rate",
        "best_interval",
        "lost_share",
    ),
    lower=lower,
    help="Time of a checkpoint burst and of restoring it over the drawn paths, and the interval that loses least.",
    settings=(
        *MODEL,
        *LAYOUT,
        Setting("target", "Checkpoints to", "selector", "storage"),
        Setting("snapshot", "Behind training", "flag", False, help="training goes on after a copy to host memory"),
        Setting("restore_from_one", "One replica reads", "flag", False, help="the others get it over the network"),
        Setting("every", "Interval", "duration", "1 h"),
        Setting("mean_time_between_failures", "Time between failures", "duration", "168 h"),
    ),
)
