"""Processors, their NUMA domains and memory, accelerators."""

from __future__ import annotations

from typing import Final

from designer.catalog.partkind import Capability, Domain, Field, PartKind, PortKind

KINDS: Final = (
    PartKind(
        name="cpu",
        title="CPU",
        plural="CPUs",
        brief=("{cores} cores, Gen{pcie_generation}", "{cores} cores"),
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
                ("upi", "infinity_fabric", "x_bus"),
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
    ),
    PartKind(
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
    ),
    PartKind(
        name="memory",
        title="Memory",
        plural="Memory",
        brief=("{memory_bandwidth}",),
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
    ),
    PartKind(
        name="gpu",
        title="GPU",
        plural="GPUs",
        order=50,
        icon="gpu",
        help="GPU: an accelerator with its own memory.",
        capabilities=frozenset({Capability.ACCELERATE}),
        ports=(
            PortKind("pcie", "PCIe", ("pcie",), count=1),
            PortKind("nvlink", "NVLink", ("nvlink",), count_field="nvlink_links"),
            PortKind("xgmi", "xGMI", ("xgmi",), count_field="xgmi_links"),
            PortKind(
                "accelerator", "Accelerator", ("ici", "neuronlink", "gaudi_link"), count_field="accelerator_links"
            ),
            PortKind("c2c", "Chip-to-chip", ("c2c",), given_by="c2c_bandwidth_per_direction"),
        ),
        fields=(
            Field("architecture", "Architecture", "text"),
            Field("form", "Form factor", "text"),
            Field("compute_capability", "Compute capability", "text"),
            Field("memory_capacity", "Memory capacity", "size"),
            Field("memory_reported", "Memory as the driver reports it", "size"),
            Field("memory_bandwidth", "Memory bandwidth", "rate"),
            Field("memory_type", "Memory", "text"),
            Field("flops_fp64", "FP64, dense", "flops"),
            Field("flops_fp32", "FP32 vector, dense", "flops"),
            Field("flops_tf32", "TF32 tensor, dense", "flops"),
            Field("flops_fp16", "FP16 tensor, dense", "flops"),
            Field("flops_bf16", "BF16 tensor, dense", "flops"),
            Field("flops_fp8", "FP8 tensor, dense", "flops"),
            Field("flops_fp4", "FP4 tensor, dense", "flops"),
            Field("flops_int8", "INT8 tensor, dense", "flops"),
            Field("nvlink_links", "NVLink links", "count"),
            Field("nvlink_generation", "NVLink generation", "count"),
            Field("link_bandwidth_per_direction", "One NVLink or xGMI link, per direction", "rate"),
            Field("accelerator_bandwidth_per_direction", "All accelerator links, per direction", "rate"),
            Field("xgmi_links", "xGMI links", "count"),
            Field("accelerator_links", "Links to accelerators, of other makes", "count"),
            Field("pcie_generation", "PCIe generation", "count"),
            Field("pcie_lanes", "PCIe lanes", "count"),
            Field(
                "peer_access",
                "Peers reach its memory over PCIe",
                "flag",
                help="Without it copies to other devices stop in host memory; accelerator links are not concerned.",
            ),
            Field("c2c_bandwidth_per_direction", "Chip-to-chip link to the host, per direction", "rate"),
            Field(
                "streaming_multiprocessors",
                "Streaming multiprocessors",
                "count",
                help="Compute units on AMD parts.",
            ),
            Field(
                "gpus_per_board", "GPUs on the board", "count", help="Values are those of one GPU, not of the board."
            ),
            Field("power_per_part", "Power (TDP)", "power"),
            Field(
                "power_cap", "Power cap", "power", help="As nvidia-smi -pl sets it: clocks and arithmetic rates follow."
            ),
            Field(
                "power_floor",
                "Least share of the power while a job runs",
                "ratio",
                help="Power smoothing: what GB200 and later keep while a step communicates.",
            ),
            Field("mig_profiles", "MIG profiles", "text"),
            Field("partition_modes", "Partition modes", "text"),
            Field("vgpu_family", "vGPU family", "text"),
            Field("vgpu_framebuffers", "vGPU frame buffers per series [GB]", "text"),
        ),
    ),
)
