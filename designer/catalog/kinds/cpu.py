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
        PortKind(
            "socket",
            "Socket links",
            ("upi", "infinity_fabric"),
            count_field="socket_links",
            partners=("cpu",),
            names_field="socket_link_type",
        ),
        PortKind("c2c", "Chip-to-chip", ("c2c",), given_by="c2c_bandwidth_per_direction"),
        PortKind(
            "pcie",
            "PCIe root ports",
            ("pcie",),
            partners=("pcie_switch", "gpu", "nic", "dpu", "drive", "storage", "memory", "nvswitch"),
        ),
        PortKind("memory", "Memory channels", ("memory_bus",), partners=("memory",), names_field="memory_type"),
        PortKind("internal", "On-die fabric", ("infinity_fabric",), partners=("numa",)),
        PortKind(
            "nvlink",
            "NVLink to accelerators",
            ("nvlink",),
            count_field="nvlink_links",
            partners=("gpu", "nvswitch"),
            given_by="nvlink_links",
        ),
    ),
    fields=(
        Field("cores", "Cores", "count"),
        Field("base_clock", "Base clock", "frequency"),
        Field("memory_bandwidth", "Memory bandwidth, all channels", "rate"),
        Field("memory_channels", "Memory channels", "count"),
        Field("pcie_generation", "PCIe generation", "count"),
        Field("pcie_lanes", "PCIe lanes", "count"),
        Field("socket_links", "Socket links", "count"),
        Field("nvlink_links", "NVLinks to accelerators", "count"),
        Field("nvlink_generation", "NVLink generation", "count"),
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
        Field(
            "numa_nodes_per_socket",
            "NUMA nodes per socket, as set",
            "count",
            help="2 or 4 with sub-NUMA clustering (SNC) or NPS; 1 without",
        ),
        Field("sockets_max", "Sockets per server", "text"),
        Field("memory_type", "Memory", "text"),
    ),
)
