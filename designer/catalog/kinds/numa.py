"""NUMA domain: a part of a socket with its own memory and root ports."""

from designer.catalog.partkind import Capability, Domain, Field, PartKind, PortKind

KIND = PartKind(
    name="numa",
    title="NUMA domain",
    plural="NUMA domains",
    called="NUMA",
    order=25,
    icon="numa",
    help="NUMA domain: a part of a socket with its own memory and root ports.",
    capabilities=frozenset({Capability.ROOT, Capability.SWITCH}),
    transit=frozenset(
        {(Domain.HOST, Domain.HOST), (Domain.HOST, Domain.ACCELERATOR), (Domain.ACCELERATOR, Domain.HOST)}
    ),
    ports=(
        PortKind("internal", "On-die fabric", ("infinity_fabric", "upi", "c2c")),
        PortKind(
            "pcie",
            "PCIe root ports",
            ("pcie",),
            partners=("pcie_switch", "gpu", "nic", "dpu", "drive", "storage", "memory", "nvswitch"),
        ),
        PortKind("memory", "Memory channels", ("memory_bus",), partners=("memory",)),
        PortKind("nvlink", "NVLink to accelerators", ("nvlink",), partners=("gpu", "nvswitch")),
    ),
    fields=(
        Field("cores", "Cores", "count"),
        Field("memory_capacity", "Local memory", "size"),
    ),
)
