"""Settings that workload kinds of migration share, and the fields they become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from designer.workload.kind import Setting, listed

#: what is told of every kind of move, behind its time
METRICS: Final = (
    "least_time_possible",
    "switchover_time",
    "stun_time",
    "transferred",
    "rate",
    "machines_staying",
    "ttft_p95_while_moving",
    "itl_p95_while_moving",
    "share_beside_retraining",
    "slow_down_while_retraining",
)
MACHINES: Final = Setting("vms", "Virtual machines", "text", help="ids of machines of the design, separated by commas")
#: how vSphere carries it
CARRIED: Final = (
    Setting("encrypted", "Encrypted", "flag", False),
    Setting("vmknics_per_nic", "VMkernel adapters per NIC", "count", 1),
    Setting("mtu", "Frame size", "count", 9000, help="bytes; 9000 for jumbo frames"),
    Setting("round_trip", "Round-trip time", "duration", "0 s"),
)
DIRTY_RATE: Final = Setting(
    "dirty_rate", "Dirty rate", "text", "", help="replaces what the machines say, for example 500 MB/s"
)
BACKGROUND: Final = Setting(
    "background",
    "Running beside",
    "text",
    "",
    help="ids of other workloads, separated by commas; trainings with a cadence count for their share of the time",
)
#: what else crosses the link, and whose turn it is
BESIDE: Final = (
    BACKGROUND,
    Setting("disks", "Disks moved along", "size", "0 B", help="of each machine, where hosts share no storage"),
    Setting("shares", "Shares of migrations", "count", 0, help="network I/O control; 0 leaves it to the flows"),
    Setting("shares_beside", "Shares of the traffic beside", "count", 0, help="weighed against those of migrations"),
)


def carried(settings: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an operation that `CARRIED` and `BESIDE` set."""
    return {
        "encrypted": settings["encrypted"],
        "vmknics_per_nic": settings["vmknics_per_nic"],
        "mtu": float(settings["mtu"]),
        "round_trip": settings["round_trip"],
        "background": listed(settings["background"]),
        "disks": settings["disks"],
        "shares": settings["shares"],
        "shares_beside": settings["shares_beside"],
    }
