"""Copies one after another: each has the way to itself, and the next one starts when it is done."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from designer.engine.account import Ends
from designer.engine.account.expression import Sum, Time
from designer.engine.network import Network
from designer.engine.results import Bottleneck
from designer.engine.routes.selection import Traffic
from designer.engine.transfers import NO_SHARES, TransferAnswer, evaluate_legs, evaluate_transfer
from designer.engine.transfers.flow_rates import FlowRates
from designer.engine.transfers.limits import FlowLimits
from designer.errors import AnalysisError
from designer.workload.program.tasks import Move

#: copies that differ, of which each is evaluated
TURNS_LIMIT: Final = 256


@dataclass(frozen=True, slots=True, eq=False)
class Turns:
    """Copies of a transfer alone.

    Parameters
    ----------
    together
        All of them at once.
    alone, many
        One of each class of equal copies alone, and how many of them there are.
    """

    together: TransferAnswer
    alone: tuple[TransferAnswer, ...]
    many: tuple[int, ...]

    def time(self, size: float, estimate: str = "", rates: Sequence[FlowRates] = ()) -> Time:
        """Time in which each copy has moved so much, one after another [s]; of a byte each where size is infinite.

        Parameters
        ----------
        rates
            Those of the copies by other names of resources.
        """
        rates = rates or [one.rates for one in self.alone]
        return Sum(tuple(Sum((one.time(size, size=estimate),), n) for one, n in zip(rates, self.many, strict=True)))

    @property
    def copies(self) -> int:
        """How many there are."""
        return sum(self.many)

    @property
    def bands(self) -> Mapping[str, Ends]:
        """Bands of what the times rest on."""
        return self.together.rates.all_bands

    def words(self, resource: Hashable) -> Bottleneck:
        """A resource of the times in words."""
        found = next((words for one in self.alone if (words := one.rates.words(resource)) is not None), None)
        if found is None:
            assert isinstance(resource, Bottleneck)
            return resource
        return found


def in_turn(network: Network, operation: Move, place: str, *, shares: Mapping[int, float] = NO_SHARES) -> Turns:
    """The copies of a transfer, each alone.

    Raises
    ------
    AnalysisError
        If nothing can be routed, flows go both ways at once, or too many differ.
    """
    if operation.both_ways:
        raise AnalysisError(
            "copies both ways at once are not one after another",
            place=f"{place}.one_by_one",
            remedy="clear one of the two settings",
        )
    together = evaluate_transfer(network, replace(operation, one_by_one=False), place, shares=shares)
    question = together.asked.question
    alive = np.flatnonzero(together.rate > 0)
    _, first, many = np.unique(together.asked.fold.flows.of[alive], return_index=True, return_counts=True)
    if len(first) > TURNS_LIMIT:
        raise AnalysisError(
            f"{len(first)} copies that differ are too many to take one after another",
            place=f"{place}.one_by_one",
            remedy=f"name parts of which at most {TURNS_LIMIT} copies differ",
        )
    traffic, legs, limits = question.traffic, question.legs, question.limits
    alone: list[TransferAnswer] = []
    for flow in alive[first].tolist():
        mine = legs.chosen(legs.flow == flow)
        mine = replace(mine, flow=np.zeros_like(mine.flow))
        single = Traffic(mine, traffic.source[[flow]], traffic.target[[flow]])
        met = limits.flow == flow
        none = np.zeros(int(met.sum()), dtype=np.int64)
        own = FlowLimits(limits.distinct, limits.of, none, limits.node[met], limits.usage[met])
        alone.append(evaluate_legs(network, single, question.demand[[flow]], own, place))
    return Turns(together, tuple(alone), tuple(many.tolist()))
