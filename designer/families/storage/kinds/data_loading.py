"""Data loading: how fast the drawn storage fills the drawn accelerators, with nothing computed."""

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from designer.families.training.tasks import LoadBatch
from designer.workload.job_settings import INPUT, input_path
from designer.workload.kind import Setting, WorkloadKind
from designer.workload.program import Measure, Program, Step


def program(settings: Mapping[str, Any]) -> Program:
    """Batch after batch, for every accelerator."""
    path = input_path(settings)
    path = replace(path, dataset=path.dataset or "imagenet-1k")
    task = LoadBatch(
        path, None, settings["group"], settings["batch"], settings["sequence"], settings["measured_compute"]
    )
    measures = (Measure("input_time", "s", "period", "load"), Measure("rate", "B/s", "throughput", "load"))
    return Program("data-loading", (Step("load", task),), math.inf, measures=measures)


WORKLOAD = WorkloadKind(
    name="data_loading",
    title="Data loading",
    reports="training",
    metrics=(
        "rate",
        "data_rate_per_gpu",
        "input_time",
        "samples_per_second",
        "epoch_time",
        "input_cores",
        "gpu_utilization",
        "delivered_rate",
    ),
    program=program,
    answer="designer.families.storage.data_loading",
    help="Samples per second from storage through host memory and decoding to every accelerator.",
    settings=(
        Setting("group", "Accelerators", "selector", "gpus"),
        Setting("batch", "Samples per accelerator", "count", 32),
        Setting("sequence", "Sequence", "count", 4096, help="tokens per sample of a text corpus"),
        Setting(
            "measured_compute", "Computing per batch", "duration", "0 s", help="0 s for none: no utilization is stated"
        ),
        *INPUT,
    ),
)
