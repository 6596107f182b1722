"""Transfers: total and slowest rate, and the time where an amount is given."""

from __future__ import annotations

import math

import numpy as np

from designer.analysis.account import Account, account
from designer.analysis.costs.move import VIRTUALIZATION
from designer.analysis.evaluators import Evaluator, Question
from designer.analysis.expression import Sum, Time
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.transfers import NO_SHARES, evaluate_transfer
from designer.analysis.vms.guests import guest_at
from designer.catalog.parttype import Capability
from designer.sources import Estimate
from designer.workload.operations import Transfer


def evaluate(network: Network, operation: Transfer, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Rates of a transfer, and its time where it has a size."""
    guest, told = guest_at(network, operation, question.place)
    shares = guest.rates if guest is not None else NO_SHARES
    answer = evaluate_transfer(network, operation, question.place, shares=shares)
    rates, bands, explained = answer.rates, dict(answer.rates.bands), question.explained
    if guest is not None:
        bands[VIRTUALIZATION] = 1.0, 1 / guest.factor.low
    sources = (*answer.sources, "path-latencies", "assumed-transfers") if operation.size else answer.sources

    def told_of(time: Time, *, explained: bool = False) -> Account:
        return account(time, bands, explained=explained)

    metrics: dict[str, Estimate] = {}
    if operation.size > 0:
        why = told_of(rates.time(operation.size, size=VIRTUALIZATION), explained=explained)
        metrics["transfer_time"] = Estimate(why.value, why.low, why.high, "s", sources)
        moving = rates.time(operation.size, latency=False, size=VIRTUALIZATION)
        together = told_of(Sum((moving,), 1 / float(operation.size * rates.many.sum())))
    else:
        why = told_of(rates.time(math.inf, size=VIRTUALIZATION), explained=explained)
        together = told_of(Sum((rates.together(),), estimate=VIRTUALIZATION))
    metrics["rate"] = _rate(together, answer.sources)
    if network.has(Capability.ACCELERATE)[np.concatenate([answer.traffic.source, answer.traffic.target])].any():
        metrics["data_rate_per_gpu"] = _rate(told_of(rates.time(math.inf, size=VIRTUALIZATION)), answer.sources)
    if guest is not None:
        lines = guest.metrics()
        metrics |= {name: lines[name] for name in ("memory_share", "bandwidth_share", "virtualization_factor")}
    result = question.result(
        metrics,
        *why.bottlenecks(answer.words),
        answer.flows,
        answer.traffic.n_flows,
        (*answer.findings, *told),
    )
    return result, answer.loads


def _rate(time: Account, sources: tuple[str, ...]) -> Estimate:
    """The rate of a time of a byte."""
    return Estimate(1 / time.value, 1 / time.high, 1 / time.low, "B/s", sources)


EVALUATOR = Evaluator(Transfer, evaluate)
