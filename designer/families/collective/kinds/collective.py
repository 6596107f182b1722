"""Collective: all-reduce and its relatives over a group of GPUs."""

import math
from collections.abc import Mapping
from typing import Any

from designer.workload.kind import Setting, WorkloadKind
from designer.workload.program import Collective, Measure, Program, Step

COLLECTIVES = ("all-reduce", "reduce-scatter", "all-gather", "all-to-all", "broadcast", "send-recv")


def program(settings: Mapping[str, Any]) -> Program:
    """One collective after the other."""
    names = ("collective", "group", "size", "algorithm", "machines", "protocol", "channels", "launch")
    task = Collective(*(settings[name] for name in names))
    measures = (Measure("communication_time", "s", "period", "collective"),)
    return Program("collective", (Step("collective", task),), math.inf, measures=measures)


WORKLOAD = WorkloadKind(
    name="collective",
    title="Collective",
    reports="collective",
    metrics=(
        "communication_time",
        "bus_bandwidth",
        "algorithm_bandwidth",
        "compute_share",
        "nic_share",
        "virtualization_factor",
        "share_beside_retraining",
        "slow_down_while_retraining",
    ),
    program=program,
    answer="designer.families.collective.answer",
    help="Time, algorithm and bus bandwidth of a collective, with a sweep over sizes.",
    settings=(
        Setting("collective", "Collective", "choice", "all-reduce", choices=COLLECTIVES),
        Setting("group", "Group", "selector", "gpus", help="which accelerators take part"),
        Setting("size", "Message", "size", "1 GiB", help="the message as nccl-tests counts it"),
        Setting(
            "algorithm",
            "Algorithm",
            "choice",
            "auto",
            choices=("auto", "ring", "tree", "in-switch", "in-network", "hierarchical", "direct"),
            help="auto as the library chooses; in-network asks InfiniBand switches to add (SHARP)",
        ),
        Setting(
            "protocol",
            "Protocol",
            "choice",
            "auto",
            choices=("auto", "ll", "ll128", "simple"),
            help="auto as the library chooses; others as NCCL_PROTO forces them",
        ),
        Setting("channels", "Channels", "count", 0, help="most channels (NCCL_MAX_CTAS); 0 as the library chooses"),
        Setting(
            "launch",
            "Launch",
            "choice",
            "eager",
            choices=("eager", "graph", "one-process"),
            help="by the host at each call, as part of a CUDA graph, or by one thread for all GPUs (nccl-tests -g)",
        ),
        Setting("machines", "In machines", "text", "", help="ids of virtual machines whose accelerators they are"),
        Setting("beside", "Beside", "text", "", help="ids of trainings with a retraining cadence on the same hardware"),
    ),
)
