"""Transfers: total and slowest rate, and the time where an amount is given."""

from __future__ import annotations

import math

import numpy as np

from designer.catalog.parttype import Capability
from designer.engine.account import Account, account
from designer.engine.account.expression import Longest, Sum, Time
from designer.engine.costs.move import VIRTUALIZATION
from designer.engine.machines.guests import guest_at
from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, WorkloadResult
from designer.engine.transfers import NO_SHARES, TransferAnswer, evaluate_transfer
from designer.engine.transfers.turns import Turns, in_turn
from designer.sources import Estimate
from designer.workload.program import Move, Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Rates of a transfer, and its time where it has a size."""
    move = program.first(Move)
    assert move is not None
    guest, stated = guest_at(network, move, question.place)
    shares = guest.rates if guest is not None else NO_SHARES
    turns = in_turn(network, move, question.place, shares=shares) if move.one_by_one else None
    found = turns.together if turns else evaluate_transfer(network, move, question.place, shares=shares)
    rates, bands = found.rates, dict(turns.bands if turns else found.rates.joint_bands)
    if guest is not None:
        bands[VIRTUALIZATION] = 1.0, 1 / guest.factor.low

    def account_of(time: Time, *, explained: bool = False) -> Account:
        return account(time, bands, explained=explained)

    whole = turns.time(move.size, VIRTUALIZATION) if turns else rates.time(move.size, size=VIRTUALIZATION)
    why = account_of(whole, explained=question.explained)
    metrics: dict[str, Estimate] = {}
    together: Time = Sum((whole,), 1 / turns.copies) if turns else Sum((rates.together(),), estimate=VIRTUALIZATION)
    if move.size < math.inf:
        sources = (*found.sources, "path-latencies", "assumed-transfers")
        metrics["transfer_time"] = Estimate(why.value, why.low, why.high, "s", sources)
        moving = whole if turns else rates.time(move.size, latency=False, size=VIRTUALIZATION)
        together = Sum((moving,), 1 / float(move.size * rates.many.sum()))
    metrics["rate"] = _rate(account_of(together), found.sources)
    if network.has(Capability.ACCELERATE)[np.concatenate([found.traffic.source, found.traffic.target])].any():
        slowest = why if move.size == math.inf and not turns else account_of(_slowest(found, turns))
        metrics["data_rate_per_gpu"] = _rate(slowest, found.sources)
    if guest is not None:
        lines = guest.metrics()
        metrics |= {name: lines[name] for name in ("memory_share", "bandwidth_share", "virtualization_factor")}
    result = question.result(
        metrics,
        *why.bottlenecks(turns.words if turns else found.words),
        found.flows,
        found.traffic.n_flows,
        (*found.findings, *stated),
    )
    return result, found.loads


def _slowest(found: TransferAnswer, turns: Turns | None) -> Time:
    """Time of a byte of the slowest flow [s]: of all at once, or of each alone."""
    times = [one.rates.time(math.inf, size=VIRTUALIZATION) for one in (turns.alone if turns else (found,))]
    return Longest(tuple(times))


def _rate(time: Account, sources: tuple[str, ...]) -> Estimate:
    """The rate of the time of a byte."""
    return Estimate(1 / time.value, 1 / time.high, 1 / time.low, "B/s", sources)
