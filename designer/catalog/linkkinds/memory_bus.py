"""Memory bus: Socket to its DRAM; reads and writes share it."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="memory_bus",
    title="Memory bus",
    domain=Domain.HOST,
    duplex=Duplex.SHARED,
    default_rate="204.8 GB/s",
    latency=Constant(1e-07, 8e-08, 1.5e-07, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
    # before PCIe: memory and processor are joined by their bus unless somebody asks for CXL
    order=5,
    names=("DDR3", "DDR4", "DDR5", "LPDDR4", "LPDDR5", "MRDIMM", "HBM"),
    help="Socket to its DRAM; reads and writes share it",
)
