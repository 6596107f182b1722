"""Client: users, machines or robots on a network that send requests and get answers or commands."""

from designer.catalog.partkind import NETWORK_PORTS, Field, PartKind

KIND = PartKind(
    name="client",
    title="Client",
    plural="Clients",
    order=96,
    icon="client",
    help="Client: users, machines or robots on a network that send requests and get answers or commands.",
    ports=(NETWORK_PORTS,),
    fields=(
        Field("access_latency", "Way to it, one direction", "duration", help="of the network that is not drawn"),
        Field("ports", "Network ports", "count"),
        Field("bandwidth_per_direction", "All ports together, per direction", "rate"),
        Field("port_bandwidth_per_direction", "One port, per direction", "rate"),
        Field("technology", "Technology", "text"),
    ),
)
