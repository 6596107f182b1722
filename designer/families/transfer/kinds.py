"""Transfers between any two sets of parts, and programs whose accelerators are in another host."""

import math
from collections.abc import Mapping
from typing import Any

from designer.errors import AnalysisError
from designer.workload.kind import Setting, WorkloadKind
from designer.workload.metrics import LESS, MORE, Metric
from designer.workload.program import Compute, Delay, Measure, Move, Program, Step


def transfer(settings: Mapping[str, Any]) -> Program:
    """All flows at once; a stream goes on."""
    move = Move(
        settings["from"],
        settings["to"],
        settings["size"] or math.inf,
        settings["pairing"],
        settings["demand"],
        settings["both_ways"],
        settings["seed"],
        machines=settings["machines"],
        request=settings["io_size"],
        depth=max(1, settings["queue_depth"]),
        threads=max(1, settings["threads"]),
        one_by_one=settings["one_by_one"],
    )
    measures = [Measure("rate", "B/s", "throughput", "move")]
    if settings["size"]:
        measures.insert(0, Measure("transfer_time", "s", "end", "move"))
    return Program("transfer", (Step("move", move),), measures=tuple(measures))


def remote_gpu(settings: Mapping[str, Any]) -> Program:
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


WORKLOADS = (
    WorkloadKind(
        name="transfer",
        title="Transfer",
        reports="transfer",
        metrics=(
            "rate",
            "data_rate_per_gpu",
            "transfer_time",
            "memory_share",
            "bandwidth_share",
            "virtualization_factor",
            "share_beside_retraining",
            "slow_down_while_retraining",
        ),
        program=transfer,
        answer="designer.families.transfer.answer",
        help="Host to device for all GPUs at once, storage to all GPUs, GPU to GPU, GPU to remote GPU.",
        settings=(
            Setting("from", "From", "selector", "memory", help="which parts send, for example memory or gpu0"),
            Setting("to", "To", "selector", "gpus", help="which parts receive, for example gpus or gpu1"),
            Setting(
                "pairing",
                "Pairing",
                "choice",
                "auto",
                choices=("auto", "nearest", "striped", "pairs", "shift", "permutation", "all"),
                help="who sends to whom",
            ),
            Setting("size", "Bytes per flow", "size", "0 B", help="0 B for a steady stream"),
            Setting("demand", "Most a flow asks for", "rate", "0 B/s", help="0 B/s for all it can get"),
            Setting("io_size", "I/O size", "size", "0 B", help="of a request to storage; 0 B for streams"),
            Setting("queue_depth", "Queue depth", "count", 1, help="requests a thread keeps in flight"),
            Setting("threads", "Threads", "count", 1, help="of each flow to or from storage"),
            Setting("both_ways", "Both ways at once", "flag", False),
            Setting("one_by_one", "One after another", "flag", False, help="as copies in a loop; else all at once"),
            Setting("seed", "Seed of a permutation", "count", 0),
            Setting("machines", "In machines", "text", "", help="ids of virtual machines whose accelerators they are"),
            Setting(
                "beside", "Beside", "text", "", help="ids of trainings with a retraining cadence on the same hardware"
            ),
        ),
    ),
    WorkloadKind(
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
        program=remote_gpu,
        help="A program whose GPUs are in another host, as with Bitfusion: batches and calls cross the network.",
        settings=(
            Setting("client", "Program on", "selector", help="memory of the host the program runs on"),
            Setting("group", "Accelerators", "selector", "gpus"),
            Setting("computing", "Computing of a batch", "duration", "50 ms", help="on a local GPU"),
            Setting("sent", "Sent with a batch", "size", "20 MB", help="to each accelerator"),
            Setting("returned", "Returned", "size", "1 MB", help="from each accelerator"),
            Setting("calls", "Calls that wait", "count", 20, help="calls of a batch that wait for an answer"),
            Setting("call_time", "Round trip of a call", "duration", "50 us"),
        ),
    ),
)
