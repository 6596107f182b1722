"""Chip-to-chip: NVLink-C2C between Grace and its accelerators."""

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KIND = LinkKind(
    name="c2c",
    title="Chip-to-chip",
    domain=Domain.HOST,
    duplex=Duplex.FULL,
    default_rate="225 GB/s",
    latency=Constant(6e-07, 4e-07, 1e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
    order=40,
    preference=3,
    help="NVLink-C2C between Grace and its accelerators",
)
