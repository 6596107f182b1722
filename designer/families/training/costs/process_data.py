"""Data worked on by hosts: read over its way into their memory, as fast as the cores there work through it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from designer.engine.account.bottlenecks import Limit
from designer.engine.costs.move import works_of
from designer.engine.costs.pricing import Cost, CostKind, Prices
from designer.engine.routes.protocols import KERNEL_COST, cores_of_islands
from designer.engine.routes.selection import Traffic, pair_up
from designer.engine.routes.staging import staged
from designer.engine.transfers import evaluate_legs
from designer.engine.transfers.limits import FlowLimits
from designer.errors import AnalysisError
from designer.families.training.tasks import ProcessData
from designer.workload.program.tasks import Move, Task


def price(prices: Prices, task: ProcessData, place: str) -> Cost:
    """An equal part for each flow.

    Raises
    ------
    AnalysisError
        If hosts have no way to the data, or no cores.
    """
    network = prices.network
    if task.rate <= 0:
        raise AnalysisError("cores that work through nothing", place=place, remedy="give a rate of a core above 0")
    traffic = pair_up(network, Move(task.source, task.hosts), place)
    cores = cores_of_islands(network)
    host = network.island[traffic.target]
    limits: list[Limit] = []
    flows: list[npt.NDArray[np.int64]] = []
    for island in np.unique(host).tolist():
        if not cores[island]:
            where = network.net.path(int(traffic.target[host == island][0]))
            raise AnalysisError(
                f"no cores are drawn next to {where}", place=place, remedy="draw its processors, or choose other hosts"
            )
        flows.append(np.flatnonzero(host == island))
        # the same cores for all that works on data there, stated in what they could just move
        where = network.net.path(int(traffic.target[flows[-1][0]]))
        label = f"{cores[island]:.0f} cores next to {where}, working on data"
        limits.append(Limit(f"cores:{island}", label, float(cores[island]) / KERNEL_COST.value))
    usages = [np.full(len(each), 1 / (task.rate * KERNEL_COST.value)) for each in flows]
    legs = staged(network, traffic.legs)
    asked = Traffic(legs, traffic.source, traffic.target)
    limited = FlowLimits.each(limits, flows, usages)
    answer = evaluate_legs(network, asked, np.full(traffic.n_flows, np.inf), limited, place)
    n = int((answer.rate > 0).sum())
    return works_of(prices, answer, task.size / max(1, n), f"data:{task.source}")


def unit(task: ProcessData) -> tuple[Task, float]:
    """A byte."""
    return (replace(task, size=1.0), task.size) if task.size else (task, 1.0)


COST = CostKind(ProcessData, price, unit)
