"""Evacuation: all virtual machines off a host, as maintenance mode asks."""

from collections.abc import Mapping
from typing import Any

from designer.workload.kind import Setting, WorkloadKind, listed
from designer.workload.operations import Evacuation

RELEASES = ("", "7.0", "7.0 U1", "7.0 U2", "7.0 U3", "8.0", "8.0 U1", "8.0 U2", "8.0 U3", "9.0", "kvm")


def lower(settings: Mapping[str, Any]) -> Evacuation:
    """One evacuation."""
    return Evacuation(
        hosts=settings["hosts"],
        target=settings["to"],
        release=settings["release"],
        encrypted=settings["encrypted"],
        vmknics_per_nic=settings["vmknics_per_nic"],
        mtu=float(settings["mtu"]),
        round_trip=settings["round_trip"],
        at_once=settings["at_once"],
        cold=settings["cold"],
        background=listed(settings["background"]),
        disks=settings["disks"],
        shares=settings["shares"],
        shares_beside=settings["shares_beside"],
    )


WORKLOAD = WorkloadKind(
    name="evacuation",
    title="Host evacuation",
    reports="migration",
    metrics=(
        "evacuation_time",
        "switchover_time",
        "stun_time",
        "transferred",
        "rate",
        "machines_staying",
    ),
    lower=lower,
    help="Which machines can leave a host, where to, how long it takes, and how long each stands still.",
    settings=(
        Setting("hosts", "Hosts", "selector", "", help="hosts to empty, for example hosts[0]/server"),
        Setting("to", "To", "text", "", help="hosts they may go to; empty for all others"),
        Setting("release", "Release", "choice", "", choices=RELEASES, help="empty for what the hosts run"),
        Setting("encrypted", "Encrypted", "flag", False),
        Setting("vmknics_per_nic", "VMkernel adapters per NIC", "count", 1),
        Setting("mtu", "Frame size", "count", 9000, help="bytes; 9000 for jumbo frames"),
        Setting("round_trip", "Round-trip time", "duration", "0 s"),
        Setting("at_once", "At the same time per host", "count", 0, help="0 for what the hypervisor admits"),
        Setting("cold", "Shut down what cannot move alive", "flag", True),
        Setting("background", "Running beside", "text", "", help="ids of other workloads, separated by commas"),
        Setting("disks", "Disks moved along", "size", "0 B", help="of each machine, where hosts share no storage"),
        Setting("shares", "Shares of migrations", "count", 0, help="network I/O control; 0 leaves it to the flows"),
        Setting(
            "shares_beside", "Shares of the traffic beside", "count", 0, help="weighed against those of migrations"
        ),
    ),
)
