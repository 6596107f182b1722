"""Transfers evaluated: routed, shared fairly, with what binds each flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.bottlenecks import Limit, Resources, describe, with_gains
from designer.analysis.efficiency import COPY, N_PLACEMENTS, P2P, RDMA, STORAGE, Efficiencies
from designer.analysis.flows import Allocation, Binding, Incidence, binding, next_bottleneck, slowest, solve
from designer.analysis.hashing import mix
from designer.analysis.network import (
    LISTED_LIMIT,
    SPREAD,
    STRUCTURES_LIMIT,
    TIE_TOLERANCE,
    Frame,
    Network,
    band_of,
    columns,
    ways,
)
from designer.analysis.protocols import KERNEL_COST, cores_of_islands, host_cost, in_kernel
from designer.analysis.results import Bottleneck, ChannelLoads, Flow, Rows
from designer.analysis.routes import Legs, Routes, route
from designer.analysis.selection import Traffic, pair_up
from designer.analysis.staging import staged, stages
from designer.catalog.parttype import Capability, value_of
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.transfer import LATENCY, TransferProtocol
from designer.formulas.transfer.achievable_fraction import both_directions_share, product
from designer.memo import memo
from designer.sources import Constant, Status
from designer.workload.operations import Transfer

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
NO_SHARES: Mapping[int, float] = MappingProxyType({})


#: questions about clients whose paths are kept for each frame
_PATHS_LIMIT: Final = 4


@dataclass(frozen=True, slots=True, eq=False)
class Extra:
    """A limit beside links and parts, and how much of it each unit of the flows that meet it takes."""

    limit: Limit
    flow: Int
    usage: Float


@dataclass(frozen=True, slots=True, eq=False)
class TransferAnswer:
    """What a transfer achieves.

    Parameters
    ----------
    rate, low, high : (n_flows,) [B/s]; 0 for flows without a way
    latency : (n_flows,) until the first byte is there [s]
    latency_band : (2, n_flows) the ends of its band [s]
    binding, next
        What limits the slowest flows, and what would next.
    sources
        Keys of what the rates rest on.
    """

    traffic: Traffic
    rate: Float
    low: Float
    high: Float
    latency: Float
    latency_band: Float
    binding: tuple[Bottleneck, ...]
    next: tuple[Bottleneck, ...]
    flows: Sequence[Flow]
    loads: ChannelLoads
    sources: tuple[str, ...]
    findings: tuple[Finding, ...]
    incidence: Incidence
    limits: tuple[Limit, ...]


def evaluate_transfer(
    network: Network,
    operation: Transfer,
    place: str,
    *,
    explained: bool = True,
    shares: Mapping[int, float] = NO_SHARES,
) -> TransferAnswer:
    """Rates of all flows of a transfer, and what binds them.

    Parameters
    ----------
    shares
        By part, bytes of its memory per second that the transfer may have of it, where that is not all [B/s].
    explained
        True to tell what binds and what would next; the rates are the same.

    Raises
    ------
    AnalysisError
        If nothing can be routed.
    """
    asked, findings = _asked(network, operation, place, shares)
    return asked.answer(findings, explained)


def _asked(
    network: Network, operation: Transfer, place: str, shares: Mapping[int, float] = NO_SHARES
) -> tuple[_Evaluation, list[Finding]]:
    """A transfer paired up and routed, and what was found on the way."""
    traffic = pair_up(network, operation, place)
    direct = None if operation.through_memory is None else not operation.through_memory
    legs = staged(network, traffic.legs, direct)
    routes = route(network, legs)
    findings = _lost(network, traffic, routes, place)
    demand = np.full(traffic.n_flows, operation.demand if operation.demand > 0 else np.inf)
    extra = (*_protocol_cores(network, legs), *_memory_shares(network, legs, shares))
    return _Evaluation(network, traffic, legs, routes, demand, extra), findings


def _memory_shares(network: Network, legs: Legs, shares: Mapping[int, float]) -> list[Extra]:
    """What is to be had of the memory of parts of which a machine has a share."""
    found: list[Extra] = []
    for part, rate in shares.items():
        facts = network.part_resources[int(network.net.part_def[part])]
        flow: list[Int] = []
        usage: list[Float] = []
        for ends, cost in ((legs.source, facts.read if facts else 1.0), (legs.target, facts.write if facts else 1.0)):
            rows = np.flatnonzero(ends == part)
            flow.append(legs.flow[rows])
            usage.append(legs.share[rows] * cost)
        path = network.net.path(part)
        limit = Limit(f"share:{path}", f"share of the memory of {path}", rate)
        found.append(Extra(limit, np.concatenate(flow), np.concatenate(usage)))
    return found


def _protocol_cores(network: Network, legs: Legs) -> tuple[Extra, ...]:
    """What the cores of every host can move to and from storage, where the protocol needs them."""
    stores = in_kernel(network)
    rows = np.flatnonzero(stores[legs.source] | stores[legs.target])
    if not len(rows):
        return ()
    mine = Legs(legs.flow[rows], legs.source[rows], legs.target[rows], legs.share[rows])
    cost = host_cost(network, mine)
    host = network.island[np.where(stores[mine.source], mine.target, mine.source)]
    available = cores_of_islands(network)
    found: list[Extra] = []
    for island in np.unique(host[cost > 0]).tolist():
        alike = np.flatnonzero((host == island) & (cost > 0))
        if available[island]:
            limit = Limit("cores", "processor cores moving data", float(available[island]) / KERNEL_COST.value)
            usage = mine.share[alike] * cost[alike] / KERNEL_COST.value
            found.append(Extra(limit, mine.flow[alike], usage))
    return tuple(found)


def evaluate_legs(
    network: Network, traffic: Traffic, demand: Float, extra: Sequence[Extra], place: str, *, explained: bool = True
) -> TransferAnswer:
    """Rates of flows whose legs are given, under limits of their own as well.

    Parameters
    ----------
    demand : (n_flows,) most each flow asks for [B/s]
    explained
        True to tell what binds and what would next; the rates are the same.

    Raises
    ------
    AnalysisError
        If nothing can be routed.
    """
    routes = route(network, traffic.legs)
    findings = _lost(network, traffic, routes, place)
    return _Evaluation(network, traffic, traffic.legs, routes, demand, extra).answer(findings, explained)


@dataclass(frozen=True, slots=True, eq=False)
class TransferDemand:
    """What the flows of a transfer ask of the network, to be solved together with other traffic."""

    incidence: Incidence
    limits: tuple[Limit, ...]


def transfer_demand(network: Network, operation: Transfer, place: str) -> TransferDemand:
    """The flows of a transfer as activities on the resources of the network, then on `limits`.

    Raises
    ------
    AnalysisError
        If nothing can be routed.
    """
    asked, _ = _asked(network, operation, place)
    return TransferDemand(asked.incidence, asked.limits)


def _lost(network: Network, traffic: Traffic, routes: Routes, place: str) -> list[Finding]:
    found: list[Finding] = []
    net = network.net
    if len(routes.lost):
        if len(routes.lost) == traffic.n_flows:
            f = int(routes.lost[0])
            raise AnalysisError(
                f"there is no way from {net.path(int(traffic.source[f]))} to {net.path(int(traffic.target[f]))}",
                place=place,
                remedy="join them by links, or give both servers NICs on one network",
            )
        where = tuple(net.path(int(traffic.target[f])) for f in routes.lost[:20])
        text = f"{len(routes.lost)} of {traffic.n_flows} flows have no way and are left out"
        found.append(Finding("FLOW-NO-WAY", Severity.ERROR, text, where, "join these parts to the others"))
    if routes.hashed:
        text = "traffic is hashed to single ways: splitting it over all ways would need too many entries"
        found.append(Finding("FLOW-HASHED", Severity.INFO, text, (), "set the policy to hash to choose the seed"))
    return found


def _ends(constant: Constant) -> Float:
    return np.array([constant.value, constant.low, constant.high])


@memo(most=STRUCTURES_LIMIT, each=_PATHS_LIMIT)
def _paths(frame: Frame, systems: bytes, clients: bytes) -> list[tuple[str, str]]:
    """Paths of storage systems, and of the servers that some parts are in."""
    net = frame.net
    one = {s: net.path(s) for s in set(np.frombuffer(systems, dtype=np.int64).tolist())}
    pairs = zip(np.frombuffer(systems, np.int64).tolist(), np.frombuffer(clients, np.int64).tolist(), strict=True)
    return [(one[s], net.path(c).rpartition("/")[0] or "the server") for s, c in pairs]


class _Evaluation:
    """One transfer being solved."""

    def __init__(
        self, network: Network, traffic: Traffic, legs: Legs, routes: Routes, demand: Float, extra: Sequence[Extra]
    ) -> None:
        self.network, self.traffic, self.legs, self.routes = network, traffic, legs, routes
        self.efficiencies = Efficiencies(network)
        n = traffic.n_flows
        self.protocol = self._protocols()
        self.placement = self.efficiencies.placement(routes, n)
        self.fraction = self.efficiencies.of(routes, self.protocol, self.placement)
        resource = self._link_resources()
        part_flow, part_resource, part_usage = self._part_entries(legs)
        limit_flow, limit_resource, limit_usage, self.limits = self._client_limits(legs)
        both, self.both_ways = self._both_ways(network.n_resources + len(self.limits))
        extra = (*both, *extra)
        first = network.n_resources + len(self.limits)
        self.limits = (*self.limits, *(e.limit for e in extra))
        entries = len(routes.flow) + len(part_flow)
        flow = np.concatenate([routes.flow, part_flow, limit_flow, *(e.flow for e in extra)])
        numbered = (np.full(len(e.flow), first + k) for k, e in enumerate(extra))
        resource = np.concatenate([resource, part_resource, limit_resource, *numbered])
        usage = np.concatenate([routes.share / self.fraction, part_usage, limit_usage, *(e.usage for e in extra)])
        # the same as bytes that pass, for limits of the physical: links at their raw rate, parts at the best they do
        passing = np.concatenate([routes.share, part_usage / self._part_highs(legs), np.zeros(len(usage) - entries)])
        self.alive = np.ones(n, dtype=bool)
        self.alive[routes.lost] = False
        self.number = np.cumsum(self.alive) - 1
        keep = self.alive[flow]
        flow, resource, usage = self.number[flow[keep]], resource[keep], usage[keep]
        order = np.argsort(flow, kind="stable")
        # flow, resource and bytes that pass for each byte of the flow
        self.passing = flow[order], resource[order], passing[keep][order]
        n_alive = int(self.alive.sum())
        ptr = np.concatenate([[0], np.cumsum(np.bincount(flow, minlength=n_alive))])
        capacity = np.concatenate([network.capacity, [limit.capacity for limit in self.limits]])
        self.asks = demand[self.alive]
        self.incidence = Incidence(
            ptr, resource[order].astype(np.int32), usage[order], capacity, np.ones(n_alive), self.asks
        )

    def _protocols(self) -> Int:
        network, traffic = self.network, self.traffic
        accelerates, stores = network.has(Capability.ACCELERATE), network.has(Capability.STORE)
        code = np.full(traffic.n_flows, COPY, dtype=np.int64)
        direct = ~self._through_host_memory()
        code[accelerates[traffic.source] & accelerates[traffic.target] & direct] = P2P
        code[(network.island[traffic.source] != network.island[traffic.target]) & direct] = RDMA
        code[stores[traffic.source] | stores[traffic.target]] = STORAGE
        return code

    def _through_host_memory(self) -> npt.NDArray[np.bool_]:
        """Which flows begin, end or stop in host memory: no traffic between peers, so roots do not slow it down."""
        found = np.zeros(self.traffic.n_flows, dtype=bool)
        found[self.routes.flow[stages(self.network, self.routes)]] = True
        return found

    def _link_resources(self) -> Int:
        network, routes = self.network, self.routes
        link = routes.channel >> 1
        cables = network.cables[link]
        direction = np.where(network.full[link], routes.channel & 1, 0)
        cable = (mix(routes.flow, link) % cables.astype(np.uint64)).astype(np.int64)
        return network.first_resource[link] + direction * cables + cable

    def _both_ways(self, first: int) -> tuple[tuple[Extra, ...], Mapping[int, int]]:
        """What copies in opposite directions leave each other on one PCIe link: a limit per link, and its definition.

        Requests, completions and posted writes meet in the root complex, so both directions together get less than
        twice one. NICs and storage keep their own published figures.
        """
        network, routes = self.network, self.routes
        net = network.net
        pcie = np.array([link.kind == "pcie" for link in net.link_defs], dtype=bool)
        copies = np.isin(self.protocol[routes.flow], (COPY, P2P))
        rows = np.flatnonzero(pcie[net.link_def[routes.channel >> 1]] & copies & (routes.share > 0))
        link = routes.channel[rows] >> 1
        back = (routes.channel[rows] & 1).astype(bool)
        opposite = np.intersect1d(link[back], link[~back])
        opposite = opposite[network.full[opposite]]
        found: list[Extra] = []
        definitions: dict[int, int] = {}
        labels: dict[int, str] = {}
        order = np.argsort(link, kind="stable")
        starts, ends = (np.searchsorted(link[order], opposite, side=s) for s in ("left", "right"))
        for one, start, end in zip(opposite.tolist(), starts.tolist(), ends.tolist(), strict=True):
            definition = int(net.link_def[one])
            mine = rows[order[start:end]]
            peers = bool((self.protocol[routes.flow[mine]] == P2P).all())
            kept = both_directions_share(net.link_defs[definition].generation or 0, peers=peers)
            label = labels.setdefault(
                definition, f"{network.channel_label(2 * one, both_ways=True)}, both ways at once"
            )
            capacity = 2 * float(network.rate[one]) * kept.value
            definitions[first + len(found)] = definition
            usage = routes.share[mine] / self.fraction[mine]
            found.append(Extra(Limit(f"both:{network.channel_id(2 * one)}", label, capacity), routes.flow[mine], usage))
        return tuple(found), definitions

    def _part_entries(self, legs: Legs) -> tuple[Int, Int, Float]:
        """Media and accelerator memory at both ends of every leg."""
        network = self.network
        read = np.array([r.read if r else 0.0 for r in network.part_resources])
        write = np.array([r.write if r else 0.0 for r in network.part_resources])
        definition = network.net.part_def
        flow: list[Int] = []
        resource: list[Int] = []
        usage: list[Float] = []
        for ends, cost in ((legs.source, read), (legs.target, write)):
            rows = np.flatnonzero(network.part_resource[ends] >= 0)
            flow.append(legs.flow[rows])
            resource.append(network.part_resource[ends[rows]])
            usage.append(legs.share[rows] * cost[definition[ends[rows]]])
        return np.concatenate(flow), np.concatenate(resource), np.concatenate(usage)

    def _part_highs(self, legs: Legs) -> Float:
        """How much more than their value parts at both ends of every leg may give; as `_part_entries`."""
        network = self.network
        found: list[Float] = []
        for ends, ordered in ((legs.source, "read_band"), (legs.target, "write_band")):
            high = np.array([getattr(r, ordered)[1] if r else 1.0 for r in network.part_resources])
            rows = np.flatnonzero(network.part_resource[ends] >= 0)
            found.append(high[network.net.part_def[ends[rows]]])
        return np.concatenate(found)

    def _client_limits(self, legs: Legs) -> tuple[Int, Int, Float, tuple[Limit, ...]]:
        """What one client can get from a storage system through its mount, one limit per server and system."""
        network, net = self.network, self.network.net
        per_definition: dict[tuple[str, int], float] = {}
        stores = [d for d, kind in enumerate(network.kinds) if Capability.STORE in kind.capabilities]
        for name in ("client_read_bandwidth", "client_write_bandwidth"):
            for d in stores:
                part = net.part_defs[d]
                quantity = network.design.quantity(part, name)
                value = value_of(part.kind, name, quantity) if quantity else None
                if value:
                    per_definition[(name, d)] = value
        none = np.empty(0, dtype=np.int64)
        if not per_definition:
            return none, none, np.empty(0), ()
        flow: list[Int] = []
        resource: list[Int] = []
        usage: list[Float] = []
        made: list[Limit] = []
        ends = (
            ("client_read_bandwidth", legs.source, legs.target),
            ("client_write_bandwidth", legs.target, legs.source),
        )
        for name, systems, clients in ends:
            rates = np.zeros(len(network.kinds))
            for (asked, d), value in per_definition.items():
                rates[d] = value if asked == name else rates[d]
            rows = np.flatnonzero(rates[net.part_def[systems]])
            if not len(rows):
                continue
            system, island = systems[rows], network.island[clients[rows]]
            _, head, pair = np.unique(system * network.n_islands + island, return_index=True, return_inverse=True)
            place = np.empty(len(head), dtype=np.int64)
            place[np.argsort(head, kind="stable")] = np.arange(len(head))
            lead = np.sort(head)
            labels = {one: net.part(one).label for one in np.unique(system).tolist()}
            capacity = rates[net.part_def[system[lead]]].tolist()
            paths = _paths(network.frame, system[lead].tobytes(), clients[rows[lead]].tobytes())
            flow.append(legs.flow[rows])
            resource.append(network.n_resources + len(made) + place[pair])
            usage.append(legs.share[rows])
            for one, most, (path, server) in zip(system[lead].tolist(), capacity, paths, strict=True):
                made.append(Limit(f"client:{path}", f"client of {labels[one]} at {server}", most))
        if not made:
            return none, none, np.empty(0), ()
        return np.concatenate(flow), np.concatenate(resource), np.concatenate(usage), tuple(made)

    def answer(self, findings: list[Finding], explained: bool = True) -> TransferAnswer:
        """Solve and explain."""
        incidence = self.incidence
        allocation = solve(incidence)
        bottleneck = binding(incidence, allocation)
        described, then = self._explained(allocation, bottleneck) if explained else ((), ())
        low, high, sources = self._band(allocation, bottleneck)
        n = self.traffic.n_flows
        rate, lows, highs = np.zeros(n), np.zeros(n), np.zeros(n)
        rate[self.alive], lows[self.alive], highs[self.alive] = allocation.rate, low, high
        wait = self._latency()
        return TransferAnswer(
            self.traffic,
            rate,
            lows,
            highs,
            wait[0],
            wait[1:],
            described,
            then,
            self._listed(rate, lows, highs, bottleneck),
            ChannelLoads.made(lambda: self._loads(rate)),
            sources,
            tuple(findings),
            incidence,
            self.limits,
        )

    def _explained(
        self, allocation: Allocation, bottleneck: Binding
    ) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
        """What limits the slowest flows, and what would next."""
        incidence = self.incidence
        resources = Resources(self.network, self.limits)
        fractions = self._fraction_of_resource()
        worst = np.flatnonzero(allocation.rate <= allocation.rate.min() * (1 + TIE_TOLERANCE))
        first = bottleneck.union(worst.tolist())
        described, members = describe(resources, incidence, first, fractions)
        described = with_gains(described, members, incidence, allocation, slowest())
        after = next_bottleneck(incidence, worst, allocation) if len(first) else None
        then = describe(resources, incidence, after.then, fractions)[0] if after is not None else ()
        if np.isfinite(self.asks).all() and not len(first):
            described = (Bottleneck("limit", "demand", "what the flows ask for", "every flow gets all it asks for"),)
        return described, then

    def _fraction_of_resource(self) -> dict[int, float]:
        channel_resource = self._link_resources()
        _, first = np.unique(channel_resource, return_index=True)
        return dict(zip(channel_resource[first].tolist(), self.fraction[first].tolist(), strict=True))

    def _band(self, allocation: Allocation, bottleneck: Binding) -> tuple[Float, Float, tuple[str, ...]]:
        """Rates if what binds each flow achieved the low or the high end of its fraction and capacity."""
        network = self.network
        rate = allocation.rate
        low, high = np.ones(len(rate)), np.ones(len(rate))
        owner = np.repeat(np.arange(len(rate)), np.diff(bottleneck.ptr))
        alive = np.flatnonzero(self.alive)
        ratio: dict[tuple[int, int, int], tuple[float, float]] = {}
        sources: set[str] = set()
        code = self.protocol[alive] * N_PLACEMENTS + self.placement[alive]
        lows, highs = np.empty(len(owner)), np.empty(len(owner))
        definition, status = self._definitions(bottleneck.resource)
        in_part = (bottleneck.resource >= network.n_link_resources) & (bottleneck.resource < network.n_resources)
        for d, c in np.unique(np.stack([definition, code[owner]], axis=1), axis=0).tolist():
            rows = (definition == d) & (code[owner] == c)
            key = (d, c // N_PLACEMENTS, c % N_PLACEMENTS)
            if key not in ratio:
                ratio[key] = self._ratio(key, sources)
            lows[rows], highs[rows] = ratio[key]
        del status
        lows[in_part], highs[in_part] = self._of_parts(bottleneck.resource[in_part], alive[owner[in_part]])
        np.minimum.at(low, owner, lows)
        # With a tie the flow rises only as far as the least of them.
        tops = np.full(len(rate), np.inf)
        np.minimum.at(tops, owner, highs)
        high = np.where(np.isfinite(tops), tops, 1.0)
        for link in network.net.link_defs:
            if link.source:
                sources.add(link.source)
        high = self._possible(rate, rate * np.maximum(high, low))
        return rate * low, high, tuple(sorted(sources))

    def _of_parts(self, resource: Int, flow: Int) -> tuple[Float, Float]:
        """Bands of parts that bind flows, as the parts state them for reading or writing."""
        network = self.network
        part = np.flatnonzero(network.part_resource >= 0)[resource - network.n_link_resources]
        written = self.traffic.target[flow] == part
        definition = network.net.part_def[part]
        ends: list[Float] = []
        for end in range(2):
            read = np.array([r.read_band[end] if r else 1.0 for r in network.part_resources])
            write = np.array([r.write_band[end] if r else 1.0 for r in network.part_resources])
            ends.append(np.where(written, write[definition], read[definition]))
        return ends[0], ends[1]

    def _possible(self, rate: Float, high: Float) -> Float:
        """The upper ends, drawn back to what all links and parts can pass together if every flow reached its own."""
        owner, resource, passing = self.passing
        capacity = self.incidence.capacity
        now, then = (np.bincount(resource, passing * each[owner], len(capacity)) / capacity for each in (rate, high))
        with np.errstate(divide="ignore", invalid="ignore"):
            room = np.where(then > 1, np.clip((1 - now) / (then - now), 0.0, 1.0), 1.0)
        share = np.ones(len(rate))
        np.minimum.at(share, owner, np.where(passing > 0, room[resource], 1.0))
        return rate + share * (high - rate)

    def _definitions(self, resource: Int) -> tuple[Int, Int]:
        """Link definition of each resource; −1 for parts and limits, −2 − definition for both ways of a link."""
        network = self.network
        found = np.full(len(resource), -1, dtype=np.int64)
        for row in np.flatnonzero(np.isin(resource, list(self.both_ways))).tolist() if self.both_ways else ():
            found[row] = -2 - self.both_ways[int(resource[row])]
        links = resource < network.n_link_resources
        link = np.searchsorted(network.first_resource, resource[links], side="right") - 1
        found[links] = network.net.link_def[link]
        return found, links.astype(np.int64)

    def _ratio(self, key: tuple[int, int, int], sources: set[str]) -> tuple[float, float]:
        definition, protocol, placement = key
        shared = definition < -1
        if shared:
            definition = -2 - definition
        elif definition < 0:
            spread = SPREAD[Status.SECONDARY].value
            sources.add("assumed-spread")
            return 1 - spread, 1 + spread
        constant = self.efficiencies.constant(definition, protocol, placement)
        if shared:
            generation = self.network.net.link_defs[definition].generation or 0
            constant = product(constant, both_directions_share(generation, peers=protocol == P2P))
        status = self.network.link_facts[definition].status
        spread = SPREAD[status].value if status in (Status.UNVERIFIED, Status.ASSUMED) else 0.0
        sources.add(constant.source)
        if spread:
            sources.add("assumed-spread")
        return constant.low / constant.value * (1 - spread), constant.high / constant.value * (1 + spread)

    def _latency(self) -> Float:
        """Time until the first byte is there: links and switches on the way, media, and the start of every copy.

        A copy engine is started for each leg between an accelerator and memory or a peer of its server; adapters start
        by themselves. The value and the ends of its band. : (3, n_flows) [s]
        """
        network, routes, traffic = self.network, self.routes, self.traffic
        n = traffic.n_flows
        links = columns([f.latency for f in network.link_facts])
        hops = np.where(np.isfinite(network.hop_bands), network.hop_bands, 0.0)
        end = network.ends_of(routes.channel)
        entry = links[:, network.net.link_def[routes.channel >> 1]] + hops[:, end]
        found = np.stack([np.bincount(routes.flow, row * routes.share, n) for row in entry]).astype(np.float64)
        accelerates, stores = network.has(Capability.ACCELERATE), network.has(Capability.STORE)
        source, target = self.legs.source, self.legs.target
        copies = (accelerates[source] | accelerates[target]) & (network.island[source] == network.island[target])
        copies &= ~(stores[source] | stores[target]) & ~self._adapter(source) & ~self._adapter(target)
        copied = np.bincount(self.legs.flow[copies], self.legs.share[copies], n)
        found += _ends(LATENCY[TransferProtocol.COPY])[:, None] * copied
        media = self._media_latency()
        for part in (traffic.source, traffic.target):
            found += np.where(stores[part], media[:, network.net.part_def[part]], 0.0)
        return found

    def _adapter(self, part: Int) -> npt.NDArray[np.bool_]:
        return self.network.has(Capability.ATTACH)[part]

    def _media_latency(self) -> Float:
        """Access latency of drives and storage systems by definition, with its band. : (3, n_definitions) [s]"""
        network = self.network
        start = LATENCY[TransferProtocol.STORAGE]
        usual = (start.value, start.low, start.high)
        flow_row = [
            (Capability.STORE in kind.capabilities and band_of(network.design, part, "access_latency")) or usual
            for part, kind in zip(network.net.part_defs, network.kinds, strict=True)
        ]
        return columns(flow_row)

    def _loads(self, rate: Float) -> tuple[Float, Float]:
        routes, network = self.routes, self.network
        carried = routes.share * rate[routes.flow]
        n = 2 * network.net.n_links
        load = np.bincount(routes.channel, carried, n).astype(np.float64)
        occupied = np.bincount(routes.channel, carried / self.fraction, n).astype(np.float64)
        shared = ~np.repeat(network.full, 2)
        if shared.any():
            both = occupied.reshape(-1, 2).sum(axis=1).repeat(2)
            occupied = np.where(shared, both, occupied)
        return load, occupied / np.repeat(network.rate, 2)

    def _listed(self, rate: Float, low: Float, high: Float, bottleneck: Binding) -> Rows[Flow]:
        """The first flows, each told when somebody looks at it; ranked by rate."""
        network, net, traffic = self.network, self.network.net, self.traffic
        count = min(traffic.n_flows, LISTED_LIMIT)

        @cache
        def ordered() -> tuple[Resources, Int, Int]:
            order = np.argsort(self.routes.flow, kind="stable")
            return (
                Resources(network, self.limits),
                self.routes.channel[order],
                np.searchsorted(self.routes.flow[order], np.arange(count + 1)),
            )

        def rows(numbers: Sequence[int]) -> list[Flow]:
            resources, channel, cuts = ordered()
            some = np.array(numbers, dtype=np.int64)
            size = cuts[some + 1] - cuts[some]
            upto = np.concatenate([[0], np.cumsum(size)])
            chosen = channel[np.repeat(cuts[some] - upto[:-1], size) + np.arange(upto[-1])]
            source, target = traffic.source[some], traffic.target[some]
            binds = [bottleneck.of(int(self.number[f])) if self.alive[f] else [] for f in numbers]
            met = np.unique(np.concatenate([np.asarray(each, dtype=np.int64) for each in binds]))
            ids = dict(zip(met.tolist(), resources.ids(met), strict=True))
            columns = (
                net.paths(source),
                net.paths(target),
                ways(network, source, chosen, upto),
                rate[some].tolist(),
                low[some].tolist(),
                high[some].tolist(),
                binds,
            )
            return [
                Flow(f"{a}->{b}", a, b, via, got, least, most, tuple([ids[int(r)] for r in by]))
                for a, b, via, got, least, most, by in zip(*columns, strict=True)
            ]

        return Rows(one=lambda f: rows([f])[0], count=count, rank=rate[:count], many=rows)
