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
