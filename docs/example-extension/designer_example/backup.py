"""Backup: all drives are read and sent to storage, again and again."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from designer.workload.kind import Setting, WorkloadKind
from designer.workload.metrics import LESS, Metric
from designer.workload.program import Measure, Move, Program, Step


def program(settings: Mapping[str, Any]) -> Program:
    """Copy every drive, then begin again."""
    copy = Step("copy", Move(settings["from"], settings["to"], settings["size"], pairing="all"))
    return Program("backup", (copy,), math.inf, measures=(Measure("backup_time", "s", "period", "copy"),))


WORKLOAD = WorkloadKind(
    name="backup",
    title="Backup",
    reports="transfer",
    metrics=("backup_time",),
    own={"backup_time": Metric("s", LESS, "one copy of all drives")},
    program=program,
    help="Time to copy every drive to storage.",
    settings=(
        Setting("from", "From", "selector", "drives"),
        Setting("to", "To", "selector", "storage"),
        Setting("size", "Bytes per drive", "size", "1 TB"),
    ),
)
