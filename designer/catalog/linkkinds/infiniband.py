"""InfiniBand: InfiniBand."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="infiniband",
    title="InfiniBand",
    domain=Domain.NETWORK,
    duplex=Duplex.FULL,
    default_rate="50 GB/s",
    latency=Constant(2.1e-07, 1.5e-07, 3e-07, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
    order=31,
    help="InfiniBand",
    names=("InfiniBand",),
)
