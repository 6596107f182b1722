"""What one host reads and writes through the client of a file system, by the processors that do the work."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.formulas.storage.storage_capacity import HOST_CAPS, Client, Pattern
from designer.sources import Constant, Status
from designer.units import Bytes

#: bytes that one socket writes in a second through a client in the kernel [B/s]
KERNEL_WRITES: Final = MappingProxyType(
    {
        Client.LUSTRE: Constant(
            3.2e9, 2.2e9, 15e9, "fit-storage-servers", Status.DERIVED, "B/s", "51.7 GB/s of 16 hosts; EXAScaler 5 14.7"
        ),
        Client.NFS: Constant(
            4.5e9, 2.0e9, 9.5e9, "assumed-storage-servers", Status.ASSUMED, "B/s", "0.7 of what it reads"
        ),
    }
)


@dataclass(frozen=True, slots=True)
class Release:
    """What one socket of a host reads and writes through a client from its release `since` on [B/s]."""

    since: str
    read: Constant
    write: Constant


def _io500(value: float, low: float, high: float, note: str) -> Constant:
    return Constant(value, low, high, "io500-clients", Status.DERIVED, "B/s", note)


#: clients whose release says what a host gets; storage or links may have held these hosts, so ends are wide
RELEASES: Final = MappingProxyType(
    {
        Client.LUSTRE: (
            Release(
                "0",
                _io500(5.6e9, 2.2e9, 6.3e9, "2.10.7 on one port of EDR: 11.1 GB/s a host; the manual has 4.5 GB/s"),
                _io500(3.4e9, 2.2e9, 6.3e9, "2.10.7 on one port of EDR: 6.7 GB/s a host; the manual has 4.5 GB/s"),
            ),
            Release(
                "2.12",
                _io500(15.4e9, 8.6e9, 20e9, "EXAScaler 5: 30.7 GB/s a host of two sockets, ten hosts"),
                _io500(14.7e9, 6.5e9, 20e9, "EXAScaler 5: 29.3 GB/s a host of two sockets, ten hosts"),
            ),
            Release(
                "2.14",
                _io500(40e9, 16e9, 60e9, "EXAScaler 6: 32.7 to 80.7 GB/s a host of two sockets, several rails"),
                _io500(30e9, 16e9, 45e9, "EXAScaler 6: 32.5 to 60.9 GB/s a host of two sockets, several rails"),
            ),
        )
    }
)
#: bytes of one connection in a second, read and written: a TCP stream is one core's work, RDMA an adapter's [B/s]
_TCP: Final = (
    Constant(2.0e9, 1.5e9, 2.5e9, "S36", Status.SECONDARY, "B/s", "one NFS mount; 1.6 GB/s on Azure NetApp Files"),
    Constant(1.5e9, 0.8e9, 2.5e9, "azure-netapp-files-linux", Status.PRIMARY, "B/s", "1,500 MiB/s at one instance"),
)
_RDMA: Final = (
    Constant(10e9, 5e9, 12e9, "assumed-storage-servers", Status.ASSUMED, "B/s", "a queue pair on a port of 100 Gb/s"),
    Constant(8e9, 4e9, 12e9, "assumed-storage-servers", Status.ASSUMED, "B/s", "a queue pair on a port of 100 Gb/s"),
)
#: bytes of one core of a client in user space in a second, read and written, if the measured host took two [B/s]
_CORE: Final = (
    Constant(
        3.4e9, 2.0e9, 6.8e9, "weka-client", Status.ASSUMED, "B/s", "6.8 GB/s on 100 Gb/s, which one core cannot fill"
    ),
    Constant(
        1.8e9, 1.0e9, 3.7e9, "weka-client", Status.ASSUMED, "B/s", "3.7 GB/s on 100 Gb/s, which one core cannot fill"
    ),
)
#: bytes of one stream, of one process and file, in a second: by words of a protocol
_STREAMS: Final = (
    ("libioil", Constant(1.4e9, 1.0e9, 2.5e9, "parallelstore-streams", Status.PRIMARY, "B/s", "20 GiB in 15.7 s")),
    ("dfuse", Constant(0.47e9, 0.35e9, 1.0e9, "parallelstore-streams", Status.PRIMARY, "B/s", "20 GiB in 45.7 s")),
)
#: bytes of one process that writes a file of a checkpoint through the page cache, where a release is given [B/s]
WRITERS: Final = MappingProxyType(
    {
        Client.LUSTRE: Constant(
            0.81e9, 0.5e9, 2.0e9, "fit-storage-servers", Status.DERIVED, "B/s", "64 ranks 51.7 GB/s; IO500 0.4 to 1.24"
        )
    }
)
#: size of a request of a client where it is not given [B]
_REQUESTS: Final = MappingProxyType(
    {
        Client.NFS: Constant(2.0**20, 2.0**20, 2.0**20, "linux-nfs-client", Status.PRIMARY, "B", "largest rsize"),
        Client.LUSTRE: Constant(2.0**22, 2.0**22, 2.0**22, "lustre-manual", Status.PRIMARY, "B", "max_pages_per_rpc"),
    }
)
_WORDS: Final = re.compile(r"[a-z0-9]+")
#: words of clients that bypass the kernel, or whose data an adapter places
_BYPASS: Final = frozenset({"rdma", "roce", "dpdk", "spdk", "daos", "gds", "parallel", "pnfs"})
_RELEASE: Final = re.compile(r"\d+(?:\.\d+)+")
_KERNEL: Final = (("lustre", Client.LUSTRE), ("nfs", Client.NFS), ("nvme", Client.BLOCK))


def client_of(protocol: str) -> Client:
    """The client that a protocol is reached with, by its words: one that bypasses the kernel where they do not say."""
    text = protocol.lower()
    if "lustre" not in text and _BYPASS & set(_WORDS.findall(text)):
        return Client.PARALLEL
    return next((client for word, client in _KERNEL if word in text), Client.PARALLEL)


def socket_rates(client: Client, release: str = "") -> tuple[Constant, Constant] | None:
    """What one socket reads and writes through a client in the kernel [B/s]; None for other clients.

    Parameters
    ----------
    release
        Of the client, as ``2.15``; the fit of two clusters where it is not known.

    Notes
    -----
    Large files, many at once. Clients that bypass the kernel are held by the links of the host.

    Raises
    ------
    AnalysisError
        If the release is no number, or says nothing of this client.
    """
    writes = KERNEL_WRITES.get(client)
    if release:
        known, numbers = RELEASES.get(client), _RELEASE.search(release)
        if known is None or numbers is None:
            raise AnalysisError(f"a client release of {release!r}", remedy="give that of a Lustre client, as 2.15")
        found = next(one for one in reversed(known) if _version(one.since) <= _version(numbers[0]))
        return found.read, found.write
    return None if writes is None else (HOST_CAPS[client, Pattern.LARGE], writes)


def _version(release: str) -> list[int]:
    return [int(number) for number in release.split(".")]


def core_rates(protocol: str) -> tuple[Constant, Constant]:
    """What one core of a client reads and writes [B/s]: in user space, or over UDP in the kernel as a TCP stream.

    Raises
    ------
    AnalysisError
        If the client is none with cores of its own.
    """
    words = set(_WORDS.findall(protocol.lower()))
    if not words & {"weka", "dpdk", "spdk", "udp"}:
        raise AnalysisError("cores of a client that has none of its own", remedy="give them for WEKA, DPDK or UDP")
    return _TCP if "udp" in words else _CORE


def stream_rate(protocol: str) -> Constant | None:
    """What one process gets from one file [B/s]; None where nothing holds a stream back that is known."""
    return next((rate for word, rate in _STREAMS if word in protocol.lower()), None)


def request_size(client: Client | None) -> Bytes:
    """Size of a request of a client that does not say [B].

    Raises
    ------
    AnalysisError
        If it is not known of this client.
    """
    found = _REQUESTS.get(client) if client is not None else None
    if found is None:
        raise AnalysisError("requests of a client without a size", remedy="give client_request_size")
    return Bytes(found.value)


def connection_rates(client: Client | None) -> tuple[Constant, Constant]:
    """What one connection of a client reads and writes [B/s]: over TCP in the kernel or where nothing is known."""
    return _RDMA if client in (Client.PARALLEL, Client.OFFLOADED) else _TCP


FORMULA: Final = Formula(
    "client-rate",
    "What one host gets through a file system client",
    socket_rates,
    (
        "fit-storage",
        "fit-storage-servers",
        "io500-clients",
        "assumed-storage-servers",
        "S36",
        "azure-netapp-files-linux",
    ),
    "large files, as many readers or writers as accelerators",
)
