"""NeuronLink: AWS Trainium to Trainium."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="neuronlink",
    title="NeuronLink",
    domain=Domain.ACCELERATOR,
    duplex=Duplex.FULL,
    default_rate="48 GB/s",
    latency=Constant(1e-06, 4e-07, 3e-06, source="path-latencies", status=Status.ASSUMED, unit="s"),
    order=23,
    preference=1,
    help="AWS Trainium to Trainium",
    vendors=("Amazon",),
)
