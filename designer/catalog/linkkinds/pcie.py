"""PCIe: PCI Express; raw rate after line encoding, per direction."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="pcie",
    title="PCIe",
    domain=Domain.HOST,
    duplex=Duplex.FULL,
    default_rate="31.507692 GB/s",
    latency=Constant(1e-06, 5e-07, 1.5e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
    order=10,
    help="PCI Express; raw rate after line encoding, per direction",
)
