"""Ethernet: Ethernet, with or without RDMA."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="ethernet",
    title="Ethernet",
    domain=Domain.NETWORK,
    duplex=Duplex.FULL,
    default_rate="12.5 GB/s",
    latency=Constant(1e-06, 5e-07, 2.5e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
    order=30,
    help="Ethernet, with or without RDMA",
    names=("Ethernet",),
)
