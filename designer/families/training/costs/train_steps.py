"""Many steps as one: every rank is busy for as long as they take, and their traffic is a stream at its mean next to it.

Alone they take as many times the step; on links that others use, the stream of traffic takes longer. What a single
step gives up or wins by meeting others at the right instant is lost in the mean.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from designer.engine.costs.pricing import Cost, CostKind, Prices, Uses, on_engines
from designer.families.collective.costs import occupied
from designer.families.training.formulas.step_composition import SOURCES
from designer.families.training.preparation import prepare
from designer.families.training.routed_costs import arrangement_of
from designer.families.training.step_time import ESTIMATE, busy_time
from designer.families.training.tasks import TrainSteps
from designer.workload.program.tasks import Task


def price(prices: Prices, task: TrainSteps, place: str) -> Cost:
    """One step, or one sample of it where samples are counted.

    Raises
    ------
    AnalysisError
        If the job does not fit the drawing.
    """
    plan = prepare(prices.network, task.job, place, prices.running)
    costs = plan.ranks.costs(plan.layout)
    step = plan.estimate(costs)
    seconds = float(step.step_time)
    once = seconds / plan.global_batch if task.samples else seconds
    ranks = plan.ranks.parts[: plan.layout.ranks].tolist()
    engines, turns = on_engines(prices, ranks, plan.guest)
    traffic = Uses.of({})
    weight = 1.0
    for group in costs.used:
        share = float(getattr(step, f"{group}_communication")) / seconds
        if share > 0:
            uses, weight = occupied(prices.network, list(plan.ranks.communicators(arrangement_of(plan.layout, group))))
            traffic = traffic.plus(uses.scaled(share))
    more = 1 if len(traffic.resource) else 0
    n = len(ranks) + more
    rows = [row for row, _ in turns] + [len(ranks)] * len(traffic.resource)
    return Cost(
        np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=n))]).astype(np.int64),
        np.concatenate([np.array([resource for _, resource in turns], dtype=np.int64), traffic.resource]),
        np.concatenate([np.ones(len(turns)), traffic.amount]),
        np.full(n, once),
        np.ones(n),
        np.array([1.0] * len(ranks) + [weight] * more),
        np.zeros(n),
        np.concatenate([engines, [-1] * more]).astype(np.int64),
        float(step.low / step.step_time),
        float(step.high / step.step_time),
        ESTIMATE,
        "s",
        SOURCES,
        tuple(f for f in plan.findings if f.code != "TRAIN-IDLE" or not task.some),
        dict.fromkeys(ranks, float(step.memory.total)),
        time=busy_time(plan, costs, step).part(lambda one: float(one.step_time)),
    )


def unit(task: TrainSteps) -> tuple[Task, float]:
    """One step, or one sample."""
    if task.samples:
        return replace(task, count=0.0, samples=1.0), task.samples
    return replace(task, count=1.0), task.count


COST = CostKind(TrainSteps, price, unit)
