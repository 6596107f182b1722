"""How many accelerators storage can feed: the largest number whose utilisation stays above a threshold."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType
from typing import Final, Literal

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.formulas.storage.storage_servers import ServerRate
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Ratio, Seconds

Edge = Literal["value", "low", "high"]


class Client(StrEnum):
    """How a host reaches its storage."""

    LOCAL = "local"  #: drives in the host itself
    PARALLEL = "parallel"  #: parallel file system with RDMA or a poll-mode driver
    OFFLOADED = "offloaded"  #: NVMe over TCP done by a DPU
    BLOCK = "block"  #: NVMe over TCP done by the processors
    LUSTRE = "lustre"  #: in-kernel parallel client
    NFS = "nfs"  #: NFS over TCP with many connections


class Pattern(StrEnum):
    """How samples lie in files, by what it costs a client."""

    LARGE = "large"  #: files of 100 MB and more read whole (3D-UNet)
    RECORDS = "records"  #: many small records in large files (ResNet-50)
    SMALL = "small"  #: files of a few MB, one a step (CosmoFlow)


def _fit(value: float, low: float, high: float, note: str, unit: str = "1") -> Constant:
    return Constant(value, low, high, "fit-storage", Status.DERIVED, unit, note)


#: share of nominal rate that one host gets, by client and pattern: of its NICs, or of its drives
SHARES: Final = MappingProxyType(
    {
        (Client.LOCAL, Pattern.LARGE): _fit(
            1.15, 1.0, 1.2, "2 binding points; reading ahead at the start of an epoch helps"
        ),
        (Client.LOCAL, Pattern.RECORDS): _fit(1.05, 0.97, 1.12, "5 binding points, 3 % residual; the page cache helps"),
        (Client.LOCAL, Pattern.SMALL): _fit(0.88, 0.76, 1.0, "4 binding points, 9 % residual"),
        (Client.PARALLEL, Pattern.LARGE): _fit(0.80, 0.68, 0.93, "6 binding points, 11 % residual"),
        (Client.PARALLEL, Pattern.RECORDS): _fit(0.40, 0.33, 0.60, "1 binding point, 3 lower bounds"),
        (Client.PARALLEL, Pattern.SMALL): _fit(0.80, 0.68, 0.93, "as large files, below the cap"),
        (Client.OFFLOADED, Pattern.LARGE): _fit(0.60, 0.52, 0.66, "4 binding points, 4 % residual"),
        (Client.OFFLOADED, Pattern.RECORDS): _fit(0.48, 0.40, 0.55, "2 binding points"),
        (Client.OFFLOADED, Pattern.SMALL): _fit(0.60, 0.50, 0.66, "as large files, below the cap"),
        (Client.BLOCK, Pattern.LARGE): _fit(0.33, 0.22, 0.46, "4 binding points, 30 % residual"),
        (Client.BLOCK, Pattern.RECORDS): _fit(0.34, 0.26, 0.42, "2 binding points, 2 lower bounds"),
        (Client.BLOCK, Pattern.SMALL): _fit(0.30, 0.24, 0.36, "2 binding points"),
        (Client.LUSTRE, Pattern.LARGE): _fit(0.80, 0.60, 0.90, "as other clients with RDMA: no point below the cap"),
        (Client.LUSTRE, Pattern.RECORDS): _fit(0.40, 0.30, 0.60, "as other clients with RDMA: no point below the cap"),
        (Client.LUSTRE, Pattern.SMALL): _fit(0.80, 0.50, 0.93, "no point; as other clients with RDMA"),
        (Client.NFS, Pattern.LARGE): _fit(0.80, 0.60, 0.93, "as other clients: processors bind first, see below"),
        (Client.NFS, Pattern.RECORDS): _fit(0.50, 0.30, 0.80, "as other clients: processors bind first"),
        (Client.NFS, Pattern.SMALL): _fit(0.80, 0.50, 0.93, "no point; as other clients"),
    }
)
#: what the processors of one host get through, whatever its NICs: per socket where the kernel does the work [B/s]
HOST_CAPS: Final = MappingProxyType(
    {
        (Client.LUSTRE, Pattern.LARGE): _fit(8.6e9, 5.8e9, 10.0e9, "2 binding points and 1 bound, per socket", "B/s"),
        (Client.LUSTRE, Pattern.RECORDS): _fit(3.5e9, 3.0e9, 4.2e9, "2 binding points, per socket", "B/s"),
        (Client.LUSTRE, Pattern.SMALL): _fit(3.5e9, 2.0e9, 5.0e9, "no point; as records", "B/s"),
        (Client.NFS, Pattern.LARGE): _fit(
            6.4e9, 3.6e9, 9.5e9, "median of 6 points of three other kernel clients; 4 bounds, per socket", "B/s"
        ),
        (Client.NFS, Pattern.RECORDS): _fit(
            3.6e9, 2.4e9, 7.0e9, "median of 6 points of three kernel clients, 2 of NFS, per socket", "B/s"
        ),
        (Client.NFS, Pattern.SMALL): _fit(
            3.9e9, 2.6e9, 6.2e9, "median of 3 points of two other kernel clients, per socket", "B/s"
        ),
        (Client.PARALLEL, Pattern.SMALL): _fit(
            14.4e9, 12.0e9, 18.0e9, "8 binding points, 11 % residual, per host", "B/s"
        ),
        (Client.OFFLOADED, Pattern.SMALL): _fit(
            13.5e9, 11.5e9, 16.0e9, "4 binding points, 6 % residual, per host", "B/s"
        ),
        (Client.BLOCK, Pattern.SMALL): _fit(13.0e9, 11.0e9, 16.0e9, "1 binding point, per host", "B/s"),
    }
)
#: clients whose caps count per socket: file systems that work in the kernel of the host
PER_SOCKET: Final = frozenset({Client.LUSTRE, Client.NFS})
#: hosts that wait for each other at every small file get less each: rate falls with this power of their number
LOCKSTEP: Final = _fit(0.2, 0.1, 0.3, "3 and 6 hosts on two clusters: 5 points, 4 % residual")
#: reader processes a host carries per processor thread
PER_THREAD: Final = _fit(1.125, 1.0, 1.25, "2 binding points on 128 threads; many processes, slow steps")
#: a storage server passes on this share of its NICs and drives
SERVER_SHARE: Final = _fit(
    0.75,
    0.55,
    0.97,
    "AS13000 0.63 of its NICs, InDataOS 0.86 at least of its drives, DAOS 0.93 at least, WEKA 0.55 at least",
)
#: a step costs this much next to computing, whatever is read
STEP_FIXED: Final = _fit(0.74e-3, 0.5e-3, 1.2e-3, "one accelerator, 3.5 ms steps", "s")
#: and this much per doubling of the accelerators that wait for each other: absolute, and of the computing time
STEP_DOUBLING: Final = _fit(0.11e-3, 0.07e-3, 0.18e-3, "1 to 60 accelerators, 6 points, 3 % residual", "s")
COMPUTE_DOUBLING: Final = _fit(0.01, 0.005, 0.02, "records and large files, 3 to 96 accelerators, 6 points")


@dataclass(frozen=True, slots=True)
class FeedWorkload:
    """What one accelerator asks of storage.

    Parameters
    ----------
    batch
        Samples per step and accelerator.
    compute
        Time the accelerator computes on them [s].
    sample
        Bytes of a sample [B].
    pattern
        How samples lie in files.
    """

    batch: int
    compute: Seconds
    sample: Bytes
    pattern: Pattern

    @property
    def demand(self) -> BytesPerSecond:
        """Rate that keeps one accelerator busy all the time [B/s]."""
        return BytesPerSecond(self.batch * self.sample / self.compute)


@dataclass(frozen=True, slots=True)
class FeedCapacity:
    """The most accelerators a storage path can keep busy.

    Parameters
    ----------
    accelerators, low, high
        The number, and its 80 % band.
    rate
        What the path delivers [B/s].
    binding
        What stops one more: ``hosts``, ``servers`` or ``step overhead``.
    utilization
        Of the accelerators at that number.
    """

    accelerators: int
    low: int
    high: int
    rate: BytesPerSecond
    binding: str
    utilization: Ratio


@dataclass(frozen=True, slots=True)
class Hosts:
    """The hosts that read.

    Parameters
    ----------
    count
        How many.
    nominal
        NICs of one host together, or its drives where they are local [B/s].
    client
        How they reach storage.
    sockets, threads
        Processor sockets, and processor threads of one host; 0 threads where they are not known.
    socket
        What a socket reads of large files through this client or its release; None where it is not known.
    """

    count: int
    nominal: BytesPerSecond
    client: Client
    sockets: int = 2
    threads: int = 0
    socket: Constant | None = None


def host_rate(hosts: Hosts, pattern: Pattern, edge: Edge = "value") -> BytesPerSecond:
    """Rate all hosts together get from storage, before the servers limit it [B/s]."""
    rate: float = hosts.nominal * getattr(SHARES[hosts.client, pattern], edge)
    cap = HOST_CAPS.get((hosts.client, pattern))
    if cap is not None:
        per_socket = hosts.sockets if hosts.client in PER_SOCKET else 1
        if hosts.socket is not None and pattern is Pattern.LARGE:
            cap = hosts.socket
        rate = min(rate, getattr(cap, edge) * per_socket)
    count: float = hosts.count
    if pattern is Pattern.SMALL:
        count **= 1 - LOCKSTEP.value
    return BytesPerSecond(count * rate)


def utilization(work: FeedWorkload, accelerators: int, rate: BytesPerSecond) -> Ratio:
    """Share of a step that accelerators compute when they share `rate` [1].

    Notes
    -----
    compute ÷ max(compute + waiting, accelerators x batch x sample ÷ rate); waiting grows with each doubling.
    """
    doublings = math.log2(max(1, accelerators))
    waiting = max(STEP_DOUBLING.value, COMPUTE_DOUBLING.value * work.compute) * doublings + STEP_FIXED.value
    reading = accelerators * work.batch * work.sample / rate
    return Ratio(work.compute / max(work.compute + waiting, reading))


def _largest(work: FeedWorkload, rate: BytesPerSecond, threshold: Ratio) -> int:
    """Largest number of accelerators with utilisation at or above the threshold."""
    at_rate = math.floor(rate / (threshold * work.demand) * (1 + ROUNDING.value))
    if at_rate < 1 or utilization(work, 1, rate) < threshold:
        return 0
    low, high = 1, at_rate
    while low < high:
        middle = (low + high + 1) // 2
        if utilization(work, middle, rate) >= threshold:
            low = middle
        else:
            high = middle - 1
    return low


ROUNDING: Final = Constant(1e-9, 1e-9, 1e-9, "counted-training", Status.DERIVED, "1", "of the division")


def storage_capacity(
    work: FeedWorkload,
    hosts: Hosts,
    threshold: Ratio,
    server_rate: BytesPerSecond | None = None,
    servers: ServerRate | None = None,
) -> FeedCapacity:
    """The most accelerators a storage path keeps at or above a utilisation threshold, equally many on every host.

    Parameters
    ----------
    hosts
        Who reads, over what.
    threshold
        Utilisation that must be kept [1].
    server_rate
        Nominal rate of all storage servers together, the lower of NICs and drives; None if they are not known [B/s].
    servers
        What the servers deliver, where more is known of them; then `server_rate` does not count.

    Raises
    ------
    AnalysisError
        If something is not positive.

    Sources
    -------
    MLPerf Storage rules for utilisation and for distributed submissions (section 9: as many simulated accelerators on
    each host); shares fitted on its published runs.
    """
    if hosts.count < 1 or hosts.nominal <= 0 or hosts.sockets < 1:
        raise AnalysisError(
            f"{hosts.count} hosts at {hosts.nominal:g} B/s", remedy="give at least one host with a rate above 0"
        )
    if not 0 < threshold <= 1:
        raise AnalysisError(f"a utilisation threshold of {threshold}", remedy="give a share above 0, up to 1")
    if work.batch < 1 or work.compute <= 0 or work.sample <= 0:
        raise AnalysisError("an empty step", remedy="give a batch, a computing time and a sample size")

    def most(edge: Edge) -> tuple[int, BytesPerSecond, str]:
        at_hosts: float = host_rate(hosts, work.pattern, edge)
        at_servers = math.inf if server_rate is None else server_rate * getattr(SERVER_SHARE, edge)
        if servers is not None:
            at_servers = getattr(servers, edge)
        rate = BytesPerSecond(min(at_hosts, at_servers))
        number, binding = _largest(work, rate, threshold), "hosts" if at_hosts <= at_servers else "servers"
        if number < math.floor(rate / (threshold * work.demand)):
            binding = "step overhead"
        carried = hosts.count * hosts.threads * getattr(PER_THREAD, edge)
        if 0 < carried < number:
            number, binding = math.floor(carried), "processor threads"
        # every host runs as many as the others, unless there is not one for each
        return number - (number % hosts.count if number > hosts.count else 0), rate, binding

    number, rate, binding = most("value")
    return FeedCapacity(number, most("low")[0], most("high")[0], rate, binding, utilization(work, max(1, number), rate))


FORMULA: Final = Formula(
    "storage-capacity",
    "Accelerators a storage path feeds",
    storage_capacity,
    ("mlperf-storage-rules", "fit-storage"),
    "synchronous steps over equal hosts; nothing else on the path",
)
