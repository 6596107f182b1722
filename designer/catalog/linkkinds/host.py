"""Links inside a host."""

from __future__ import annotations

from typing import Final

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KINDS: Final = (
    LinkKind(
        name="memory_bus",
        title="Memory bus",
        domain=Domain.HOST,
        duplex=Duplex.SHARED,
        default_rate="204.8 GB/s",
        latency=Constant(1e-07, 8e-08, 1.5e-07, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
        # before PCIe: memory and processor are joined by their bus unless somebody asks for CXL
        order=5,
        names=("DDR3", "DDR4", "DDR5", "LPDDR4", "LPDDR5", "MRDIMM", "HBM"),
        help="Socket to its DRAM; reads and writes share it",
    ),
    LinkKind(
        name="pcie",
        title="PCIe",
        domain=Domain.HOST,
        duplex=Duplex.FULL,
        default_rate="31.507692 GB/s",
        latency=Constant(1e-06, 5e-07, 1.5e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
        order=10,
        help="PCI Express; raw rate after line encoding, per direction",
    ),
    LinkKind(
        name="c2c",
        title="Chip-to-chip",
        domain=Domain.HOST,
        duplex=Duplex.FULL,
        default_rate="225 GB/s",
        latency=Constant(6e-07, 4e-07, 1e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
        order=40,
        preference=3,
        help="NVLink-C2C between Grace and its accelerators",
    ),
    LinkKind(
        name="upi",
        title="UPI",
        domain=Domain.HOST,
        duplex=Duplex.FULL,
        default_rate="20.8 GB/s",
        latency=Constant(1e-07, 6e-08, 1.5e-07, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
        order=50,
        preference=6,
        help="Intel socket to socket, also QPI",
        names=("UPI", "QPI"),
    ),
    LinkKind(
        name="infinity_fabric",
        title="Infinity Fabric",
        domain=Domain.HOST,
        duplex=Duplex.FULL,
        default_rate="36 GB/s",
        latency=Constant(1e-07, 6e-08, 1.5e-07, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
        order=51,
        preference=6,
        help="AMD socket to socket, and between the quadrants of a socket",
        names=("Infinity Fabric", "xGMI"),
    ),
    LinkKind(
        name="x_bus",
        title="X bus",
        domain=Domain.HOST,
        duplex=Duplex.FULL,
        default_rate="32 GB/s",
        latency=Constant(1e-07, 6e-08, 1.5e-07, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
        order=52,
        preference=6,
        help="IBM POWER socket to socket",
        names=("X bus",),
    ),
)
