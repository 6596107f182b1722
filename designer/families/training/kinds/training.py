"""Training: steps of a model on the drawn accelerators, fed from the drawn storage."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from designer.families.training.tasks import CopyCheckpoint, LoadBatch, ReadCheckpoint, TrainStep, WriteCheckpoint
from designer.workload.job_settings import FORWARD, INPUT, LAYOUT, MODEL, RUN, input_path, job, run
from designer.workload.kind import Setting, WorkloadKind
from designer.workload.program import Measure, Program, Recovery, Step


def program(settings: Mapping[str, Any]) -> Program:
    """Step after step: samples are loaded ahead, as many batches as are prefetched; checkpoints come in between."""
    servers = settings["parameter_servers"] if settings["exchange"] == "parameter-server" else ""
    asked = job(settings)
    if servers and asked.sharding == "auto":
        # ranks that share the weights out have no servers for them
        asked = replace(asked, sharding="none")
    task = TrainStep(asked, servers, input_path(settings), run(settings))
    lags, after = {"step": 1}, tuple[str, ...]()
    steps: list[Step] = []
    if task.input.dataset and not task.run.online:
        # a batch is used up when its step begins, which is when the step before it ends
        ahead = task.input.prefetch + 1
        steps.append(Step("load", LoadBatch(task.input, asked), lags={"load": 1, "step": ahead}))
        after = ("load",)
    every, to = task.run.checkpoint_every, task.run.checkpoint_to
    if every:
        stops = "copy" if task.run.snapshot else "checkpoint"
        steps.append(Step("step", task, after, {**lags, stops: 1}))
        if task.run.snapshot:
            # the checkpoint before this one; that of the item before would hold up steps without a copy as well
            steps.append(Step("copy", CopyCheckpoint(asked), ("step",), {"checkpoint": every}, every))
        write = Step("checkpoint", WriteCheckpoint(asked, to), (stops,) if task.run.snapshot else ("step",))
        steps.append(replace(write, every=every, lags={"checkpoint": 1}))
    else:
        steps.append(Step("step", task, after, lags))
    recovery = None
    if every:
        # what fails on the clock may be stated there as well, so a job that saves its state can always recover
        between = task.run.time_between_failures or math.inf
        read = ReadCheckpoint(asked, to)
        recovery = Recovery("checkpoint", read, task.run.cold_start, between, seed=task.run.failure_seed)
    fails = recovery is not None and math.isfinite(recovery.between)
    # checkpoints come in between: what they take is a measure of its own
    measures = [Measure("step_time", "s", "pace" if every else "period", "step")]
    if fails:
        measures.append(Measure("ettr", "1", "progress", "step"))
    if after:
        measures.append(Measure("input_time", "s", "time", "load"))
    if every:
        measures.append(Measure("checkpoint_time", "s", "time", "checkpoint"))
    return Program("training", tuple(steps), math.inf, measures=tuple(measures), recovery=recovery)


WORKLOAD = WorkloadKind(
    name="training",
    title="Training",
    reports="training",
    metrics=(
        "step_time",
        "compute_time",
        "communication_time",
        "samples_per_second",
        "tokens_per_second",
        "input_time",
        "input_stall",
        "data_rate_per_gpu",
        "training_rate_per_gpu",
        "input_cores",
        "speedup",
        "scaling_efficiency",
        "gpu_utilization",
        "memory_per_gpu",
        "mfu",
        "epoch_time",
        "checkpoint_time",
        "time_to_train",
        "retraining_share",
        "ettr",
        "compute_share",
        "memory_share",
        "bandwidth_share",
        "nic_share",
        "virtualization_factor",
        "share_beside_retraining",
        "slow_down_while_retraining",
    ),
    program=program,
    answer="designer.families.training.answer",
    help="Step time and where it goes, throughput, scaling, memory, time to train, and what binds.",
    settings=(
        *MODEL,
        *LAYOUT,
        *INPUT,
        *RUN,
        Setting("exchange", "Gradients", "choice", "all-reduce", choices=("all-reduce", "parameter-server")),
        Setting("parameter_servers", "Parameter servers", "selector", "memory", help="parts that keep the weights"),
        *FORWARD,
    ),
)
