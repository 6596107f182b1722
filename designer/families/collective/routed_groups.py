"""Groups of ranks routed over the drawn links: what their hops load, kept for networks connected in the same way."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.design.document import Part
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.capacities import of_each
from designer.engine.network.frame import STRUCTURES_LIMIT
from designer.engine.network.hashing import mix
from designer.engine.network.islands import find_islands, plain_classes
from designer.engine.network.partition import by_value
from designer.engine.routes import route, same_segments, segments_on
from designer.engine.routes.hop_loads import Common, Hops, Servers, common_of, hops_of, hops_on, servers_of
from designer.engine.routes.hops import Pattern, RingsFound, all_with_all, legs_of, pattern_of, same_rings
from designer.engine.routes.legs import Legs, Routes, Segments, groups_of
from designer.engine.routes.routing.host_paths import Rules, roots_passed
from designer.engine.routes.staging import staged, stops_as_plain, stops_key
from designer.engine.routes.structure import Structure, digest, structure_of
from designer.errors import AnalysisError
from designer.formulas.collectives import PathClass
from designer.memo import Store, memo

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
#: groups of more shapes than this are judged by the first ones
SHAPES_LIMIT: Final = 16
#: more pairs inside servers than this are not routed for an exchange of all with all, which then counts as a ring
PAIRS_LIMIT: Final = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class RoutedGroups:
    """Groups routed, for all networks connected in the same way.

    Parameters
    ----------
    inside, between, exchange
        Hops inside servers, between them, and of every rank to each other one of its server; None where there are none.
    common
        What hops inside servers and between them both use.
    n_servers, path, mixed
        Of the first group; see `Pattern`.
    legs, servers, island_classes
        The hops inside servers, the servers that represent others by them, and the classes of islands these rest on.
    inside_segments, segments, rings
        What hops inside servers, and the others, rest on inside islands.
    """

    inside: Hops | None
    between: Hops | None
    exchange: Hops | None
    common: Common | None
    n_servers: int
    path: PathClass | None
    mixed: bool
    legs: Legs
    servers: Servers | None
    island_classes: Int
    inside_segments: Segments
    segments: Segments
    rings: RingsFound

    def on(self, network: Network, place: str) -> RoutedGroups | None:
        """The same on a network connected in the same way; None where other than paths inside servers change."""
        if not same_rings(network, self.rings) or not same_segments(network, self.segments):
            return None
        if same_segments(network, self.inside_segments):
            return self
        # other rates may only share out the links inside servers otherwise
        same = np.array_equal(find_islands(network).class_of, self.island_classes)
        servers = self.servers if same else servers_of(network, self.legs)
        inside, segments = _hops(network, self.legs, place, servers)
        common = common_of(network, inside, self.between) if inside is not None and self.between is not None else None
        classes = find_islands(network).class_of
        return replace(
            self, inside=inside, inside_segments=segments, common=common, servers=servers, island_classes=classes
        )

    def size(self) -> int:
        """Entries that it keeps."""
        return sum(h.size() for h in (self.inside, self.between, self.exchange) if h) + self.legs.size()


#: what is routed of groups: the rings of one, those of all together, every server to all others
ALONE, TOGETHER, ALL = "alone", "together", "all"
#: entries of routed groups kept for each structure: about 100 MB
ROUTED_LIMIT: Final = 8_000_000


@memo(most=STRUCTURES_LIMIT)
def _group_store(_structure: Structure) -> Store[RoutedGroups]:
    return Store(ROUTED_LIMIT)


@memo(most=STRUCTURES_LIMIT)
def _kept_shapes(_structure: Structure) -> Store[list[int]]:
    return Store(ROUTED_LIMIT)


def routed_groups(network: Network, groups: Int, place: str, what: str) -> RoutedGroups:
    """Groups routed; kept for networks connected in the same way."""
    kept = _group_store(structure_of(network))
    peers = network.design.policy.peer_level.encode() + _on_intel(network).tobytes()
    key = digest(groups.ravel()) + stops_key(network) + peers + f"{groups.shape[1]};{what}".encode()
    known = kept.get(key)
    found = known.on(network, place) if known is not None else None
    if found is None:
        found = _from_plain(network, groups, place, what) or _route(network, groups, place, what)
    if found is not known:
        kept.keep(key, found, found.size())
    return found


def _from_plain(network: Network, groups: Int, place: str, what: str) -> RoutedGroups | None:
    """Groups as they are routed on the plain network; None where members that differ send or go other ways."""
    was = plain_classes(network)
    if network.plain is None or was is None or not stops_as_plain(network) or not _peers_as_plain(network):
        return None
    usual = routed_groups(network.plain, groups, place, what)
    rings = tuple((k, at, found) for cls, at, found in usual.rings for k, before in enumerate(was) if before == cls)
    inside_segments, segments = (segments_on(network, s) for s in (usual.inside_segments, usual.segments))
    if inside_segments is None or segments is None or not same_rings(network, rings):
        return None
    sides = [
        (hops, hops_on(network, hops) if hops is not None else None)
        for hops in (usual.inside, usual.between, usual.exchange)
    ]
    if any(hops is not None and here is None for hops, here in sides):
        return None
    inside, between, exchange = (here for _, here in sides)
    common = common_of(network, inside, between) if inside is not None and between is not None else None
    return replace(
        usual,
        servers=None,
        # asked for where an edit shares out the links inside servers otherwise
        island_classes=usual.island_classes[:0],
        inside=inside,
        between=between,
        exchange=exchange,
        common=common,
        inside_segments=inside_segments,
        segments=segments,
        rings=rings,
    )


def _hops(network: Network, legs: Legs, place: str, servers: Servers | None) -> tuple[Hops | None, Segments]:
    """Hops routed, and the paths inside islands they rest on."""
    if not len(legs):
        return None, ()
    lead = legs if servers is None else servers.legs(network, legs)
    routes = _ways_of(network, lead, place)
    return hops_of(network, lead, routes, legs, servers), routes.rests_on


def _route(network: Network, groups: Int, place: str, what: str) -> RoutedGroups:
    inside_legs, between_legs, rings = legs_of(network, groups)
    if what == ALL:
        inside_legs, between_legs = inside_legs.none(), all_with_all(network, groups)
    servers = servers_of(network, inside_legs)
    inside, inside_segments = _hops(network, inside_legs, place, servers)
    between, segments = _hops(network, between_legs, place, servers_of(network, between_legs))
    pattern = pattern_of(network, groups[0])
    exchange: Hops | None = None
    pairs = _pairs_inside(pattern, groups[0]) if what == ALONE and inside is not None else None
    if pairs is not None:
        try:
            exchange, more = _hops(network, pairs, place, servers_of(network, pairs))
            segments = (*segments, *more)
        except AnalysisError:
            exchange = None  # some reach each other only around the ring, which passes their data on
    common = common_of(network, inside, between) if inside is not None and between is not None else None
    return RoutedGroups(
        inside,
        between,
        exchange,
        common,
        pattern.n_servers,
        pattern.path,
        pattern.mixed,
        inside_legs,
        servers,
        find_islands(network).class_of,
        inside_segments,
        segments,
        rings,
    )


def staged_for_library(network: Network, legs: Legs) -> Legs:
    """Legs with the stops in host memory that hardware, policy and the library of collectives make.

    Notes
    -----
    NCCL writes to peers over PCIe as far as ``NCCL_P2P_LEVEL`` allows. Unless it is set, that is below one switch on
    Intel hosts since release 2.12 (``src/graph/paths.cc``), and everywhere on AMD hosts up to 2.22. From 2.23 on it is
    below one switch on AMD hosts with more than two accelerators too, which the policy ``switch`` asks for.
    """
    level = network.design.policy.peer_level
    closed = np.ones(len(legs), dtype=bool)
    if level == "auto":
        intel = np.zeros(int(network.island.max(initial=0)) + 1, dtype=bool)
        intel[network.island[_parts_of(network.net.part_def, _processors(network, "intel"))]] = True
        closed = intel[network.island[legs.source]]
    if level == "system" or not closed.any():
        return staged(network, legs)
    accelerates = network.has(Capability.ACCELERATE)
    closed &= accelerates[legs.source] & accelerates[legs.target] & (legs.source != legs.target)
    closed &= network.island[legs.source] == network.island[legs.target]
    rows = np.flatnonzero(closed)
    closed[rows] = _roots_between(network, legs.source[rows], legs.target[rows]) > (level == "socket")
    return staged(network, legs, far=closed)


def _roots_between(network: Network, source: Int, target: Int) -> Int:
    """Root complexes on the way from one part of an island to another. : (n,)"""
    islands, policy = find_islands(network), network.design.policy
    rules = Rules(policy.relay_through_gpu, policy.pcie_acs)
    key = np.stack([islands.class_of[network.island[source]], islands.local[source], islands.local[target]], axis=1)
    found = np.zeros(len(source), dtype=np.int64)
    for (cls, a, b), equal in groups_of(key):
        found[equal] = roots_passed(islands.classes[cls].shape, a, b, rules) or 0
    return found


def host_maker(network: Network, parts: Int) -> str:
    """Who made the processors of the hosts of some parts, as the catalog calls them; ``amd`` if AMD is one of several.

    NCCL takes mixed hosts for those of AMD. Empty where no processor is drawn, or none of a maker.
    """
    found: set[str] = set()
    for maker in set(_makers(network)) - {"", "generic"}:
        processors = _parts_of(network.net.part_def, _processors(network, maker))
        if np.isin(network.island[processors], network.island[parts]).any():
            found.add(maker)
    return found.pop() if len(found) == 1 else "amd" if "amd" in found else ""


@memo(most=NETWORKS_LIMIT)
def _makers(network: Network) -> tuple[str, ...]:
    """Makers of definitions of parts that are processors of the catalog, empty for others. : (n_part_defs,)"""

    def maker(part: Part) -> str:
        kind, _, rest = part.type.partition("/")
        return rest.partition("/")[0] if kind == "cpu" else ""

    return tuple(of_each(maker, network.net.part_defs))


def _processors(network: Network, maker: str) -> tuple[int, ...]:
    """Definitions of parts that are processors of a maker."""
    return tuple(d for d, one in enumerate(_makers(network)) if one == maker)


@memo(most=NETWORKS_LIMIT)
def _parts_of(part_def: Int, definitions: tuple[int, ...]) -> Int:
    """Parts of some definitions; an edit of a value leaves the array of all definitions as it is."""
    return np.flatnonzero(np.isin(part_def, np.array(definitions, dtype=part_def.dtype)))


def _on_intel(network: Network) -> Bool:
    """Definitions of parts that are processors of Intel. : (n_part_defs,)"""
    return np.array([maker == "intel" for maker in _makers(network)], dtype=bool)


def _peers_as_plain(network: Network) -> bool:
    plain, departs = network.plain, network.frame.departs
    if plain is None or departs is None or plain.design.policy.peer_level != network.design.policy.peer_level:
        return False
    return np.array_equal(_on_intel(network), _on_intel(plain)[departs.part_of])


def _ways_of(network: Network, legs: Legs, place: str) -> Routes:
    routes = route(network, staged_for_library(network, legs), sums=True, kept=False)
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
    share = pattern.inside.share
    if (n_pairs == len(share) and len(np.unique(share)) == 1) or n_pairs > PAIRS_LIMIT:
        return None
    pairs = [(a, b, 1 / (len(m) - 1)) for m in (m.tolist() for m in pattern.members()) for a in m for b in m if a != b]
    source, target, share = (np.array(column) for column in zip(*pairs, strict=True))
    return Legs(np.arange(len(pairs)), ranks[source], ranks[target], share)


def shapes_of(network: Network, groups: Int) -> list[int]:
    """The first group of every shape: same places in servers of the same class, split the same way."""
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
    return by_value(signs).first[:SHAPES_LIMIT].tolist()
