"""Where traffic leaves an island: NICs, DPUs and storage ports, and which of them a part uses.

A part uses the nearest gateway that reaches the other side: below its own PCIe switch, else of its socket, else any.
Among those equally near it uses the ones whose role is for such traffic. Accelerators that are equally near to several
gateways take them in turn, the i-th accelerator the i-th gateway (rail affinity); other parts spread over all of them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.design.components import connected
from designer.engine.network import Network
from designer.engine.network.capacities import NETWORK
from designer.engine.network.frame import FRAMES_LIMIT, size_of
from designer.engine.network.hashing import mix
from designer.engine.network.islands import GRAPHS_LIMIT, LocalShape, find_islands, roles_of
from designer.engine.routes.routing.fabric import SwitchGraph
from designer.engine.routes.routing.host_paths import Rules, find_cost, roots_passed
from designer.engine.routes.structure import STRUCTURES_LIMIT, Structure, digest, passing, structure_of
from designer.memo import Interned, memo

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


_COMPUTE, _STORAGE = ("", "compute", "backend", "back-end"), ("storage",)
#: NICs with these roles carry other traffic only where no other reaches the target, the first of them first
_LAST: Final = (("vmotion",), ("management", "out-of-band"))
#: which NICs traffic prefers among those equally near, first to last; unknown roles count as storage
COMPUTE_ROLES: Final = (_COMPUTE, _STORAGE)
STORAGE_ROLES: Final = (_STORAGE, _COMPUTE)
HOST_ROLES: Final = ((*_COMPUTE, *_STORAGE),)
Roles = tuple[tuple[str, ...], ...]
#: choices of gateways kept of one class of islands
_CHOICES_LIMIT: Final = 1 << 14


@dataclass(frozen=True, slots=True, eq=False)
class Likeness:
    """What fabrics have in common joined in the same way: a link less in a server changes the numbers of all cables
    behind it, and no way between servers. Answers in places of cables and ends hang on it.
    """

    n_links: int


@dataclass(frozen=True, slots=True, eq=False)
class Fabric:
    """The networks of a design.

    Parameters
    ----------
    switch : (n_parts,) number of each switch, −1 for other parts
    graph
        The switches and the channels between them.
    gateway, to_switch, out : (n_uplinks,) gateway part, switch it is cabled to, channel towards the switch
    cables : (n_uplinks,) cables of that link
    fabric : (n_uplinks,) which connected fabric the switch is in
    uplink_start : (n_parts + 1,) first uplink of each part; uplinks are sorted by gateway, then switch
    direct : channels of cables between two gateways without a switch, by the pair of parts
    links : (n_cables,) the links of it, ascending
    ends : (n_ends,) the parts that these join, ascending
    likeness
        The same object for fabrics joined in the same way, whatever the numbers of their links and parts.
    """

    switch: Int
    graph: SwitchGraph
    gateway: Int
    to_switch: Int
    out: Int
    cables: Int
    fabric: Int
    uplink_start: Int
    direct: dict[tuple[int, int], list[int]]
    links: Int
    ends: Int
    likeness: Likeness

    @property
    def extent(self) -> int:
        """Numbers in its arrays; see ``designer.memo``."""
        return size_of(self) // self.gateway.itemsize


def find_fabric(network: Network) -> Fabric:
    """The fabric of a network."""
    return _fabric(structure_of(network.plain or network))


@memo(most=STRUCTURES_LIMIT, size=size_of, budget=FRAMES_LIMIT // 2)
def _fabric(structure: Structure) -> Fabric:
    network = structure.network
    net = network.net
    passes = passing(network)
    links = np.flatnonzero(network.domain == NETWORK)
    # numbers that are multiplied below
    a, b, count = net.link_a[links].astype(np.int64), net.link_b[links].astype(np.int64), network.count[links]
    key = digest(links, a, b, count, passes)
    return _fabrics(key, lambda: _joined_fabric(net.n_parts, passes, links, (a, b), count))


def _likeness(passes: Bool, ends: Int, a: Int, b: Int, count: Int) -> Likeness:
    key = digest(np.searchsorted(ends, a), np.searchsorted(ends, b), count, passes[ends])
    return _likenesses(key, lambda: Likeness(len(a)))


#: fabrics joined otherwise whose ways are kept
_LIKENESSES_LIMIT: Final = 8
_likenesses: Interned[Likeness] = Interned(_LIKENESSES_LIMIT)


#: fabrics kept: an edited member leaves that of its cluster as it is
_FABRICS_LIMIT: Final = 4
_fabrics: Interned[Fabric] = Interned(_FABRICS_LIMIT)


def _joined_fabric(n_parts: int, passes: Bool, links: Int, ends: tuple[Int, Int], count: Int) -> Fabric:
    """The fabric of some network links between parts, some of which pass traffic on."""
    a, b = ends
    inside = passes[a] & passes[b]
    involved = np.unique(np.concatenate([a[passes[a]], b[passes[b]]]))
    switch = np.full(n_parts, -1, dtype=np.int64)
    switch[involved] = np.arange(len(involved))
    sa, sb, channel, cables = switch[a[inside]], switch[b[inside]], 2 * links[inside], count[inside]
    n = len(involved)
    graph = SwitchGraph.of(
        n,
        np.concatenate([sa, sb]),
        np.concatenate([sb, sa]),
        np.concatenate([channel, channel + 1]),
        np.concatenate([cables, cables]),
    )
    _, component = connected(n, sa, sb)
    up_a, up_b = ~passes[a] & passes[b], passes[a] & ~passes[b]
    gateway = np.concatenate([a[up_a], b[up_b]])
    to_switch = switch[np.concatenate([b[up_a], a[up_b]])]
    out = np.concatenate([2 * links[up_a], 2 * links[up_b] + 1])
    up_cables = np.concatenate([count[up_a], count[up_b]])
    order = np.lexsort((to_switch, gateway))
    gateway, to_switch, out, up_cables = gateway[order], to_switch[order], out[order], up_cables[order]
    direct: dict[tuple[int, int], list[int]] = {}
    for k in np.flatnonzero(~passes[a] & ~passes[b]).tolist():
        direct.setdefault((int(a[k]), int(b[k])), []).append(2 * int(links[k]))
        direct.setdefault((int(b[k]), int(a[k])), []).append(2 * int(links[k]) + 1)
    start = np.concatenate([[0], np.cumsum(np.bincount(gateway, minlength=n_parts))])
    fabric = component[to_switch] if n else np.empty(0, dtype=np.int64)
    parts = np.unique(np.concatenate([a, b]))
    likeness = _likeness(passes, parts, a, b, count)
    return Fabric(switch, graph, gateway, to_switch, out, up_cables, fabric, start, direct, links, parts, likeness)


@dataclass(frozen=True, slots=True, eq=False)
class IslandGateways:
    """The gateways of every island, and which islands have the same ones in the same fabrics.

    Parameters
    ----------
    signature : (n_islands,) islands with equal numbers have gateways at the same places in the same fabrics
    doors : per signature, (place in the island, fabrics it reaches) of each gateway
    storage : the fabrics that join servers to storage and no two servers for what they compute
    """

    signature: Int
    doors: tuple[tuple[tuple[int, frozenset[int]], ...], ...]
    storage: frozenset[int]


def find_doors(network: Network) -> IslandGateways:
    """The gateways of all islands."""
    return _doors(structure_of(network.plain or network))


@memo(most=STRUCTURES_LIMIT)
def _doors(structure: Structure) -> IslandGateways:
    network = structure.network
    islands, fabric = find_islands(network), _fabric(structure)
    part = np.concatenate([fabric.gateway, np.array([a for a, _ in fabric.direct], dtype=np.int64)])
    # A direct cable is a fabric of its own, known by its link.
    offset = int(fabric.fabric.max()) + 1 if len(fabric.fabric) else 0
    of = np.concatenate(
        [fabric.fabric, np.array([offset + (c[0] >> 1) for c in fabric.direct.values()], dtype=np.int64)]
    )
    island, place = network.island[part], islands.local[part]
    rows = np.stack([island, place, of], axis=1)
    if len(rows):
        # each once, in order: as one number, which is quicker than row by row
        spans = [int(column.max()) + 1 for column in rows.T]
        key = (rows[:, 0] * spans[1] + rows[:, 1]) * spans[2] + rows[:, 2]
        rows = rows[np.unique(key, return_index=True)[1]]
    total = np.zeros(network.n_islands, dtype=np.uint64)
    np.add.at(total, rows[:, 0], mix(rows[:, 1], rows[:, 2]))
    _, first, signature = np.unique(total, return_index=True, return_inverse=True)
    begin = np.searchsorted(rows[:, 0], first)
    end = np.searchsorted(rows[:, 0], first, side="right")
    doors: list[tuple[tuple[int, frozenset[int]], ...]] = []
    for lo, hi in zip(begin.tolist(), end.tolist(), strict=True):
        reach: dict[int, set[int]] = {}
        for _, at, component in rows[lo:hi].tolist():
            reach.setdefault(at, set()).add(component)
        doors.append(tuple((at, frozenset(c)) for at, c in sorted(reach.items())))
    return IslandGateways(signature.astype(np.int64), tuple(doors), _storage_networks(network, part, of))


def _storage_networks(network: Network, part: Int, fabric: Int) -> frozenset[int]:
    """Fabrics with storage on them, and NICs for computing of one island at most.

    Parameters
    ----------
    part, fabric : (n,) gateways, and a fabric that each is cabled to
    """
    computes = np.array([role in _COMPUTE for role in roles_of(network)], dtype=bool)
    stores = network.has(Capability.STORE)[part]
    rows = np.unique(
        np.stack([fabric, network.island[part]])[:, ~stores & computes[network.net.part_def[part]]], axis=1
    )
    shared = np.flatnonzero(np.bincount(rows[0]) > 1)
    return frozenset(fabric[stores].tolist()) - frozenset(shared.tolist())


#: doors a request may use: (door at the source, door at the target, share)
Crossing = tuple[int, int, float]


def cross(
    source: LocalShape,
    at: int,
    exits: tuple[tuple[int, frozenset[int]], ...],
    target: LocalShape,
    to: int,
    entries: tuple[tuple[int, frozenset[int]], ...],
    rules: Rules,
    rail_affinity: bool,
    storage: frozenset[int] = frozenset(),
) -> tuple[Crossing, ...]:
    """Gateways for traffic from part `at` of one island to part `to` of another; empty when no fabric joins them.

    Parameters
    ----------
    storage
        Fabrics that are storage networks.
    """
    there = frozenset[int]().union(*(f for _, f in entries)) if entries else frozenset[int]()
    roles = _roles(source.kinds[at].capabilities | target.kinds[to].capabilities)
    meant = storage if roles is STORAGE_ROLES else frozenset[int]()
    leave = _preferred_gateways(
        source, at, _reaching_gateways(source, at, exits, there, roles, meant), rules, rail_affinity
    )
    found: list[Crossing] = []
    for door, fabrics, share in leave:
        enter = _preferred_gateways(
            target, to, _reaching_gateways(target, to, entries, fabrics, roles, meant), rules, rail_affinity
        )
        found += [(door, other, share * part) for other, _, part in enter]
    return tuple(found)


#: gateways of an island: place in it, and the fabrics each reaches
Gateways = tuple[tuple[int, frozenset[int]], ...]
#: the same with how well the role of each is for some traffic: 0 is best
Ranked = tuple[tuple[int, frozenset[int], int], ...]


def _reaching_gateways(
    shape: LocalShape,
    at: int,
    doors: Gateways,
    fabrics: frozenset[int],
    roles: Roles,
    meant: frozenset[int] = frozenset(),
) -> Ranked:
    """The gateways that reach one of some fabrics, of a kind that may carry the traffic, with the rank of their role.

    Traffic of a gateway itself leaves through it, whatever its role. A NIC that is cabled to a network meant for the
    traffic, or has another network next to it, is cabled there for this traffic: its role says what its other port is
    for.
    """
    reaching = [(g, f) for g, f in doors if f & fabrics]
    if any(g == at for g, _ in reaching):
        reaching = [(g, f) for g, f in reaching if g == at]
    last = [_rank(shape.roles[g], _LAST, -1) for g, _ in reaching]
    least = min(last, default=-1)
    return tuple(
        (g, f & fabrics, 0 if f - fabrics or f & fabrics & meant else _rank(shape.roles[g], roles, 1))
        for (g, f), late in zip(reaching, last, strict=True)
        if late == least
    )


def nearest_door(
    shape: LocalShape, at: int, doors: Gateways, rules: Rules, rail_affinity: bool
) -> tuple[int, float] | None:
    """The gateway that an accelerator leaves through, and what the way there costs; None where it reaches none."""
    every = frozenset[int]().union(*(f for _, f in doors)) if doors else frozenset[int]()
    ranked = _reaching_gateways(shape, at, doors, every, COMPUTE_ROLES)
    best = min((rank for _, _, rank in ranked), default=0)
    chosen = _preferred_gateways(shape, at, tuple(door for door in ranked if door[2] == best), rules, rail_affinity)
    if not chosen:
        return None
    cost = find_cost(shape, at, chosen[0][0], rules)
    return None if cost is None else (chosen[0][0], float(cost))


def _roles(ends: frozenset[Capability]) -> Roles:
    """NICs in order for traffic between parts with these capabilities: data at rest, accelerators, or neither."""
    if Capability.STORE in ends:
        return STORAGE_ROLES
    return COMPUTE_ROLES if Capability.ACCELERATE in ends else HOST_ROLES


@memo(most=GRAPHS_LIMIT, each=_CHOICES_LIMIT)
def _preferred_gateways(
    shape: LocalShape, at: int, doors: Ranked, rules: Rules, rail_affinity: bool
) -> tuple[tuple[int, frozenset[int], float], ...]:
    """The gateways that a part uses of some that reach the other side, the fabrics each reaches, and its share.

    One by turn for an accelerator, all in equal shares for anything else. A gateway is its own door.
    """
    reach = {g: f for g, f, _ in doors}
    if at in reach:
        return ((at, reach[at], 1.0),)
    near = _nearest_gateways(shape, at, doors, rules)
    if not near:
        return ()
    if Capability.ACCELERATE in shape.kinds[at].capabilities:
        peers = [i for i, k in enumerate(shape.kinds) if Capability.ACCELERATE in k.capabilities]
        if rail_affinity:
            equal = [i for i in peers if _nearest_gateways(shape, i, doors, rules) == near]
            door = near[equal.index(at) % len(near)]
        else:
            best = min(rank for _, _, rank in doors)
            every = tuple(g for g, _, rank in doors if rank == best)
            door = every[peers.index(at) % len(every)]
        return ((door, reach[door], 1.0),)
    return tuple((g, reach[g], 1 / len(near)) for g in near)


def _rank(role: str, roles: Roles, unknown: int) -> int:
    return next((i for i, names in enumerate(roles) if role in names), unknown)


@memo(most=GRAPHS_LIMIT, each=_CHOICES_LIMIT)
def _nearest_gateways(shape: LocalShape, at: int, doors: Ranked, rules: Rules) -> tuple[int, ...]:
    """Those of `doors` that are nearest to `at`, by root complexes on the way, then role, then for accelerators steps.

    To host memory all adapters of its socket are equally near, whichever switches they are below.
    """
    passed = {g: p for g, _, _ in doors if (p := roots_passed(shape, at, g, rules)) is not None}
    fewest = min(passed.values(), default=0)
    ranks = {g: rank for g, _, rank in doors if passed.get(g) == fewest}
    best = min(ranks.values(), default=0)
    cost = {g: find_cost(shape, at, g, rules) or 0 for g, rank in ranks.items() if rank == best}
    if Capability.ACCELERATE not in shape.kinds[at].capabilities:
        return tuple(cost)
    least = min(cost.values(), default=0)
    return tuple(g for g, c in cost.items() if c == least)
