"""NVLink: One NVLink is one link of the bundle; payload rate per direction."""

from designer.catalog.parttype import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="nvlink",
    title="NVLink",
    domain=Domain.ACCELERATOR,
    duplex=Duplex.FULL,
    achievable=Constant(0.9, 0.86, 0.96, source="nvlink-copy-measured", status=Status.SECONDARY),
    default_rate="25 GB/s",
    latency=Constant(6e-07, 4e-07, 1e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
    order=20,
    help="One NVLink is one link of the bundle; payload rate per direction",
)
