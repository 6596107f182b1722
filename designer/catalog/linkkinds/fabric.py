"""Storage fabric: Any other network: Fibre Channel, SAS, an unnamed fabric."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="fabric",
    title="Storage fabric",
    domain=Domain.NETWORK,
    duplex=Duplex.FULL,
    default_rate="12.5 GB/s",
    latency=Constant(2e-06, 1e-06, 5e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
    order=32,
    help="Any other network: Fibre Channel, SAS, an unnamed fabric",
    names=("Fibre Channel", "SAS", "Omni-Path"),
)
