"""vMotion: running virtual machines, with or without virtual GPUs, to other hosts."""

from collections.abc import Mapping
from typing import Any

from designer.families.machines.migration_settings import (
    CARRIED,
    DIRTY_RATE,
    MACHINES,
    METRICS,
    NEIGHBOURS,
    VMOTION_RELEASES,
    conditions,
    moves,
)
from designer.families.machines.operations import Migration
from designer.workload.kind import Setting, WorkloadKind, listed
from designer.workload.program import Program


def program(settings: Mapping[str, Any]) -> Program:
    """All moves, as hosts admit them."""
    background = listed(settings["background"])
    asked = Migration(conditions(settings), listed(settings["vms"]), target=settings["to"], background=background)
    return moves("vmotion", "migration_time", asked)


WORKLOAD = WorkloadKind(
    name="vmotion",
    title="vMotion",
    reports="migration",
    metrics=("migration_time", *METRICS),
    program=program,
    answer="designer.families.machines.answer",
    help="Time, switch-over, stun of virtual GPUs and bytes of moving machines over the drawn vMotion network.",
    settings=(
        MACHINES,
        Setting("to", "To", "text", "", help="hosts they may go to, for example hosts[1]/server; empty for any other"),
        Setting(
            "release", "vSphere release", "choice", "", choices=VMOTION_RELEASES, help="empty for what the hosts run"
        ),
        *CARRIED,
        DIRTY_RATE,
        Setting("at_once", "At the same time per host", "count", 0, help="0 for what vSphere admits"),
        *NEIGHBOURS,
    ),
)
