"""Collective times of a layout over the drawn routes: the groups of a kind at work all at once."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.engine.account.expression import Scenario, seconds
from designer.engine.network import Network
from designer.families.collective.communicator import Communicator, make_concurrent
from designer.families.collective.times import expression
from designer.formulas.communication import Kind, RankGroup
from designer.formulas.layout import Layout
from designer.memo import memo
from designer.units import Bytes, Seconds

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: what the formulas call a kind of traffic
COLLECTIVES: Final = {
    Kind.ALL_REDUCE: "all-reduce",
    Kind.ALL_GATHER: "all-gather",
    Kind.REDUCE_SCATTER: "reduce-scatter",
    Kind.ALL_TO_ALL: "all-to-all",
    Kind.SEND: "send-recv",
}
#: (group, members, stride): equal for many layouts, so that a search routes few of them
Arrangement = tuple[bool, int, int]


#: times of collectives kept with the ranks
TIMES_LIMIT: Final = 200_000


@dataclass(frozen=True, eq=False)
class Ranks:
    """Accelerators in rank order, with the communicators routed for them so far.

    Ranks are numbered tensor first, then context, data and pipeline; expert groups are cut from context and data.
    """

    network: Network
    parts: Int
    place: str
    made: dict[Arrangement, tuple[Communicator, ...]] = field(
        default_factory=dict[Arrangement, tuple[Communicator, ...]]
    )
    times: dict[object, tuple[float, Communicator]] = field(default_factory=dict[object, tuple[float, Communicator]])

    def first(self, count: int) -> Ranks:
        """The first ranks alone."""
        return self if count == len(self.parts) else ranks_of(self.network, self.parts[:count], self.place)

    def communicators(self, arrangement: Arrangement) -> tuple[Communicator, ...]:
        """The communicators of all groups of an arrangement."""
        found = self.made.get(arrangement)
        if found is None:
            pairs, size, stride = arrangement
            table = _pairs(self.parts, size, stride) if pairs else _groups(self.parts, size, stride)
            found = tuple(
                one for groups in table if len(groups) for one in make_concurrent(self.network, groups, self.place)
            )
            self.made[arrangement] = found
        return found

    def costs(self, layout: Layout) -> RoutedCosts:
        """The collective times of a layout."""
        return RoutedCosts(self, layout)


def ranks_of(network: Network, parts: Int, place: str) -> Ranks:
    """Ranks in this order; what was routed for them is kept with the network."""
    return _ranks(network, np.asarray(parts, dtype=np.int64).tobytes(), place)


#: networks whose ranks are kept: each keeps what was routed at every scale of a curve
_RANKS_LIMIT: Final = 3


@memo(most=_RANKS_LIMIT)
def _ranks(network: Network, parts: bytes, place: str) -> Ranks:
    return Ranks(network, np.frombuffer(parts, dtype=np.int64), place)


def _groups(parts: Int, size: int, stride: int) -> tuple[Int, ...]:
    """Groups of `size` ranks, `stride` apart."""
    table = parts.reshape(-1, size, stride)
    return (np.moveaxis(table, 2, 1).reshape(-1, size),)


def _pairs(parts: Int, size: int, stride: int) -> tuple[Int, ...]:
    """Neighbours along chains: those that start at an even stage, then those at an odd one."""
    table = parts.reshape(-1, size, stride)
    found: list[Int] = []
    for start in (0, 1):
        left, right = table[:, start : size - 1 : 2, :], table[:, start + 1 : size : 2, :]
        found.append(np.stack([left.ravel(), right.ravel()], axis=1))
    return tuple(found)


def arrangement_of(layout: Layout, group: RankGroup) -> Arrangement:
    """Which ranks make a group: whether in pairs along a chain, how many, how far apart."""
    return {
        RankGroup.TENSOR: (False, layout.tensor, 1),
        RankGroup.CONTEXT: (False, layout.context, layout.tensor),
        RankGroup.EXPERT: (False, layout.expert, layout.tensor),
        RankGroup.DATA: (False, layout.replicas, layout.tensor),
        RankGroup.PIPELINE: (True, layout.pipeline, layout.tensor * layout.replicas),
    }[group]


@dataclass(frozen=True, slots=True)
class RoutedCosts:
    """Costs of one layout over the drawn routes; meets the ``CommunicationCosts`` protocol.

    Parameters
    ----------
    slower
        Times as long by resource; empty for the design as it is.
    used
        Groups that were asked for, with the largest message and the communicator that decides.
    """

    ranks: Ranks
    layout: Layout
    slower: Scenario = field(default_factory=dict[Any, float])
    used: dict[RankGroup, tuple[Kind, float, Communicator]] = field(
        default_factory=dict[RankGroup, tuple[Kind, float, Communicator]]
    )

    def time(self, kind: Kind, group: RankGroup, size: Bytes) -> Seconds:
        """Time of a collective of `size` bytes over `group`, its equals at work too [s]."""
        arrangement = arrangement_of(self.layout, group)
        if arrangement[1] <= 1 or size <= 0:
            return Seconds(0.0)
        key = (kind, arrangement, float(size), frozenset(self.slower.items()))
        found = self.ranks.times.get(key)
        if found is None:
            if len(self.ranks.times) > TIMES_LIMIT:
                self.ranks.times.clear()
            found = self.ranks.times[key] = self._slowest(kind, arrangement, size)
        largest = self.used.get(group)
        if largest is None or size > largest[1]:
            self.used[group] = (kind, float(size), found[1])
        return Seconds(found[0])

    def servers(self, group: RankGroup) -> int:
        """Servers that the ranks of one group are in, at most."""
        arrangement = arrangement_of(self.layout, group)
        if arrangement[1] <= 1:
            return 1
        return max(one.situation.servers for one in self.ranks.communicators(arrangement))

    def _slowest(self, kind: Kind, arrangement: Arrangement, size: float) -> tuple[float, Communicator]:
        times: list[tuple[float, Communicator]] = []
        for made in self.ranks.communicators(arrangement):
            one = made.exchanging() if kind is Kind.ALL_TO_ALL else made
            time = one.time(COLLECTIVES[kind], size)
            longer = seconds(expression(one, time), self.slower) if self.slower else time.time
            times.append((float(longer), one))
        return max(times, key=lambda pair: pair[0])
