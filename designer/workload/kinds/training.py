"""Training: steps of a model on the drawn accelerators, fed from the drawn storage."""

from collections.abc import Mapping
from typing import Any

from designer.workload.job_settings import FORWARD, INPUT, LAYOUT, MODEL, RUN, input_path, job, run
from designer.workload.jobs import Training
from designer.workload.kind import Setting, WorkloadKind


def lower(settings: Mapping[str, Any]) -> Training:
    """One training operation."""
    servers = settings["parameter_servers"] if settings["exchange"] == "parameter-server" else ""
    return Training("training", job(settings), input_path(settings), run(settings), servers)


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
    ),
    lower=lower,
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
