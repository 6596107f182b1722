"""Drive: NVMe, SATA or disk in a server."""

from designer.catalog.partkind import Capability, Field, PartKind, PortKind

KIND = PartKind(
    name="drive",
    title="Drive",
    plural="Drives",
    order=95,
    icon="drive",
    help="Drive: NVMe, SATA or disk in a server.",
    capabilities=frozenset({Capability.STORE}),
    ports=(
        PortKind("pcie", "PCIe or SATA", ("pcie",), count=1),
        PortKind("network", "Storage fabric", ("fabric",)),
    ),
    fields=(
        Field("capacity", "Capacity", "size"),
        Field("read_bandwidth", "Sequential read", "rate"),
        Field("write_bandwidth", "Sequential write", "rate"),
        Field("random_read_rate", "Random reads", "frequency"),
        Field("random_write_rate", "Random writes", "frequency"),
        Field("access_latency", "Access latency", "duration"),
        Field("pcie_generation", "PCIe generation", "count"),
        Field("pcie_lanes", "PCIe lanes", "count"),
        Field("power_per_part", "Power", "power"),
        Field("interface", "Interface", "text"),
    ),
)
