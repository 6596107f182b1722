"""Groups of ranks on the drawn design: rings routed over its links give the raw bandwidth, models the time.

A collective runs in lockstep, so it is one activity with the summed usage of its hops, never a bundle of
independent flows. What a library achieves of the raw bandwidth is put on once, by the formula.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.efficiency import COPY, P2P, RDMA, Efficiencies, derated
from designer.analysis.hashing import mix
from designer.analysis.hops import Pattern, all_with_all, legs_of, pattern_of
from designer.analysis.islands import find_islands
from designer.analysis.network import NETWORK, NETWORKS_LIMIT, TIE_TOLERANCE, Network
from designer.analysis.routes import Legs, Routes, route
from designer.analysis.staging import staged, stages
from designer.catalog.parttype import Capability
from designer.errors import AnalysisError
from designer.formulas.collectives import (
    SWITCH_HOP,
    CollectiveKind,
    CollectiveSituation,
    CollectiveTime,
    EdgeRate,
    NetworkKind,
    PathClass,
)
from designer.formulas.collectives.collective_time import collective_time
from designer.formulas.transfer.achievable_fraction import both_directions_share
from designer.memo import memo
from designer.sources import Constant, Status

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: NVSwitches reduce in the switch from this generation of NVLink on
FIRST_REDUCING: Final = Constant(4, 4, 4, "nccl-tuning", Status.PRIMARY)
#: latencies of one way added up in another order are the same
PICOSECOND_DIGITS: Final = 12
#: groups of more shapes than this are judged by the first ones
SHAPES_LIMIT: Final = 16
#: kinds of part that are switches of a network
NETWORK_SWITCHES: Final = frozenset({"switch"})
#: the algorithm that switches of the network add for; libraries leave it off unless asked
IN_NETWORK: Final = "in-network"
#: more pairs inside servers than this are not routed for an exchange of all with all, which then counts as a ring
PAIRS_LIMIT: Final = 20_000
#: names users know for the algorithms of the formulas
ALGORITHMS: Final = {
    "ring": frozenset({"ring"}),
    "tree": frozenset({"tree", "pat"}),
    "in-switch": frozenset({"nvls", "nvls-tree"}),
    IN_NETWORK: frozenset({"sharp"}),
    "hierarchical": frozenset({"hierarchical"}),
    "direct": frozenset({"direct"}),
}


@dataclass(frozen=True, slots=True, eq=False)
class Activity:
    """A synchronous pattern of hops routed on the network: usage of resources per unit of rate.

    Parameters
    ----------
    rate
        What it gets alone [B/s], raw.
    binds, then
        Resources that bind it, and those that would next; ``rate_then`` is the rate when the first are gone.
    edge
        What plain transfers over these links reach when all hops are busy at once, so what no hop can pass;
        ``edge_binds`` are the resources that hold it there.
    """

    legs: Legs
    routes: Routes
    resource: Int
    usage: Float
    rate: float
    binds: tuple[int, ...]
    then: tuple[int, ...]
    rate_then: float
    edge: EdgeRate
    edge_binds: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Communicator:
    """A group of ranks on the drawn design, ready to be asked for any message size.

    Parameters
    ----------
    situation
        What the formulas need; ``message`` and ``kind`` are replaced for each question.
    inside, between
        The ring inside every server, and the exchange between servers; None where there is none.
    exchange
        Every rank to each other one of its server at once; None where that is as the ring.
    reduces
        True if every network switch between the servers says that it reduces.
    groups, place
        Ranks of all groups that work at once, this one among them, and where they are asked for.
    """

    network: Network
    situation: CollectiveSituation
    inside: Activity | None
    between: Activity | None
    parts: Int
    exchange: Activity | None = None
    reduces: bool = False
    groups: Int | None = None
    place: str = ""

    def time(self, kind: str, message: float, algorithm: str = "auto") -> CollectiveTime:
        """Time of a collective over this group.

        Raises
        ------
        AnalysisError
            If the algorithm cannot run it here.
        """
        # the library has it off by default: reduction in the network is used where it is asked for
        helped = self.reduces and algorithm == IN_NETWORK
        asked = replace(self.situation, kind=CollectiveKind(kind), message=message, in_network_reduction=helped)
        return collective_time(asked, ALGORITHMS.get(algorithm))

    def exchanging(self) -> Communicator:
        """The same group with its links loaded as by all ranks sending to all, inside servers and between them."""
        one = self
        if self.exchange is not None:
            s = self.situation
            situation = replace(s, intra_bandwidth=s.direct_bandwidth, intra_edge=s.direct_edge)
            one = replace(one, inside=self.exchange, situation=situation)
        if self.between is None or self.situation.servers <= 2:
            return one  # of two servers each sends to the other already
        groups = np.asarray(self.parts[None] if self.groups is None else self.groups, dtype=np.int64)
        between = _all_with_all(self.network, groups.tobytes(), groups.shape, self.place)
        situation = replace(
            one.situation,
            inter_edge=between.edge,
            inter_bandwidth=between.rate,
            host_bandwidth=_host_rate(self.network, between),
        )
        return replace(one, between=between, situation=situation)


def make_communicator(network: Network, ranks: Int, place: str) -> Communicator:
    """The communicator of the given accelerators, in rank order.

    Raises
    ------
    AnalysisError
        If some ranks cannot reach the others.
    """
    inside, between = _activities(network, ranks[None], place)
    pattern = pattern_of(network, ranks)
    exchange = _exchange(network, ranks, pattern, inside, place)
    situation = _situation(network, ranks, pattern, inside, between, exchange)
    reduces = between is not None and situation.network is NetworkKind.INFINIBAND
    reduces = reduces and _reduces(network, between, NETWORK_SWITCHES)
    return Communicator(network, situation, inside, between, ranks, exchange, reduces, place=place)


def make_concurrent(network: Network, groups: Int, place: str) -> tuple[Communicator, ...]:
    """Equal groups that all work at once, in lockstep: one communicator for each shape of group there is.

    Parameters
    ----------
    groups : (n_groups, size) ranks of each group

    Notes
    -----
    All hops of all groups are one activity, so what each group gets is its share of links that groups have in common.

    Raises
    ------
    AnalysisError
        If some ranks cannot reach the others of their group.
    """
    shapes = [make_communicator(network, groups[row], place) for row in _shapes(network, groups)]
    if len(groups) == 1:
        return tuple(shapes)
    inside, between = _activities(network, groups, place)
    return tuple(replace(_share(one, inside, between), groups=groups) for one in shapes)


@memo(most=NETWORKS_LIMIT)
def _all_with_all(network: Network, groups: bytes, shape: tuple[int, ...], place: str) -> Activity:
    return _activity(network, all_with_all(network, np.frombuffer(groups, np.int64).reshape(shape)), place)


def _exchange(network: Network, ranks: Int, pattern: Pattern, inside: Activity | None, place: str) -> Activity | None:
    """Every rank sending to each other rank of its server at once; None where that loads the links as the rings do."""
    if inside is None or pattern.path is PathClass.NVLINK_SWITCH:
        return None
    pairs = [(a, b, 1 / (len(m) - 1)) for m in pattern.members for a in m for b in m if a != b]
    if len(pairs) == len(pattern.inside.share) or len(pairs) > PAIRS_LIMIT:
        return None
    source, target, share = (np.array(column) for column in zip(*pairs, strict=True))
    try:
        return _activity(network, Legs(np.arange(len(pairs)), ranks[source], ranks[target], share), place)
    except AnalysisError:
        return None  # some reach each other only around the ring, which passes their data on


def _share(alone: Communicator, inside: Activity | None, between: Activity | None) -> Communicator:
    """A group with the bandwidth it keeps when its equals are at work too."""
    network, situation = alone.network, alone.situation
    if alone.inside is None or inside is None:
        inside = None
    if alone.between is None or between is None:
        between = None
    intra, inter = inside.rate if inside else 0.0, between.rate if between else 0.0
    if inside and between:
        intra, inter = _together(network, inside, between)
    left = intra / situation.intra_bandwidth if situation.intra_bandwidth else 1.0
    shared = replace(
        situation,
        intra_bandwidth=intra,
        direct_bandwidth=situation.direct_bandwidth * left,
        pair_bandwidth=situation.pair_bandwidth * left,
        intra_edge=inside.edge if inside else None,
        direct_edge=situation.direct_edge.scaled(left) if situation.direct_edge else None,
        inter_edge=between.edge if between else None,
        inter_bandwidth=inter,
        host_bandwidth=_host_rate(network, between) if between else 0.0,
        nic_path=_nic_path(network, between) if between else situation.nic_path,
        switch_hops=max(situation.switch_hops, _switch_hops(network, between)),
        switch_latency=max(situation.switch_latency, _switch_latency(network, between, situation.network)),
    )
    return replace(alone, situation=shared, inside=inside, between=between)


def _shapes(network: Network, groups: Int) -> list[int]:
    """The first group of every shape: same places in servers of the same class, split alike."""
    islands = find_islands(network)
    island = network.island[groups]
    changes = np.zeros_like(island)
    changes[:, 1:] = np.cumsum(island[:, 1:] != island[:, :-1], axis=1)
    # one rank a server: all hops are between servers, and those are routed for all groups together
    local = islands.local[groups] if (changes[:, -1] + 1 < groups.shape[1]).any() else changes
    key = np.concatenate([islands.class_of[island], local, changes], axis=1)
    _, first = np.unique(key, axis=0, return_index=True)
    return sorted(first.tolist())[:SHAPES_LIMIT]


def widened(one: Communicator, inside: float, between: float) -> Communicator:
    """The same group with its links inside and between servers that many times as wide."""
    s = one.situation
    wider = replace(
        s,
        intra_bandwidth=s.intra_bandwidth * inside,
        direct_bandwidth=s.direct_bandwidth * inside,
        pair_bandwidth=s.pair_bandwidth * inside,
        inter_bandwidth=s.inter_bandwidth * between,
        host_bandwidth=s.host_bandwidth * between,
        intra_edge=s.intra_edge.scaled(inside) if s.intra_edge else None,
        direct_edge=s.direct_edge.scaled(inside) if s.direct_edge else None,
        inter_edge=s.inter_edge.scaled(between) if s.inter_edge else None,
    )
    return replace(one, situation=wider)


def _activities(network: Network, groups: Int, place: str) -> tuple[Activity | None, Activity | None]:
    """What groups do inside servers and between them; None where they do nothing."""
    inside, between = legs_of(network, groups)
    return (
        _activity(network, inside, place) if len(inside) else None,
        _activity(network, between, place) if len(between) else None,
    )


def _activity(network: Network, legs: Legs, place: str) -> Activity:
    routes = route(network, staged(network, legs), sums=True)
    if len(routes.lost):
        f = int(routes.lost[0])
        raise AnalysisError(
            f"there is no way from {network.net.path(int(legs.source[f]))} to {network.net.path(int(legs.target[f]))}",
            place=place,
            remedy="join them by accelerator links or PCIe, or give both servers NICs on one network",
        )
    link = routes.channel >> 1
    direction = np.where(network.full[link], routes.channel & 1, 0)
    entry = network.first_resource[link] + direction * network.cables[link]
    if (network.cables > 1).any():
        entry += (mix(routes.flow, link) % network.cables[link].astype(np.uint64)).astype(np.int64)
    met = np.zeros(network.n_resources, dtype=bool)
    met[entry] = True
    resource = np.flatnonzero(met)
    usage = np.bincount(entry, routes.share, network.n_resources)[resource].astype(np.float64)
    level = network.capacity[resource] * _calibrated(network)[resource] / usage
    rate = float(level.min())
    binds = level <= rate * (1 + TIE_TOLERANCE)
    rest = level[~binds]
    rate_then = float(rest.min()) if len(rest) else np.inf
    then = resource[~binds][rest <= rate_then * (1 + TIE_TOLERANCE)] if len(rest) else resource[:0]
    return Activity(
        legs,
        routes,
        resource,
        usage,
        rate,
        tuple(resource[binds].tolist()),
        tuple(then.tolist()),
        rate_then,
        *_edge(network, legs, routes, entry),
    )


def _edge(network: Network, legs: Legs, routes: Routes, entry: Int) -> tuple[EdgeRate, tuple[int, ...]]:
    """What the network solves for these hops, all busy alike: one rate for all, so the tightest resource gives it.

    Notes
    -----
    The fractions are those of single transfers: rings are measured on few machines, and where a link keeps less of
    its raw rate than those did, such as one between sockets, the ring cannot have more.
    """
    efficiencies = _efficiencies(network)
    n = len(legs)
    crosses = network.island[legs.source] != network.island[legs.target]
    protocol = np.where(crosses, RDMA, P2P)
    protocol[routes.flow[stages(network, routes)]] = COPY
    placement = efficiencies.placement(routes, n)
    definition = network.net.link_def[routes.channel >> 1]
    # numbers below a few hundred: counting finds those that occur without sorting millions of rows
    protocols, placements = int(protocol.max()) + 1, int(placement.max()) + 1
    code = (definition * protocols + protocol[routes.flow]) * placements + placement[routes.flow]
    occurs = np.flatnonzero(np.bincount(code))
    place_of = np.zeros(int(occurs[-1]) + 1, dtype=np.int64)
    place_of[occurs] = np.arange(len(occurs))
    which = place_of[code]
    found = [
        efficiencies.constant(int(c) // placements // protocols, int(c) // placements % protocols, int(c) % placements)
        for c in occurs
    ]
    both, kept = _both_ways(network, routes, protocol)
    ends: list[float] = []
    binds: tuple[int, ...] = ()
    for end in ("value", "low", "high"):
        share = np.array([min(1.0, getattr(one, end)) for one in found])[which]
        taken = routes.share / share
        load = np.bincount(entry, taken, network.n_resources)
        met = np.flatnonzero(load)
        level = network.capacity[met] / load[met]
        if len(both):
            share_kept = np.array([getattr(kept[int(d)], end) for d in network.net.link_def[both]])
            on_link = np.bincount(routes.channel >> 1, taken, network.net.n_links)[both]
            # a PCIe link has one resource a direction, and both stand for the link
            met = np.concatenate([met, network.first_resource[both], network.first_resource[both] + 1])
            level = np.concatenate([level, np.tile(2 * network.rate[both] * share_kept / on_link, 2)])
        rate = float(level.min())
        ends.append(rate)
        if end == "value":
            binds = tuple(np.unique(met[level <= rate * (1 + TIE_TOLERANCE)]).tolist())
    return EdgeRate(*ends), binds


def _both_ways(network: Network, routes: Routes, protocol: Int) -> tuple[Int, dict[int, Constant]]:
    """PCIe links that hops use in both directions, and what each direction keeps, by definition.

    Copies to and from host memory meet in the root and keep less than those between peers.
    """
    net = network.net
    pcie = np.array([link.kind == "pcie" for link in net.link_defs], dtype=bool)
    link = routes.channel >> 1
    rows = pcie[net.link_def[link]] & np.isin(protocol[routes.flow], (P2P, COPY)) & network.full[link]
    back = (routes.channel & 1).astype(bool)
    there, here = np.zeros(net.n_links, dtype=bool), np.zeros(net.n_links, dtype=bool)
    there[link[rows & ~back]] = True
    here[link[rows & back]] = True
    both: Int = np.flatnonzero(there & here)
    hosted = set(net.link_def[link[rows & (protocol[routes.flow] == COPY)]].tolist())
    definitions = np.unique(net.link_def[both]).tolist()
    return both, {
        d: both_directions_share(net.link_defs[d].generation or 0, peers=d not in hosted) for d in definitions
    }


@memo(most=NETWORKS_LIMIT)
def _calibrated(network: Network) -> Float:
    """Share of every resource that collectives were measured to get, 1 where nothing was measured."""
    whole = Constant(1, 1, 1, "", Status.DERIVED)
    factors = np.array([derated(whole, d.attributes, "collective").value for d in network.net.link_defs])
    found = np.ones(network.n_resources)
    if len(factors):
        per_link = factors[network.net.link_def]
        found[: network.n_link_resources] = np.repeat(per_link, network.cables * np.where(network.full, 2, 1))
    return found


def _situation(
    network: Network,
    parts: Int,
    pattern: Pattern,
    inside: Activity | None,
    between: Activity | None,
    exchange: Activity | None,
) -> CollectiveSituation:
    ranks, members, path = len(parts), pattern.members, pattern.path
    intra = inside.rate if inside else 0.0
    inter = between.rate if between else 0.0
    if inside and between:
        # Where both use the same PCIe links, the ring that runs through both is slower than either alone.
        intra, inter = _together(network, inside, between)
    if inside is not None and path is None:
        path = _placed_path(network, inside)
    nic_path, host, nics = PathClass.PCIE_SWITCH, 0.0, 1
    kind = NetworkKind.INFINIBAND
    if between is not None:
        domain = network.domain[between.routes.channel >> 1]
        nic_path = _nic_path(network, between)
        host = _host_rate(network, between)
        kind = _network_kind(network, between.routes.channel[domain == NETWORK] >> 1)
        ends = network.net.link_a, network.net.link_b
        links = between.routes.channel[domain == NETWORK] >> 1
        attach = network.has(Capability.ATTACH)
        used = np.unique(np.concatenate([side[links] for side in ends]))
        nics = max(1, round(int(attach[used].sum()) / len(members)))
    first = network.net.part(int(parts[0]))
    direct = pair = 0.0
    if exchange is not None:
        direct = min(exchange.rate, intra)
    if inside is not None and path in (PathClass.XGMI, PathClass.NVLINK_MESH) and ranks > 2:
        direct = direct or inside.rate
        pair = inside.rate / max(1, ranks // len(members) - 1)
    return CollectiveSituation(
        kind=CollectiveKind.ALL_REDUCE,
        ranks=ranks,
        message=0.0,
        intra_bandwidth=intra,
        servers=len(members),
        intra_path=path or PathClass.PCIE_CPU,
        bridged_pairs=pattern.mixed,
        architecture=_architecture(network, first.kind, int(parts[0])),
        in_switch_reduction=path is PathClass.NVLINK_SWITCH and _reduces(network, inside),
        direct_bandwidth=direct,
        pair_bandwidth=pair,
        inter_bandwidth=inter,
        nics_per_server=nics,
        host_bandwidth=host,
        nic_path=nic_path,
        network=kind,
        switch_hops=_switch_hops(network, between),
        switch_latency=_switch_latency(network, between, kind),
        intra_edge=inside.edge if inside else None,
        direct_edge=exchange.edge if exchange else None,
        inter_edge=between.edge if between else None,
    )


def _network_kind(network: Network, links: Int) -> NetworkKind:
    """What the servers talk over; links whose attribute ``technology`` says EFA are that, whatever their kind."""
    definitions = [network.net.link_defs[d] for d in np.unique(network.net.link_def[links]).tolist()]
    if any(d.attributes.get("technology", "").upper() == "EFA" for d in definitions):
        return NetworkKind.EFA
    return NetworkKind.INFINIBAND if all(d.kind == "infiniband" for d in definitions) else NetworkKind.ROCE


def _together(network: Network, inside: Activity, between: Activity) -> tuple[float, float]:
    resource = np.concatenate([inside.resource, between.resource])
    shared, count = np.unique(resource, return_counts=True)
    if not (count > 1).any():
        return inside.rate, between.rate
    both, which = np.unique(resource, return_inverse=True)
    usage = np.bincount(which, np.concatenate([inside.usage, between.usage])).astype(np.float64)
    joint = float((network.capacity[both] / usage).min())
    del shared
    return (joint, joint) if joint < min(inside.rate, between.rate) else (inside.rate, between.rate)


def _nic_path(network: Network, between: Activity) -> PathClass:
    return _placed_path(network, between)


def _placed_path(network: Network, activity: Activity) -> PathClass:
    """The slowest kind of way over PCIe that the hops take; a stop in host memory is slower than any."""
    if stages(network, activity.routes).any():
        return PathClass.HOST_MEMORY
    return _placed(_efficiencies(network).placement(activity.routes, len(activity.legs)).max())


@memo(most=NETWORKS_LIMIT)
def _efficiencies(network: Network) -> Efficiencies:
    return Efficiencies(network)


def _placed(code: int) -> PathClass:
    return (PathClass.PCIE_SWITCH, PathClass.PCIE_CPU, PathClass.CROSS_SOCKET)[int(code)]


def _host_rate(network: Network, between: Activity) -> float:
    """Rate the host links between ranks and NICs would give alone [B/s]."""
    link = np.searchsorted(network.first_resource, between.resource, side="right") - 1
    host = network.domain[link] != NETWORK
    return float((network.capacity[between.resource[host]] / between.usage[host]).min()) if host.any() else 0.0


def _switch_hops(network: Network, between: Activity | None) -> int:
    """Switches on the farthest way to the next server: one less than its network links."""
    if between is None:
        return 1
    outside = network.domain[between.routes.channel >> 1] == NETWORK
    return max(1, round(_farthest(between, outside.astype(np.float64))) - 1)


def _switch_latency(network: Network, between: Activity | None, kind: NetworkKind) -> float:
    """Time through all switches on the farthest way to the next server [s]; 0 where none of them tells its own."""
    if between is None:
        return 0.0
    own = network.hop_latency
    end = network.ends_of(between.routes.channel)
    switches = network.has(Capability.SWITCH)[end] & (network.domain[between.routes.channel >> 1] == NETWORK)
    if not np.isfinite(own[end[switches]]).any():
        return 0.0
    usual = np.where(np.isfinite(own), own, SWITCH_HOP[kind].value)
    return round(_farthest(between, np.where(switches, usual[end], 0.0)), PICOSECOND_DIGITS)


def _farthest(between: Activity, cost: Float) -> float:
    """The most that a hop between servers pays when its routes pay `cost` for each entry. : cost (nnz,)"""
    routes, n = between.routes, len(between.legs)
    own = len(routes.flow) - len(routes.stands)
    paid = float((np.bincount(routes.flow[:own], routes.share[:own] * cost[:own], n) / between.legs.share).max())
    if len(routes.stands):
        paid += float(np.bincount(routes.flow[own:], routes.share[own:] / routes.stands * cost[own:], n).max())
    return paid


def _architecture(network: Network, kind: str, part: int) -> str:
    definition = network.net.part(part)
    quantity = network.design.quantity(definition, "compute_capability")
    text = str(quantity.value) if quantity else ""
    if text.startswith("gfx"):
        return text
    digits = text.replace(".", "")
    return f"sm_{digits}" if digits.isdigit() else "sm_80"


def _reduces(network: Network, activity: Activity | None, kinds: frozenset[str] | None = None) -> bool:
    """True if every switch on the way says that it reduces; of some kinds only, where given."""
    if activity is None:
        return False
    net = network.net
    links = np.unique(activity.routes.channel >> 1)
    ends = np.unique(np.concatenate([net.link_a[links], net.link_b[links]]))
    passed = np.unique(net.part_def[ends]).tolist()
    definitions = [
        d
        for d in passed
        if Capability.SWITCH in network.kinds[d].capabilities and (kinds is None or network.kinds[d].name in kinds)
    ]
    answers: list[bool] = []
    for d in definitions:
        part = net.part_defs[d]
        says = network.design.quantity(part, "in_switch_reduction")
        generation = network.design.quantity(part, "nvlink_generation")
        if says is not None:
            answers.append(bool(says.value))
        else:
            answers.append(
                generation is not None
                and isinstance(generation.value, int)
                and generation.value >= FIRST_REDUCING.value
            )
    return bool(answers) and all(answers)
