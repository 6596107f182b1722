"""Groups of ranks on the drawn design: rings routed over its links give the raw bandwidth, models the time.

A collective runs in lockstep, so it is one activity with the summed usage of its hops, never a bundle of
independent flows. What a library achieves of the raw bandwidth is put on once, by the formula.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.activities import (
    Activity,
    Common,
    Copies,
    Hops,
    activity_of,
    common_of,
    hops_of,
    host_rate,
    leading,
    through,
)
from designer.analysis.hashing import mix
from designer.analysis.hops import Pattern, RingsFound, all_with_all, legs_of, pattern_of, same_rings
from designer.analysis.islands import find_islands
from designer.analysis.network import STRUCTURES_LIMIT, Network
from designer.analysis.routes import Kept, Legs, Routes, Ways, route, same_ways
from designer.analysis.staging import staged, stops_key
from designer.analysis.structure import Structure, digest, structure_of
from designer.catalog.parttype import Capability
from designer.errors import AnalysisError
from designer.formulas.collectives import (
    SWITCH_HOP,
    CollectiveKind,
    CollectiveSituation,
    CollectiveTime,
    NetworkKind,
    PathClass,
)
from designer.formulas.collectives.collective_time import collective_time
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
        between = _activity(self.network, _routed(self.network, groups, self.place, _ALL).between)
        assert between is not None
        situation = replace(
            one.situation,
            inter_edge=between.edge,
            inter_bandwidth=between.rate,
            host_bandwidth=host_rate(self.network, between.hops),
        )
        return replace(one, between=between, situation=situation)


@dataclass(frozen=True, slots=True, eq=False)
class _Routed:
    """Groups routed, for all networks that are connected alike.

    Parameters
    ----------
    inside, between, exchange
        Hops inside servers, between them, and of every rank to each other one of its server; None where there are none.
    common
        What hops inside servers and between them both use.
    n_servers, path, mixed
        Of the first group; see `Pattern`.
    lead, every, copies
        The hops inside servers that were routed, all that they stand for, and how.
    inside_ways, ways, rings
        What hops inside servers, and the others, rest on inside islands.
    """

    inside: Hops | None
    between: Hops | None
    exchange: Hops | None
    common: Common | None
    n_servers: int
    path: PathClass | None
    mixed: bool
    lead: Legs
    every: Legs
    copies: Copies | None
    inside_ways: Ways
    ways: Ways
    rings: RingsFound

    def on(self, network: Network, place: str) -> _Routed | None:
        """The same on a network connected alike; None where more than the ways inside servers would change."""
        if not same_rings(network, self.rings) or not same_ways(network, self.ways):
            return None
        if same_ways(network, self.inside_ways):
            return self
        # other rates may only share out the links inside servers otherwise
        inside, ways = _hops(network, self.lead, place, self.every, self.copies)
        common = common_of(network, inside, self.between) if inside is not None and self.between is not None else None
        return replace(self, inside=inside, inside_ways=ways, common=common)

    def size(self) -> int:
        """Entries that it keeps."""
        return (
            sum(2 * len(h.resource) + len(h.nics) for h in (self.inside, self.between, self.exchange) if h)
            + self.every.size()
        )


#: what is routed of groups: the rings of one, those of all together, every server to all others
_ALONE, _TOGETHER, _ALL = "alone", "together", "all"
#: entries of routed groups kept for each structure: about 100 MB
ROUTED_LIMIT: Final = 8_000_000


@memo(most=STRUCTURES_LIMIT)
def _kept(_structure: Structure) -> Kept[_Routed]:
    return Kept(ROUTED_LIMIT)


@memo(most=STRUCTURES_LIMIT)
def _kept_shapes(_structure: Structure) -> Kept[list[int]]:
    return Kept(ROUTED_LIMIT)


def make_communicator(network: Network, ranks: Int, place: str) -> Communicator:
    """The communicator of the given accelerators, in rank order.

    Raises
    ------
    AnalysisError
        If some ranks cannot reach the others.
    """
    routed = _routed(network, ranks[None], place, _ALONE)
    inside, between, exchange = (_activity(network, h) for h in (routed.inside, routed.between, routed.exchange))
    situation = _situation(network, ranks, routed, inside, between, exchange)
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
    routed = _routed(network, groups, place, _TOGETHER)
    inside, between = _activity(network, routed.inside), _activity(network, routed.between)
    return tuple(replace(_share(one, routed, inside, between), groups=groups) for one in shapes)


def _activity(network: Network, hops: Hops | None) -> Activity | None:
    return activity_of(network, hops) if hops is not None else None


def _routed(network: Network, groups: Int, place: str, what: str) -> _Routed:
    """Groups routed; kept for networks connected alike."""
    kept = _kept(structure_of(network))
    key = digest(groups.ravel()) + stops_key(network) + f"{groups.shape[1]};{what}".encode()
    known = kept.get(key)
    found = known.on(network, place) if known is not None else None
    if found is None:
        found = _route(network, groups, place, what)
    if found is not known:
        kept.keep(key, found, found.size())
    return found


def _hops(
    network: Network, legs: Legs, place: str, every: Legs | None = None, copies: Copies | None = None
) -> tuple[Hops | None, Ways]:
    """Hops routed, and the ways inside islands they rest on."""
    if not len(legs):
        return None, ()
    routes = _ways_of(network, legs, place)
    return hops_of(network, legs, routes, legs if every is None else every, copies), routes.rests_on


def _route(network: Network, groups: Int, place: str, what: str) -> _Routed:
    inside_legs, between_legs, rings = legs_of(network, groups)
    if what == _ALL:
        inside_legs, between_legs = inside_legs.none(), all_with_all(network, groups)
    lead, copies = leading(network, inside_legs)
    inside, inside_ways = _hops(network, lead, place, inside_legs, copies)
    between, ways = _hops(network, between_legs, place)
    pattern = pattern_of(network, groups[0])
    exchange: Hops | None = None
    pairs = _pairs_inside(pattern, groups[0]) if what == _ALONE and inside is not None else None
    if pairs is not None:
        try:
            exchange, more = _hops(network, pairs, place)
            ways = (*ways, *more)
        except AnalysisError:
            exchange = None  # some reach each other only around the ring, which passes their data on
    common = common_of(network, inside, between) if inside is not None and between is not None else None
    return _Routed(
        inside,
        between,
        exchange,
        common,
        pattern.n_servers,
        pattern.path,
        pattern.mixed,
        lead,
        inside_legs,
        copies,
        inside_ways,
        ways,
        rings,
    )


def _ways_of(network: Network, legs: Legs, place: str) -> Routes:
    routes = route(network, staged(network, legs), sums=True, kept=False)
    if len(routes.lost):
        f = int(routes.lost[0])
        raise AnalysisError(
            f"there is no way from {network.net.path(int(legs.source[f]))} to {network.net.path(int(legs.target[f]))}",
            place=place,
            remedy="join them by accelerator links or PCIe, or give both servers NICs on one network",
        )
    return routes


def _pairs_inside(pattern: Pattern, ranks: Int) -> Legs | None:
    """Every rank sending to each other rank of its server at once; None where that loads the links as the rings do."""
    if pattern.path is PathClass.NVLINK_SWITCH:
        return None
    size = np.diff(pattern.start)
    n_pairs = int((size * (size - 1)).sum())
    if n_pairs == len(pattern.inside.share) or n_pairs > PAIRS_LIMIT:
        return None
    pairs = [(a, b, 1 / (len(m) - 1)) for m in (m.tolist() for m in pattern.members()) for a in m for b in m if a != b]
    source, target, share = (np.array(column) for column in zip(*pairs, strict=True))
    return Legs(np.arange(len(pairs)), ranks[source], ranks[target], share)


def _share(alone: Communicator, routed: _Routed, inside: Activity | None, between: Activity | None) -> Communicator:
    """A group with the bandwidth it keeps when its equals are at work too."""
    network, situation = alone.network, alone.situation
    if alone.inside is None or inside is None:
        inside = None
    if alone.between is None or between is None:
        between = None
    intra, inter = inside.rate if inside else 0.0, between.rate if between else 0.0
    if inside and between:
        intra, inter = _together(network, routed.common, inside, between)
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
        host_bandwidth=host_rate(network, between.hops) if between else 0.0,
        nic_path=_placed_path(between.hops) if between else situation.nic_path,
        switch_hops=max(situation.switch_hops, _switch_hops(between)),
        switch_latency=max(situation.switch_latency, _switch_latency(network, between, situation.network)),
    )
    return replace(alone, situation=shared, inside=inside, between=between)


def _shapes(network: Network, groups: Int) -> list[int]:
    """The first group of every shape: same places in servers of the same class, split alike."""
    if len(groups) == 1:
        return [0]
    kept = _kept_shapes(structure_of(network))
    key = digest(groups.ravel()) + str(groups.shape[1]).encode()
    found = kept.get(key)
    if found is None:
        found = _find_shapes(network, groups)
        kept.keep(key, found, len(found))
    return found


def _find_shapes(network: Network, groups: Int) -> list[int]:
    islands = find_islands(network)
    island = network.island[groups]
    changes = np.zeros_like(island)
    changes[:, 1:] = np.cumsum(island[:, 1:] != island[:, :-1], axis=1)
    # one rank a server: all hops are between servers, and those are routed for all groups together
    local = islands.local[groups] if (changes[:, -1] + 1 < groups.shape[1]).any() else changes
    key = np.concatenate([islands.class_of[island], local, changes], axis=1)
    column = np.broadcast_to(np.arange(key.shape[1]), key.shape)
    signs = np.add.reduce(mix(key.ravel(), column.ravel()).reshape(key.shape), axis=1)
    _, first = np.unique(signs, return_index=True)
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


def _situation(
    network: Network,
    parts: Int,
    routed: _Routed,
    inside: Activity | None,
    between: Activity | None,
    exchange: Activity | None,
) -> CollectiveSituation:
    ranks, servers, path = len(parts), routed.n_servers, routed.path
    intra = inside.rate if inside else 0.0
    inter = between.rate if between else 0.0
    if inside and between:
        # Where both use the same PCIe links, the ring that runs through both is slower than either alone.
        intra, inter = _together(network, routed.common, inside, between)
    if inside is not None and path is None:
        path = _placed_path(inside.hops)
    nic_path, host, nics = PathClass.PCIE_SWITCH, 0.0, 1
    kind = NetworkKind.INFINIBAND
    if between is not None:
        nic_path = _placed_path(between.hops)
        host = host_rate(network, between.hops)
        kind = _network_kind(network, between.hops.links)
        nics = max(1, round(len(between.hops.nics) / servers))
    first = network.net.part(int(parts[0]))
    direct = pair = 0.0
    if exchange is not None:
        direct = min(exchange.rate, intra)
    if inside is not None and path in (PathClass.XGMI, PathClass.NVLINK_MESH) and ranks > 2:
        direct = direct or inside.rate
        pair = inside.rate / max(1, ranks // servers - 1)
    return CollectiveSituation(
        kind=CollectiveKind.ALL_REDUCE,
        ranks=ranks,
        message=0.0,
        intra_bandwidth=intra,
        servers=servers,
        intra_path=path or PathClass.PCIE_CPU,
        bridged_pairs=routed.mixed,
        architecture=_architecture(network, first.kind, int(parts[0])),
        in_switch_reduction=path is PathClass.NVLINK_SWITCH and _reduces(network, inside),
        direct_bandwidth=direct,
        pair_bandwidth=pair,
        inter_bandwidth=inter,
        nics_per_server=nics,
        host_bandwidth=host,
        nic_path=nic_path,
        network=kind,
        switch_hops=_switch_hops(between),
        switch_latency=_switch_latency(network, between, kind),
        intra_edge=inside.edge if inside else None,
        direct_edge=exchange.edge if exchange else None,
        inter_edge=between.edge if between else None,
    )


def _network_kind(network: Network, links: tuple[int, ...]) -> NetworkKind:
    """What the servers talk over; links whose attribute ``technology`` says EFA are that, whatever their kind."""
    definitions = [network.net.link_defs[d] for d in links]
    if any(d.attributes.get("technology", "").upper() == "EFA" for d in definitions):
        return NetworkKind.EFA
    return NetworkKind.INFINIBAND if all(d.kind == "infiniband" for d in definitions) else NetworkKind.ROCE


def _together(network: Network, common: Common | None, inside: Activity, between: Activity) -> tuple[float, float]:
    if common is None or not len(common.resource):
        return inside.rate, between.rate
    joint = float((network.capacity_of(common.resource) / common.usage).min())
    return (joint, joint) if joint < min(inside.rate, between.rate) else (inside.rate, between.rate)


def _placed_path(hops: Hops) -> PathClass:
    """The slowest kind of way over PCIe that the hops take; a stop in host memory is slower than any."""
    if hops.staged:
        return PathClass.HOST_MEMORY
    return (PathClass.PCIE_SWITCH, PathClass.PCIE_CPU, PathClass.CROSS_SOCKET)[hops.placement]


def _switch_hops(between: Activity | None) -> int:
    """Switches on the farthest way to the next server: one less than its network links."""
    return max(1, round(between.hops.network_links) - 1) if between is not None else 1


def _switch_latency(network: Network, between: Activity | None, kind: NetworkKind) -> float:
    """Time through all switches on the farthest way to the next server [s]; 0 where none of them tells its own."""
    if between is None:
        return 0.0
    own = network.hop_bands_of_definitions[0]
    passed = sorted({d for definitions, _ in between.hops.passed for d in definitions})
    if not np.isfinite(own[passed]).any():
        return 0.0
    return round(through(between.hops, np.where(np.isfinite(own), own, SWITCH_HOP[kind].value)), PICOSECOND_DIGITS)


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
    net, passed = network.net, activity.hops.parts
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
