"""UPI: Intel socket to socket, also QPI."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="upi",
    title="UPI",
    domain=Domain.HOST,
    duplex=Duplex.FULL,
    default_rate="20.8 GB/s",
    latency=Constant(1e-07, 6e-08, 1.5e-07, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
    order=50,
    preference=6,
    help="Intel socket to socket, also QPI",
    # sockets of other makers are drawn with it as well, and name their own
    names=("UPI", "QPI", "X bus"),
)
