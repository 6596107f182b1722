"""NVLink: one link of a bundle, at its payload rate per direction.

``nvidia-smi nvlink`` prints the signalling rate (26.5625 or 53.125 GB/s); the payload rate is 25 or 50 GB/s.
"""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="nvlink",
    title="NVLink",
    domain=Domain.ACCELERATOR,
    duplex=Duplex.FULL,
    default_rate="25 GB/s",
    latency=Constant(6e-07, 4e-07, 1e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
    order=20,
    preference=1,
    help="One NVLink is one link of the bundle; payload rate per direction",
    # IBM's POWER8 and POWER9 joined their sockets to GPUs by it
    vendors=("NVIDIA", "IBM"),
    generation="nvlink_generation",
)
