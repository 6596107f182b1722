"""Costs of sensors, frames and forward passes."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np

from designer.engine.account.expression import Sum, Term, seconds
from designer.engine.costs.move import flows_of
from designer.engine.costs.pricing import Cost, CostKind, Prices, alone
from designer.engine.network import Network
from designer.engine.network.capacities import band_of
from designer.engine.results import Bottleneck
from designer.engine.routes.selection import resolve
from designer.engine.transfers import evaluate_transfer, refuse_lost
from designer.errors import AnalysisError
from designer.families.control.kinds import Access, Forward, Frames
from designer.families.serving.batch_work import widths_of
from designer.families.serving.batches import SOURCES, computing, place_instances
from designer.workload.program.tasks import Move


def access(prices: Prices, task: Access, place: str) -> Cost:
    """The longest of all parts; no time where none states one.

    Raises
    ------
    AnalysisError
        If the selector names no part.
    """
    network = prices.network
    parts = resolve(network, task.where, place).tolist()
    bands = [band_of(network.design, network.net.part(part), "access_latency") or (0.0, 0.0, 0.0) for part in parts]
    seconds, low, high = (max(each) for each in zip(*bands, strict=True))
    if not seconds:
        return alone(0.0)
    part = parts[max(range(len(parts)), key=lambda k: bands[k][0])]
    name = f"access:{task.where}"
    quantity = network.design.quantity(network.net.part(part), "access_latency")
    sources = (quantity.source,) if quantity is not None else ()
    held = Bottleneck("part", network.net.path(part), f"{network.net.part(part).label} ({task.what})", "")
    found = alone(seconds, low=low / seconds, high=high / seconds, group=name, sources=sources)
    return replace(found, time=Term(held, seconds, name))


def frames(prices: Prices, task: Frames, place: str) -> Cost:
    """One flow for each sensor and target.

    Raises
    ------
    AnalysisError
        If a sensor has no way to the target, or states no size of its frames.
    """
    network = prices.network
    sizes = {
        part: task.size or _frame(network, part, place)
        for part in resolve(network, task.sensors, f"{place}.sensors").tolist()
    }
    targets = len(resolve(network, task.target, f"{place}.target"))
    answer = evaluate_transfer(network, Move(task.sensors, task.target, pairing="all"), place)
    refuse_lost(network, answer, "frames", place)
    size = np.array([sizes[part] for part in answer.traffic.source.tolist()], dtype=np.float64) / targets
    return flows_of(prices, answer, size, f"frames:{task.sensors}")


def _frame(network: Network, part: int, place: str) -> float:
    """Size of a frame of a sensor [B]."""
    known = band_of(network.design, network.net.part(part), "frame_size")
    if known is None:
        raise AnalysisError(
            f"{network.net.path(part)} states no size of a frame",
            place=f"{place}.sensors",
            remedy="give the part frame_size, or the workload frame",
        )
    return known[0]


_GROUP = "inference"


def forward(prices: Prices, task: Forward, place: str) -> Cost:
    """The computing of a batch; weights are held while the program runs.

    Raises
    ------
    AnalysisError
        If there is no such model, or it does not fit.
    """
    placed = place_instances(prices.network, task.asked, place)
    batch = task.asked.batch
    parts = [computing(placed, batch)]
    if task.tokens:
        # a token is a pass over all weights with next to no arithmetic
        one = place_instances(prices.network, replace(task.asked, sequence=1), place)
        parts.append(Sum((computing(one, batch),), float(task.tokens)))
    time = Sum(tuple(parts), estimate=_GROUP)
    _, low, high = widths_of(placed.work)(batch)
    mine = placed.parts.tolist()
    shared = prices.in_turns.intersection(mine)
    # where trainings compute as well all take turns, each pass on one of the parts
    uses = {prices.table.turns(part): 1.0 / len(mine) for part in mine} if shared else {}
    engine = -1 if shared else prices.table.engine(mine)
    held = dict.fromkeys(mine, placed.work.weights)
    found = alone(
        float(seconds(time)), uses=uses, engine=engine, low=low, high=high, group=_GROUP, sources=SOURCES, time=time
    )
    # settings of scenarios are not asked of a loop
    stated = tuple(one for one in placed.findings if one.code != "SERVE-UNUSED")
    return replace(found, holds=held, findings=stated)


COSTS: Final = (
    CostKind(Access, access),
    CostKind(Frames, frames),
    CostKind(Forward, forward),
)
