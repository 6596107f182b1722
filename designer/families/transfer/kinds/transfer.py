"""Transfer: steady streams or files between any two sets of parts, all at once."""

import math
from collections.abc import Mapping
from typing import Any

from designer.workload.kind import Setting, WorkloadKind
from designer.workload.program import Measure, Move, Program, Step


def program(settings: Mapping[str, Any]) -> Program:
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


WORKLOAD = WorkloadKind(
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
    program=program,
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
        Setting("beside", "Beside", "text", "", help="ids of trainings with a retraining cadence on the same hardware"),
    ),
)
