"""Load of channels under training: the input at the rate of the step, collectives while they run."""

from __future__ import annotations

import numpy as np

from designer.engine.network import LISTED_LIMIT, Network
from designer.engine.network.partition import numbered
from designer.engine.results import ChannelLoads, Flow, LoadsOfClasses
from designer.families.collective.communicator import Communicator
from designer.families.collective.evaluation import flows_of, loads_of
from designer.families.training.feeding import background_transfer, feed
from designer.families.training.step import RoutedStep
from designer.formulas.collectives import CollectiveTime
from designer.formulas.communication import Kind


def _largest_collectives(routed_step: RoutedStep) -> list[tuple[Communicator, CollectiveTime]]:
    """The largest collective of every group, as it runs."""
    found: list[tuple[Communicator, CollectiveTime]] = []
    for kind, size, one in routed_step.routed.used.values():
        name = "send-recv" if kind is Kind.SEND else str(kind)
        found.append((one, one.time(name, size)))
    return found


def loads(network: Network, routed_step: RoutedStep) -> ChannelLoads:
    """Load of every channel; groups that take turns count with the busiest of them, the input on top."""
    return ChannelLoads.made(lambda: _loads(network, routed_step))


def _loads(network: Network, routed_step: RoutedStep) -> LoadsOfClasses:
    phases = [loads_of(one, time).in_classes() for one, time in _largest_collectives(routed_step)]
    inputs = [(loads.in_classes(), share) for loads, share in input_loads(network, routed_step)]
    rates = np.repeat(network.arrays.rate_class, 2)
    classes = numbered(rates, len(network.class_rate))
    for each in (*phases, *(one for one, _ in inputs)):
        classes = classes.together(each.classes)
    raw = network.class_rate[rates[classes.first]]
    load, busy = np.zeros(len(classes)), np.zeros(len(classes))
    for each in phases:
        at = each.classes.of[classes.first]
        load, busy = np.maximum(load, each.load[at]), np.maximum(busy, each.utilization[at])
    for more, share in inputs:
        # while a collective runs, the others get less: together they fill the channel at most
        at = more.classes.of[classes.first]
        load = np.maximum(load, np.minimum(load + more.load[at] * share, raw))
        busy = np.minimum(1.0, busy + more.utilization[at] * share)
    return LoadsOfClasses(classes, load, busy)


def input_loads(network: Network, routed_step: RoutedStep) -> list[tuple[ChannelLoads, float]]:
    """Loads of the input as far as the step uses it up, and of workloads that run at the same time."""
    plan, path = routed_step.plan, routed_step.path
    others = background_transfer(network, path.background, plan.place)
    if routed_step.feed is None or routed_step.samples is None:
        return [(others.loads, 1.0)] if others is not None else []
    used = routed_step.loaded / routed_step.step.step_time
    if others is None:
        return [(routed_step.feed.answer.loads, min(1.0, used / routed_step.feed.rate))]
    # what readers leave alone, the others may take
    both = feed(network, plan.readers(), path, routed_step.samples, plan.place, used)
    return [(both.answer.loads, 1.0)]


def flows(routed_step: RoutedStep) -> list[Flow]:
    """The flows of the input, then the hops of the collectives."""
    listed: list[Flow] = list(routed_step.feed.answer.flows) if routed_step.feed is not None else []
    for one, time in _largest_collectives(routed_step):
        listed += flows_of(one, time)
    return listed[:LISTED_LIMIT]


def n_flows(routed_step: RoutedStep) -> int:
    """How many flows there are."""
    loading = routed_step.feed.answer.traffic.n_flows if routed_step.feed is not None else 0
    return loading + sum(one.n_legs for one, _ in _largest_collectives(routed_step))
