"""xGMI: AMD accelerator to accelerator."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="xgmi",
    title="xGMI",
    domain=Domain.ACCELERATOR,
    duplex=Duplex.FULL,
    default_rate="50 GB/s",
    latency=Constant(6e-07, 4e-07, 1e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
    order=21,
    preference=1,
    help="AMD accelerator to accelerator",
    vendors=("AMD",),
)
