"""Moves of virtual machines by vSphere: vMotion, and all machines off a host as maintenance mode asks."""

from collections.abc import Mapping
from typing import Any

from designer.families.machines.migration_settings import (
    CARRIED,
    DIRTY_RATE,
    MACHINES,
    METRICS,
    NEIGHBOURS,
    RELEASES,
    VMOTION_RELEASES,
    conditions,
    moves,
)
from designer.families.machines.operations import Migration
from designer.workload.kind import Setting, WorkloadKind, listed
from designer.workload.program import Program


def vmotion(settings: Mapping[str, Any]) -> Program:
    """All moves, as hosts admit them."""
    background = listed(settings["background"])
    asked = Migration(conditions(settings), listed(settings["vms"]), target=settings["to"], background=background)
    return moves("vmotion", "migration_time", asked)


def evacuation(settings: Mapping[str, Any]) -> Program:
    """All moves, as hosts admit them."""
    carried, background = conditions(settings, cold=settings["cold"]), listed(settings["background"])
    asked = Migration(carried, hosts=settings["hosts"], target=settings["to"], background=background)
    return moves("evacuation", "evacuation_time", asked)


WORKLOADS = (
    WorkloadKind(
        name="vmotion",
        title="vMotion",
        reports="migration",
        metrics=("migration_time", *METRICS),
        program=vmotion,
        answer="designer.families.machines.answer",
        help="Time, switch-over, stun of virtual GPUs and bytes of moving machines over the drawn vMotion network.",
        settings=(
            MACHINES,
            Setting(
                "to", "To", "text", "", help="hosts they may go to, for example hosts[1]/server; empty for any other"
            ),
            Setting(
                "release",
                "vSphere release",
                "choice",
                "",
                choices=VMOTION_RELEASES,
                help="empty for what the hosts run",
            ),
            *CARRIED,
            DIRTY_RATE,
            Setting("at_once", "At the same time per host", "count", 0, help="0 for what vSphere admits"),
            *NEIGHBOURS,
        ),
    ),
    WorkloadKind(
        name="evacuation",
        title="Host evacuation",
        reports="migration",
        metrics=("evacuation_time", *METRICS),
        program=evacuation,
        answer="designer.families.machines.answer",
        help="Which machines can leave a host, where to, how long it takes, and how long each pauses.",
        settings=(
            Setting("hosts", "Hosts", "selector", "", help="hosts to empty, for example hosts[0]/server"),
            Setting("to", "To", "text", "", help="hosts they may go to; empty for all others"),
            Setting("release", "Release", "choice", "", choices=RELEASES, help="empty for what the hosts run"),
            *CARRIED,
            Setting("at_once", "At the same time per host", "count", 0, help="0 for what the hypervisor admits"),
            Setting("cold", "Shut down what cannot move alive", "flag", True),
            *NEIGHBOURS,
        ),
    ),
)
