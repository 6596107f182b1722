"""Hyperparameter sweep: many small trainings side by side on the drawn accelerators."""

from collections.abc import Mapping
from typing import Any

from designer.workload.job_settings import INPUT, LAYOUT, MODEL, RUN, input_path, job, run
from designer.workload.jobs import HyperparameterSweep, Training
from designer.workload.kind import Setting, WorkloadKind


def lower(settings: Mapping[str, Any]) -> HyperparameterSweep:
    """One sweep operation."""
    training = Training("trial", job(settings), input_path(settings), run(settings))
    return HyperparameterSweep("sweep", training, settings["trials"], settings["accelerators_per_trial"])


WORKLOAD = WorkloadKind(
    name="hyperparameter_sweep",
    title="Hyperparameter sweep",
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
        "gpu_utilization",
        "memory_per_gpu",
        "mfu",
        "epoch_time",
        "checkpoint_time",
        "trial_time",
        "time_to_train",
        "retraining_share",
    ),
    lower=lower,
    help="Wall time of many trainings that share storage, hosts and links.",
    settings=(
        *MODEL,
        *LAYOUT,
        *INPUT,
        *RUN,
        Setting("trials", "Trials", "count", 64),
        Setting("accelerators_per_trial", "Accelerators per trial", "count", 1),
    ),
)
