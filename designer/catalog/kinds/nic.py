"""NIC: joins a host to a network."""

from designer.catalog.partkind import NETWORK_PORTS, Capability, Domain, Field, PartKind, PortKind

KIND = PartKind(
    name="nic",
    title="NIC",
    plural="NICs",
    order=70,
    icon="nic",
    help="NIC: joins a host to a network.",
    capabilities=frozenset({Capability.ATTACH}),
    transit=frozenset({(Domain.HOST, Domain.NETWORK), (Domain.NETWORK, Domain.HOST)}),
    ports=(PortKind("pcie", "PCIe", ("pcie", "c2c")), NETWORK_PORTS),
    fields=(
        Field("ports", "Network ports", "count"),
        Field("bandwidth_per_direction", "All ports together, per direction", "rate"),
        Field("port_bandwidth_per_direction", "One port, per direction", "rate"),
        Field("pcie_generation", "PCIe generation", "count"),
        Field("pcie_lanes", "PCIe lanes", "count"),
        Field("power_per_part", "Power", "power"),
        Field("technology", "Technology", "text"),
        Field("connector", "Connector", "text", help="osfp, osfp-flat, qsfp112, qsfp56, qsfp28, rj45"),
        Field("role", "Role", "text"),
        Field("teaming", "Teaming", "text", help="originating port, explicit failover, ip hash or lacp"),
        Field("active_uplinks", "Active uplinks of its VMkernel adapter", "count"),
        Field("subnet", "Subnet", "text", help="such as 10.0.4.0/24"),
        Field("tcp_stack", "TCP/IP stack", "text", help="default or vmotion"),
    ),
)
