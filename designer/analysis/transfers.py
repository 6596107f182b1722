"""Transfers evaluated: routed, shared fairly, with what binds each flow."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from designer.analysis.bottlenecks import Limit, Resources, describe, with_gains
from designer.analysis.channel_order import ways
from designer.analysis.flows import Allocation, Binding, Incidence, binding, next_bottleneck, slowest, solve
from designer.analysis.folding import Fold
from designer.analysis.legs import Legs, Routes
from designer.analysis.network import LISTED_LIMIT, TIE_TOLERANCE, Network
from designer.analysis.partition import numbered
from designer.analysis.results import Bottleneck, ChannelLoads, Flow, LoadsOfClasses, Rows
from designer.analysis.routes import route
from designer.analysis.selection import Traffic, pair_up
from designer.analysis.staging import staged
from designer.analysis.transfer_bands import rate_band
from designer.analysis.transfer_latency import latency
from designer.analysis.transfer_limits import FlowLimits, memory_shares, mounts_of, protocol_cores
from designer.analysis.transfer_problem import FlowProblem, Problem, TransferQuestion
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.workload.program.tasks import Move

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
NO_SHARES: Mapping[int, float] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class TransferAnswer:
    """What a transfer achieves.

    Parameters
    ----------
    rate, low, high : (n_flows,) [B/s]; 0 for flows without a path
    latency : (n_flows,) until the first byte is there [s]
    latency_band : (2, n_flows) the ends of its band [s]
    binding, next
        What limits the slowest flows, and what would next.
    sources
        Keys of what the rates rest on.
    loaded
        Loads of all channels where each flow that has a way moves so much, in place of all it can [B/s].
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
    problem: FlowProblem
    expanded: Callable[[], FlowProblem]
    loaded: Callable[[float], ChannelLoads]

    @property
    def incidence(self) -> Incidence:
        """All flows that have a path, on the resources of the network and then on `limits`."""
        return self.expanded().incidence

    @property
    def limits(self) -> tuple[Limit, ...]:
        """Limits beside links and parts."""
        return self.expanded().limits


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
    return _answer(_asked(network, operation, place, shares), place, explained)


def _asked(network: Network, operation: Move, place: str, shares: Mapping[int, float] = NO_SHARES) -> TransferQuestion:
    """A transfer paired up."""
    traffic = pair_up(network, operation, place)
    direct = None if operation.through_memory is None else not operation.through_memory
    legs = staged(network, traffic.legs, direct)
    demand = np.full(traffic.n_flows, operation.demand if operation.demand > 0 else np.inf)
    limits = FlowLimits.joined([protocol_cores(network, legs), memory_shares(network, legs, shares)])
    return TransferQuestion(network, traffic, legs, demand, limits)


def evaluate_legs(
    network: Network,
    traffic: Traffic,
    demand: Float,
    limits: FlowLimits,
    place: str,
    *,
    explained: bool = True,
    marks: Int | None = None,
) -> TransferAnswer:
    """Rates of flows whose legs are given, under limits of their own as well.

    Parameters
    ----------
    demand : (n_flows,) most each flow asks for [B/s]
    explained
        True to tell what binds and what would next; the rates are the same.
    marks : (n_flows,) flows of other marks are never of one class

    Raises
    ------
    AnalysisError
        If nothing can be routed.
    """
    question = TransferQuestion(network, traffic, traffic.legs, demand, limits, marks)
    return _answer(question, place, explained)


@dataclass(frozen=True, slots=True, eq=False)
class TransferDemand:
    """What the flows of a transfer ask of the network, to be solved together with other traffic."""

    incidence: Incidence
    limits: tuple[Limit, ...]


def transfer_demand(network: Network, operation: Move, place: str) -> TransferDemand:
    """The flows of a transfer as activities on the resources of the network, then on `limits`.

    Raises
    ------
    AnalysisError
        If nothing can be routed.
    """
    asked = _asked(network, operation, place)
    evaluation = Problem(asked, None)
    _lost(network, asked.traffic, evaluation.lost, evaluation.routes, place)
    return TransferDemand(evaluation.flat().incidence, evaluation.limits)


def _lost(network: Network, traffic: Traffic, lost: Int, routes: Routes, place: str) -> list[Finding]:
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


def _answer(question: TransferQuestion, place: str, explained: bool) -> TransferAnswer:
    """Solve and explain, for one flow of each class."""
    problem = Problem(question, question.folded())
    findings = _lost(question.network, question.traffic, problem.lost, problem.routes, place)
    incidence = problem.incidence
    allocation = solve(incidence)
    bottleneck = binding(incidence, allocation)
    bottleneck = replace(bottleneck, resource=problem.number_of(bottleneck.resource))
    described, then = _explained(problem, allocation, bottleneck) if explained else ((), ())
    low, high, sources = rate_band(problem, allocation, bottleneck)
    n = problem.traffic.n_flows
    rates = np.stack([np.zeros(n), np.zeros(n), np.zeros(n)])
    rates[:, problem.alive] = allocation.rate, low, high
    wait = latency(problem)
    alive = np.flatnonzero(problem.alive)
    flow = alive if problem.fold is None else problem.fold.flows.first[alive]
    each = tuple(problem.limit_many)
    classes = FlowProblem(incidence, problem.limits, flow, problem.many[alive], problem.fold, problem.used, each)
    found = np.concatenate([rates, wait])
    if problem.fold is not None:
        found = found[:, problem.fold.flows.of]
    return TransferAnswer(
        problem.question.traffic,
        found[0],
        found[1],
        found[2],
        found[3],
        found[4:],
        described,
        then,
        _listed(problem, found[:3], bottleneck),
        ChannelLoads.made(lambda: _loads(problem, rates[0])),
        sources,
        tuple(findings),
        classes,
        _expanded(problem),
        lambda each: ChannelLoads.made(lambda: _loads(problem, np.where(problem.alive, each, 0.0))),
    )


def _expanded(problem: Problem) -> Callable[[], FlowProblem]:
    """The problem with every flow for itself."""
    if problem.fold is None:
        return problem.flat
    return cache(lambda: Problem(problem.question, None).flat())


def _explained(
    problem: Problem, allocation: Allocation, bottleneck: Binding
) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
    """What limits the slowest flows, and what would next."""
    incidence = problem.incidence
    resources = Resources(problem.network, problem.limits)
    fractions = _fraction_of_resource(problem)
    worst = np.flatnonzero(allocation.rate <= allocation.rate.min() * (1 + TIE_TOLERANCE))
    first = bottleneck.union(worst.tolist())
    after = next_bottleneck(incidence, worst, allocation) if len(first) else None
    later = problem.number_of(after.then) if after is not None else np.empty(0, dtype=np.int64)
    users, many = _users(problem, np.concatenate([np.asarray(first, dtype=np.int64), later]))
    described, members = describe(resources, incidence, first, fractions, users, many)
    inside = [problem.rows_of(np.array(each)).tolist() for each in members]
    described = with_gains(described, inside, incidence, allocation, slowest())
    then = describe(resources, incidence, later, fractions, users, many)[0] if after is not None else ()
    if np.isfinite(problem.asks).all() and not len(first):
        described = (Bottleneck("limit", "demand", "what the flows ask for", "every flow gets all it asks for"),)
    return described, then


def _users(problem: Problem, chosen: Int) -> tuple[Mapping[int, int], Mapping[int, int] | None]:
    """How many flows use each of some resources, and how many are like it; None where none stands for others."""
    folded, used, network = problem.fold, problem.used, problem.network
    if folded is None:
        met = np.bincount(problem.incidence.resource, minlength=len(used))
        return dict(zip(chosen.tolist(), met[problem.rows_of(chosen)].tolist(), strict=True)), None
    alike = dict(
        zip(range(network.n_resources, network.n_resources + len(problem.limits)), problem.limit_many, strict=True)
    )
    channels = folded.channel(problem.routes.channel)[1]
    alike |= dict(zip(problem.link_resources().tolist(), channels.tolist(), strict=True))
    for ends in (problem.legs.source, problem.legs.target):
        lead, parts = folded.part(ends[network.part_resource[ends] >= 0])
        alike |= dict(zip(network.part_resource[lead].tolist(), parts.tolist(), strict=True))
    many = np.array([alike[r] for r in used.tolist()])
    flow, row, _ = problem.passing
    _, once = np.unique(np.stack([flow, problem.true]), axis=1, return_index=True)
    met = np.bincount(row[once], problem.many[problem.alive][flow[once]], len(used))
    users = np.rint(met / many).astype(np.int64)
    return dict(zip(used.tolist(), users.tolist(), strict=True)), alike


def _fraction_of_resource(problem: Problem) -> Mapping[int, float]:
    """The least fraction that any flow achieves of each resource."""
    order = np.argsort(-problem.fraction, kind="stable")
    return dict(zip(problem.link_resources()[order].tolist(), problem.fraction[order].tolist(), strict=True))


def _loads(problem: Problem, rate: Float) -> LoadsOfClasses:
    """What channels carry: those that stand for others once, those that carry nothing once together."""
    network, full = problem.network, problem.network.full
    n = 2 * network.net.n_links
    met = np.zeros(n, dtype=bool)
    met[problem.channel] = True
    # both ways of what is shared tell what they come to together
    met[(problem.channel ^ 1)[~full[problem.channel >> 1]]] = True
    lead = np.arange(n) if problem.fold is None else problem.fold.every_channel()
    classes = numbered(np.where(met[lead], lead + 1, 0), n + 1)
    carried, of = problem.share * rate[problem.routes.flow], classes.of[problem.channel]
    load = np.bincount(of, carried, len(classes)).astype(np.float64)
    occupied = np.bincount(of, carried / problem.fraction, len(classes)).astype(np.float64)
    link = classes.first >> 1
    together = np.where(full[link], occupied, occupied + occupied[classes.of[classes.first ^ 1]])
    return LoadsOfClasses(classes, load, together / network.rate_of(link))


def _listed(problem: Problem, rates: Float, bottleneck: Binding) -> Rows[Flow]:
    """The first flows, each told when somebody looks at it; ranked by rate. : rates (3, n_flows)"""
    network, net, traffic = problem.network, problem.network.net, problem.question.traffic
    count = min(traffic.n_flows, LISTED_LIMIT)

    @cache
    def first() -> tuple[Int, Int, Callable[[int], tuple[str, ...]]]:
        legs, routes = problem.legs, problem.routes
        if problem.fold is not None:
            legs = problem.question.legs.chosen(problem.question.legs.flow < count)
            routes = route(network, legs)
        order = np.argsort(routes.flow, kind="stable")
        cuts = np.searchsorted(routes.flow[order], np.arange(count + 1))
        if problem.fold is None:
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
            *rates[:, some].tolist(),
            [binding_of(f) for f in numbers],
        )
        return [
            Flow(f"{a}->{b}", a, b, via, rate, low, high, by)
            for a, b, via, rate, low, high, by in zip(*columns, strict=True)
        ]

    return Rows(one=lambda f: rows([f])[0], count=count, rank=rates[0, :count], many=rows)


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
