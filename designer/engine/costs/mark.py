"""A mark takes nothing."""

from __future__ import annotations

from designer.engine.costs.pricing import Cost, CostKind, Prices, nothing
from designer.workload.program.tasks import Mark


def price(prices: Prices, task: Mark, place: str) -> Cost:
    """Nothing."""
    return nothing()


COST = CostKind(Mark, price)
