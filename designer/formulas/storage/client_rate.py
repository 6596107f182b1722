"""What one host reads and writes through the client of a file system, by the processors that do the work."""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from designer.formulas.formula import Formula
from designer.formulas.storage.storage_capacity import HOST_CAPS, Client, Pattern
from designer.sources import Constant, Status

#: bytes that one socket writes in a second through a client in the kernel [B/s]
KERNEL_WRITES: Final = MappingProxyType(
    {
        Client.LUSTRE: Constant(
            3.2e9, 2.2e9, 6.5e9, "fit-storage-servers", Status.DERIVED, "B/s", "51.7 GB/s of 16 hosts, EPYC 9354P"
        ),
        Client.NFS: Constant(
            4.5e9, 2.0e9, 9.5e9, "assumed-storage-servers", Status.ASSUMED, "B/s", "0.7 of what it reads"
        ),
    }
)
#: bytes of one connection in a second, read and written: a TCP stream is one core's work, RDMA an adapter's [B/s]
_TCP: Final = (
    Constant(2.0e9, 1.5e9, 2.5e9, "S36", Status.SECONDARY, "B/s", "one NFS mount over one connection"),
    Constant(1.5e9, 0.8e9, 2.5e9, "assumed-storage-servers", Status.ASSUMED, "B/s", "writes are not in the source"),
)
_RDMA: Final = (
    Constant(10e9, 5e9, 12e9, "assumed-storage-servers", Status.ASSUMED, "B/s", "a queue pair on a port of 100 Gb/s"),
    Constant(8e9, 4e9, 12e9, "assumed-storage-servers", Status.ASSUMED, "B/s", "a queue pair on a port of 100 Gb/s"),
)
_WORDS: Final = re.compile(r"[a-z0-9]+")
#: words of clients that bypass the kernel, or whose data an adapter places
_BYPASS: Final = frozenset({"rdma", "roce", "dpdk", "spdk", "daos", "gds", "parallel", "pnfs"})
_KERNEL: Final = (("lustre", Client.LUSTRE), ("nfs", Client.NFS), ("nvme", Client.BLOCK))


def client_of(protocol: str) -> Client:
    """The client that a protocol is reached with, by its words: one that bypasses the kernel where they do not say."""
    text = protocol.lower()
    if "lustre" not in text and _BYPASS & set(_WORDS.findall(text)):
        return Client.PARALLEL
    return next((client for word, client in _KERNEL if word in text), Client.PARALLEL)


def socket_rates(client: Client) -> tuple[Constant, Constant] | None:
    """What one socket reads and writes through a client in the kernel [B/s]; None for other clients.

    Notes
    -----
    Large files, many at once. Clients that bypass the kernel are held by the links of the host.
    """
    writes = KERNEL_WRITES.get(client)
    return None if writes is None else (HOST_CAPS[client, Pattern.LARGE], writes)


def connection_rates(client: Client | None) -> tuple[Constant, Constant]:
    """What one connection of a client reads and writes [B/s]: over TCP in the kernel or where nothing is known."""
    return _RDMA if client in (Client.PARALLEL, Client.OFFLOADED) else _TCP


FORMULA: Final = Formula(
    "client-rate",
    "What one host gets through a file system client",
    socket_rates,
    ("fit-storage", "fit-storage-servers", "assumed-storage-servers", "S36"),
    "large files, as many readers or writers as accelerators",
)
