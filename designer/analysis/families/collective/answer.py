"""Collectives: time, bus and algorithm bandwidth, and a sweep over sizes."""

from __future__ import annotations

from collections.abc import Mapping

from designer.analysis.collectives import CollectiveAnswer, evaluate_collective
from designer.analysis.families import Question
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.sources import Estimate
from designer.workload.program import Collective, Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """Time and bandwidths of a collective."""
    task = program.first(Collective)
    assert task is not None
    answer = evaluate_collective(network, task, question.place, question.curves, question.explained)
    result = question.result(
        _collective_metrics(answer),
        answer.binding,
        answer.next,
        answer.flows,
        answer.n_flows,
        answer.findings,
        {"size-sweep": answer.curves} if answer.curves else {},
    )
    return result, answer.loads


def _collective_metrics(answer: CollectiveAnswer) -> Mapping[str, Estimate]:
    time = answer.time
    ratio = time.algorithm_bandwidth / time.bus_bandwidth if time.bus_bandwidth else 1.0
    note = f"{time.algorithm}, {time.protocol}"
    found = {
        "communication_time": Estimate(time.time, time.low, time.high, "s", answer.sources, note),
        "bus_bandwidth": Estimate(time.bus_bandwidth, time.bus_low, time.bus_high, "B/s", answer.sources, note),
        "algorithm_bandwidth": Estimate(
            time.algorithm_bandwidth, time.bus_low * ratio, time.bus_high * ratio, "B/s", answer.sources, note
        ),
    }
    if answer.guest is None:
        return found
    lines = answer.guest.metrics()
    if not answer.guest.turns:
        del lines["compute_share"]
    return found | {
        name: lines[name] for name in ("compute_share", "nic_share", "virtualization_factor") if name in lines
    }
