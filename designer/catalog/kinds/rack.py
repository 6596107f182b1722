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
)
