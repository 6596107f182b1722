"""Collectives at nominal link rates (Hockney), for published runs whose network nobody described.

The program prices collectives on what is drawn; these stand in for it where there is nothing to draw.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.communication import Kind, RankGroup
from designer.formulas.layout import Layout
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Seconds

INSIDE_SHARE: Final = Constant(
    0.80, 0.74, 0.88, "nccl-measured", Status.SECONDARY, "1", "rings on NVLink: A100 78 %, H100 82 %"
)
OUTSIDE_SHARE: Final = Constant(
    0.85, 0.70, 0.95, "nccl-measured", Status.SECONDARY, "1", "rings over InfiniBand and RoCE"
)
INSIDE_LATENCY: Final = Constant(4e-6, 2e-6, 8e-6, "assumed-training", Status.ASSUMED, "s", "per step inside a server")
OUTSIDE_LATENCY: Final = Constant(
    10e-6, 5e-6, 25e-6, "assumed-training", Status.ASSUMED, "s", "per step between servers"
)


@dataclass(frozen=True, slots=True)
class NominalNetwork:
    """Link rates of a uniform cluster.

    Parameters
    ----------
    accelerators_per_server
        How many share the inner links.
    inside_per_direction, outside_per_direction
        Nominal rate of one accelerator to the others of its server, and its share of the server's NICs [B/s].
    """

    accelerators_per_server: int
    inside_per_direction: BytesPerSecond
    outside_per_direction: BytesPerSecond

    def costs(self, layout: Layout) -> NominalCosts:
        """The costs of a layout on this cluster."""
        return NominalCosts(self, layout)


@dataclass(frozen=True, slots=True)
class NominalCosts:
    """Costs of one layout on a uniform cluster; meets the ``CommunicationCosts`` protocol."""

    network: NominalNetwork
    layout: Layout

    def time(self, kind: Kind, group: RankGroup, size: Bytes) -> Seconds:
        """Time of a collective of `size` bytes over `group` [s]."""
        ranks, stride = _group(self.layout, group)
        return nominal_collective_time(kind, size, ranks, stride, self.network)

    def servers(self, group: RankGroup) -> int:
        """Servers that the ranks of one group are in."""
        ranks, stride = _group(self.layout, group)
        return math.ceil(ranks * stride / self.network.accelerators_per_server)


def _group(layout: Layout, group: RankGroup) -> tuple[int, int]:
    """Ranks in a group and the distance between neighbours."""
    table = {
        RankGroup.TENSOR: (layout.tensor, 1),
        RankGroup.CONTEXT: (layout.context, layout.tensor),
        RankGroup.EXPERT: (layout.expert, layout.tensor),
        RankGroup.DATA: (layout.replicas, layout.tensor),
        RankGroup.PIPELINE: (layout.pipeline, layout.tensor * layout.replicas),
    }
    return table[group]


def nominal_collective_time(kind: Kind, size: Bytes, ranks: int, stride: int, network: NominalNetwork) -> Seconds:
    """Time of one collective by the α–β model, rings inside a server and between servers [s].

    Raises
    ------
    AnalysisError
        If the group leaves the server and the cluster has no network.
    """
    if ranks <= 1 or size <= 0:
        return Seconds(0.0)
    inside = max(1, min(ranks, network.accelerators_per_server // stride))
    servers = math.ceil(ranks / inside)
    inner = network.inside_per_direction * INSIDE_SHARE.value
    outer = network.outside_per_direction * OUTSIDE_SHARE.value
    if (servers > 1 and outer <= 0) or (inside > 1 and inner <= 0):
        raise AnalysisError(
            f"a group of {ranks} accelerators has no link to talk over",
            remedy="connect them, or keep the group smaller",
        )
    if kind is Kind.SEND:
        away = stride >= network.accelerators_per_server
        return Seconds(size / (outer if away else inner) + (OUTSIDE_LATENCY if away else INSIDE_LATENCY).value)
    passes = 2 if kind is Kind.ALL_REDUCE else 1
    near = _ring(size, inside, inner, INSIDE_LATENCY.value) if inside > 1 else 0.0
    if kind is Kind.ALL_TO_ALL:
        staying = (inside - 1) / ranks
        leaving = (ranks - inside) / ranks
        local = size * staying / inner if inside > 1 else 0.0
        far = size * leaving / outer if servers > 1 else 0.0
        return Seconds(max(local, far) + (OUTSIDE_LATENCY if servers > 1 else INSIDE_LATENCY).value)
    far = _ring(size / inside, servers, outer, OUTSIDE_LATENCY.value) if servers > 1 else 0.0
    # The phases of a hierarchical ring overlap in part: the truth lies between the longer and the sum.
    return Seconds(passes * (max(near, far) + 0.5 * min(near, far)))


def _ring(size: float, ranks: int, rate: float, latency: float) -> float:
    return (ranks - 1) / ranks * size / rate + min(ranks - 1, 2 * math.log2(ranks)) * latency
