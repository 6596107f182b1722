"""Transfers: total and slowest rate, and the time where an amount is given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from designer.analysis.families import Question
from designer.analysis.network import TIE_TOLERANCE, Network
from designer.analysis.results import Bottleneck, ChannelLoads, WorkloadResult
from designer.analysis.transfers import NO_SHARES, TransferAnswer, evaluate_transfer
from designer.analysis.vms.guest import Guest
from designer.analysis.vms.guests import guest_at
from designer.catalog.parttype import Capability
from designer.sources import Estimate
from designer.units import format_quantity
from designer.workload.program import Move, Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Rates of a transfer."""
    move = program.first(Move)
    assert move is not None
    guest, told = guest_at(network, move, question.place)
    shares = guest.rates if guest is not None else NO_SHARES
    found = evaluate_transfer(network, move, question.place, explained=question.explained, shares=shares)
    binding, then = _with_latency(move, found)
    metrics = _transfer_metrics(network, move, found)
    result = question.result(
        metrics if guest is None else _in_machine(metrics, guest),
        binding,
        then,
        found.flows,
        found.traffic.n_flows,
        (*found.findings, *told),
    )
    return result, found.loads


def _in_machine(metrics: Mapping[str, Estimate], guest: Guest) -> Mapping[str, Estimate]:
    """Rates and times as virtualisation leaves them, then the shares that a transfer depends on."""
    factor = guest.factor
    found = {
        name: replace(m, low=m.low * factor.low) if m.unit == "B/s" else replace(m, high=m.high / factor.low)
        for name, m in metrics.items()
    }
    lines = guest.metrics()
    return found | {name: lines[name] for name in ("memory_share", "bandwidth_share", "virtualization_factor")}


def _with_latency(move: Move, answer: TransferAnswer) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
    """What limits the slowest flow: of a small message its latency, and the links next."""
    if move.size == math.inf or answer.rate.min() <= 0:
        return answer.binding, answer.next
    moving = move.size / answer.rate
    worst = int(np.argmax(answer.latency + moving))
    wait, whole = float(answer.latency[worst]), float(answer.latency[worst] + moving[worst])
    if wait <= moving[worst]:
        return answer.binding, answer.next
    why = f"{format_quantity(wait, 'duration')} of {format_quantity(whole, 'duration')}"
    return (Bottleneck("limit", "latency", "latency of the way", why),), answer.binding


def _transfer_metrics(network: Network, move: Move, answer: TransferAnswer) -> Mapping[str, Estimate]:
    def rate(value: float, low: float, high: float) -> Estimate:
        return Estimate(value, low, high, "B/s", answer.sources)

    found = {"rate": rate(float(answer.rate.sum()), float(answer.low.sum()), float(answer.high.sum()))}
    accelerates = network.has(Capability.ACCELERATE)
    parts = answer.traffic.target if accelerates[answer.traffic.target].any() else answer.traffic.source
    if accelerates[parts].any():
        # of flows that are equally slow, rounding must not choose whose band is told: the slowest is below them all
        worst = np.flatnonzero(answer.rate <= answer.rate.min() * (1 + TIE_TOLERANCE))
        ends = (float(each[worst].min()) for each in (answer.rate, answer.low, answer.high))
        found["data_rate_per_gpu"] = rate(*ends)
    if move.size < math.inf and answer.rate.min() > 0:
        rates = (answer.rate, answer.high, answer.low)
        waits = (answer.latency, *answer.latency_band)
        times = [float((wait + move.size / r).max()) for wait, r in zip(waits, rates, strict=True)]
        sources = (*answer.sources, "path-latencies", "assumed-transfers")
        found["transfer_time"] = Estimate(times[0], times[1], times[2], "s", sources)
    return found
