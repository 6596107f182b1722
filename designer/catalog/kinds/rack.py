"""Rack: a frame that holds servers, switches and storage."""

from designer.catalog.partkind import Capability, Field, PartKind

KIND = PartKind(
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
    ),
)
