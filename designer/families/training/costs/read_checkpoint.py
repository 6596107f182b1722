"""A restore: the state into one replica, or into each."""

from __future__ import annotations

from designer.engine.costs.pricing import Cost, CostKind, Prices
from designer.families.training.costs.write_checkpoint import state
from designer.families.training.tasks import ReadCheckpoint


def price(prices: Prices, task: ReadCheckpoint, place: str) -> Cost:
    """One restore.

    Raises
    ------
    AnalysisError
        If the source cannot be reached.
    """
    copies = 1 if task.from_one else None
    return state(prices, task.job, task.source, place, back=True, copies=copies, requests=task.requests)


COST = CostKind(ReadCheckpoint, price)
