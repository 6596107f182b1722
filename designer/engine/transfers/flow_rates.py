"""Rates of flows that share capacity, and times made of them, where resources are faster or estimates are off.

Every scenario is a max-min problem of its own; rates as drawn that still solve it are recognised and kept. Value, band,
binding set, gains and what comes next of a transfer are read from the expression of its time, as those of any other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import isinf
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.engine.account import Account, Ends, account, quickest_together
from designer.engine.account.bottlenecks import ResourceClass, Resources
from designer.engine.account.expression import TIED, Resource, Scenario, Solved, Tie
from designer.engine.flows import Allocation, Binding, Incidence, binding, solve
from designer.engine.flows.incidence import SLACK
from designer.engine.network.partition import SAME_TOLERANCE, classes_of
from designer.engine.results import Bottleneck

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: waiting until the first byte has passed all links of its path
LATENCY: Final = Bottleneck("limit", "latency", "latency of the path", "")
#: what the flows ask for, where they get all of it
DEMAND: Final = Bottleneck("limit", "demand", "what the flows ask for", "every flow gets all it asks for")

_AS_DRAWN: Final[frozenset[tuple[Any, float]]] = frozenset()


class RateEstimate(NamedTuple):
    """What rates on some resources rest on: its name, its 80 % band relative to the value [1], and keys of sources."""

    name: str
    low: float
    high: float
    sources: tuple[str, ...]


class FlowRates:
    """Max-min rates of flows, or of one flow of each class, in scenarios.

    Parameters
    ----------
    incidence, allocation
        The flows, and their rates as drawn.
    many : (n_flows,) how many each flow represents
    estimates, estimate
        What rates rest on, and which of these each entry of the incidence does, −1 for none. : estimate (nnz,)
    passing : (nnz,) bytes that pass for each byte of the flow: no estimate lets an entry take less
    resources, number
        What numbers of resources mean, and that of each resource of the incidence, ascending. : number (n_resources,)
    key, many_of : (n_resources,) by what scenarios name each resource, and how many it represents
    latency : (3, n_flows) until the first byte is there, and the ends of its band [s]
    users
        Counts the flows that use each resource of the incidence.
    sources
        Keys of what its capacities rest on.
    """

    def __init__(
        self,
        incidence: Incidence,
        allocation: Allocation,
        many: Int,
        *,
        estimates: Sequence[RateEstimate],
        estimate: Int,
        passing: Float,
        resources: Resources,
        number: Int,
        key: Int,
        many_of: Int,
        latency: Float,
        users: Callable[[], Int],
        sources: Iterable[str] = (),
    ) -> None:
        self.incidence, self.many, self.latency = incidence, many, latency
        self.estimates, self._estimate, self._passing = estimates, estimate, passing
        self.resources, self.number, self.key, self.many_of = resources, number, key, many_of
        self._users, self._sources = users, frozenset(sources)
        self._codes = {one.name: k for k, one in enumerate(estimates)}
        self._rates: dict[frozenset[tuple[Any, float]], Float] = {_AS_DRAWN: allocation.rate}
        self._bound: dict[frozenset[tuple[Any, float]], Binding] = {}

    def named(self, key: Int) -> FlowRates:
        """The same rates in scenarios that name resources otherwise. : key (n_resources,)"""
        found = copy.copy(self)
        vars(found).pop("_class_of", None)
        found.key = key
        found._rates, found._bound = {_AS_DRAWN: self.rate}, {}
        return found

    @property
    def rate(self) -> Float:
        """Rates as drawn [B/s]. : (n_flows,)"""
        return self._rates[_AS_DRAWN]

    @cached_property
    def _class_of(self) -> Int:
        """The key that represents each resource: equal members of groups that bind the same flows. : (n_resources,)"""
        one, n = self.incidence, len(self.number)
        fastest, latest = np.zeros(n), np.zeros(n)
        # a resource that is full binds the fastest of its flows, and the last of them is the last there
        np.maximum.at(fastest, one.place, self.rate[one.rows])
        np.maximum.at(latest, one.place, self.latency[0][one.rows])
        load = np.bincount(one.place, one.usage * self.rate[one.rows], n).astype(np.float64)
        equal = classes_of(self.resources.definition_of(self.number), figures=(load, fastest, latest))
        return self.key[equal.lead]

    def _mine(self, slower: Scenario) -> frozenset[tuple[Any, float]]:
        """What of a scenario rates depend on."""
        if not slower:
            return _AS_DRAWN
        codes = self._codes
        return frozenset(
            (name, by)
            for name, by in slower.items()
            if by != 1 and (name in codes or isinstance(name, int) or name is DEMAND)
        )

    def _scale_problem(self, mine: frozenset[tuple[Any, float]]) -> tuple[Float, Float, Float]:
        """Usages of entries, capacities of resources, and demands of flows in a scenario."""
        usage, capacity, demand = self.incidence.usage, self.incidence.capacity, self.incidence.demand
        for name, by in mine:
            if name is DEMAND:
                demand = demand / by
            elif isinstance(name, str):
                usage = np.where(self._estimate == self._codes[name], np.maximum(usage * by, self._passing), usage)
            else:
                capacity = np.where(self._class_of == name, capacity / by, capacity)
        return usage, capacity, demand

    def _problem(self, mine: frozenset[tuple[Any, float]]) -> Incidence:
        """The flows in a scenario."""
        one = self.incidence
        usage, capacity, demand = self._scale_problem(mine)
        one = one if usage is one.usage else one.with_usage(usage)
        one = one if capacity is one.capacity else one.with_capacity(capacity)
        return one if demand is one.demand else one.with_demand(demand)

    def rates(self, slower: Scenario) -> Float:
        """Rates where resources and estimates take so many times as long [B/s]. : (n_flows,)"""
        mine = self._mine(slower)
        found = self._rates.get(mine)
        if found is None:
            found = self._rates[mine] = self.rate if self._holds(mine) else solve(self._problem(mine)).rate
        return found

    def _holds(self, mine: frozenset[tuple[Any, float]]) -> bool:
        """True if rates as drawn are those of a scenario: all of them fit, and what bound each is still full."""
        one, (usage, capacity, demand) = self.incidence, self._scale_problem(mine)
        load = np.bincount(one.place, usage * self.rate[one.rows], len(capacity))
        if (load > capacity * (1 + SLACK)).any() or (self.rate > demand * (1 + SLACK)).any():
            return False
        bound = self.rate >= demand * (1 - SLACK)
        resource, flow = self._pairs
        bound[flow[load[resource] >= capacity[resource] * (1 - SLACK)]] = True
        return bool(bound.all())

    @cached_property
    def _pairs(self) -> tuple[Int, Int]:
        """Resources that bind as drawn, and the flows that they bind. : (n_binding,) both"""
        now = self.binding({})
        return now.resource, np.repeat(np.arange(len(self.rate)), np.diff(now.ptr))

    def binding(self, slower: Scenario) -> Binding:
        """What binds each flow in a scenario, by rows of the incidence."""
        mine = self._mine(slower)
        found = self._bound.get(mine)
        if found is None:
            rate = self.rates(slower)
            allocation = Allocation(rate, rate, 0, "", np.zeros(len(rate), np.int64))
            found = self._bound[mine] = binding(self._problem(mine), allocation)
        return found

    def time(self, amount: float, *, latency: bool = True, size: str = "", flows: Int | None = None) -> Solved:
        """Time until each flow has moved an amount, the slowest last [s].

        Parameters
        ----------
        amount
            Of each flow [B]; inf for a stream: the time of a byte then, without latency.
        latency
            False to leave out the time until the first byte is there.
        size
            Name of the estimate that the amount rests on; empty where it is exact.
        flows
            Which of the flows count; None for all.
        """
        chosen = np.arange(len(self.rate)) if flows is None else flows
        waits = self.latency[0][chosen] * (latency and not isinf(amount))
        each = 1.0 if isinf(amount) else amount

        def parts(slower: Scenario) -> tuple[Float, Float]:
            waiting = waits * (slower.get(LATENCY, 1.0) * slower.get(self.latencies, 1.0))
            return waiting, each * slower.get(size, 1.0) / self.rates(slower)[chosen]

        def seconds(slower: Scenario) -> float:
            waiting, moving = parts(slower)
            return float((waiting + moving).max())

        def held(slower: Scenario) -> Mapping[Tie, float]:
            waiting, moving = parts(slower)
            total = waiting + moving
            worst = int(np.argmax(total))
            tied = chosen[np.flatnonzero(total >= total[worst] * (1 - TIED))]
            return {(LATENCY,): float(waiting[worst]), self._tie(tied, slower): float(moving[worst])}

        return Solved(seconds({}), (), seconds, tuple(self.bands), held, quick=True)

    def stage(self, amount: float, resources: Int) -> Solved:
        """Time in which some resources alone pass an amount of each flow, the slowest of them last [s].

        Parameters
        ----------
        resources
            Their rows in the incidence.
        """

        def each(slower: Scenario) -> Float:
            usage, capacity, _ = self._scale_problem(self._mine(slower))
            return amount * np.bincount(self.incidence.place, usage, len(capacity))[resources] / capacity[resources]

        def held(slower: Scenario) -> Mapping[Tie, float]:
            spent = each(slower)
            longest = float(spent.max())
            return {self._name_resources(resources[spent >= longest * (1 - TIED)]): longest}

        return Solved(
            float(each({}).max()),
            (),
            lambda slower: float(each(slower).max()),
            tuple(self.bands),
            held,
            quick=True,
        )

    def together(self) -> Solved:
        """Time of a byte of all flows together [s]."""

        def seconds(slower: Scenario) -> float:
            return 1 / float((self.rates(slower) * self.many).sum())

        return Solved(seconds({}), (), seconds, tuple(self.bands))

    def _tie(self, flows: Int, slower: Scenario) -> Tie:
        """What holds back some flows in a scenario: resources that each represent their class, and demands."""
        found = self.binding(slower)
        asked = (DEMAND,) if found.by_demand[flows].any() else ()
        return (*self._name_resources(found.union(flows.tolist())), *asked)

    def _name_resources(self, rows: Int) -> tuple[ResourceClass, ...]:
        """Resources by their rows in the incidence; each represents its class."""
        count: dict[int, int] = {}
        for key, many in zip(self._class_of[rows].tolist(), self.many_of[rows].tolist(), strict=True):
            count[key] = count.get(key, 0) + many
        return tuple(ResourceClass(key, many) for key, many in count.items())

    @cached_property
    def bands(self) -> Mapping[str, Ends]:
        """Times as long at least and at most [1], by estimate that changes any rate; 1 for an end that changes none."""
        found: dict[str, Ends] = {}
        for one in self.estimates:
            low, high = (
                1 / end if end != 1 and self._changes(self.rates({one.name: 1 / end})) else 1.0
                for end in (one.high, one.low)
            )
            if low < high:
                found[one.name] = low, high
        return found | ({self.latencies: self._latency_band} if self.latencies else {})

    def _changes(self, rates: Float) -> bool:
        """True if rates differ from those of today by more than rounding."""
        return rates is not self.rate and not np.allclose(rates, self.rate, SAME_TOLERANCE, 0.0)

    @cached_property
    def joint_bands(self) -> Mapping[str, Ends]:
        """The same with both ends of each: one that changes nothing alone may do so together with others."""
        return {name: self.all_bands[name] for name in self.bands}

    @cached_property
    def all_bands(self) -> Mapping[str, Ends]:
        """The same of all estimates."""
        found = {one.name: (1 / one.high, 1 / one.low) for one in self.estimates}
        return found | ({self.latencies: self._latency_band} if self.latencies else {})

    @cached_property
    def _latency_band(self) -> Ends:
        """Band of the longest latency relative to its value [1]."""
        value, low, high = self.latency[:, int(np.argmax(self.latency[0]))].tolist()
        return (low / value, high / value) if value > 0 else (1.0, 1.0)

    @cached_property
    def latencies(self) -> str:
        """Name of the estimate of all latencies; empty where they are exact."""
        low, high = self._latency_band
        return f"latency {low:.3g} to {high:.3g}" if low < high else ""

    @cached_property
    def ends(self) -> tuple[Float, Float]:
        """The 80 % band of each rate [B/s]. : (n_flows,) both

        Deviations of estimates are added in squares; rates are at least as high as with all of them part of the way.
        """
        below, above = np.zeros(len(self.rate)), np.zeros(len(self.rate))
        for one in self.estimates:
            for end in {one.low, one.high} if one.name in self.bands else ():
                off = self.rates({one.name: 1 / end}) - self.rate
                below += np.minimum(off, 0.0) ** 2
                above += np.maximum(off, 0.0) ** 2
        low, high = np.maximum(self.rate - np.sqrt(below), 0.0), self.rate + np.sqrt(above)
        mine = {name: ends for name, ends in self.joint_bands.items() if name != self.latencies}
        if len(mine) > 1:
            high = np.maximum(high, self.rates(quickest_together(tuple(mine), mine)))
        return low, high

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Keys of what the rates rest on: capacities, and the estimates that change any of them."""
        return tuple(sorted(self._sources.union(*(one.sources for one in self.estimates if one.name in self.bands))))

    @cached_property
    def _counts(self) -> Int:
        return self._users()

    def words(self, resource: Resource) -> Bottleneck | None:
        """A resource in words; None if it is not one of the incidence."""
        if not isinstance(resource, ResourceClass) or not (self.key == resource).any():
            return None
        row = int(np.flatnonzero(self.key == resource)[0])
        mine = self.incidence.resource == row
        fraction = float((self._passing[mine] / self.incidence.usage[mine]).min())
        found = self.resources.bottleneck(int(self.number[row]), int(self._counts[row]), fraction)
        return replace(found, equal=resource.count)

    @cached_property
    def why(self) -> Account:
        """The account of the slowest rate."""
        return account(self.time(float("inf")), {})
