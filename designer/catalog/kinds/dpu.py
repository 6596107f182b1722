"""DPU: a NIC with cores of its own that take over network and storage work."""

from designer.catalog.partkind import NETWORK_PORTS, Capability, Domain, Field, PartKind, PortKind

KIND = PartKind(
    name="dpu",
    title="DPU",
    plural="DPUs",
    order=75,
    icon="dpu",
    help="DPU: a NIC with cores of its own that take over network and storage work.",
    capabilities=frozenset({Capability.ATTACH, Capability.COMPUTE}),
    transit=frozenset({(Domain.HOST, Domain.NETWORK), (Domain.NETWORK, Domain.HOST)}),
    ports=(PortKind("pcie", "PCIe", ("pcie", "c2c")), NETWORK_PORTS),
    fields=(
        Field("ports", "Network ports", "count"),
        Field("bandwidth_per_direction", "All ports together, per direction", "rate"),
        Field("port_bandwidth_per_direction", "One port, per direction", "rate"),
        Field("pcie_generation", "PCIe generation", "count"),
        Field("pcie_lanes", "PCIe lanes", "count"),
        Field("cores", "Cores", "count"),
        Field("power_per_part", "Power", "power"),
        Field("technology", "Technology", "text"),
        Field("connector", "Connector", "text", help="osfp, osfp-flat, qsfp112, qsfp56, qsfp28, rj45"),
        Field("role", "Role", "text"),
    ),
)
