"""A snapshot: the state from every rank to host memory."""

from __future__ import annotations

from designer.engine.costs.pricing import Cost, CostKind, Prices
from designer.families.training.costs.write_checkpoint import state
from designer.families.training.tasks import CopyCheckpoint


def price(prices: Prices, task: CopyCheckpoint, place: str) -> Cost:
    """One copy."""
    return state(prices, task.job, "memory", place, copies=1)


COST = CostKind(CopyCheckpoint, price)
