"""KVM: what a migration connection carries, by channels, transport and compression."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from designer.families.machines.formulas._precopy import ONE_PUBLICATION, at_least_one, positive, widened
from designer.families.machines.formulas._qemu import (
    CHANNEL_CLOUD_HYPERVISOR,
    CHANNEL_OTHERS,
    CHANNEL_QEMU,
    LINE_SHARE,
    LOCAL_SOCKET,
    POPULATION,
    RDMA_PINNING,
    RDMA_REGISTERING,
    RDMA_SHARE,
    STUNNEL,
    TLS,
    TUNNEL,
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
    "same-host-migration",
    "qemu-mapped-ram",
    "qemu-zero-page-detection",
    "hyper-v-migration-settings",
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
    TUNNELLED = "tunnelled by libvirt"
    SMB = "smb direct"
    UNIX = "unix socket"
    HANDED_OVER = "memory handed over"
    FILE = "file"

    @property
    def same_host(self) -> bool:
        """True if the machine stays on its host and moves to another process."""
        return self in (Transport.UNIX, Transport.HANDED_OVER)

    @property
    def rdma(self) -> bool:
        """True if a NIC reads and writes guest memory."""
        return self in (Transport.RDMA, Transport.RDMA_PINNED, Transport.SMB)


class Compression(StrEnum):
    """Compression of guest memory before it is sent."""

    NONE = "none"
    ZLIB = "zlib"
    ZSTD = "zstd"
    QATZIP = "qatzip"
    QPL = "qpl"
    UADK = "uadk"
    HYPER_V = "of hyper-v"


class ZeroPages(StrEnum):
    """Who looks for pages of zeros, which are not sent."""

    BY_RELEASE = ""
    MULTIFD = "multifd"
    LEGACY = "legacy"
    NONE = "none"


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
    Compression.QPL: Constant(
        2.2, 1.5, 3.2, "qemu-qpl", Status.DERIVED, "1", "3.5 and 6.2 GB/s of pages at 1.7 and 2.2 GB/s of data"
    ),
    Compression.UADK: Constant(
        1.5, 1.2, 3.2, "qemu-uadk", Status.DERIVED, "1", "114.5 s to 77.2 s, a guest that is 80 % random data"
    ),
    Compression.HYPER_V: Constant(2.0, 1.3, 3.4, "migration-assumed", Status.ASSUMED, "1", "as other engines"),
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
    Compression.QPL: widened(
        Constant(1.2e9, 0.88e9, 1.55e9, "qemu-qpl", Status.DERIVED, "B/s", "four channels on one IAA device")
    ),
    Compression.UADK: Constant(
        0.6e9, 0.09e9, 1.5e9, "migration-assumed", Status.ASSUMED, "B/s", "the link was the limit at 0.09 GB/s"
    ),
    Compression.HYPER_V: Constant(
        0.5e9, 0.1e9, 2.0e9, "migration-assumed", Status.ASSUMED, "B/s", "cores of the host that are idle"
    ),
}
#: guest memory compressed per device
ENGINE: Final = {
    Compression.QATZIP: widened(
        Constant(0.9e9, 0.87e9, 4.0e9, "qemu-qatzip", Status.DERIVED, "B/s", "four devices, 3.49 GB/s, the link full")
    ),
    Compression.QPL: widened(
        Constant(3.5e9, 3.0e9, 6.2e9, "qemu-qpl", Status.DERIVED, "B/s", "one device without and with software")
    ),
    Compression.UADK: Constant(
        2.0e9, 0.2e9, 6.0e9, "migration-assumed", Status.ASSUMED, "B/s", "as a QAT or IAA device"
    ),
}
#: cores busy on the sender per GB/s of guest memory: 810 % at 2.88, 160 % at 3.49, 45 % at 1.26
CORES: Final = {
    Compression.NONE: Constant(0.36, 0.3, 1.0, "qemu-qatzip", Status.DERIVED, "s/GB", "45 % at 1.26 GB/s"),
    Compression.ZSTD: Constant(2.8, 2.4, 3.3, "qemu-qatzip", Status.DERIVED, "s/GB", "810 % at 2.88 GB/s"),
    Compression.QATZIP: Constant(0.46, 0.35, 0.7, "qemu-qatzip", Status.DERIVED, "s/GB", "160 % at 3.49 GB/s"),
    Compression.ZLIB: Constant(22.0, 11.0, 30.0, "qemu-thread-compression", Status.DERIVED, "s/GB", "1 / 45 MB/s"),
    Compression.QPL: Constant(0.46, 0.35, 1.5, "migration-assumed", Status.ASSUMED, "s/GB", "as QATzip"),
    Compression.UADK: Constant(0.46, 0.35, 1.5, "migration-assumed", Status.ASSUMED, "s/GB", "as QATzip"),
    Compression.HYPER_V: Constant(2.8, 1.0, 10.0, "migration-assumed", Status.ASSUMED, "s/GB", "as zstd"),
}
#: what was measured together: other combinations of monitor, transport and compression have wider bands, unless their
#: constants are assumed and wide enough by themselves
MEASURED: Final = frozenset(
    {
        (Monitor.QEMU, Transport.TCP, Compression.NONE),
        (Monitor.QEMU, Transport.TCP, Compression.ZLIB),
        (Monitor.QEMU, Transport.TCP, Compression.ZSTD),
        (Monitor.QEMU, Transport.TCP, Compression.QATZIP),
        (Monitor.QEMU, Transport.TCP, Compression.QPL),
        (Monitor.QEMU, Transport.TCP, Compression.UADK),
        (Monitor.QEMU, Transport.RDMA, Compression.NONE),
        (Monitor.QEMU, Transport.RDMA_PINNED, Compression.NONE),
        (Monitor.CLOUD_HYPERVISOR, Transport.TCP, Compression.NONE),
    }
)
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


@dataclass(frozen=True, slots=True)
class Sender:
    """How one migration is sent.

    Parameters
    ----------
    channels
        Connections: 1 without multifd.
    tls
        Encrypt each connection on the core that sends it.
    preallocated
        The destination has touched all memory before, so no connection waits for its pages.
    ratio
        Guest bytes per byte on the link; by the compression if not given [1].
    compression_rate
        Guest memory compressed per channel; as published if not given [B/s].
    engines
        Devices that compress; 0 where they are not the limit.
    zero_pages
        Who looks for pages of zeros.
    max_bandwidth
        Ceiling configured in the hypervisor [B/s].
    file_rate
        What the file system writes and reads, of a migration to a file [B/s].
    """

    channels: int = 1
    monitor: Monitor = Monitor.QEMU
    transport: Transport = Transport.TCP
    compression: Compression = Compression.NONE
    tls: bool = False
    preallocated: bool = False
    ratio: Ratio | None = None
    compression_rate: BytesPerSecond | None = None
    engines: int = 0
    zero_pages: ZeroPages = ZeroPages.BY_RELEASE
    max_bandwidth: BytesPerSecond | None = None
    file_rate: BytesPerSecond | None = None

    def checked(self) -> Sender:
        """Itself.

        Raises
        ------
        AnalysisError
            If a rate, count or ratio is not positive.
        """
        at_least_one(self.channels, "channels")
        for name in ("ratio", "compression_rate", "max_bandwidth", "file_rate"):
            stated = getattr(self, name)
            if stated is not None:
                positive(stated, name)
        return self

    @property
    def sends_all(self) -> bool:
        """True if pages of zeros are sent like others."""
        return self.zero_pages is ZeroPages.NONE or self.monitor is Monitor.CLOUD_HYPERVISOR

    @property
    def measured(self) -> bool:
        """True if monitor, transport and compression were measured together, or their own constants are as wide."""
        wide = self.monitor in (Monitor.XEN, Monitor.HYPER_V) and not self.transport.rdma
        own = self.transport in (Transport.UNIX, Transport.TUNNELLED) and self.compression is Compression.NONE
        return wide or own or (self.monitor, self.transport, self.compression) in MEASURED

    def most(self, line_rate: BytesPerSecond, routed: BytesPerSecond | None) -> float:
        """Bytes per second that nothing exceeds: the wire or the file, and the ceiling that is configured [B/s]."""
        wire = self.file_rate or line_rate if self.transport is Transport.FILE else max(line_rate, routed or 0.0)
        return min(wire, self.max_bandwidth or wire)

    def limits(
        self, line_rate: BytesPerSecond, routed: BytesPerSecond | None, which: str
    ) -> tuple[dict[str, float], float]:
        """Guest memory per second by what limits it [B/s], at one end of the bands, and the ratio compressed [1]."""
        factor = self.ratio or float(getattr(RATIO[self.compression], which))
        on_link = {} if self.transport is Transport.FILE else {"link": self._link(line_rate, routed, which)}
        if not self.transport.rdma:
            on_link["channels, one core each"] = self.channels * self._connection(which)
        if self.transport is Transport.RDMA:
            on_link["memory registration"] = float(getattr(RDMA_REGISTERING, which))
        if self.transport is Transport.TUNNELLED:
            on_link["tunnel through libvirt"] = float(getattr(TUNNEL, which))
        if self.transport is Transport.FILE:
            # others may use the file system, too: what one gets is for writing and reading together
            on_link["file"] = min(self.file_rate or line_rate, 2 * (routed or math.inf))
        if self.max_bandwidth is not None:
            on_link["configured ceiling"] = self.max_bandwidth
        found = {name: rate * factor for name, rate in on_link.items()}
        if self.compression is not Compression.NONE:
            each = self.compression_rate or float(getattr(COMPRESSED[self.compression], which))
            found["compression"] = self.channels * each
            if self.engines and self.compression in ENGINE:
                found["compressing devices"] = self.engines * float(getattr(ENGINE[self.compression], which))
        return found, factor

    def _link(self, line_rate: float, routed: float | None, which: str) -> float:
        share = RDMA_SHARE if self.transport.rdma else LINE_SHARE
        part = float(getattr(share, which))
        if self.transport.same_host:
            return line_rate
        if routed is None:
            return line_rate * part
        # as far off as shares of a line are, and never more than the line
        return min(max(routed, line_rate), routed * part / share.value)

    def _connection(self, which: str) -> float:
        """What one connection carries [B/s]: measured ones copy into pages that are populated as they arrive.

        Notes
        -----
        Nothing was published of the difference, so at worst there is none.
        """
        channel = LOCAL_SOCKET if self.transport.same_host else _CHANNEL[self.monitor]
        each = float(getattr(channel, which))
        if self.preallocated and which != "low":
            each = 1 / (1 / each - 1 / float(getattr(POPULATION, which))) if each < POPULATION.value else each
        if self.tls:
            # one core encrypts what it then copies
            each = 1 / (1 / each + 1 / float(getattr(self._cipher, which)))
        return each

    @property
    def _cipher(self) -> Constant:
        return STUNNEL if self.monitor is Monitor.XEN else TLS

    def cipher_cores(self, link_rate: BytesPerSecond) -> float:
        """Cores busy encrypting at a rate on the link [cores]."""
        return link_rate / self._cipher.value if self.tls else 0.0

    def scan(self, guest: Estimate) -> Estimate:
        """Guest memory searched for zero pages [B/s].

        Notes
        -----
        Channels search their own pages since QEMU 9.0; before, one thread searched for all. RDMA does not search
        memory it has registered, nor does Cloud Hypervisor; nothing is known of the others.
        """
        if self.transport.rdma or self.zero_pages is ZeroPages.NONE or self.monitor is not Monitor.QEMU:
            rate = max(guest.value, ZERO_SCAN.value)
            return Estimate(rate, min(rate, guest.low), max(rate, ZERO_SCAN.high), "B/s", (ZERO_SCAN.source,))
        threads = 1 if self.zero_pages is ZeroPages.LEGACY else self.channels
        least = self.channels if self.zero_pages is ZeroPages.MULTIFD else 1
        return Estimate(
            threads * ZERO_SCAN.value, least * ZERO_SCAN.low, threads * ZERO_SCAN.high, "B/s", (ZERO_SCAN.source,)
        )


def kvm_bandwidth(
    line_rate: BytesPerSecond, sender: Sender | None = None, *, routed_bandwidth: BytesPerSecond | None = None
) -> KvmBandwidth:
    """Link and guest rate of one migration [B/s]: the least of link, channels, compression and configured ceiling.

    Parameters
    ----------
    line_rate
        Rate of the link after line coding [B/s].
    sender
        One connection of QEMU over TCP if not given.
    routed_bandwidth
        Payload the routed network gives, if known; replaces line rate × protocol share [B/s].

    Raises
    ------
    AnalysisError
        If a rate, count or ratio is not positive.

    Sources
    -------
    KubeVirt on multifd; Cloud Hypervisor pull request 7669; QEMU documents on compression, RDMA and mapped-ram.
    """
    positive(line_rate, "line_rate")
    if routed_bandwidth is not None:
        positive(routed_bandwidth, "routed_bandwidth")
    how = (Sender() if sender is None else sender).checked()

    def corner(which: str) -> tuple[BytesPerSecond, float, str]:
        limits, factor = how.limits(line_rate, routed_bandwidth, which)
        name = min(limits, key=lambda each: limits[each])
        # what nobody measured together is as far off as a constant of one publication is elsewhere
        spread = 1.0 if how.measured else float(getattr(ONE_PUBLICATION, which))
        guest = min(limits[name] * spread, how.most(line_rate, routed_bandwidth) * factor)
        # a file is written, then read
        guest /= 2 if how.transport is Transport.FILE else 1
        return BytesPerSecond(guest / factor), guest, name

    value, low, high = corner("value"), corner("low"), corner("high")
    link_rates = (value[0], low[0], high[0])
    guest = Estimate(value[1], low[1], high[1], "B/s", SOURCES)
    return KvmBandwidth(
        link_rate=Estimate(value[0], min(link_rates), max(link_rates), "B/s", SOURCES),
        guest=guest,
        scan=how.scan(guest),
        limited_by=value[2],
        cores=CORES[how.compression].value * guest.value / _GIGABYTE.value + how.cipher_cores(value[0]),
    )


def pinning_time(memory: Bytes) -> Estimate:
    """Time to pin all guest memory for RDMA before the first page is sent [s]; `memory` in [B]."""
    size, rate = positive(memory, "memory"), RDMA_PINNING
    return Estimate(size / rate.value, size / rate.high, size / rate.low, "s", SOURCES)


FORMULA: Final = Formula(
    name="kvm-bandwidth",
    title="KVM migration: channels, transport, compression",
    function=kvm_bandwidth,
    sources=SOURCES,
    valid_when="1 to 100 Gb/s; compression rates are those of one published machine each",
)
