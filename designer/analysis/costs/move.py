"""Moves: every flow on the channels, media, mounts and root complexes of its routes, as transfers are routed."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from designer.analysis.costs.pricing import Cost, CostKind, Prices, of_flows
from designer.analysis.transfers import NO_SHARES, TransferAnswer, evaluate_transfer
from designer.analysis.vms.guests import guest_at
from designer.workload.operations import Transfer
from designer.workload.program.tasks import Move, Task


def price(prices: Prices, task: Move, place: str) -> Cost:
    """Flows of a byte each.

    Raises
    ------
    AnalysisError
        If there is no way.
    """
    asked = Transfer(
        "move",
        task.source,
        task.target,
        task.pairing,
        0.0,
        task.demand,
        task.both_ways,
        task.seed,
        task.through_memory,
        task.machines,
    )
    guest, told = guest_at(prices.network, asked, place, prices.running)
    shares = guest.rates if guest is not None else NO_SHARES
    answer = evaluate_transfer(prices.network, asked, place, explained=False, shares=shares)
    amount = np.full(int((answer.rate > 0).sum()), task.size)
    found = flows_of(prices, answer, amount, f"move:{task.source}->{task.target}")
    return replace(found, findings=(*found.findings, *told)) if told else found


def flows_of(prices: Prices, answer: TransferAnswer, amount: np.ndarray, group: str) -> Cost:
    """The flows of a transfer that have a way, with an amount each [B]."""
    alive = np.flatnonzero(answer.rate > 0)
    resource = prices.table.renumbered(np.asarray(answer.incidence.resource), answer.limits, group)
    rate, low, high = answer.rate[alive], answer.low[alive], answer.high[alive]
    worst = int(np.argmin(rate)) if len(rate) else 0
    shorter = float(rate[worst] / high[worst]) if len(rate) else 1.0
    longer = float(rate[worst] / low[worst]) if len(rate) and low[worst] > 0 else 1.0
    return of_flows(
        answer.incidence,
        resource,
        amount,
        answer.latency[alive],
        low=min(1.0, shorter),
        high=max(1.0, longer),
        group=group,
        sources=answer.sources,
        findings=answer.findings,
    )


def unit(task: Move) -> tuple[Task, float]:
    """A byte; a stream as it is."""
    return (task, 1.0) if task.size == math.inf else (replace(task, size=1.0), task.size)


COST = CostKind(Move, price, unit)
