"""Checkpointing: the burst of a checkpoint from all ranks to storage, and the restore."""

from collections.abc import Mapping
from typing import Any

from designer.families.training.tasks import CopyCheckpoint, ReadCheckpoint, WriteCheckpoint
from designer.workload.job_settings import LAYOUT, MODEL, job
from designer.workload.jobs import Requests, Saving
from designer.workload.kind import Setting, WorkloadKind
from designer.workload.program import Measure, Program, Step


def program(settings: Mapping[str, Any]) -> Program:
    """One checkpoint out and back in."""
    asked, target, snapshot = job(settings), settings["target"], settings["snapshot"]
    long_run = ("every", "mean_time_between_failures", "cold_start", "repair", "length", "seed")
    saving = Saving(*(settings[name] for name in long_run))
    requests = Requests(settings["io_size"], settings["queue_depth"], settings["threads"])
    steps = [
        Step("checkpoint", WriteCheckpoint(asked, target, saving, requests), ("copy",) if snapshot else ()),
        Step("restore", ReadCheckpoint(asked, target, settings["restore_from_one"], requests), ("checkpoint",)),
    ]
    if snapshot:
        steps.insert(0, Step("copy", CopyCheckpoint(asked)))
    stall = "copy" if snapshot else "checkpoint"
    measures = (
        Measure("checkpoint_time", "s", "time", "checkpoint"),
        Measure("checkpoint_stall", "s", "time", stall),
        Measure("restore_time", "s", "time", "restore"),
    )
    return Program("checkpointing", tuple(steps), measures=measures)


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
        "mean_time_between_failures",
        "best_interval",
        "lost_share",
        "ettr",
        "ettr_simulated",
        "exact_interval",
        "spares",
    ),
    program=program,
    answer="designer.families.storage.checkpointing",
    help="Time of a checkpoint burst and of restoring it over the drawn paths, and the interval that loses least.",
    settings=(
        *MODEL,
        *LAYOUT,
        Setting("target", "Checkpoints to", "selector", "storage"),
        Setting("snapshot", "Behind training", "flag", False, help="training goes on after a copy to host memory"),
        Setting("restore_from_one", "One replica reads", "flag", False, help="the others get it over the network"),
        Setting("io_size", "I/O size", "size", "0 B", help="of a request of a rank to storage; 0 B for streams"),
        Setting(
            "queue_depth", "Queue depth", "count", 1, help="requests a thread keeps in flight, where they have a size"
        ),
        Setting("threads", "Threads", "count", 1, help="of each rank, where requests have a size"),
        Setting("every", "Interval", "duration", "1 h"),
        Setting(
            "mean_time_between_failures",
            "Time between failures",
            "duration",
            "0 s",
            help="of the whole job; 0 s to estimate it from the number of accelerators",
        ),
        Setting("cold_start", "Cold start", "duration", "10 min", help="from a failure until the checkpoint is read"),
        Setting("repair", "Repair", "duration", "24 h", help="until a server that failed is back"),
        Setting("length", "Length of the run", "duration", "720 h"),
        Setting("seed", "Seed", "count", 0, help="of the failures that are drawn"),
    ),
)
