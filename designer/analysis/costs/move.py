"""Moves: every flow on the channels, media, mounts and root complexes of its routes, as transfers are routed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TypedDict

import numpy as np
import numpy.typing as npt

from designer.analysis.costs.pricing import Cost, CostKind, Folded, Prices, of_flows
from designer.analysis.transfers import NO_SHARES, TransferAnswer, evaluate_transfer
from designer.analysis.vms.guests import guest_at
from designer.workload.program.tasks import Move, Task

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]


def price(prices: Prices, task: Move, place: str) -> Cost:
    """Flows of a byte each.

    Raises
    ------
    AnalysisError
        If there is no way.
    """
    guest, told = guest_at(prices.network, task, place, prices.running)
    shares = guest.rates if guest is not None else NO_SHARES
    answer = evaluate_transfer(prices.network, task, place, explained=False, shares=shares)
    found = works_of(prices, answer, task.size, f"move:{task.source}->{task.target}")
    return replace(found, findings=(*found.findings, *told)) if told else found


def works_of(prices: Prices, answer: TransferAnswer, amount: float, group: str) -> Cost:
    """The flows of a transfer that have a path, each with as much to move [B]; one of a class where some are alike."""
    problem, fold = answer.problem, answer.problem.fold
    if fold is None:
        return flows_of(prices, answer, np.full(int((answer.rate > 0).sum()), amount), group)
    n, many = prices.network.n_resources, problem.many
    # limits of classes are others than those of single flows
    name = f"{group} in classes"
    number = problem.number_of(problem.incidence.resource.astype(np.int64))
    first = np.arange(n, n + len(problem.limits))
    limits = prices.table.renumbered(first, problem.limits, name)

    def expand() -> tuple[Int, Int, Float, Int]:
        every = answer.incidence
        row = np.full(len(fold.flows), -1, dtype=np.int64)
        row[fold.flows.of[problem.flow]] = np.arange(len(problem.flow))
        resource = prices.table.renumbered(np.asarray(every.resource), answer.limits, group)
        return np.asarray(every.ptr), resource, np.asarray(every.usage), row[fold.flows.of[answer.rate > 0]]

    found = of_flows(
        problem.incidence,
        prices.table.renumbered(number, problem.limits, name),
        np.full(len(many), amount),
        answer.latency[problem.flow],
        **_band(answer),
        group=group,
        sources=answer.sources,
        findings=answer.findings,
    )
    alike = dict(zip(limits.tolist(), problem.limit_many, strict=True))
    return replace(found, folded=Folded(many, fold, alike, expand))


def flows_of(prices: Prices, answer: TransferAnswer, amount: Float, group: str) -> Cost:
    """The flows of a transfer that have a path, with an amount each [B]."""
    return of_flows(
        answer.incidence,
        prices.table.renumbered(np.asarray(answer.incidence.resource), answer.limits, group),
        amount,
        answer.latency[answer.rate > 0],
        **_band(answer),
        group=group,
        sources=answer.sources,
        findings=answer.findings,
    )


class _Band(TypedDict):
    low: float
    high: float


def _band(answer: TransferAnswer) -> _Band:
    """How much shorter or longer the slowest flow may take, relative [1]."""
    alive = np.flatnonzero(answer.rate > 0)
    rate, low, high = answer.rate[alive], answer.low[alive], answer.high[alive]
    worst = int(np.argmin(rate)) if len(rate) else 0
    shorter = float(rate[worst] / high[worst]) if len(rate) else 1.0
    longer = float(rate[worst] / low[worst]) if len(rate) and low[worst] > 0 else 1.0
    return {"low": min(1.0, shorter), "high": max(1.0, longer)}


def unit(task: Move) -> tuple[Task, float]:
    """A byte; a stream as it is."""
    return (task, 1.0) if task.size == math.inf else (replace(task, size=1.0), task.size)


COST = CostKind(Move, price, unit)
