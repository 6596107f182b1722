"""PCIe switch: joins endpoints below one uplink to the root."""

from designer.catalog.partkind import Capability, Domain, Field, PartKind, PortKind

KIND = PartKind(
    name="pcie_switch",
    title="PCIe switch",
    plural="PCIe switches",
    order=40,
    icon="pcie_switch",
    help="PCIe switch: joins endpoints below one uplink to the root.",
    capabilities=frozenset({Capability.SWITCH}),
    transit=frozenset({(Domain.HOST, Domain.HOST)}),
    ports=(PortKind("pcie", "PCIe ports", ("pcie",)),),
    fields=(
        Field("pcie_generation", "PCIe generation", "count"),
        Field("pcie_lanes", "PCIe lanes", "count"),
        Field("hop_latency", "Port-to-port latency", "duration"),
    ),
)
