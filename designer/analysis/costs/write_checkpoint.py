"""A checkpoint: an equal part of the state from every rank to what keeps it."""

from __future__ import annotations

from dataclasses import replace

from designer.analysis.costs.move import works_of
from designer.analysis.costs.pricing import Cost, CostKind, Prices
from designer.analysis.training.preparation import prepare
from designer.analysis.transfers import evaluate_transfer
from designer.formulas.storage.checkpoint import BYTES_PER_PARAMETER, checkpoint_size, copies_read
from designer.workload.jobs import Job
from designer.workload.program.tasks import Move
from designer.workload.program.training import WriteCheckpoint


def state(prices: Prices, job: Job, other: str, place: str, *, back: bool = False, copies: int | None = None) -> Cost:
    """The state of a job between its ranks and other parts; `copies` of it, or as many as all replicas read."""
    plan = prepare(prices.network, job, place, prices.running)
    net = prices.network.net
    group = job.group if not job.data else ",".join(net.path(int(p)) for p in plan.ranks.parts.tolist())
    ends = (other, group) if back else (group, other)
    answer = evaluate_transfer(prices.network, Move(*ends), place, explained=False)
    n = int((answer.rate > 0).sum())
    each = copies_read(plan.layout.replicas, plan.layout.sharding) if copies is None else copies
    size = checkpoint_size(plan.shape.parameters) * each
    found = works_of(prices, answer, size / max(1, n), f"checkpoint:{other}")
    spread = BYTES_PER_PARAMETER
    return replace(
        found,
        low=found.low * spread.low / spread.value,
        high=found.high * spread.high / spread.value,
        sources=tuple(sorted({"zero-2020", *found.sources})),
    )


def price(prices: Prices, task: WriteCheckpoint, place: str) -> Cost:
    """One checkpoint.

    Raises
    ------
    AnalysisError
        If the target cannot be reached.
    """
    return state(prices, task.job, task.target, place, copies=1)


COST = CostKind(WriteCheckpoint, price)
