"""Gaudi link: Intel Gaudi to Gaudi, RoCE over the ports of the chips."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="gaudi_link",
    title="Gaudi link",
    domain=Domain.ACCELERATOR,
    duplex=Duplex.FULL,
    default_rate="25 GB/s",
    latency=Constant(1e-06, 4e-07, 3e-06, source="path-latencies", status=Status.ASSUMED, unit="s"),
    order=24,
    preference=1,
    help="Intel Gaudi to Gaudi, RoCE over the ports of the chips",
    vendors=("Intel",),
)
