"""Forward passes: one batch on a free accelerator, then tokens one after the other."""

from __future__ import annotations

from dataclasses import replace

from designer.engine.account.expression import Sum, seconds
from designer.engine.costs.pricing import Cost, CostKind, Prices, alone
from designer.families.control.tasks import Forward
from designer.families.serving.batches import SOURCES, computing, place_instances, widths_of

_GROUP = "inference"


def price(prices: Prices, task: Forward, place: str) -> Cost:
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


COST = CostKind(Forward, price)
