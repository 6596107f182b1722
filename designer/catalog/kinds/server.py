"""Server: the chassis that holds sockets, accelerators and NICs."""

from designer.catalog.partkind import Capability, Field, PartKind

KIND = PartKind(
    name="server",
    title="Server",
    plural="Servers",
    order=10,
    icon="server",
    help="Server: the chassis that holds sockets, accelerators and NICs.",
    contains=("cpu", "numa", "memory", "pcie_switch", "gpu", "nvswitch", "nic", "dpu", "drive", "switch", "storage"),
    capabilities=frozenset({Capability.CONTAIN}),
    fields=(
        Field("height", "Height units", "count"),
        Field("power_max", "Largest power draw", "power"),
        Field("weight", "Weight", "mass"),
        Field("liquid_share", "Share of its heat that goes into liquid", "ratio"),
        Field("vendor_model", "Vendor model", "text"),
        Field("ports_per_cage", "Network ports in one OSFP cage", "count"),
        Field("memory_tiering", "Memory tiering over NVMe", "flag"),
        Field(
            "vgpu_maintenance_automated",
            "Virtual GPUs leave by themselves in maintenance mode",
            "flag",
            help="VgpuMMAutomationTimeoutSecs = -1",
        ),
        Field("drs_threshold", "DRS migration threshold, 1 to 5", "count", help="1 makes mandatory moves alone"),
    ),
)
