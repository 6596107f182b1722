"""FPGA: a programmable accelerator card."""

from designer.catalog.partkind import Domain, Field, PartKind, PortKind

KIND = PartKind(
    name="fpga",
    title="FPGA",
    plural="FPGAs",
    order=57,
    help="FPGA: a programmable accelerator card.",
    transit=frozenset({(Domain.HOST, Domain.NETWORK), (Domain.NETWORK, Domain.HOST)}),
    ports=(
        PortKind("pcie", "PCIe", ("pcie",), count=1),
        PortKind("network", "Network ports", ("ethernet",), count_field="ports"),
    ),
    fields=(
        Field("ports", "Network ports", "count"),
        Field("logic_cells", "Logic cells", "count"),
        Field("pcie_generation", "PCIe generation", "count"),
        Field("pcie_lanes", "PCIe lanes", "count"),
        Field("power_per_part", "Power", "power"),
    ),
)
