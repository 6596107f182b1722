"""Ethernet: Ethernet, with or without RDMA."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="ethernet",
    title="Ethernet",
    domain=Domain.NETWORK,
    duplex=Duplex.FULL,
    default_rate="12.5 GB/s",
    latency=Constant(7e-07, 3e-07, 2e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
    order=30,
    help="Ethernet, with or without RDMA",
    names=("Ethernet",),
)
