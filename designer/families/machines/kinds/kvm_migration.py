"""KVM migration: pre-copy with channels, compression, auto-converge, post-copy and VFIO device state."""

from collections.abc import Mapping
from typing import Any

from designer.engine.machines.demands import KVM
from designer.errors import AnalysisError
from designer.families.machines.formulas.kvm_bandwidth import Compression, Monitor, Transport
from designer.families.machines.migration_settings import BACKGROUND, DIRTY_RATE, MACHINES, METRICS, moves
from designer.families.machines.operations import Conditions, KvmSettings, Migration
from designer.workload.kind import Setting, WorkloadKind, listed, rate_or_none
from designer.workload.program import Program

#: what only QEMU does
_OF_QEMU = {
    "auto_converge": "auto-converge",
    "post_copy": "post-copy",
    "tls": "TLS of QEMU",
    "multifd_devices": "device state over all channels",
}


def program(settings: Mapping[str, Any]) -> Program:
    """All moves, as hosts admit them."""
    monitor = Monitor(settings["monitor"])
    if monitor in (Monitor.XEN, Monitor.HYPER_V):
        used = [title for name, title in _OF_QEMU.items() if settings[name]]
        if settings["channels"] > 1 or used:
            raise AnalysisError(
                f"{monitor.value} has no {' or '.join(used) if used else 'second connection'}",
                place="monitor",
                remedy="clear the setting, or choose qemu",
            )
    names = ("channels", "auto_converge", "post_copy", "downtime_limit", "device_state", "multifd_devices")
    kvm = KvmSettings(
        **{name: settings[name] for name in (*names, "tls", "preallocated")},
        monitor=monitor,
        transport=Transport(settings["transport"]),
        compression=Compression(settings["compression"]),
        max_bandwidth=settings["max_bandwidth"] or None,
    )
    dirty = rate_or_none(settings["dirty_rate"], "dirty_rate")
    carried = Conditions(release=KVM, dirty_rate=dirty, at_once=settings["at_once"], kvm=kvm)
    background = listed(settings["background"])
    asked = Migration(carried, listed(settings["vms"]), target=settings["to"], background=background)
    return moves("kvm-migration", "migration_time", asked)


WORKLOAD = WorkloadKind(
    name="kvm_migration",
    title="KVM migration",
    reports="migration",
    metrics=("migration_time", *METRICS),
    program=program,
    answer="designer.families.machines.answer",
    help="Live migration of KVM guests over the drawn network; not converging is an answer.",
    settings=(
        MACHINES,
        Setting("to", "To", "text", "", help="hosts they may go to; empty for any other"),
        Setting("channels", "Channels", "count", 1, help="connections; more than one is multifd"),
        Setting("monitor", "Monitor", "choice", "qemu", choices=tuple(each.value for each in Monitor)),
        Setting("transport", "Transport", "choice", "tcp", choices=("tcp", "rdma", "rdma, all memory pinned")),
        Setting("compression", "Compression", "choice", "none", choices=("none", "zlib", "zstd", "qatzip")),
        Setting("tls", "Encryption by TLS", "flag", False, help="one core for each connection"),
        Setting("preallocated", "Destination preallocated", "flag", False, help="memory touched before"),
        Setting("auto_converge", "Auto-converge", "flag", False),
        Setting("post_copy", "Post-copy", "flag", False),
        Setting("downtime_limit", "Longest pause aimed at", "duration", "300 ms"),
        Setting("max_bandwidth", "Configured ceiling", "rate", "0 B/s", help="0 B/s for none"),
        Setting("device_state", "State of an assigned device", "size", "0 B", help="0 B if they cannot move"),
        Setting("multifd_devices", "Device state over all channels", "flag", False),
        DIRTY_RATE,
        Setting("at_once", "At the same time per host", "count", 0, help="0 for two"),
        BACKGROUND,
    ),
)
