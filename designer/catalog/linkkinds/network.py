"""Links between hosts."""

from __future__ import annotations

from typing import Final

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KINDS: Final = (
    LinkKind(
        name="ethernet",
        title="Ethernet",
        domain=Domain.NETWORK,
        duplex=Duplex.FULL,
        default_rate="12.5 GB/s",
        latency=Constant(7e-07, 3e-07, 2e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
        order=30,
        help="Ethernet, with or without RDMA",
        names=("Ethernet",),
    ),
    LinkKind(
        name="infiniband",
        title="InfiniBand",
        domain=Domain.NETWORK,
        duplex=Duplex.FULL,
        default_rate="50 GB/s",
        latency=Constant(2.1e-07, 1.5e-07, 3e-07, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
        order=31,
        help="InfiniBand",
        names=("InfiniBand",),
    ),
    LinkKind(
        name="fabric",
        title="Fabric",
        domain=Domain.NETWORK,
        duplex=Duplex.FULL,
        default_rate="12.5 GB/s",
        latency=Constant(2e-06, 1e-06, 5e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
        order=32,
        help="Any other network: Fibre Channel, SAS, an unnamed fabric",
        names=("Fibre Channel", "SAS", "Omni-Path"),
    ),
)
