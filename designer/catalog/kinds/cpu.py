"""CPU: one socket with its cores, memory controllers and PCIe root ports."""

from designer.catalog.partkind import Capability, Domain, Field, PartKind, PortKind

KIND = PartKind(
    name="cpu",
    title="CPU",
    plural="CPUs",
    order=20,
    icon="cpu",
    help="CPU: one socket with its cores, memory controllers and PCIe root ports.",
    capabilities=frozenset({Capability.COMPUTE, Capability.ROOT, Capability.SWITCH}),
    transit=frozenset(
        {
            (Domain.HOST, Domain.HOST),
            (Domain.HOST, Domain.ACCELERATOR),
            (Domain.ACCELERATOR, Domain.HOST),
            (Domain.ACCELERATOR, Domain.ACCELERATOR),
        }
    ),
    ports=(
        PortKind("socket", "Socket links", ("upi", "infinity_fabric", "c2c"), count_field="socket_links"),
        PortKind("pcie", "PCIe root ports", ("pcie",)),
        PortKind("memory", "Memory channels", ("memory_bus",)),
        PortKind("internal", "On-die fabric", ("infinity_fabric",)),
        PortKind("nvlink", "NVLink to accelerators", ("nvlink",)),
    ),
    fields=(
        Field("cores", "Cores", "count"),
        Field("base_clock", "Base clock", "frequency"),
        Field("memory_bandwidth", "Memory bandwidth, all channels", "rate"),
        Field("memory_channels", "Memory channels", "count"),
        Field("pcie_generation", "PCIe generation", "count"),
        Field("pcie_lanes", "PCIe lanes", "count"),
        Field("socket_links", "Socket links", "count"),
        Field("socket_link_type", "Socket link type", "text"),
        Field("socket_link_bandwidth_per_direction", "One socket link, per direction", "rate"),
        Field(
            "cross_socket_bandwidth_planned",
            "Accelerator traffic across the sockets, as planned by NCCL",
            "rate",
            help="What one flow between GPUs or NICs gets over all socket links together; far below their raw sum.",
        ),
        Field("c2c_bandwidth_per_direction", "Chip-to-chip link to accelerators, per direction", "rate"),
        Field("flops_fp32", "Vector FP32 rate", "flops"),
        Field("flops_bf16", "Matrix BF16 rate", "flops"),
        Field("memory_capacity", "Memory capacity", "size"),
        Field("power_per_part", "Power (TDP)", "power"),
        Field("numa_modes", "NUMA modes", "text"),
        Field("sockets_max", "Sockets per server", "text"),
        Field("memory_type", "Memory", "text"),
    ),
)
