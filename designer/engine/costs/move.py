"""Moves: every flow on the channels, media, mounts and root complexes of its routes, as transfers are routed."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.account.expression import seconds
from designer.engine.costs.pricing import Cost, CostKind, Folded, Prices, Rests
from designer.engine.machines.guests import guest_at
from designer.engine.transfers import NO_SHARES, TransferAnswer, evaluate_transfer
from designer.engine.transfers.turns import in_turn
from designer.workload.program.tasks import Move, Task

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: what virtual machines take of a rate
VIRTUALIZATION: Final = "virtualization"


def price(prices: Prices, task: Move, place: str) -> Cost:
    """Flows of a byte each.

    Raises
    ------
    AnalysisError
        If there is no way.
    """
    guest, stated = guest_at(prices.network, task, place, prices.running)
    shares = guest.rates if guest is not None else NO_SHARES
    name = f"move:{task.source}->{task.target}"
    if task.one_by_one:
        turns = in_turn(prices.network, task, place, shares=shares)
        found = works_of(prices, turns.together, task.size, name)
        # each goes on all the time at the rate that all have in turn
        numbered = [(one, prices.table.renumbered(one.rates.number, one.problem.limits, name)) for one in turns.alone]
        time = turns.time(task.size, VIRTUALIZATION, [one.rates.named(keys) for one, keys in numbered])
        each = (task.size if task.size < math.inf else 1.0) / float(seconds(time))
        found = replace(found, cap=np.minimum(found.cap, each), time=time, after=np.zeros(found.n_works))
    else:
        found = works_of(prices, evaluate_transfer(prices.network, task, place, shares=shares), task.size, name)
    if guest is not None:
        found = replace(found, group=VIRTUALIZATION, high=1 / guest.factor.low)
    return replace(found, findings=(*found.findings, *stated)) if stated else found


def works_of(prices: Prices, answer: TransferAnswer, amount: float, name: str) -> Cost:
    """The flows of a transfer that have a path, each with as much to move [B]; one of a class where some are equal.

    Parameters
    ----------
    name
        States limits of the transfer from those of others.
    """
    problem, fold, n = answer.problem, answer.problem.fold, prices.network.n_resources
    # limits of classes are others than those of single flows
    single, name = name, name if not fold.folds else f"{name} in classes"
    rates = answer.rates.named(prices.table.renumbered(answer.rates.number, problem.limits, name))
    flows = problem.incidence
    found = Cost(
        np.asarray(flows.ptr),
        rates.key[flows.resource],
        np.asarray(flows.usage),
        np.full(len(problem.flow), amount),
        np.asarray(flows.demand),
        np.asarray(flows.weight),
        np.zeros(len(problem.flow)),
        np.full(len(problem.flow), -1),
        unit="B",
        sources=answer.sources,
        findings=answer.findings,
        after=answer.rates.latency[0],
        rates=rates,
        rests=Rests(tuple(one.name for one in rates.estimates), problem.estimate, problem.passing),
    )
    if not fold.folds:
        return found

    def expand() -> tuple[Int, Int, Float, Int, Rests]:
        every = answer.expanded()
        row = np.full(len(fold.flows), -1, dtype=np.int64)
        row[fold.flows.of[problem.flow]] = np.arange(len(problem.flow))
        one = every.incidence
        resource = prices.table.renumbered(np.asarray(one.resource), every.limits, single)
        rests = Rests(tuple(one.name for one in every.estimates), every.estimate, every.passing)
        return np.asarray(one.ptr), resource, np.asarray(one.usage), row[fold.flows.of[answer.rate > 0]], rests

    limits = prices.table.renumbered(np.arange(n, n + len(problem.limits)), problem.limits, name)
    represented = dict(zip(limits.tolist(), problem.limit_many, strict=True))
    return replace(found, folded=Folded(problem.many, fold, represented, expand))


def flows_of(prices: Prices, answer: TransferAnswer, amount: Float, name: str) -> Cost:
    """The flows of a transfer that have a path, with an amount each [B]; off together as far as the slowest may be."""
    every = answer.incidence
    alive = np.flatnonzero(answer.rate > 0)
    worst = alive[np.argmin(answer.rate[alive])]
    return Cost(
        np.asarray(every.ptr),
        prices.table.renumbered(np.asarray(every.resource), answer.limits, name),
        np.asarray(every.usage),
        amount,
        np.asarray(every.demand),
        np.asarray(every.weight),
        np.zeros(len(amount)),
        np.full(len(amount), -1),
        float(answer.rate[worst] / answer.high[worst]),
        float(answer.rate[worst] / answer.low[worst]),
        name,
        "B",
        answer.sources,
        answer.findings,
        after=answer.latency[alive],
    )


def unit(task: Move) -> tuple[Task, float]:
    """A byte; a stream as it is, and copies one after another, each of which starts for itself."""
    return (task, 1.0) if task.size == math.inf or task.one_by_one else (replace(task, size=1.0), task.size)


COST = CostKind(Move, price, unit)
