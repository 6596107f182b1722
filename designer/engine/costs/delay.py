"""A delay takes time and nothing else."""

from __future__ import annotations

from designer.engine.costs.pricing import Cost, CostKind, Prices, alone
from designer.workload.program.tasks import Delay, Task


def price(prices: Prices, task: Delay, place: str) -> Cost:
    """One second."""
    return alone(1.0)


def unit(task: Delay) -> tuple[Task, float]:
    """Seconds."""
    return Delay(1.0), task.seconds


COST = CostKind(Delay, price, unit)
