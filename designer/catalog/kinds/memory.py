"""Host memory: DRAM or another tier behind a socket; reads and writes share its bandwidth."""

from designer.catalog.partkind import Capability, Field, PartKind, PortKind

KIND = PartKind(
    name="memory",
    title="Memory",
    plural="Memory",
    order=30,
    icon="memory",
    help="Host memory: DRAM or another tier behind a socket; reads and writes share its bandwidth.",
    capabilities=frozenset({Capability.MEMORY}),
    ports=(
        PortKind("bus", "Memory bus", ("memory_bus",), names_field="memory_type"),
        PortKind("cxl", "CXL", ("pcie",), partners=("cpu", "numa", "pcie_switch"), only=("tier", "CXL")),
    ),
    fields=(
        Field("memory_capacity", "Capacity", "size"),
        Field("memory_bandwidth", "Bandwidth, reads and writes together", "rate"),
        Field("memory_channels", "Channels", "count"),
        Field("bandwidth_per_channel", "One channel", "rate"),
        Field("read_bandwidth", "Reads alone", "rate"),
        Field("write_bandwidth", "Writes alone", "rate"),
        Field("memory_type", "Memory", "text"),
        Field("tier", "Tier", "text"),
        Field("access_latency", "Access latency", "duration"),
    ),
)
