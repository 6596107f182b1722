"""Collectives: one activity with the usage of all hops of the group, the latency of its steps before it.

While it moves data it keeps the links it is held back by busy: what its library does not achieve of them is no use to
anyone else. The other side, inside or between servers, is busy in proportion.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from designer.engine.costs.pricing import Cost, CostKind, Prices, Uses, alone
from designer.engine.network import Network
from designer.families.collective.communicator import Communicator
from designer.families.collective.evaluation import asked_group, time_of
from designer.formulas.collectives.collective_time import sources_of
from designer.workload.program.tasks import Collective


def price(prices: Prices, task: Collective, place: str) -> Cost:
    """The work of one collective, in seconds alone.

    Raises
    ------
    AnalysisError
        If the group has fewer than two accelerators, or they cannot reach each other.
    """
    asked = asked_group(prices.network, task, place, prices.running)
    time = time_of(asked, task)
    latency = min(time.latency_term, time.time)
    # resources of a hundred thousand accelerators are a million
    uses, weight = (Uses.of({}), 1.0) if prices.times_alone else occupied(asked.group.network, [asked.group])
    if asked.guest is not None and time.time > latency:
        # what waits for turns takes nothing meanwhile
        share = asked.guest.turn.value * asked.guest.factor.value
        moving = max(0.0, time.time * share - latency) / (time.time - latency)
        uses = uses.scaled(moving).with_all(prices.table.turns(part) for part in sorted(asked.guest.turns))
    group = f"collective:{task.group}"
    found = alone(
        time.time - latency,
        latency=latency,
        uses=uses,
        weight=weight,
        low=time.low / time.time,
        high=time.high / time.time,
        group=group,
        sources=sources_of(time.algorithm),
        time=asked.expression(time, group),
    )
    return replace(found, findings=asked.stated) if asked.stated else found


def occupied(network: Network, groups: list[Communicator]) -> tuple[Uses, float]:
    """What groups that work in step take of every resource per second of a collective alone, and their weight."""
    uses = np.zeros(network.n_resources)
    weights: list[float] = []
    chosen: list[float] = []
    for group in groups:
        sides = [side for side in (group.inside, group.between) if side is not None]
        # the data that goes round passes inside and between servers at one pace, that of the slower side
        slowest = min((side.rate for side in sides), default=1.0)
        busy = [slowest / side.rate for side in sides]
        for side, share in zip(sides, busy, strict=True):
            resource, usage = side.hops.every()
            uses[resource] = np.maximum(uses[resource], usage * (side.rate * share))
            # a hop counts like a flow, so hops with small shares count for more of them; between servers, where others
            # are met more often, where there is such a side
            weights.append(1 / (side.hops.top_share * side.rate * share))
        if sides:
            chosen.append(weights[-1])
    taken = np.flatnonzero(uses)
    full = Uses(taken, np.minimum(uses[taken], network.capacity_of(taken)))
    return full, float(np.min(chosen)) if chosen else 1.0


COST = CostKind(Collective, price, lighter_alone=True)
