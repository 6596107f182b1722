"""Inference in batches: answered in closed form and by queues of its own, not on the clock."""

from __future__ import annotations

from designer.analysis.costs.pricing import Cost, CostKind, Prices
from designer.errors import AnalysisError
from designer.workload.program.serving import Infer


def price(prices: Prices, task: Infer, place: str) -> Cost:
    """Refuse: samples that queue for a batch have no time of their own.

    Raises
    ------
    AnalysisError
        Always.
    """
    raise AnalysisError(
        "inference in batches is not run over time",
        place=place,
        remedy="analyze it; simulate transfers, collectives, training, loading, checkpoints, serving or migrations",
    )


COST = CostKind(Infer, price)
