"""Links between accelerators, at the payload rate of one link per direction.

``nvidia-smi nvlink`` prints the signalling rate (26.5625 or 53.125 GB/s); the payload rate is 25 or 50 GB/s.
"""

from __future__ import annotations

from typing import Final

from designer.catalog.partkind import Domain, Duplex, LinkKind
from designer.sources import Constant, Status

LINK_KINDS: Final = (
    LinkKind(
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
    ),
    LinkKind(
        name="xgmi",
        title="xGMI",
        domain=Domain.ACCELERATOR,
        duplex=Duplex.FULL,
        default_rate="50 GB/s",
        latency=Constant(6e-07, 4e-07, 1e-06, source="path-latencies", status=Status.UNVERIFIED, unit="s"),
        order=21,
        preference=1,
        help="AMD accelerator to accelerator",
        vendors=("AMD",),
    ),
    LinkKind(
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
        relayed=True,
    ),
    LinkKind(
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
        relayed=True,
    ),
    LinkKind(
        name="gaudi_link",
        title="Gaudi link",
        domain=Domain.ACCELERATOR,
        duplex=Duplex.FULL,
        default_rate="25 GB/s",
        latency=Constant(1e-06, 4e-07, 3e-06, source="path-latencies", status=Status.ASSUMED, unit="s"),
        order=24,
        preference=1,
        help="Intel Gaudi to Gaudi, RoCE over the ports of the chips",
        vendors=("Intel",),
    ),
)
