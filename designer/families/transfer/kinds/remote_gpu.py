"""Remote GPUs: a program on one host, its accelerators in another, every call and every byte over the network."""

import math
from collections.abc import Mapping
from typing import Any

from designer.errors import AnalysisError
from designer.workload.kind import Setting, WorkloadKind
from designer.workload.metrics import LESS, MORE, Metric
from designer.workload.program import Compute, Delay, Measure, Move, Program, Step


def program(settings: Mapping[str, Any]) -> Program:
    """Batch after batch: inputs to the accelerators, calls and computing, results back."""
    s = settings
    if not s["computing"]:
        raise AnalysisError("a batch that computes nothing", place="computing", remedy="give its time on a local GPU")
    steps = (
        Step("send", Move(s["client"], s["group"], s["sent"], pairing="all"), lags={"return": 1}),
        Step("calls", Delay(s["calls"] * s["call_time"]), after=("send",)),
        Step("compute", Compute(s["group"], seconds=s["computing"]), after=("calls",)),
        Step("return", Move(s["group"], s["client"], s["returned"], pairing="all"), after=("compute",)),
    )
    measures = (
        Measure("batch_time", "s", "period", "return"),
        Measure("send_time", "s", "time", "send"),
        Measure("return_time", "s", "time", "return"),
        Measure("batches_per_second", "1/s", "rate", "return"),
    )
    return Program("remote", steps, math.inf, measures=measures)


WORKLOAD = WorkloadKind(
    name="remote_gpu",
    title="Remote GPUs",
    reports="remote",
    metrics=("batch_time", "send_time", "return_time", "batches_per_second"),
    own={
        "batch_time": Metric("s", LESS, "one batch: sent, called for, computed and returned"),
        "send_time": Metric("s", LESS, "inputs of a batch on their way to the accelerators"),
        "return_time": Metric("s", LESS, "results of a batch on their way back"),
        "batches_per_second": Metric("1/s", MORE, "batches of the program"),
    },
    program=program,
    help="A program whose GPUs are in another host, as with Bitfusion: each batch and each call crosses the network.",
    settings=(
        Setting("client", "Program on", "selector", help="memory of the host the program runs on"),
        Setting("group", "Accelerators", "selector", "gpus"),
        Setting("computing", "Computing of a batch", "duration", "50 ms", help="on a local GPU"),
        Setting("sent", "Sent with a batch", "size", "20 MB", help="to each accelerator"),
        Setting("returned", "Returned", "size", "1 MB", help="from each accelerator"),
        Setting("calls", "Calls that wait", "count", 20, help="calls of a batch that wait for an answer"),
        Setting("call_time", "Round trip of a call", "duration", "50 us"),
    ),
)
