"""NVSwitch: a crossbar for NVLink; only its ports limit it."""

from designer.catalog.partkind import Capability, Domain, Field, PartKind, PortKind

KIND = PartKind(
    name="nvswitch",
    title="NVSwitch",
    plural="NVSwitches",
    order=60,
    icon="nvswitch",
    help="NVSwitch: a crossbar for NVLink; only its ports limit it.",
    capabilities=frozenset({Capability.SWITCH}),
    transit=frozenset({(Domain.ACCELERATOR, Domain.ACCELERATOR)}),
    ports=(PortKind("nvlink", "NVLink ports", ("nvlink", "xgmi"), count_field="ports"),),
    fields=(
        Field("ports", "NVLink ports", "count"),
        Field("chips", "Switch chips in the part", "count"),
        Field("nvlink_generation", "NVLink generation", "count"),
        Field("link_bandwidth_per_direction", "One port, per direction", "rate"),
        Field("bandwidth_per_direction", "Switching capacity, one way", "rate"),
        Field("in_switch_reduction", "Reduces in the switch", "flag"),
        Field("hop_latency", "Port-to-port latency", "duration"),
        Field("power_max", "Largest power draw", "power"),
        Field("weight", "Weight", "mass"),
        Field("liquid_share", "Share of its heat that goes into liquid", "ratio"),
    ),
)
