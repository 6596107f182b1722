"""Federated learning: rounds of a model sent to sites, trained there on what stays there, and gathered again."""

from collections.abc import Mapping
from typing import Any

from designer.workload.kind import Setting, WorkloadKind
from designer.workload.program import Compute, Measure, Move, Program, Step


def program(settings: Mapping[str, Any]) -> Program:
    """One round after the other; each waits for the slowest site."""
    server, sites, size = settings["server"], settings["sites"], settings["size"]
    steps = (
        Step("send", Move(server, sites, size)),
        Step("train", Compute(sites, seconds=settings["local_time"]), ("send",)),
        Step("gather", Move(sites, server, settings["update_size"] or size), ("train",)),
    )
    measures = (
        Measure("round_time", "s", "period", "gather"),
        Measure("transfer_time", "s", "time", "gather"),
        Measure("time_to_train", "s", "end", "gather"),
    )
    return Program("federated", steps, settings["rounds"], measures=measures)


WORKLOAD = WorkloadKind(
    name="federated",
    title="Federated learning",
    reports="transfer",
    metrics=("round_time", "transfer_time", "time_to_train"),
    program=program,
    help="Time of rounds in which a model goes to all sites, is trained there, and comes back over their links.",
    settings=(
        Setting("server", "Server", "selector", "storage"),
        Setting("sites", "Sites", "selector", "gpus"),
        Setting("size", "Model", "size", "1 GB"),
        Setting("update_size", "Update", "size", "0 B", help="what each site sends back; 0 for the whole model"),
        Setting("local_time", "Training at a site", "duration", "60 s"),
        Setting("rounds", "Rounds", "count", 10),
    ),
)
