"""Network switch: leaf, spine or core of a fabric."""

from designer.catalog.partkind import Capability, Domain, Field, PartKind, PortKind

KIND = PartKind(
    name="switch",
    title="Network switch",
    plural="Network switches",
    called="Switch",
    order=80,
    icon="switch",
    help="Network switch: leaf, spine or core of a fabric.",
    capabilities=frozenset({Capability.SWITCH}),
    transit=frozenset({(Domain.NETWORK, Domain.NETWORK)}),
    ports=(
        PortKind(
            "network",
            "Network ports",
            ("ethernet", "infiniband", "fabric"),
            count_field="ports",
            names_field="technology",
        ),
    ),
    fields=(
        Field("ports", "Ports", "count"),
        Field("port_bandwidth_per_direction", "One port, per direction", "rate"),
        Field("cages", "Cages", "count", help="One cage may hold several ports."),
        Field("uplink_ports", "Uplink ports", "count"),
        Field("uplink_port_bandwidth_per_direction", "One uplink port, per direction", "rate"),
        Field("bandwidth_per_direction", "Switching capacity, one way", "rate"),
        Field("hop_latency", "Port-to-port latency", "duration"),
        Field("height", "Height units", "count"),
        Field("technology", "Technology", "text"),
        Field("connector", "Connector", "text", help="osfp, osfp-flat, qsfp112, qsfp56, qsfp28, rj45"),
        Field("tier", "Tier", "text"),
        Field("in_switch_reduction", "Reduces in the switch (SHARP)", "flag"),
        Field("power_typical", "Typical power draw", "power", help="At work, with copper cables that draw nothing."),
        Field("power_max", "Largest power draw", "power"),
        Field("weight", "Weight", "mass"),
    ),
)
