"""Gradients to parameter servers and weights back, over the drawn routes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.catalog.parttype import Capability
from designer.engine.routes.legs import Legs
from designer.engine.routes.selection import Traffic, resolve
from designer.engine.routes.staging import staged
from designer.engine.transfers import TransferAnswer, evaluate_legs
from designer.engine.transfers.limits import NO_LIMITS
from designer.errors import AnalysisError
from designer.families.training.routed_costs import Ranks, RoutedCosts
from designer.formulas.communication import Kind, RankGroup
from designer.formulas.layout import Layout, Sharding
from designer.units import Bytes, Seconds

_KEEPS: Final = (Capability.MEMORY, Capability.COMPUTE, Capability.ACCELERATE, Capability.STORE)


@dataclass(frozen=True, slots=True, eq=False)
class ServerCosts:
    """Costs of a layout whose replicas agree through parameter servers.

    Parameters
    ----------
    out, back
        What workers send and fetch, all at once; each server keeps an equal part.
    """

    routed: RoutedCosts
    out: TransferAnswer
    back: TransferAnswer

    def time(self, kind: Kind, group: RankGroup, size: Bytes) -> Seconds:
        """Time of a collective; that of the replicas goes to the servers and back [s]."""
        if group is not RankGroup.DATA or size <= 0:
            return self.routed.time(kind, group, size)
        return Seconds(size / float(self.out.rate.min()) + size / float(self.back.rate.min()))

    def servers(self, group: RankGroup) -> int:
        """Servers that the ranks of one group are in."""
        return self.routed.servers(group)


def server_costs(ranks: Ranks, layout: Layout, selector: str) -> ServerCosts:
    """The costs with the parameter servers a selector names.

    Raises
    ------
    AnalysisError
        If weights are sharded among the ranks, or nobody can reach the servers.
    """
    if layout.sharding is not Sharding.NONE:
        raise AnalysisError(
            "ranks that shard the weights have no parameter servers",
            place=f"{ranks.place}.sharding",
            remedy="set the sharding to none",
        )
    servers = resolve(ranks.network, selector, f"{ranks.place}.parameter_servers")
    keeps = np.logical_or.reduce([ranks.network.has(capability) for capability in _KEEPS])[servers]
    if not keeps.all():
        raise AnalysisError(
            f"{ranks.network.net.path(int(servers[~keeps][0]))} keeps no weights",
            place=f"{ranks.place}.parameter_servers",
            remedy="choose memory, processors or accelerators",
        )
    workers = ranks.parts
    flow = np.repeat(np.arange(len(workers)), len(servers))
    near, far = np.repeat(workers, len(servers)), np.tile(servers, len(workers))
    share = np.full(len(flow), 1 / len(servers))
    lead = np.full(len(workers), servers[0])
    endless = np.full(len(workers), np.inf)
    out = Traffic(staged(ranks.network, Legs(flow, near, far, share)), workers, lead)
    back = Traffic(staged(ranks.network, Legs(flow, far, near, share)), lead, workers)
    return ServerCosts(
        ranks.costs(layout),
        evaluate_legs(ranks.network, out, endless, NO_LIMITS, ranks.place),
        evaluate_legs(ranks.network, back, endless, NO_LIMITS, ranks.place),
    )
