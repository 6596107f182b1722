"""What a transfer crosses, and who moves the bytes."""

from __future__ import annotations

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
    RDMA = "rdma"  #: NIC reads or writes memory; GPUDirect when it is GPU memory
    TCP = "tcp"
    STORAGE = "storage"  #: block or file data by DMA, local or over RDMA
    STORAGE_WRITE = "storage-write"  #: the same, written


class Placement(StrEnum):
    """How two PCIe devices see each other."""

    SAME_SWITCH = "same-switch"
    SAME_SOCKET = "same-socket"  #: through the root complex
    CROSS_SOCKET = "cross-socket"
