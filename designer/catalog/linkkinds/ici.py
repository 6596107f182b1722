"""ICI: Google TPU to TPU."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="ici",
    title="ICI",
    domain=Domain.ACCELERATOR,
    duplex=Duplex.FULL,
    default_rate="50 GB/s",
    latency=Constant(1e-06, 4e-07, 3e-06, source="path-latencies", status=Status.ASSUMED, unit="s"),
    order=22,
    preference=1,
    help="Google TPU to TPU",
    vendors=("Google",),
)
