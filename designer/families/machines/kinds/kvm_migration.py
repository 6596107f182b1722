"""KVM migration: pre-copy with channels, compression, auto-converge, post-copy and VFIO device state."""

from collections.abc import Mapping
from typing import Any

from designer.engine.machines.demands import KVM
from designer.errors import AnalysisError
from designer.families.machines.formulas.kvm_bandwidth import (
    ENGINE,
    Compression,
    Monitor,
    Sender,
    Transport,
    ZeroPages,
)
from designer.families.machines.migration_settings import BACKGROUND, DIRTY_RATE, MACHINES, METRICS, moves
from designer.families.machines.operations import Conditions, KvmSettings, Migration
from designer.workload.kind import Setting, WorkloadKind, listed, rate_or_none
from designer.workload.program import Program

#: settings that not every monitor has, with their names
_TITLES = {
    "auto_converge": "auto-converge",
    "dirty_limit": "dirty limit",
    "post_copy": "post-copy",
    "tls": "TLS",
    "multifd_devices": "device state over all channels",
    "device_precopy": "pre-copy of device state",
    "zero_pages": "choice of zero page detection",
    "vhost_user": "vhost-user device",
    "engines": "compressing device",
}
_TCP, _NONE = Transport.TCP, Compression.NONE
_QEMU_ENGINES = frozenset(Compression) - {Compression.HYPER_V}
#: transports, engines of compression and settings of each monitor
_HAS: Mapping[Monitor, tuple[frozenset[Transport], frozenset[Compression], frozenset[str]]] = {
    Monitor.QEMU: (frozenset(Transport) - {Transport.SMB}, _QEMU_ENGINES, frozenset(_TITLES)),
    Monitor.CLOUD_HYPERVISOR: (
        frozenset({_TCP, Transport.UNIX, Transport.HANDED_OVER}),
        frozenset({_NONE}),
        frozenset({"tls", "post_copy", "vhost_user"}),
    ),
    Monitor.XEN: (frozenset({_TCP}), frozenset({_NONE, Compression.ZSTD}), frozenset({"tls"})),
    Monitor.HYPER_V: (frozenset({_TCP, Transport.SMB}), frozenset({_NONE, Compression.HYPER_V}), frozenset()),
}
#: one connection carries it, whatever the monitor
_ALONE = (Transport.RDMA, Transport.RDMA_PINNED, Transport.TUNNELLED, Transport.HANDED_OVER)
_CLEAR = "clear the setting, or choose qemu"


def _sender(settings: Mapping[str, Any]) -> Sender:
    """How memory is sent.

    Raises
    ------
    AnalysisError
        If the monitor lacks what is asked, or two settings exclude each other.
    """
    monitor, transport = Monitor(settings["monitor"]), Transport(settings["transport"])
    compression, channels = Compression(settings["compression"]), settings["channels"]
    transports, engines, has = _HAS[monitor]
    lacks = [title for name, title in _TITLES.items() if settings[name] and name not in has]
    if channels > 1 and (monitor is Monitor.XEN or (monitor is Monitor.HYPER_V and transport is _TCP)):
        lacks.append("second connection")
    if transport not in transports:
        lacks.append(f"transport {transport.value!r}")
    if compression not in engines:
        lacks.append(f"compression {compression.value!r}")
    if lacks:
        raise AnalysisError(f"{monitor.value} has no {' or '.join(lacks)}", place="monitor", remedy=_CLEAR)
    needs = {
        "compression_ratio": compression is not _NONE,
        "compression_rate": compression is not _NONE,
        "engines": compression in ENGINE,
        "file_rate": transport is Transport.FILE,
    }
    for place, there in needs.items():
        if settings[place] and not there:
            other = f"transport {transport.value!r}" if place == "file_rate" else f"compression {compression.value!r}"
            raise AnalysisError(f"{place} does not go with {other}", place=place, remedy=f"clear {place}, or the other")
    excluded = {
        "preallocated": settings["preallocated"] and (transport.rdma or transport is Transport.HANDED_OVER),
        "zero_pages": bool(settings["zero_pages"]) and (transport.rdma or transport is Transport.HANDED_OVER),
        "channels": channels > 1 and transport in _ALONE,
        "compression": compression is not _NONE and transport is not _TCP,
        "tls": settings["tls"] and transport is not _TCP,
        "post_copy": settings["post_copy"] and transport in (Transport.FILE, Transport.HANDED_OVER),
        "dirty_limit": bool(settings["dirty_limit"]) and settings["auto_converge"],
    }
    for place, both in excluded.items():
        if both:
            other = "auto_converge" if place == "dirty_limit" else f"transport {transport.value!r}"
            raise AnalysisError(f"{place} does not go with {other}", place=place, remedy=f"clear {place}, or the other")
    if transport is Transport.FILE and not settings["file_rate"]:
        raise AnalysisError("nothing says how fast the file is", place="file_rate", remedy="give a rate, as 2 GB/s")
    return Sender(
        channels=channels,
        monitor=monitor,
        transport=transport,
        compression=compression,
        tls=settings["tls"],
        preallocated=settings["preallocated"],
        ratio=settings["compression_ratio"] or None,
        compression_rate=settings["compression_rate"] or None,
        engines=settings["engines"],
        zero_pages=ZeroPages(settings["zero_pages"]),
        max_bandwidth=settings["max_bandwidth"] or None,
        file_rate=settings["file_rate"] or None,
    )


def program(settings: Mapping[str, Any]) -> Program:
    """All moves, as hosts admit them."""
    names = ("auto_converge", "post_copy", "downtime_limit", "device_state", "device_precopy", "multifd_devices")
    kvm = KvmSettings(
        _sender(settings),
        **{name: settings[name] for name in (*names, "vhost_user")},
        dirty_limit=settings["dirty_limit"] or None,
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
        Setting(
            "transport",
            "Transport",
            "choice",
            "tcp",
            choices=tuple(each.value for each in Transport),
            help="a UNIX socket and memory handed over stay on the host; a file stops the machine",
        ),
        Setting("file_rate", "Rate of the file", "rate", "0 B/s", help="what its file system writes and reads"),
        Setting("compression", "Compression", "choice", "none", choices=tuple(each.value for each in Compression)),
        Setting("compression_ratio", "Ratio of compression", "ratio", "0", help="0 for what was published"),
        Setting("compression_rate", "Compressed per channel", "rate", "0 B/s", help="0 B/s for what was published"),
        Setting("engines", "Compressing devices", "count", 0, help="0 where they are not the limit"),
        Setting("tls", "Encryption by TLS", "flag", False, help="one core for each connection"),
        Setting(
            "zero_pages",
            "Zero page detection",
            "choice",
            "",
            choices=tuple(each.value for each in ZeroPages),
            help="multifd since QEMU 9.0, one thread before; empty where the release is not known",
        ),
        Setting("preallocated", "Destination preallocated", "flag", False, help="memory touched before"),
        Setting("auto_converge", "Auto-converge", "flag", False),
        Setting("dirty_limit", "Dirty limit per virtual CPU", "rate", "0 B/s", help="QEMU: 1 MB/s; 0 B/s for none"),
        Setting("post_copy", "Post-copy", "flag", False),
        Setting("downtime_limit", "Longest pause aimed at", "duration", "300 ms"),
        Setting("max_bandwidth", "Configured ceiling", "rate", "0 B/s", help="0 B/s for none"),
        Setting("device_state", "State of an assigned device", "size", "0 B", help="0 B if they cannot move"),
        Setting("device_precopy", "Device state pre-copied", "flag", False),
        Setting("vhost_user", "Devices over vhost-user", "count", 0, help="of each machine"),
        Setting("multifd_devices", "Device state over all channels", "flag", False),
        DIRTY_RATE,
        Setting("at_once", "At the same time per host", "count", 0, help="0 for two"),
        BACKGROUND,
    ),
)
