"""vMotion: running virtual machines, with or without virtual GPUs, to other hosts."""

from collections.abc import Mapping
from typing import Any

from designer.workload.kind import Setting, WorkloadKind, listed, rate_or_none
from designer.workload.operations import Vmotion

RELEASES = (
    "", "6.0", "6.5", "6.7 U1", "6.7 U3", "7.0", "7.0 U1", "7.0 U2", "7.0 U3", "8.0", "8.0 U1", "8.0 U2", "8.0 U3",
    "9.0",
)  # fmt: skip


def lower(settings: Mapping[str, Any]) -> Vmotion:
    """One move of some machines."""
    return Vmotion(
        vms=listed(settings["vms"]),
        target=settings["to"],
        release=settings["release"],
        encrypted=settings["encrypted"],
        vmknics_per_nic=settings["vmknics_per_nic"],
        mtu=float(settings["mtu"]),
        round_trip=settings["round_trip"],
        dirty_rate=rate_or_none(settings["dirty_rate"], "dirty_rate"),
        at_once=settings["at_once"],
        background=listed(settings["background"]),
        disks=settings["disks"],
        shares=settings["shares"],
        shares_beside=settings["shares_beside"],
    )


WORKLOAD = WorkloadKind(
    name="vmotion",
    title="vMotion",
    reports="migration",
    metrics=(
        "migration_time",
        "switchover_time",
        "stun_time",
        "transferred",
        "rate",
        "machines_staying",
    ),
    lower=lower,
    help="Time, switch-over, stun of virtual GPUs and bytes of moving machines over the drawn vMotion network.",
    settings=(
        Setting("vms", "Virtual machines", "text", help="ids of machines of the design, separated by commas"),
        Setting("to", "To", "text", "", help="hosts they may go to, for example hosts[1]/server; empty for any other"),
        Setting("release", "vSphere release", "choice", "", choices=RELEASES, help="empty for what the hosts run"),
        Setting("encrypted", "Encrypted", "flag", False),
        Setting("vmknics_per_nic", "VMkernel adapters per NIC", "count", 1),
        Setting("mtu", "Frame size", "count", 9000, help="bytes; 9000 for jumbo frames"),
        Setting("round_trip", "Round-trip time", "duration", "0 s"),
        Setting("dirty_rate", "Dirty rate", "text", "", help="replaces what the machines say, for example 500 MB/s"),
        Setting("at_once", "At the same time per host", "count", 0, help="0 for what vSphere admits"),
        Setting("background", "Running beside", "text", "", help="ids of other workloads, separated by commas"),
        Setting("disks", "Disks moved along", "size", "0 B", help="of each machine, where hosts share no storage"),
        Setting("shares", "Shares of migrations", "count", 0, help="network I/O control; 0 leaves it to the flows"),
        Setting(
            "shares_beside", "Shares of the traffic beside", "count", 0, help="weighed against those of migrations"
        ),
    ),
)
