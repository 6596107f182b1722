"""What holds parts, and what is at the edge of a network."""

from __future__ import annotations

from typing import Final

from designer.catalog.partkind import NETWORK_FIELDS, NETWORK_PORTS, Capability, Field, PartKind, PortKind

KINDS: Final = (
    PartKind(
        name="rack",
        title="Rack",
        plural="Racks",
        order=5,
        icon="rack",
        help="Rack: a frame that holds servers, switches and storage.",
        contains=("server", "switch", "storage", "nvswitch"),
        capabilities=frozenset({Capability.CONTAIN}),
        fields=(
            Field("power_capacity", "Power it can feed", "power"),
            Field("feeds", "Power feeds", "count"),
            Field("height", "Height units", "count"),
            Field("weight", "Weight, empty", "mass"),
            Field("weight_capacity", "Weight it can carry", "mass"),
            Field(
                "layout",
                "What each height unit holds",
                "text",
                help="kinds of units with first and last height unit, lowest first: server 6-13, power_shelf 2-5",
            ),
            Field("power_shelves", "Power shelves", "count"),
            Field("power_shelf_capacity", "Output of a power shelf", "power"),
            Field("power_shelf_efficiency", "Output over input of a power shelf", "ratio"),
            Field("busbar_capacity", "Power one point of the busbar carries", "power"),
            Field("liquid_capacity", "Heat its liquid cooling takes", "power"),
        ),
    ),
    PartKind(
        name="server",
        title="Server",
        plural="Servers",
        order=10,
        icon="server",
        help="Server: the chassis that holds sockets, accelerators and NICs.",
        contains=(
            "cpu",
            "numa",
            "memory",
            "pcie_switch",
            "gpu",
            "nvswitch",
            "nic",
            "dpu",
            "drive",
            "switch",
            "storage",
        ),
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
    ),
    PartKind(
        name="sensor",
        title="Sensor",
        plural="Sensors",
        order=95,
        icon="sensor",
        help="Sensor: a camera, a lidar or another source of frames at a rate of its own.",
        ports=(NETWORK_PORTS, PortKind("pcie", "PCIe", ("pcie",), count=1)),
        fields=(
            Field("frame_size", "One frame", "size", help="as it is sent, compressed where the sensor compresses"),
            Field("frame_rate", "Frames per second, at most", "frequency"),
            Field("access_latency", "Capture", "duration", help="from the event until a frame can be sent"),
            *NETWORK_FIELDS,
            Field("technology", "Technology", "text"),
        ),
    ),
    PartKind(
        name="client",
        title="Client",
        plural="Clients",
        order=96,
        icon="client",
        help="Client: users, machines or robots on a network that send requests and get answers or commands.",
        ports=(NETWORK_PORTS,),
        fields=(
            Field("access_latency", "Way to it, one direction", "duration", help="of the network that is not drawn"),
            *NETWORK_FIELDS,
            Field("technology", "Technology", "text"),
        ),
    ),
)
