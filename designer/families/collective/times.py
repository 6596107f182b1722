"""Times of collectives as expressions over the launches, steps and channels that take them."""

from __future__ import annotations

from math import sqrt
from typing import Final

from designer.engine.account.bottlenecks import Resources, classes_of
from designer.engine.account.expression import Filling, Least, Longest, Sum, Term, Tie, Tied, Time
from designer.engine.network import Network
from designer.engine.network.frame import STRUCTURES_LIMIT
from designer.engine.results import Bottleneck
from designer.families.collective.activities import host_tightest
from designer.families.collective.communicator import Communicator
from designer.formulas.collectives import AlgorithmTime, Bound, CollectiveTime
from designer.memo import memo

#: starting the kernel of a collective
LAUNCH: Final = Bottleneck("limit", "launch", "kernel launch", "")
#: what every step of an algorithm waits before data arrive
STEPS: Final = Bottleneck("limit", "latency", "latency of the steps", "")
#: what a protocol that signals with its data reaches on any link
PROTOCOL: Final = Bottleneck("limit", "protocol", "bandwidth of the low-latency protocol", "")

#: answers kept for each network: six bounds of the 32 communicators of a training, asked about again and again
_ROWS_LIMIT: Final = 192

#: resources that are tied, with how many times as long the data takes on them as on the tightest [1]
_Row = tuple[Tie, float]


def expression(group: Communicator, time: CollectiveTime, times: float = 1.0, estimate: str = "") -> Time:
    """A time of a collective over a group as an expression; the library chooses the least of its algorithms.

    It holds where no resource is more than twice as fast.

    Parameters
    ----------
    times
        The whole, so many times as long [1].
    estimate
        Whose band scales the whole.
    """
    # with everything at most twice as fast, what takes more than twice the least is never chosen
    best = min(one.time for one in time.allowed)
    ways = tuple(_algorithm(one, group) for one in time.allowed if one.time <= 2 * best)
    return Sum(ways if len(ways) < 2 else (Least(ways),), times, estimate)


def moving(group: Communicator, bound: Bound, seconds: float) -> Time:
    """Data of a group on the resources that give a bound, in so many seconds on the tightest of them [s]."""
    return Longest(tuple(Tied(tie, seconds * longer) for tie, longer in _rows(group.network, group, bound)))


def _algorithm(one: AlgorithmTime, group: Communicator) -> Time:
    steps = Term(STEPS, one.latency_term - one.launch)
    data_on = [
        Tied(tie, load.bytes / rate * longer)
        for load in one.loads
        for bound, rate in load.bounds
        for tie, longer in _rows(group.network, group, bound)
    ]
    parts: list[Time] = [Term(LAUNCH, one.launch), steps]
    if data_on:
        data = Longest(tuple(data_on))
        parts.append(data)
        mean = sqrt(steps.seconds * one.bandwidth_term)
        if one.pipeline_term > 0 and mean > 0:
            parts.append(Filling(steps, data, one.pipeline_term / mean))
    return Sum(tuple(parts))


# about the network, whose memory is counted: a communicator holds it
@memo(most=STRUCTURES_LIMIT, each=_ROWS_LIMIT)
def _rows(network: Network, group: Communicator, bound: Bound) -> tuple[_Row, ...]:
    """Resources that give a bound of a communicator, and those that would give it next."""
    side = group.inside if bound in (Bound.INSIDE, Bound.INSIDE_EDGE) else group.between
    if side is None or bound is Bound.PROTOCOL:
        return (((PROTOCOL,), 1.0),)
    if bound is Bound.HOST:
        now, later = host_tightest(network, side.hops), None
    elif bound in (Bound.INSIDE_EDGE, Bound.BETWEEN_EDGE):
        now, later = side.edge_tightest(network), None
    else:
        now, later = side.tightest(), side.then()
    resources = Resources(network)
    binds = classes_of(resources, *now)
    after = tuple(one for one in classes_of(resources, *later) if one not in binds) if later is not None else ()
    return ((binds, 1.0), (after, side.rate / side.rate_then)) if after else ((binds, 1.0),)
