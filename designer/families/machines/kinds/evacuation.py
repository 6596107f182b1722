"""Evacuation: all virtual machines off a host, as maintenance mode asks."""

from collections.abc import Mapping
from typing import Any

from designer.families.machines.migration_settings import CARRIED, METRICS, NEIGHBOURS, RELEASES, conditions, moves
from designer.families.machines.operations import Migration
from designer.workload.kind import Setting, WorkloadKind, listed
from designer.workload.program import Program


def program(settings: Mapping[str, Any]) -> Program:
    """All moves, as hosts admit them."""
    carried, background = conditions(settings, cold=settings["cold"]), listed(settings["background"])
    asked = Migration(carried, hosts=settings["hosts"], target=settings["to"], background=background)
    return moves("evacuation", "evacuation_time", asked)


WORKLOAD = WorkloadKind(
    name="evacuation",
    title="Host evacuation",
    reports="migration",
    metrics=("evacuation_time", *METRICS),
    program=program,
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
)
