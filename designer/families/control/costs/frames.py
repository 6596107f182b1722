"""Frames of sensors on their way into the target; equal shares over several targets."""

from __future__ import annotations

import numpy as np

from designer.engine.costs.move import flows_of
from designer.engine.costs.pricing import Cost, CostKind, Prices
from designer.engine.network import Network
from designer.engine.network.capacities import band_of
from designer.engine.routes.selection import resolve
from designer.engine.transfers import evaluate_transfer, refuse_lost
from designer.errors import AnalysisError
from designer.families.control.tasks import Frames
from designer.workload.program.tasks import Move


def price(prices: Prices, task: Frames, place: str) -> Cost:
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


COST = CostKind(Frames, price)
