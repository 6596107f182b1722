"""The load of channels while machines move, and what background workloads keep."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads
from designer.analysis.vms.migration_paths import MigrationPaths
from designer.analysis.vms.migration_plan import MigrationPlan


@dataclass(frozen=True, slots=True)
class Beside:
    """What a background workload got alone and beside the migrations [B/s], on the mean over time.

    Parameters
    ----------
    longer
        How many times as long its steps take meanwhile [1]; None where it has none.
    """

    id: str
    title: str
    alone: float
    together: float
    longer: float | None = None

    @property
    def keeps(self) -> float:
        """Share of its pace that is left [1]."""
        return 1 / self.longer if self.longer is not None else self.together / self.alone


def besides(plan: MigrationPlan) -> list[Beside]:
    """The background workloads alone, and while most migrations move."""
    migration_paths = plan.migration_paths
    if not migration_paths.background:
        return []
    moving = _busiest(plan)
    found: list[Beside] = []
    for number, each in enumerate(migration_paths.background):
        alone = float(migration_paths.of_background((), number).sum())
        together = float(migration_paths.of_background(moving, number).sum()) if moving else alone
        longer = migration_paths.longer(moving, number)
        if longer is not None and each.pulses is not None:
            # the same bytes a step
            together = alone / longer
        found.append(Beside(each.id, each.title, alone, together, longer))
    return found


def _busiest(plan: MigrationPlan) -> list[int]:
    """The transfers under way when most are."""
    if plan.schedule is None:
        return []
    moves = [m for m in plan.schedule.moves if m.vm.name in plan.transfers]
    best: list[int] = []
    for begin in sorted({m.transfer for m in moves}):
        moving = [plan.transfers[m.vm.name] for m in moves if m.transfer <= begin < m.end]
        if len(moving) > len(best):
            best = moving
    return best


def loads(network: Network, plan: MigrationPlan) -> ChannelLoads:
    """Load of the channels while most machines move."""
    return path_loads(network, plan.migration_paths, _busiest(plan))


def path_loads(network: Network, migration_paths: MigrationPaths, moving: Sequence[int]) -> ChannelLoads:
    """Load of every channel while these transfers move; background traffic counts in the utilization only."""
    n = 2 * network.net.n_links
    load = np.zeros(n)
    rates = migration_paths.rates(moving).tolist() if moving else []
    for transfer, rate in zip(moving, rates, strict=True):
        channels, shares = migration_paths.channels(transfer)
        np.add.at(load, channels, np.array(shares) * rate)
    if not moving and not migration_paths.background:
        return ChannelLoads(load, np.zeros(n))
    rate = migration_paths.mean(moving)
    incidence = migration_paths.incidence
    used = np.bincount(incidence.resource, rate[incidence.rows] * incidence.usage, incidence.n_resources)
    busy = used / incidence.capacity
    first, cables = network.first_resource, network.cables
    utilization = np.zeros(n)
    for link in range(network.net.n_links):
        width = int(cables[link])
        for way in range(2):
            begin = int(first[link]) + (way * width if network.full[link] else 0)
            utilization[2 * link + way] = busy[begin : begin + width].max()
    return ChannelLoads(load, utilization)
