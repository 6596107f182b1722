"""Transfers evaluated: routed, shared fairly, with what binds each flow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from designer.analysis.bottlenecks import Limit, Resources, describe, with_gains
from designer.analysis.channel_order import ways
from designer.analysis.flows import Allocation, Binding, Incidence, binding, next_bottleneck, slowest, solve
from designer.analysis.network import LISTED_LIMIT, TIE_TOLERANCE, Network
from designer.analysis.results import Bottleneck, ChannelLoads, Flow, Rows
from designer.analysis.routes import Routes, route
from designer.analysis.selection import Traffic, pair_up
from designer.analysis.staging import staged
from designer.analysis.transfer_bands import rate_band
from designer.analysis.transfer_latency import latency
from designer.analysis.transfer_limits import Extra, memory_shares, protocol_cores
from designer.analysis.transfer_problem import Problem
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.workload.operations import Transfer

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
NO_SHARES: Mapping[int, float] = MappingProxyType({})


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
    return _answer(asked, findings, explained)


def _asked(
    network: Network, operation: Transfer, place: str, shares: Mapping[int, float] = NO_SHARES
) -> tuple[Problem, list[Finding]]:
    """A transfer paired up and routed, and what was found on the way."""
    traffic = pair_up(network, operation, place)
    direct = None if operation.through_memory is None else not operation.through_memory
    legs = staged(network, traffic.legs, direct)
    routes = route(network, legs)
    findings = _lost(network, traffic, routes, place)
    demand = np.full(traffic.n_flows, operation.demand if operation.demand > 0 else np.inf)
    extra = (*protocol_cores(network, legs), *memory_shares(network, legs, shares))
    return Problem(network, traffic, legs, routes, demand, extra), findings


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
    problem = Problem(network, traffic, traffic.legs, routes, demand, extra)
    return _answer(problem, findings, explained)


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


def _answer(problem: Problem, findings: list[Finding], explained: bool = True) -> TransferAnswer:
    """Solve and explain."""
    incidence = problem.incidence
    allocation = solve(incidence)
    bottleneck = binding(incidence, allocation)
    described, then = _explained(problem, allocation, bottleneck) if explained else ((), ())
    low, high, sources = rate_band(problem, allocation, bottleneck)
    n = problem.traffic.n_flows
    rate, lows, highs = np.zeros(n), np.zeros(n), np.zeros(n)
    rate[problem.alive], lows[problem.alive], highs[problem.alive] = allocation.rate, low, high
    wait = latency(problem)
    return TransferAnswer(
        problem.traffic,
        rate,
        lows,
        highs,
        wait[0],
        wait[1:],
        described,
        then,
        _listed(problem, rate, lows, highs, bottleneck),
        ChannelLoads.made(lambda: _loads(problem, rate)),
        sources,
        tuple(findings),
        incidence,
        problem.limits,
    )


def _explained(
    problem: Problem, allocation: Allocation, bottleneck: Binding
) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
    """What limits the slowest flows, and what would next."""
    incidence = problem.incidence
    resources = Resources(problem.network, problem.limits)
    fractions = _fraction_of_resource(problem)
    worst = np.flatnonzero(allocation.rate <= allocation.rate.min() * (1 + TIE_TOLERANCE))
    first = bottleneck.union(worst.tolist())
    described, members = describe(resources, incidence, first, fractions)
    described = with_gains(described, members, incidence, allocation, slowest())
    after = next_bottleneck(incidence, worst, allocation) if len(first) else None
    then = describe(resources, incidence, after.then, fractions)[0] if after is not None else ()
    if np.isfinite(problem.asks).all() and not len(first):
        described = (Bottleneck("limit", "demand", "what the flows ask for", "every flow gets all it asks for"),)
    return described, then


def _fraction_of_resource(problem: Problem) -> dict[int, float]:
    channel_resource = problem.link_resources()
    _, first = np.unique(channel_resource, return_index=True)
    return dict(zip(channel_resource[first].tolist(), problem.fraction[first].tolist(), strict=True))


def _loads(problem: Problem, rate: Float) -> tuple[Float, Float]:
    routes, network = problem.routes, problem.network
    carried = routes.share * rate[routes.flow]
    n = 2 * network.net.n_links
    load = np.bincount(routes.channel, carried, n).astype(np.float64)
    occupied = np.bincount(routes.channel, carried / problem.fraction, n).astype(np.float64)
    shared = ~np.repeat(network.full, 2)
    if shared.any():
        both = occupied.reshape(-1, 2).sum(axis=1).repeat(2)
        occupied = np.where(shared, both, occupied)
    return load, occupied / np.repeat(network.rate, 2)


def _listed(problem: Problem, rate: Float, low: Float, high: Float, bottleneck: Binding) -> Rows[Flow]:
    """The first flows, each told when somebody looks at it; ranked by rate."""
    network, net, traffic = problem.network, problem.network.net, problem.traffic
    count = min(traffic.n_flows, LISTED_LIMIT)

    @cache
    def ordered() -> tuple[Resources, Int, Int]:
        order = np.argsort(problem.routes.flow, kind="stable")
        return (
            Resources(network, problem.limits),
            problem.routes.channel[order],
            np.searchsorted(problem.routes.flow[order], np.arange(count + 1)),
        )

    def rows(numbers: Sequence[int]) -> list[Flow]:
        resources, channel, cuts = ordered()
        some = np.array(numbers, dtype=np.int64)
        size = cuts[some + 1] - cuts[some]
        upto = np.concatenate([[0], np.cumsum(size)])
        chosen = channel[np.repeat(cuts[some] - upto[:-1], size) + np.arange(upto[-1])]
        source, target = traffic.source[some], traffic.target[some]
        binds = [bottleneck.of(int(problem.number[f])) if problem.alive[f] else [] for f in numbers]
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
