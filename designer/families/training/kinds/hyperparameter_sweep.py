"""Hyperparameter sweep: many small trainings side by side on the drawn accelerators."""

from dataclasses import replace

from designer.workload.job_settings import INPUT, LAYOUT, MODEL, RUN
from designer.workload.kind import Setting, WorkloadKind

#: what many trainings on few accelerators each have in common: a model that fits on any of them
_SMALL = {
    "model": replace(next(s for s in MODEL if s.name == "model"), default="resnet-50"),
    "micro_batch": replace(next(s for s in LAYOUT if s.name == "micro_batch"), default=32),
}

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
    search="designer.families.training.hyperparameter_sweep",
    help="Wall time of many trainings that share storage, hosts and links.",
    settings=(
        *(_SMALL.get(s.name, s) for s in (*MODEL, *LAYOUT)),
        *INPUT,
        *RUN,
        Setting("trials", "Trials", "count", 64),
        Setting("accelerators_per_trial", "Accelerators per trial", "count", 1),
    ),
)
