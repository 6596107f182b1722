"""Infinity Fabric: AMD socket to socket, and between the quadrants of a socket."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
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
)
