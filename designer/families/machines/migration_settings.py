"""Settings that workload kinds of migration share, and the fields they become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from designer.errors import AnalysisError
from designer.families.machines.formulas.kvm_bandwidth import Sender
from designer.families.machines.operations import Conditions, KvmSettings, Migrate, Migration, Shares
from designer.workload.kind import Setting, rate_or_none
from designer.workload.program import Measure, Program, Step

_SINCE_7: Final = ("7.0", "7.0 U1", "7.0 U2", "7.0 U3", "8.0", "8.0 U1", "8.0 U2", "8.0 U3", "9.0")
#: releases of hosts, and those that have vMotion; empty for what the hosts run
RELEASES: Final = ("", *_SINCE_7, "kvm")
VMOTION_RELEASES: Final = ("", "6.0", "6.5", "6.7 U1", "6.7 U3", *_SINCE_7)
#: what is stated of every kind of move, behind its time
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
    "Running at the same time",
    "text",
    "",
    help="ids of other workloads, separated by commas; trainings with a cadence count for their share of the time",
)
#: what else crosses the link, and whose turn it is
NEIGHBOURS: Final = (
    BACKGROUND,
    Setting("disks", "Disks moved along", "size", "0 B", help="of each machine, where hosts share no storage"),
    Setting("shares", "Shares of migrations", "count", 0, help="network I/O control; 0 leaves it to the flows"),
    Setting("shares_beside", "Shares of the other traffic", "count", 0, help="weighed against those of migrations"),
)


def conditions(settings: Mapping[str, Any], *, cold: bool = False) -> Conditions:
    """How vSphere carries it.

    Raises
    ------
    AnalysisError
        If only one side of the traffic has shares, which mean nothing alone, or a rate cannot be read.
    """
    shares = Shares(settings["shares"], settings["shares_beside"])
    if bool(shares.migrations) != bool(shares.others):
        missing = "shares_beside" if shares.migrations else "shares"
        text = "shares weigh two kinds of traffic, and only one has them"
        raise AnalysisError(text, place=missing, remedy="give both, or none")
    return Conditions(
        release=settings["release"],
        encrypted=settings["encrypted"],
        vmknics_per_nic=settings["vmknics_per_nic"],
        mtu=float(settings["mtu"]),
        round_trip=settings["round_trip"],
        dirty_rate=rate_or_none(settings.get("dirty_rate", ""), "dirty_rate"),
        at_once=settings["at_once"],
        cold=cold,
        disks=settings["disks"],
        shares=shares,
        kvm=KvmSettings(Sender(tls=settings["encrypted"])),
    )


def moves(name: str, metric: str, asked: Migration) -> Program:
    """All moves of a migration as a program, as many at once as the hosts admit."""
    step = Step("migrate", Migrate(asked))
    return Program(name, (step,), measures=(Measure(metric, "s", "end", "migrate"),))
