"""Load of channels under training: the input at the rate of the step, collectives while they run."""

from __future__ import annotations

import numpy as np

from designer.analysis.collectives import flows_of, loads_of
from designer.analysis.communicator import Communicator
from designer.analysis.network import LISTED_LIMIT, Network
from designer.analysis.results import ChannelLoads, Flow
from designer.analysis.training.feeding import feed
from designer.analysis.training.step import DrawnStep
from designer.formulas.collectives import CollectiveTime
from designer.formulas.communication import Kind


def _running(drawn: DrawnStep) -> list[tuple[Communicator, CollectiveTime]]:
    """The largest collective of every group, as it runs."""
    found: list[tuple[Communicator, CollectiveTime]] = []
    for kind, size, one in drawn.routed.used.values():
        name = "send-recv" if kind is Kind.SEND else str(kind)
        found.append((one, one.time(name, size)))
    return found


def loads(network: Network, drawn: DrawnStep) -> ChannelLoads:
    """Load of every channel; groups that take turns count with the busiest of them, the input on top."""
    n = 2 * network.net.n_links
    load, busy = np.zeros(n), np.zeros(n)
    for one, time in _running(drawn):
        phase = loads_of(one, time)
        load, busy = np.maximum(load, phase.load), np.maximum(busy, phase.utilization)
    for more, share in _beside(network, drawn):
        # while a collective runs, the others get less: together they fill the channel at most
        load = np.maximum(load, np.minimum(load + more.load * share, np.repeat(network.rate, 2)))
        busy = np.minimum(1.0, busy + more.utilization * share)
    return ChannelLoads(load, busy)


def _beside(network: Network, drawn: DrawnStep) -> list[tuple[ChannelLoads, float]]:
    """Loads of the input as far as the step uses it up, and of workloads that run at the same time."""
    if drawn.feed is None or drawn.samples is None:
        return [(drawn.beside.loads, 1.0)] if drawn.beside is not None else []
    used = drawn.plan.local_batch * drawn.samples.stored / drawn.step.step_time
    if drawn.beside is None:
        return [(drawn.feed.answer.loads, min(1.0, used / drawn.feed.rate))]
    # what readers leave alone, the others may take
    both = feed(network, drawn.plan.readers(), drawn.path, drawn.samples, drawn.plan.place, used, explained=False)
    return [(both.answer.loads, 1.0)]


def flows(drawn: DrawnStep) -> list[Flow]:
    """The flows of the input, then the hops of the collectives."""
    listed: list[Flow] = list(drawn.feed.answer.flows) if drawn.feed is not None else []
    for one, time in _running(drawn):
        listed += flows_of(one, time)
    return listed[:LISTED_LIMIT]


def n_flows(drawn: DrawnStep) -> int:
    """How many flows there are."""
    total = drawn.feed.answer.traffic.n_flows if drawn.feed is not None else 0
    for one, _ in _running(drawn):
        total += sum(len(a.legs) for a in (one.inside, one.between) if a is not None)
    return total
