"""Elastic training: its process decides step by step, each priced for the workers it has."""

from __future__ import annotations

from designer.engine.costs.pricing import CostKind, Expansion, Prices
from designer.errors import AnalysisError
from designer.families.training.elastic import Elastic
from designer.families.training.tasks import ElasticTraining


def price(prices: Prices, task: ElasticTraining, place: str) -> Expansion:
    """A job whose workers change.

    Raises
    ------
    AnalysisError
        If nobody trains at first, or workers make no whole replicas.
    """
    del prices
    try:
        first = Elastic(task)
    except AnalysisError as error:
        raise AnalysisError(error.text, place=f"{place}.{error.place}", remedy=error.remedy) from None
    return Expansion(lambda: Elastic(task), tuple(first.tasks))


COST = CostKind(ElasticTraining, price)
