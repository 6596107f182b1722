"""A checkpoint: an equal part of the state from every rank to what keeps it."""

from __future__ import annotations

from dataclasses import replace

from designer.engine.costs.move import works_of
from designer.engine.costs.pricing import Cost, CostKind, Prices
from designer.families.training.checkpoints import moved_state, state_band
from designer.families.training.preparation import prepare
from designer.families.training.tasks import WriteCheckpoint
from designer.workload.jobs import STREAMS, Job, Requests


def state(
    prices: Prices,
    job: Job,
    other: str,
    place: str,
    *,
    back: bool = False,
    copies: int | None = None,
    requests: Requests = STREAMS,
) -> Cost:
    """The state of a job between its ranks and other parts; `copies` of it, or as many as all replicas read."""
    plan = prepare(prices.network, job, place, prices.running)
    moved = moved_state(prices.network, plan, other, place, back=back, copies=copies, requests=requests)
    found = works_of(prices, moved.answer, moved.each, f"checkpoint:{other}")
    name, low, high = state_band(back=back)
    sources = tuple(sorted({"zero-2020", *found.sources}))
    return replace(found, group=name, low=low, high=high, sources=sources)


def price(prices: Prices, task: WriteCheckpoint, place: str) -> Cost:
    """One checkpoint.

    Raises
    ------
    AnalysisError
        If the target cannot be reached.
    """
    return state(prices, task.job, task.target, place, copies=1, requests=task.requests)


COST = CostKind(WriteCheckpoint, price)
