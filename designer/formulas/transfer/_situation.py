"""What a transfer is asked to do, and what comes back. Plain numbers in SI units."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class LinkClass(StrEnum):
    """What a link or channel is made of."""

    PCIE = "pcie"
    NVLINK = "nvlink"
    XGMI = "xgmi"  #: AMD GPU to GPU
    C2C = "c2c"  #: coherent link between CPU and GPU in one package
    SOCKET = "socket"  #: between CPU sockets: QPI, UPI, xGMI
    MEMORY_BUS = "memory-bus"  #: memory of a host
    ETHERNET = "ethernet"
    INFINIBAND = "infiniband"
    EFA = "efa"  #: scalable reliable datagrams of a cloud, over Ethernet
    FABRIC = "fabric"  #: inside a switch or a chip


class TransferProtocol(StrEnum):
    """Who moves the bytes, and how."""

    COPY = "copy"  #: copy engine of a GPU, from or to host memory or a linked GPU
    P2P = "p2p"  #: copy engine of a GPU, to another GPU over PCIe
    SM_READ = "sm-read"  #: a kernel that loads from the far side (zero-copy)
    SM_WRITE = "sm-write"  #: a kernel that stores to the far side
    BAR_WRITE = "bar-write"  #: CPU stores through the mapped window of a GPU
    BAR_READ = "bar-read"  #: CPU loads through it
    RDMA = "rdma"  #: NIC reads or writes memory; GPUDirect when it is GPU memory
    TCP = "tcp"
    STORAGE = "storage"  #: block or file data by DMA, local or over RDMA


class Placement(StrEnum):
    """How two PCIe devices see each other."""

    SAME_SWITCH = "same-switch"
    SAME_SOCKET = "same-socket"  #: through the root complex
    CROSS_SOCKET = "cross-socket"


@dataclass(frozen=True, slots=True)
class TransferSituation:
    """One transfer over one stage.

    Parameters
    ----------
    link, protocol
        What it crosses and who moves it.
    raw_bandwidth
        Per direction, after line encoding and after sharing [B/s].
    size
        Bytes moved [B]; infinite asks for the steady rate.
    generation
        Of PCIe (1–6) or NVLink (1–5); 0 when it has none or it is unknown.
    placement
        Between the two devices, for P2P and for RDMA from GPU memory.
    both_directions
        The opposite direction is as busy.
    host_memory_bandwidth
        Raw bandwidth of the host memory at the end, reads and writes together [B/s]; 0 means not limiting.
    """

    link: LinkClass
    protocol: TransferProtocol
    raw_bandwidth: float
    size: float = float("inf")
    generation: int = 0
    placement: Placement = Placement.SAME_SWITCH
    both_directions: bool = False
    host_memory_bandwidth: float = 0.0


@dataclass(frozen=True, slots=True)
class TransferTime:
    """Time and achieved rate of a transfer.

    Parameters
    ----------
    time
        [s]; infinite for an infinite size.
    bandwidth, bandwidth_low, bandwidth_high
        Size ÷ time, and its 80 % band [B/s].
    latency_term, bandwidth_term
        The two parts of the time [s].
    """

    time: float
    bandwidth: float
    bandwidth_low: float
    bandwidth_high: float
    latency_term: float
    bandwidth_term: float
