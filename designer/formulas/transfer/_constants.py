"""Constants of the transfer models: efficiency of a raw channel, latencies. 80 % bands.

Fits use the 29 published transfer measurements kept in ``tests/validation/transfers/cases.json``.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from designer.sources import Constant, Status


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
    RDMA = "rdma"  #: NIC reads or writes memory; GPUDirect when it is GPU memory
    TCP = "tcp"
    STORAGE = "storage"  #: block or file data by DMA, local or over RDMA
    STORAGE_WRITE = "storage-write"  #: the same, written


class Placement(StrEnum):
    """How two PCIe devices see each other."""

    SAME_SWITCH = "same-switch"
    SAME_SOCKET = "same-socket"  #: through the root complex
    CROSS_SOCKET = "cross-socket"


_FIT: Final = "transfers-fit"
_ASSUMED: Final = "assumed-transfers"
_DERIVED, _GUESS = Status.DERIVED, Status.ASSUMED
_L, _P = LinkClass, TransferProtocol

# ------------------------------------------------------------------ PCIe and NVLink, raw
PCIE_LANE: Final = {
    1: Constant(0.25e9, 0.25e9, 0.25e9, "pcie-rates", Status.PRIMARY, "B/s", "2.5 GT/s, 8b/10b"),
    2: Constant(0.5e9, 0.5e9, 0.5e9, "pcie-rates", Status.PRIMARY, "B/s", "5 GT/s, 8b/10b"),
    3: Constant(8e9 / 8 * 128 / 130, 0.98e9, 0.99e9, "pcie-rates", Status.PRIMARY, "B/s", "8 GT/s, 128b/130b"),
    4: Constant(16e9 / 8 * 128 / 130, 1.96e9, 1.98e9, "pcie-rates", Status.PRIMARY, "B/s", "16 GT/s, 128b/130b"),
    5: Constant(32e9 / 8 * 128 / 130, 3.93e9, 3.94e9, "pcie-rates", Status.PRIMARY, "B/s", "32 GT/s, 128b/130b"),
    6: Constant(64e9 / 8 * 242 / 256, 7.56e9, 7.57e9, "pcie-rates", Status.PRIMARY, "B/s", "64 GT/s, FLIT 242/256"),
    7: Constant(
        128e9 / 8 * 242 / 256, 15.12e9, 15.13e9, "pcie-rates", Status.UNVERIFIED, "B/s", "128 GT/s, FLIT 242/256"
    ),
}
#: where a generation is not known
USUAL_PCIE: Final = Constant(4.0, 3.0, 5.0, "assumed-transfers", Status.ASSUMED, "1", "generation")
USUAL_NVLINK: Final = Constant(3.0, 3.0, 4.0, "assumed-transfers", Status.ASSUMED, "1", "generation")

# ------------------------------------------------------------------ copy engines
PCIE_COPY: Final = {
    1: Constant(0.75, 0.68, 0.82, _ASSUMED, _GUESS, "1", "as the third generation"),
    3: Constant(0.77, 0.71, 0.84, _FIT, _DERIVED, "1", "12.0 of 15.75 GB/s; as wide as leaving it out misses"),
    4: Constant(0.82, 0.78, 0.86, _FIT, _DERIVED, "1", "25.0, 26.0, 26.3 of 31.5 GB/s"),
    5: Constant(
        0.88,
        0.80,
        0.914,
        _FIT,
        _DERIVED,
        "1",
        "55.1, 55.4 of 63.0 GB/s; one publication, so as wide as leaving it out misses; packets of 256 B give .914",
    ),
    6: Constant(0.88, 0.80, 0.92, _ASSUMED, _GUESS, "1", "as the fifth generation"),
}
#: NVLink copies by generation; a generation without a measurement takes its predecessor
NVLINK_COPY: Final = {
    1: Constant(0.913, 0.89, 0.93, _FIT, _DERIVED, "1", "18.3 of 20, 36.4 of 40 GB/s, P100"),
    2: Constant(0.958, 0.915, 1.0, _FIT, _DERIVED, "1", "47.9 of 50, 143.7 of 150 GB/s, V100"),
    3: Constant(0.918, 0.89, 0.94, _FIT, _DERIVED, "1", "274.5, 276.3 of 300 GB/s, A100"),
    4: Constant(0.87, 0.785, 0.91, _FIT, _DERIVED, "1", "376.0, 391.9, 396.4 of 450 GB/s, H100 and H200"),
    5: Constant(0.87, 0.80, 0.93, _ASSUMED, _GUESS, "1", "as the fourth generation"),
}
XGMI_COPY: Final = Constant(
    0.75, 0.70, 0.84, "rccl-topology", Status.PRIMARY, "1", "the library plans 48 of 64, 36 of 50"
)
C2C_COPY: Final = Constant(
    0.82, 0.715, 0.90, _FIT, _DERIVED, "1", "359, 377 of 450 GB/s; one publication, so as wide as leaving it out misses"
)
SOCKET_COPY: Final = Constant(0.80, 0.65, 0.90, _ASSUMED, Status.UNVERIFIED, "1", "host memory of the other socket")
SOCKET_P2P: Final = Constant(
    0.30, 0.15, 0.60, _ASSUMED, _GUESS, "1", "one socket's posted peer traffic; plans use 15–25 %"
)
MEMORY_BUS: Final = Constant(
    0.78, 0.72, 0.85, "stream-dgx-a100", Status.SECONDARY, "1", "STREAM 148 of 204.8 GB/s at the low end"
)
FABRIC: Final = Constant(0.98, 0.95, 1.0, _ASSUMED, _GUESS, "1", "inside a non-blocking switch")

# ------------------------------------------------------------------ placement and direction
P2P_PLACEMENT: Final = {
    Placement.SAME_SWITCH: Constant(1.0, 0.95, 1.03, _FIT, _DERIVED),
    Placement.SAME_SOCKET: Constant(
        0.97, 0.80, 1.03, _FIT, _DERIVED, "1", "26.3 GB/s on EPYC; Intel splits into 64 B packets: 0.83"
    ),
    Placement.CROSS_SOCKET: Constant(0.85, 0.70, 0.95, "nvbandwidth-50", Status.SECONDARY, "1", "22.3 of 26.3 GB/s"),
}
RDMA_PLACEMENT: Final = {
    Placement.SAME_SWITCH: Constant(1.0, 0.97, 1.0, _FIT, _DERIVED),
    Placement.SAME_SOCKET: Constant(
        0.667, 0.55, 0.97, "nccl-412", Status.SECONDARY, "1", "16 of 24 GB/s; newer hosts lose less"
    ),
    Placement.CROSS_SOCKET: Constant(0.49, 0.35, 0.85, "rdma-cross-socket", Status.UNVERIFIED, "1", "48 % of the line"),
}
#: what one direction keeps when the other is as busy
BOTH_DIRECTIONS: Final = {
    _L.NVLINK: Constant(0.99, 0.96, 1.0, _FIT, _DERIVED, "1", "783.7 ÷ 2 of 396.4 GB/s"),
    _L.C2C: Constant(0.48, 0.45, 0.95, _FIT, _DERIVED, "1", "host memory shared by both: give its bandwidth instead"),
}
PCIE_BOTH_DIRECTIONS: Final = {
    3: Constant(0.88, 0.70, 0.98, _ASSUMED, _GUESS),
    4: Constant(0.72, 0.66, 0.95, "nvbandwidth-readme", Status.PRIMARY, "1", "26.0 → 18.7 GB/s on a Rome host"),
    5: Constant(0.85, 0.65, 0.98, _ASSUMED, _GUESS),
}
#: the same between peers, where kernels and not copy engines move the bytes
PEER_BOTH_DIRECTIONS: Final = {
    3: Constant(0.88, 0.70, 0.98, _ASSUMED, _GUESS, "1", "as of copies"),
    4: Constant(
        0.852,
        0.78,
        0.95,
        "collectives-fit",
        _DERIVED,
        "1",
        "a ring of 4 L40S carries 22 GB/s each way on every link that gives 25.8 one way; 3 A100 through a CPU 20",
    ),
    5: Constant(0.85, 0.65, 0.98, _ASSUMED, _GUESS, "1", "as of copies"),
}
#: host memory at the end of a coherent link, both directions together

# ------------------------------------------------------------------ networks
INFINIBAND_RDMA: Final = Constant(
    0.96, 0.93, 0.99, _FIT, _DERIVED, "1", "97.7 % of NDR at best, 46–48 of 50 GB/s in NCCL"
)
ETHERNET_RDMA: Final = Constant(0.92, 0.86, 0.97, _ASSUMED, _GUESS, "1", "87 % with files, 97 % at best")
ETHERNET_STORAGE: Final = Constant(0.87, 0.80, 0.93, "nfs-rdma", Status.SECONDARY, "1", "347 of 400 Gb/s")
EFA_RDMA: Final = Constant(
    0.95, 0.85, 0.98, "collectives-fit", _DERIVED, "1", "as collectives between two servers reach, 4 × 100 Gb/s"
)
INFINIBAND_STORAGE: Final = Constant(0.92, 0.85, 0.96, _ASSUMED, _GUESS)
#: writes over the network, relative to reads: each waits until its parts are safe
NETWORK_WRITE: Final = Constant(
    0.88,
    0.68,
    1.0,
    "mlperf-storage-v3",
    _DERIVED,
    "1",
    "one host with 400 Gb/s writes 35.5 and reads 48.3 GB/s (InDataOS); the middle of that and of no loss",
)
PCIE_STORAGE: Final = Constant(0.87, 0.82, 0.91, "nfs-rdma", Status.SECONDARY, "1", "26.4–28.4 of 31.5 GB/s")
PCIE_RDMA: Final = Constant(0.85, 0.78, 0.90, _ASSUMED, _GUESS, "1", "as copy engines")
#: TCP up to the line rate given [B/s]; the last holds beyond: host cores bind
TCP: Final = (
    (Constant(3.2e9, 3.2e9, 3.2e9, _ASSUMED, _GUESS, "B/s"), Constant(0.93, 0.86, 0.95, _ASSUMED, Status.UNVERIFIED)),
    (
        Constant(12.6e9, 12.6e9, 12.6e9, _ASSUMED, _GUESS, "B/s"),
        Constant(0.80, 0.60, 0.92, _ASSUMED, Status.UNVERIFIED),
    ),
    (Constant(1e30, 1e30, 1e30, _ASSUMED, _GUESS, "B/s"), Constant(0.60, 0.40, 0.85, _ASSUMED, Status.UNVERIFIED)),
)

# ------------------------------------------------------------------ latencies
LATENCY: Final = {
    _P.COPY: Constant(8e-6, 5e-6, 1.5e-5, _ASSUMED, Status.UNVERIFIED, "s", "launch and completion of one copy"),
    _P.P2P: Constant(8e-6, 5e-6, 1.5e-5, _ASSUMED, Status.UNVERIFIED, "s"),
    _P.RDMA: Constant(2e-6, 1e-6, 4e-6, _ASSUMED, Status.UNVERIFIED, "s", "post to completion, one switch"),
    _P.TCP: Constant(25e-6, 1.2e-5, 6e-5, _ASSUMED, Status.UNVERIFIED, "s"),
    _P.STORAGE: Constant(60e-6, 2e-5, 1.7e-4, "gds-latency", Status.SECONDARY, "s", "local 20–60, over RDMA 60–170"),
}
