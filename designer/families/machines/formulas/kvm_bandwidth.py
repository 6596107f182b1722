"""KVM: what a migration connection carries, by channels, transport and compression."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from designer.families.machines.formulas._precopy import at_least_one, positive, widened
from designer.families.machines.formulas._qemu import (
    CHANNEL_CLOUD_HYPERVISOR,
    CHANNEL_OTHERS,
    CHANNEL_QEMU,
    LINE_SHARE,
    POPULATION,
    RDMA_PINNING,
    RDMA_REGISTERING,
    RDMA_SHARE,
    TLS,
    ZERO_SCAN,
)
from designer.formulas.formula import Formula
from designer.sources import Constant, Estimate, Status
from designer.units import Bytes, BytesPerSecond, Ratio

SOURCES: Final = (
    "kubevirt-multifd",
    "cloud-hypervisor-connections",
    "qemu-qatzip",
    "qemu-thread-compression",
    "qemu-rdma",
    "migration-calibration",
    "migration-assumed",
)


class Monitor(StrEnum):
    """Which virtual machine monitor sends."""

    QEMU = "qemu"
    CLOUD_HYPERVISOR = "cloud-hypervisor"
    XEN = "xen"
    HYPER_V = "hyper-v"


class Transport(StrEnum):
    """How guest memory travels."""

    TCP = "tcp"
    RDMA = "rdma"
    RDMA_PINNED = "rdma, all memory pinned"


class Compression(StrEnum):
    """Compression of guest memory before it is sent."""

    NONE = "none"
    ZLIB = "zlib"
    ZSTD = "zstd"
    QATZIP = "qatzip"


_CHANNEL: Final = {
    Monitor.QEMU: CHANNEL_QEMU,
    Monitor.CLOUD_HYPERVISOR: CHANNEL_CLOUD_HYPERVISOR,
    Monitor.XEN: CHANNEL_OTHERS,
    Monitor.HYPER_V: CHANNEL_OTHERS,
}
#: guest bytes per byte on the link; text-like data (Silesia) 2.7, other guests 2.5–3.4
RATIO: Final = {
    Compression.NONE: Constant(1, 1, 1, "qemu-qatzip", Status.PRIMARY),
    Compression.ZLIB: Constant(
        2.5, 2.0, 3.4, "qemu-thread-compression", Status.DERIVED, note="two guests: 2.51 and 3.37"
    ),
    Compression.ZSTD: Constant(2.68, 2.0, 3.2, "qemu-qatzip", Status.DERIVED, "1", "54 GiB in 20.2 s at 8.58 Gb/s"),
    Compression.QATZIP: Constant(2.66, 2.0, 3.2, "qemu-qatzip", Status.DERIVED, "1", "54 GiB in 16.6 s at 10.5 Gb/s"),
}
#: guest memory compressed per channel
COMPRESSED: Final = {
    Compression.ZLIB: widened(
        Constant(
            45e6,
            34e6,
            90e6,
            "qemu-thread-compression",
            Status.DERIVED,
            "B/s",
            "level 1, one core of 2012; at least 34 MB/s",
        )
    ),
    Compression.ZSTD: widened(
        Constant(
            0.36e9,
            0.28e9,
            0.45e9,
            "qemu-qatzip",
            Status.DERIVED,
            "B/s",
            "level 1, one core per channel, 54 GiB in 20.2 s on eight",
        )
    ),
    Compression.QATZIP: widened(
        Constant(
            0.9e9,
            0.44e9,
            1.5e9,
            "qemu-qatzip",
            Status.DERIVED,
            "B/s",
            "four devices; the link was the limit at 0.44 GB/s",
        )
    ),
}
#: cores busy on the sender per GB/s of guest memory: 810 % at 2.88, 160 % at 3.49, 45 % at 1.26
CORES: Final = {
    Compression.NONE: Constant(0.36, 0.3, 1.0, "qemu-qatzip", Status.DERIVED, "s/GB", "45 % at 1.26 GB/s"),
    Compression.ZSTD: Constant(2.8, 2.4, 3.3, "qemu-qatzip", Status.DERIVED, "s/GB", "810 % at 2.88 GB/s"),
    Compression.QATZIP: Constant(0.46, 0.35, 0.7, "qemu-qatzip", Status.DERIVED, "s/GB", "160 % at 3.49 GB/s"),
    Compression.ZLIB: Constant(22.0, 11.0, 30.0, "qemu-thread-compression", Status.DERIVED, "s/GB", "1 / 45 MB/s"),
}
_GIGABYTE: Final = Constant(1e9, 1e9, 1e9, "migration-calibration", Status.DERIVED, "B")


@dataclass(frozen=True, slots=True)
class KvmBandwidth:
    """What one migration carries.

    Parameters
    ----------
    link_rate
        On the network [B/s].
    guest
        Guest memory per second, compression counted [B/s].
    scan
        Guest memory searched for zero pages per second [B/s]: by every channel, at worst by one thread.
    limited_by
        What limits it.
    cores
        Cores busy on the sender [cores].
    """

    link_rate: Estimate
    guest: Estimate
    scan: Estimate
    limited_by: str
    cores: float


def kvm_bandwidth(
    line_rate: BytesPerSecond,
    *,
    routed_bandwidth: BytesPerSecond | None = None,
    channels: int = 1,
    monitor: Monitor = Monitor.QEMU,
    transport: Transport = Transport.TCP,
    compression: Compression = Compression.NONE,
    tls: bool = False,
    preallocated: bool = False,
    ratio: Ratio | None = None,
    max_bandwidth: BytesPerSecond | None = None,
) -> KvmBandwidth:
    """Link and guest rate of one migration [B/s]: the least of link, channels, compression and configured ceiling.

    Parameters
    ----------
    line_rate
        Rate of the link after line coding [B/s].
    routed_bandwidth
        Payload the routed network gives, if known; replaces line rate × protocol share [B/s].
    channels
        Connections: 1 without multifd.
    tls
        Encrypt each connection on the core that sends it.
    preallocated
        The destination has touched all memory before, so no connection waits for its pages.
    ratio
        Guest bytes per byte on the link; by the compression if not given [1].
    max_bandwidth
        Ceiling configured in the hypervisor [B/s].

    Raises
    ------
    AnalysisError
        If a rate, count or ratio is not positive.

    Sources
    -------
    KubeVirt on multifd; Cloud Hypervisor pull request 7669; QEMU documents on compression and RDMA.
    """
    positive(line_rate, "line_rate")
    at_least_one(channels, "channels")
    if routed_bandwidth is not None:
        positive(routed_bandwidth, "routed_bandwidth")
    if max_bandwidth is not None:
        positive(max_bandwidth, "max_bandwidth")
    squeeze = RATIO[compression] if ratio is None else None
    fixed = positive(ratio, "ratio") if ratio is not None else 1.0

    def corner(which: str) -> tuple[float, float, str]:
        factor = float(getattr(squeeze, which)) if squeeze else fixed
        link_rate = {"link": _link(line_rate, routed_bandwidth, transport, which)}
        if transport is Transport.TCP:
            each = _connection(monitor, which, preallocated)
            if tls:
                # one core encrypts what it then copies
                each = 1 / (1 / each + 1 / float(getattr(TLS, which)))
            link_rate["channels, one core each"] = channels * each
        elif transport is Transport.RDMA:
            link_rate["memory registration"] = float(getattr(RDMA_REGISTERING, which))
        if max_bandwidth is not None:
            link_rate["configured ceiling"] = max_bandwidth
        limits = {name: rate * factor for name, rate in link_rate.items()}
        if compression is not Compression.NONE:
            limits["compression"] = channels * float(getattr(COMPRESSED[compression], which))
        name = min(limits, key=lambda each: limits[each])
        return limits[name] / factor, limits[name], name

    value, low, high = corner("value"), corner("low"), corner("high")
    link_rates = (value[0], low[0], high[0])
    guest = Estimate(value[1], low[1], high[1], "B/s", SOURCES)
    return KvmBandwidth(
        link_rate=Estimate(value[0], min(link_rates), max(link_rates), "B/s", SOURCES),
        guest=guest,
        scan=_scan(channels) if transport is Transport.TCP else _as_sent(guest),
        limited_by=value[2],
        cores=CORES[compression].value * guest.value / _GIGABYTE.value,
    )


def _connection(monitor: Monitor, which: str, preallocated: bool) -> float:
    """What one connection carries [B/s]: measured ones copy into pages that are populated as they arrive.

    Notes
    -----
    Nothing was published of the difference, so at worst there is none.
    """
    each = float(getattr(_CHANNEL[monitor], which))
    if not preallocated or which == "low":
        return each
    return 1 / (1 / each - 1 / float(getattr(POPULATION, which)))


def _scan(channels: int) -> Estimate:
    """Channels search their own pages since QEMU 9.0; before, one thread searched for all."""
    return Estimate(channels * ZERO_SCAN.value, ZERO_SCAN.low, channels * ZERO_SCAN.high, "B/s", (ZERO_SCAN.source,))


def _as_sent(guest: Estimate) -> Estimate:
    """RDMA does not search memory it has registered."""
    rate = max(guest.value, ZERO_SCAN.value)
    return Estimate(rate, min(rate, guest.low), max(rate, ZERO_SCAN.high), "B/s", (ZERO_SCAN.source,))


def pinning_time(memory: Bytes) -> Estimate:
    """Time to pin all guest memory for RDMA before the first page is sent [s]; `memory` in [B]."""
    size, rate = positive(memory, "memory"), RDMA_PINNING
    return Estimate(size / rate.value, size / rate.high, size / rate.low, "s", SOURCES)


def _link(line_rate: float, routed: float | None, transport: Transport, which: str) -> float:
    share = LINE_SHARE if transport is Transport.TCP else RDMA_SHARE
    part = float(getattr(share, which))
    if routed is None:
        return line_rate * part
    # as far off as shares of a line are, and never more than the line
    return min(max(routed, line_rate), routed * part / share.value)


FORMULA: Final = Formula(
    name="kvm-bandwidth",
    title="KVM migration: channels, transport, compression",
    function=kvm_bandwidth,
    sources=SOURCES,
    valid_when="1 to 100 Gb/s; compression rates are those of one published machine each",
)
