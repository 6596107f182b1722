"""Collectives evaluated: time, bandwidths, which side binds, loads and a sweep over sizes."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.account.bottlenecks import Resources
from designer.engine.account.expression import Time
from designer.engine.machines.guest import Guest, Work
from designer.engine.machines.guest_network import network_for
from designer.engine.machines.guests import guest_of
from designer.engine.network import LISTED_LIMIT, Network
from designer.engine.network.capacities import SPREAD
from designer.engine.network.channel_order import ways
from designer.engine.network.islands import roles_of
from designer.engine.results import ChannelLoads, Curve, Flow, LoadsOfClasses
from designer.engine.routes import route
from designer.engine.routes.gateways import COMPUTE_ROLES
from designer.engine.routes.hop_loads import channels_in_classes
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.collective.activities import Activity
from designer.families.collective.communicator import IN_NETWORK, Communicator, make_communicator, widened
from designer.families.collective.routed_groups import staged_for_library
from designer.families.collective.situation import NETWORK_SWITCHES
from designer.families.collective.times import expression
from designer.findings import Finding, Severity
from designer.formulas.collectives import CollectiveKind, CollectiveTime, NetworkKind
from designer.formulas.collectives.collective_time import NOT_CHOSEN
from designer.formulas.collectives.size_sweep import sizes
from designer.memo import memo
from designer.sources import Constant, Status
from designer.workload.program.tasks import Collective

Float = npt.NDArray[np.float64]
#: a choice that saves less is not said
WORTH_SAYING: Final = Constant(0.1, 0.1, 0.1, "assumed-collectives", Status.ASSUMED, "1", "as far as estimates agree")
#: networks, and groups of each, whose communicators are kept
_GROUPS_LIMIT: Final = 4


def unused_switches(group: Communicator, operation: Collective) -> list[Finding]:
    """Switches that could add, where that is not counted."""
    network = group.network
    if operation.collective != CollectiveKind.ALL_REDUCE or operation.algorithm == IN_NETWORK:
        return []
    if group.reduces:
        text = "the switches of the network can reduce (SHARP), which is not counted: libraries leave it off"
        return [Finding("COLL-SHARP-OFF", Severity.INFO, text, (), f"set the algorithm to {IN_NETWORK} to count it")]
    activity = group.between
    if activity is None or group.situation.network is NetworkKind.INFINIBAND:
        return []
    net = network.net
    switches = activity.hops.switches
    of = net.part_def[switches]
    present = np.flatnonzero(np.bincount(of, minlength=1)).tolist()
    adding = [d for d in present if network.kinds[d].name in NETWORK_SWITCHES and _says_so(network, d)]
    where = switches[np.isin(of, adding)].tolist()
    if not where:
        return []
    text = f"{len(where)} network switches say that they reduce; outside InfiniBand (SHARP) that is not counted"
    places = tuple(net.path(p) for p in where[:LISTED_LIMIT])
    return [Finding("COLL-SHARP-OFF", Severity.WARNING, text, places, "clear in_switch_reduction on these switches")]


def _says_so(network: Network, definition: int) -> bool:
    quantity = network.design.quantity(network.net.part_defs[definition], "in_switch_reduction")
    return quantity is not None and bool(quantity.value)


def better_choice(operation: Collective, time: CollectiveTime) -> list[Finding]:
    """What would take clearly less than what the library plans."""
    if operation.algorithm != "auto" or operation.protocol != "auto":
        return []
    best = min(
        (one for one in time.candidates if one.algorithm not in NOT_CHOSEN), key=lambda one: one.time, default=None
    )
    planned = min((one.time for one in time.allowed), default=0.0)
    if best is None or best.time > planned * (1 - WORTH_SAYING.value):
        return []
    text = (
        f"{best.algorithm} with {best.protocol} would take {1 - best.time / planned:.0%} less by this estimate than "
        f"{time.algorithm} with {time.protocol}, which the library plans for this size"
    )
    return [
        Finding("COLL-PLAN", Severity.INFO, text, (), "measure it with NCCL_ALGO and NCCL_PROTO set, or with a tuner")
    ]


def role_findings(group: Communicator) -> list[Finding]:
    """NICs meant for something else that carry this traffic because no other joins the servers."""
    if group.between is None:
        return []
    network, net = group.network, group.network.net
    nics = group.between.hops.nics
    of = net.part_def[nics]
    roles = {d: roles_of(network)[d] for d in np.flatnonzero(np.bincount(of)).tolist()}
    by_role: dict[str, list[int]] = {}
    for role in sorted(set(roles.values()) - set(COMPUTE_ROLES[0])):
        by_role[role] = nics[np.isin(of, [d for d, own in roles.items() if own == role])].tolist()
    return [
        Finding(
            "COLL-OTHER-NETWORK",
            Severity.WARNING,
            f"traffic between the accelerators of different servers runs over the {role} network: "
            "no NIC meant for it joins these servers",
            tuple(net.path(nic) for nic in found[:LISTED_LIMIT]),
            "add NICs with the role compute, or give these that role if they serve both",
        )
        for role, found in sorted(by_role.items())
    ]


@dataclass(frozen=True, slots=True, eq=False)
class AskedGroup:
    """The group of a collective, routed, and what it has of its accelerators and NICs where it runs in machines.

    Parameters
    ----------
    group
        On NICs as narrow as its share of them.
    whole
        The same on whole NICs, as while other machines that have functions of them are idle; None where it is no other.
    """

    group: Communicator
    guest: Guest | None = None
    stated: tuple[Finding, ...] = ()
    whole: Communicator | None = None

    def expression(self, time: CollectiveTime, estimate: str) -> Time:
        """A time that `felt` gave as an expression; `estimate` scales the whole."""
        guest = self.guest
        share = 1.0 if guest is None else guest.turn.value * guest.factor.value
        return expression(self.group, time, 1 / share, estimate)

    def felt(self, operation: Collective, size: float, time: CollectiveTime) -> CollectiveTime:
        """What `time` is in the machines, with what is not known of their shares in its band.

        Notes
        -----
        A time slice that is not its own stops a rank, and all others wait for it: no step goes on meanwhile.
        """
        guest = self.guest
        if guest is None:
            return time
        turn, factor = guest.turn, guest.factor
        best, most = time.low, time.bus_high
        if self.whole is not None:
            wide = _time(self.whole, operation, size, spreads_of(self.whole))
            best, most = min(best, wide.low), max(most, wide.bus_high)
        value, low, high = (getattr(turn, end) * getattr(factor, end) for end in ("value", "low", "high"))
        return replace(
            time,
            time=time.time / value,
            low=best / high,
            high=time.high / low,
            algorithm_bandwidth=time.algorithm_bandwidth * value,
            bus_bandwidth=time.bus_bandwidth * value,
            bus_low=time.bus_low * low,
            bus_high=most * high,
        )


def asked_group(network: Network, operation: Collective, place: str, running: Collection[str] = ()) -> AskedGroup:
    """The group of a collective, routed; `running` machines have work of their own on the same clock.

    Raises
    ------
    AnalysisError
        If it has fewer than two accelerators, they cannot reach each other, or machines that are named are not theirs.
    """
    parts = resolve(network, operation.group, f"{place}.group")
    parts = parts[network.has(Capability.ACCELERATE)[parts]]
    if len(parts) < 2:
        raise AnalysisError(
            f"a collective needs two accelerators, {operation.group!r} has {len(parts)}",
            place=f"{place}.group",
            remedy="choose a larger group",
        )
    guest, stated = guest_of(network, parts, operation.machines, Work.COPYING, place, running)
    group = _routed_group(network_for(network, guest), parts, operation, place)
    whole = None
    if guest is not None and guest.nics:
        whole = _routed_group(network_for(network, guest, nics=False), parts, operation, place)
    return AskedGroup(group, guest, stated, whole)


@memo(most=_GROUPS_LIMIT, each=_GROUPS_LIMIT)
def _group(network: Network, parts: bytes, place: str) -> Communicator:
    """The communicator of some parts: one for all collectives and sizes that are asked of them one after the other."""
    return make_communicator(network, np.frombuffer(parts, dtype=np.int64), place)


def _routed_group(network: Network, parts: npt.NDArray[np.int64], operation: Collective, place: str) -> Communicator:
    group = _group(network, parts.astype(np.int64).tobytes(), place)
    if operation.collective == CollectiveKind.ALL_TO_ALL:
        group = group.exchanging()
    if operation.algorithm == IN_NETWORK and not group.reduces:
        raise AnalysisError(
            "no reduction in the network: not every switch between the servers is InfiniBand and says that it reduces",
            place=f"{place}.algorithm",
            remedy="set in_switch_reduction on the switches, or choose another algorithm",
        )
    return group


def time_of(asked: AskedGroup, operation: Collective) -> CollectiveTime:
    """Time of a collective over its group, with its band."""
    return asked.felt(operation, operation.size, _time(asked.group, operation, operation.size, spreads_of(asked.group)))


def spreads_of(group: Communicator) -> tuple[float, float]:
    """Relative uncertainty of the rates that bind inside nodes and between them."""
    return _spread(group.network, group.inside), _spread(group.network, group.between)


def _spread(network: Network, activity: Activity | None) -> float:
    """How far the capacity that binds a side may be off because nobody published it; relative, 0 where somebody did."""
    if activity is None:
        return 0.0
    links = network.links_of(activity.tightest()[0])
    found = {network.link_facts[d].status for d in np.unique(network.net.link_def[links]).tolist()}
    return max((SPREAD[s].value for s in found & {Status.UNVERIFIED, Status.ASSUMED}), default=0.0)


def _time(group: Communicator, operation: Collective, size: float, spreads: tuple[float, float]) -> CollectiveTime:
    """Time of a size; its band holds for links of each side that are wider or narrower by its spread."""
    ends = [
        (widened(group, *(1 + sign * s for s in spreads)) if sign else group).time(
            operation.collective,
            size,
            operation.algorithm,
            operation.protocol,
            operation.channels,
            operation.launch,
        )
        for sign in ((0, 1, -1) if any(spreads) else (0,))
    ]
    first = ends[0]
    # what is drawn is what is asked about: wider links than those are no part of its band
    low = max(first.floor, min(t.low for t in ends))
    top = first.bus_bandwidth * first.time / low if low > 0 else first.bus_high
    return replace(
        first,
        low=low,
        high=max(t.high for t in ends),
        bus_low=min(t.bus_low for t in ends),
        bus_high=top,
    )


def loads_of(group: Communicator, time: CollectiveTime, network: Network | None = None) -> ChannelLoads:
    """Load of every channel while a collective runs; of the channels of `network`, where the group sees less of it."""
    return ChannelLoads.made(lambda: _loads(network or group.network, group, time, *_egress(group, time)))


def flows_of(group: Communicator, time: CollectiveTime) -> tuple[Flow, ...]:
    """The hops of a collective as flows, the first ones."""
    inside, between = _egress(group, time)
    network = group.network
    listed = _flows(network, group.inside, inside, time) + _flows(network, group.between, between, time)
    return listed[:LISTED_LIMIT]


def _egress(group: Communicator, time: CollectiveTime) -> tuple[float, float]:
    """What each rank sends inside its server, and each server to the next [B/s], averaged over the collective."""
    ranks, servers = group.situation.ranks, group.situation.servers
    local = ranks / servers
    if time.algorithm == "direct":  # all to all: what a server sends is for all ranks but its own
        each = time.algorithm_bandwidth / ranks  # what a rank sends to one other
        return each * (local - 1), each * local * (ranks - local)
    inside = time.bus_bandwidth
    if time.algorithm.startswith("nvls"):
        inside = time.algorithm_bandwidth * (1 + 1 / local)
    return inside, time.bus_bandwidth if servers > 1 else 0.0


def _flows(network: Network, activity: Activity | None, rate: float, time: CollectiveTime) -> tuple[Flow, ...]:
    if activity is None:
        return ()
    legs = activity.hops.legs
    n = len(legs)
    routes = route(network, staged_for_library(network, legs))
    order = np.argsort(routes.flow, kind="stable")
    cuts = np.searchsorted(routes.flow[order], np.arange(n + 1))
    bottleneck = set(Resources(network).ids(activity.binds_on(network, np.unique(routes.channel >> 1))))
    via = ways(network, legs.source, routes.channel[order], cuts)
    sources, targets = network.net.paths(legs.source), network.net.paths(legs.target)
    low, high = rate * time.time / time.high, rate * time.time / time.low
    return tuple(
        Flow(
            f"{source}->{target}",
            source,
            target,
            channels,
            rate * share,
            low * share,
            high * share,
            tuple([c for c in channels if c in bottleneck]),
        )
        for source, target, channels, share in zip(sources, targets, via, legs.share.tolist(), strict=True)
    )


def _loads(
    network: Network, group: Communicator, time: CollectiveTime, inside: float, between: float
) -> LoadsOfClasses | tuple[Float, Float]:
    fill = min(1.0, (time.bandwidth_term + time.pipeline_term) / time.time) if time.time else 0.0
    sides = [(a, r) for a, r in ((group.inside, inside), (group.between, between)) if a is not None]
    tightest = min((a.rate / r for a, r in sides if r > 0), default=1.0)
    if network.frame.hashed:
        n = 2 * network.net.n_links
        load, busy, raw = np.zeros(n), np.zeros(n), np.repeat(network.rate, 2)
        for activity, rate in sides:
            resource, usage = activity.hops.every()
            carried = np.bincount(network.channels_of(resource), usage, n) * rate
            load += carried
            busy += carried / raw * tightest * fill
        return load, network.over_both_ways(busy)
    classes, used = channels_in_classes(network, tuple(a.hops for a, _ in sides))
    raw = network.rate_of(classes.first >> 1)
    load, busy, back = np.zeros(len(classes)), np.zeros(len(classes)), np.zeros(len(classes))
    for (_, rate), (mine, opposite) in zip(sides, used, strict=True):
        carried = mine * rate
        load += carried
        busy += carried / raw * tightest * fill
        back += opposite * rate / raw * tightest * fill
    return LoadsOfClasses(classes, load, np.where(network.full[classes.first >> 1], busy, busy + back))


def size_sweep(asked: AskedGroup, operation: Collective, spreads: tuple[float, float]) -> tuple[Curve, ...]:
    """Bus bandwidth and time over message size, with their bands."""
    found = [(size, asked.felt(operation, size, _time(asked.group, operation, size, spreads))) for size in sizes()]
    x = tuple(size for size, _ in found)
    return (
        Curve(
            "bus bandwidth",
            x,
            tuple(t.bus_bandwidth for _, t in found),
            tuple(t.bus_low for _, t in found),
            tuple(t.bus_high for _, t in found),
        ),
        Curve(
            "time", x, tuple(t.time for _, t in found), tuple(t.low for _, t in found), tuple(t.high for _, t in found)
        ),
    )
