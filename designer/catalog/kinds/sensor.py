"""Sensor: a camera, a lidar or another source of frames at a rate of its own."""

from designer.catalog.partkind import NETWORK_PORTS, Field, PartKind, PortKind

KIND = PartKind(
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
        Field("ports", "Network ports", "count"),
        Field("bandwidth_per_direction", "All ports together, per direction", "rate"),
        Field("port_bandwidth_per_direction", "One port, per direction", "rate"),
        Field("technology", "Technology", "text"),
    ),
)
