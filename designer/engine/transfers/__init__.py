"""Transfers evaluated: routed, shared fairly, with what binds each flow."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.account.bottlenecks import Limit, Resources
from designer.engine.flows import Binding, Incidence, solve
from designer.engine.network import LISTED_LIMIT, Network
from designer.engine.network.capacities import band_of, columns
from designer.engine.network.channel_order import ways
from designer.engine.network.partition import numbered
from designer.engine.results import Bottleneck, ChannelLoads, Flow, LoadsOfClasses, Rows
from designer.engine.routes import route
from designer.engine.routes.folding import Fold
from designer.engine.routes.legs import Legs, Routes
from designer.engine.routes.selection import Traffic, pair_up
from designer.engine.routes.staging import staged
from designer.engine.transfers.flow_rates import FlowRates
from designer.engine.transfers.limits import FlowLimits, memory_shares, mounts_of, protocol_cores, request_limits
from designer.engine.transfers.problem import FlowProblem, Problem, TransferQuestion
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.transfer import LATENCY, TransferProtocol
from designer.sources import Constant
from designer.units import format_quantity
from designer.workload.program.tasks import Move

# Time until the first byte of a transfer is there.


def latency(problem: Problem) -> Float:
    """Time until the first byte is there: links and switches on the way, media, and the start of every copy.

    A copy engine is started for each leg between an accelerator and memory or a peer of its server; adapters start
    by themselves. The value and the ends of its band. : (3, n_flows) [s]
    """
    network, routes, traffic = problem.network, problem.routes, problem.traffic
    n = traffic.n_flows
    links = columns([f.latency for f in network.link_facts])
    stated = network.hop_bands_of_definitions
    hops = np.where(np.isfinite(stated), stated, 0.0)
    end = network.net.part_def[network.ends_of(routes.channel)]
    entry = links[:, network.net.link_def[routes.channel >> 1]] + hops[:, end]
    found = np.stack([np.bincount(routes.flow, row * routes.share, n) for row in entry]).astype(np.float64)
    accelerates, stores = network.has(Capability.ACCELERATE), network.has(Capability.STORE)
    source, target = problem.legs.source, problem.legs.target
    copies = (accelerates[source] | accelerates[target]) & (network.island[source] == network.island[target])
    copies &= ~(stores[source] | stores[target]) & ~_adapter(problem, source) & ~_adapter(problem, target)
    copied = np.bincount(problem.legs.flow[copies], problem.legs.share[copies], n)
    found += _ends(LATENCY[TransferProtocol.COPY])[:, None] * copied
    media = _media_latency(problem)
    for part in (traffic.source, traffic.target):
        found += np.where(stores[part], media[:, network.net.part_def[part]], 0.0)
    return found


def _ends(constant: Constant) -> Float:
    return np.array([constant.value, constant.low, constant.high])


def _adapter(problem: Problem, part: Int) -> npt.NDArray[np.bool_]:
    return problem.network.has(Capability.ATTACH)[part]


def _media_latency(problem: Problem) -> Float:
    """Access latency of drives and storage systems by definition, with its band. : (3, n_definitions) [s]"""
    network = problem.network
    start = LATENCY[TransferProtocol.STORAGE]
    usual = (start.value, start.low, start.high)
    flow_row = [
        (Capability.STORE in kind.capabilities and band_of(network.design, part, "access_latency")) or usual
        for part, kind in zip(network.net.part_defs, network.kinds, strict=True)
    ]
    return columns(flow_row)


Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
NO_SHARES: Mapping[int, float] = MappingProxyType({})


@dataclass(frozen=True, eq=False)
class TransferAnswer:
    """What a transfer achieves.

    Parameters
    ----------
    rate : (n_flows,) [B/s]; 0 for flows without a path
    latency : (n_flows,) until the first byte is there [s]
    rates
        The rates of one flow of each class, in scenarios.
    loaded
        Loads of all channels where each flow that has a way moves so much, in place of all it can [B/s].
    """

    asked: Problem
    rate: Float
    latency: Float
    rates: FlowRates
    findings: tuple[Finding, ...]
    problem: FlowProblem
    expanded: Callable[[], FlowProblem]

    @property
    def traffic(self) -> Traffic:
        """Who sends to whom."""
        return self.asked.question.traffic

    @property
    def incidence(self) -> Incidence:
        """All flows that have a path, on the resources of the network and then on `limits`."""
        return self.expanded().incidence

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Limits next to links and parts."""
        return self.expanded().limits

    def each(self, found: Float) -> Float:
        """What is known of each row of the rates, for every flow; 0 for those without a path. : (n_flows,)"""
        every = np.zeros(self.asked.traffic.n_flows)
        every[self.asked.alive] = found
        return every[self.asked.fold.flows.of]

    @cached_property
    def low(self) -> Float:
        """Low ends of the rates [B/s]. : (n_flows,)"""
        return self.each(self.rates.ends[0])

    @cached_property
    def high(self) -> Float:
        """High ends of the rates [B/s]. : (n_flows,)"""
        return self.each(self.rates.ends[1])

    @property
    def sources(self) -> tuple[str, ...]:
        """Keys of what the rates rest on."""
        return self.rates.sources

    @cached_property
    def _bottlenecks(self) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
        return self.rates.why.bottlenecks(self.words)

    def words(self, resource: Hashable) -> Bottleneck:
        """A resource of the rates in words."""
        found = self.rates.words(resource)
        if found is None:
            assert isinstance(resource, Bottleneck)
            return resource
        return found

    @property
    def binding(self) -> tuple[Bottleneck, ...]:
        """What limits the slowest flows."""
        return self._bottlenecks[0]

    @property
    def next(self) -> tuple[Bottleneck, ...]:
        """What would limit them next."""
        return self._bottlenecks[1]

    @cached_property
    def flows(self) -> Sequence[Flow]:
        """The first flows, each stated when somebody looks at it; ranked by rate."""
        return _ranked_flows(self)

    @cached_property
    def loads(self) -> ChannelLoads:
        """What channels carry."""
        return self.loaded(np.inf)

    def loaded(self, most: float) -> ChannelLoads:
        """What channels carry where each flow that has a path moves so much at most [B/s]."""
        asked = self.asked
        rate = np.zeros(len(asked.alive))
        rate[asked.alive] = self.rates.rate if np.isinf(most) else most
        return ChannelLoads.made(lambda: _loads(asked, rate))


def refuse_lost(network: Network, answer: TransferAnswer, what: str, place: str) -> None:
    """Name the ends of a flow that has no way, where every flow is waited for.

    Raises
    ------
    AnalysisError
        If there is one.
    """
    lost = np.flatnonzero(answer.rate <= 0)
    if len(lost):
        source, target = (network.net.path(int(end[lost[0]])) for end in (answer.traffic.source, answer.traffic.target))
        raise AnalysisError(
            f"there is no way for {what} from {source} to {target}",
            place=place,
            remedy="join them by links, or let engines run elsewhere",
        )


def evaluate_transfer(
    network: Network,
    operation: Move,
    place: str,
    *,
    shares: Mapping[int, float] = NO_SHARES,
    more: Callable[[Network, Legs], FlowLimits] | None = None,
) -> TransferAnswer:
    """Rates of all flows of a transfer, and what binds them.

    Parameters
    ----------
    shares
        By part, bytes of its memory per second that the transfer may have of it, where that is not all [B/s].
    more
        Further limits of its legs.

    Raises
    ------
    AnalysisError
        If nothing can be routed.
    """
    return _answer(_pair_transfer(network, operation, place, shares, more), place)


def _pair_transfer(
    network: Network,
    operation: Move,
    place: str,
    shares: Mapping[int, float] = NO_SHARES,
    more: Callable[[Network, Legs], FlowLimits] | None = None,
) -> TransferQuestion:
    """A transfer paired up."""
    traffic = pair_up(network, operation, place)
    direct = None if operation.through_memory is None else not operation.through_memory
    legs = staged(network, traffic.legs, direct)
    demand = np.full(traffic.n_flows, operation.demand if operation.demand > 0 else np.inf)
    found = [protocol_cores(network, legs), memory_shares(network, legs, shares)]
    found.append(request_limits(network, legs, operation))
    limits = FlowLimits.joined([*found, more(network, legs)] if more is not None else found)
    return TransferQuestion(network, traffic, legs, demand, limits)


def evaluate_legs(
    network: Network,
    traffic: Traffic,
    demand: Float,
    limits: FlowLimits,
    place: str,
    *,
    marks: Int | None = None,
) -> TransferAnswer:
    """Rates of flows whose legs are given, under limits of their own as well.

    Parameters
    ----------
    demand : (n_flows,) most each flow asks for [B/s]
    marks : (n_flows,) flows of other marks are never of one class

    Raises
    ------
    AnalysisError
        If nothing can be routed.
    """
    question = TransferQuestion(network, traffic, traffic.legs, demand, limits, marks)
    return _answer(question, place)


def _unreachable_findings(network: Network, traffic: Traffic, lost: Int, routes: Routes, place: str) -> list[Finding]:
    found: list[Finding] = []
    net = network.net
    if len(lost):
        if len(lost) == traffic.n_flows:
            f = int(lost[0])
            raise AnalysisError(
                f"there is no way from {net.path(int(traffic.source[f]))} to {net.path(int(traffic.target[f]))}",
                place=place,
                remedy="join them by links, or give both servers NICs on one network",
            )
        where = tuple(net.path(int(traffic.target[f])) for f in lost[:20])
        text = f"{len(lost)} of {traffic.n_flows} flows have no way and are left out"
        found.append(Finding("FLOW-NO-WAY", Severity.ERROR, text, where, "join these parts to the others"))
    if routes.hashed:
        text = "traffic is hashed to single ways: splitting it over all ways would need too many entries"
        found.append(Finding("FLOW-HASHED", Severity.INFO, text, (), "set the policy to hash to choose the seed"))
    return found


def _storage_assumptions(network: Network, traffic: Traffic) -> list[Finding]:
    """What is assumed of storage systems at the ends of flows."""
    net = network.net
    assumed = [d for d, facts in enumerate(network.part_resources) if facts is not None and facts.assumed]
    if not assumed:
        return []
    ends = np.unique(np.concatenate([traffic.source, traffic.target]))
    found: list[Finding] = []
    for d in assumed:
        mine = ends[net.part_def[ends] == d]
        facts = network.part_resources[d]
        if len(mine) and facts is not None:
            rates = [format_quantity(facts.capacity / each, "rate") for each in (facts.read, facts.write)]
            text = f"{net.path(int(mine[0]))} reads at most {rates[0]} and writes {rates[1]}: {facts.assumed}"
            where = tuple(net.path(int(part)) for part in mine[:20])
            found.append(Finding("STORE-ASSUMED", Severity.INFO, text, where, _DRAW_SERVERS))
    return found


_DRAW_SERVERS: Final = "give its rates, or the number, ports, cores and drives of its servers"


def _answer(question: TransferQuestion, place: str) -> TransferAnswer:
    """Solve for one flow of each class."""
    problem = Problem(question, question.folded())
    findings = _unreachable_findings(question.network, question.traffic, problem.lost, problem.routes, place)
    findings += _storage_assumptions(question.network, question.traffic)
    allocation = solve(problem.incidence)
    waits = latency(problem)
    many, equal = problem.many[problem.alive], _represented_counts(problem)
    rates = FlowRates(
        problem.incidence,
        allocation,
        many,
        estimates=problem.estimates,
        estimate=problem.estimate,
        passing=problem.passing,
        resources=Resources(problem.network, problem.limits),
        number=problem.used,
        key=problem.used,
        many_of=equal,
        latency=waits[:, problem.alive],
        users=lambda: _users(problem, equal),
        sources=problem.sources,
    )
    alive = np.flatnonzero(problem.alive)
    classes = problem.fold.flows
    flow = classes.first[alive]
    each = tuple(problem.limit_many)
    rests = problem.estimates, problem.estimate, problem.passing
    leads = FlowProblem(problem.incidence, problem.limits, flow, many, problem.fold, *rests, problem.used, each)
    rate = np.zeros(problem.traffic.n_flows)
    rate[alive] = allocation.rate
    return TransferAnswer(
        problem, rate[classes.of], waits[0][classes.of], rates, tuple(findings), leads, _expand_flows(problem)
    )


def _expand_flows(problem: Problem) -> Callable[[], FlowProblem]:
    """The problem with every flow for itself."""
    if not problem.fold.folds:
        return problem.flat
    return cache(lambda: Problem(problem.question, problem.question.every_flow()).flat())


def _represented_counts(problem: Problem) -> Int:
    """How many resources each resource of a problem represents. : (n_resources,)"""
    folded, used, network = problem.fold, problem.used, problem.network
    found = np.ones(len(used), dtype=np.int64)
    own = used >= network.n_resources
    found[own] = np.array(problem.limit_many, dtype=np.int64)[used[own] - network.n_resources]
    links = problem.link_resources()
    place = np.minimum(np.searchsorted(used, links), len(used) - 1)
    kept = used[place] == links
    found[place[kept]] = folded.channel(problem.routes.channel)[1][kept]
    for ends in (problem.legs.source, problem.legs.target):
        lead, parts = folded.part(ends[network.part_resource[ends] >= 0])
        numbers = network.part_resource[lead]
        place = np.minimum(np.searchsorted(used, numbers), len(used) - 1)
        kept = used[place] == numbers
        found[place[kept]] = parts[kept]
    return found


def _users(problem: Problem, equal: Int) -> Int:
    """How many flows use each resource of a problem. : (n_resources,)"""
    flow, row, true = problem.met
    _, once = np.unique(np.stack([flow, true]), axis=1, return_index=True)
    met = np.bincount(row[once], problem.many[problem.alive][flow[once]], len(problem.used))
    return np.rint(met / equal).astype(np.int64)


def _loads(problem: Problem, rate: Float) -> LoadsOfClasses:
    """What channels carry: those that represent others once, those that carry nothing once together."""
    network, full = problem.network, problem.network.full
    n = 2 * network.net.n_links
    met = np.zeros(n, dtype=bool)
    met[problem.channel] = True
    # both ways of what is shared state what they come to together
    met[(problem.channel ^ 1)[~full[problem.channel >> 1]]] = True
    lead = problem.fold.every_channel()
    classes = numbered(np.where(met[lead], lead + 1, 0), n + 1)
    carried, of = problem.share * rate[problem.routes.flow], classes.of[problem.channel]
    load = np.bincount(of, carried, len(classes)).astype(np.float64)
    occupied = np.bincount(of, carried / problem.fraction, len(classes)).astype(np.float64)
    link = classes.first >> 1
    together = np.where(full[link], occupied, occupied + occupied[classes.of[classes.first ^ 1]])
    return LoadsOfClasses(classes, load, together / network.rate_of(link))


def _ranked_flows(answer: TransferAnswer) -> Rows[Flow]:
    """The first flows, each stated when somebody looks at it; ranked by rate."""
    problem = answer.asked
    network, net, traffic = problem.network, problem.network.net, answer.traffic
    count = min(traffic.n_flows, LISTED_LIMIT)

    @cache
    def first() -> tuple[Int, Int, Callable[[int], tuple[str, ...]]]:
        legs, routes = problem.legs, problem.routes
        if problem.fold.folds:
            legs = problem.question.legs.chosen(problem.question.legs.flow < count)
            routes = route(network, legs)
        bound = answer.rates.binding({})
        bottleneck = replace(bound, resource=problem.number_of(bound.resource))
        order = np.argsort(routes.flow, kind="stable")
        cuts = np.searchsorted(routes.flow[order], np.arange(count + 1))
        if not problem.fold.folds:
            return routes.channel[order], cuts, lambda f: _binding_ids(problem, f, bottleneck)
        named = _binding_ids_of_members(problem, problem.fold, legs, routes, count, bottleneck)
        return routes.channel[order], cuts, lambda f: named[f]

    def rows(numbers: Sequence[int]) -> list[Flow]:
        channel, cuts, binding_of = first()
        some = np.array(numbers, dtype=np.int64)
        size = cuts[some + 1] - cuts[some]
        upto = np.concatenate([[0], np.cumsum(size)])
        chosen = channel[np.repeat(cuts[some] - upto[:-1], size) + np.arange(upto[-1])]
        source, target = traffic.source[some], traffic.target[some]
        columns = (
            net.paths(source),
            net.paths(target),
            ways(network, source, chosen, upto),
            *(each[some].tolist() for each in (answer.rate, answer.low, answer.high)),
            [binding_of(f) for f in numbers],
        )
        return [
            Flow(f"{a}->{b}", a, b, via, rate, low, high, by)
            for a, b, via, rate, low, high, by in zip(*columns, strict=True)
        ]

    return Rows(one=lambda f: rows([f])[0], count=count, rank=answer.rate[:count], many=rows)


def _binding_ids(problem: Problem, f: int, bottleneck: Binding) -> tuple[str, ...]:
    """Ids of what binds a flow."""
    if not problem.alive[f]:
        return ()
    return tuple(Resources(problem.network, problem.limits).ids(bottleneck.of(int(problem.number[f]))))


def _binding_ids_of_members(
    problem: Problem, folded: Fold, legs: Legs, routes: Routes, count: int, bottleneck: Binding
) -> list[tuple[str, ...]]:
    """Ids of what binds each of the first flows: its own links, parts and limits, where their class binds its."""
    network, net, question = problem.network, problem.network.net, problem.question
    owner = np.repeat(np.arange(len(bottleneck.ptr) - 1), np.diff(bottleneck.ptr))
    size = network.n_resources + len(problem.limits)
    binds = owner * size + bottleneck.resource
    found: list[list[str]] = [[] for _ in range(count)]

    def add(flow: Int, number: Int, true: Int, names: Callable[[Int], list[str]]) -> None:
        row = folded.flows.of[flow]
        kept = np.flatnonzero(problem.alive[row] & np.isin(problem.number[row] * size + number, binds))
        once = np.unique(np.stack([flow[kept], true[kept]]), axis=1)
        for f, name in zip(once[0].tolist(), names(once[1]), strict=True):
            found[f].append(name)

    channel = folded.channel(routes.channel)[0]
    true = problem.resource_of(routes.channel, routes.flow)

    def channels(resources: Int) -> list[str]:
        return network.channel_ids(network.channels_of(resources))

    add(routes.flow, problem.resource_of(channel, routes.flow), true, channels)
    flow, ends = np.tile(legs.flow, 2), np.concatenate([legs.source, legs.target])
    rows = np.flatnonzero(network.part_resource[ends] >= 0)
    add(flow[rows], network.part_resource[folded.part(ends[rows])[0]], ends[rows], net.paths)
    for k, mounts in enumerate(mounts_of(network, question.legs)):
        limit = problem.limit_of(1 + k)
        if limit is not None:
            rows = np.flatnonzero(mounts.flow < count)
            client = mounts.client[rows]
            paths = net.paths(mounts.system[client])
            add(mounts.flow[rows], limit[client], client, _names(client, paths))
    both = np.full(net.n_links, -1, dtype=np.int64)
    for number, link in problem.both_links.items():
        both[link] = number
    rows = np.flatnonzero(both[channel >> 1] >= 0)
    link = routes.channel[rows] >> 1
    add(
        routes.flow[rows],
        both[channel[rows] >> 1],
        link,
        lambda true: [f"both:{name}" for name in network.channel_ids(2 * true)],
    )
    limit = problem.limit_of(0)
    if limit is not None:
        own = question.limits
        rows = np.flatnonzero(own.flow < count)
        node = own.node[rows]

        def ids(nodes: Int) -> list[str]:
            return [own.limit(k).id for k in nodes.tolist()]

        add(own.flow[rows], limit[node], node, ids)
    return [tuple(names) for names in found]


def _names(client: Int, paths: Sequence[str]) -> Callable[[Int], list[str]]:
    """What names the limits of mounts, by the number of the client."""
    known = dict(zip(client.tolist(), paths, strict=True))
    return lambda clients: [f"client:{known[c]}" for c in clients.tolist()]
