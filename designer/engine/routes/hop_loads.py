"""What hops that work in lockstep load: classes of resources, found once for what is connected in the same way.

A group on sixteen thousand accelerators loads a hundred thousand resources in a dozen ways. Which of them are equal is
no question of rates: resources are in one class when their links are of one class, they run the same way, and hops of
each kind put the same on them. So the hops are routed and classed once; an edit of a value asks one resource of each
class. That all members of a class carry the same is checked where classes are made, so no hash can hide an exception.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.network import LISTED_LIMIT, Network
from designer.engine.network.capacities import NETWORK
from designer.engine.network.frame import STRUCTURES_LIMIT, Frame, changed_links, changed_parts, frame_arrays
from designer.engine.network.hashing import mix
from designer.engine.network.islands import find_islands
from designer.engine.network.partition import Float, Int, Numbers, Partition, by_value, classes_of, numbered
from designer.engine.routes.efficiency import COPY, N_PLACEMENTS, P2P, RDMA, both_directions, efficiencies_of
from designer.engine.routes.legs import Legs, Routes
from designer.engine.routes.staging import stages
from designer.engine.routes.structure import cables_of
from designer.memo import memo

#: fewer hops than this are all routed, none represents others
FOLDED_LIMIT: Final = 256
#: sums over fewer rows than all divided by this sort the rows
FEW_ROWS_LIMIT: Final = 16
#: classes of channels kept: of the largest clusters those of two [B]
CLASSES_LIMIT: Final = 24_000_000
#: hops of which the ends are kept: those of every group of ranks that a curve looks at, and how much of them [B]
_HOPS_LIMIT: Final = 64
_ENDS_LIMIT: Final = 40_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Servers:
    """Islands with the same hops: the first of each class represents it.

    Parameters
    ----------
    islands : (n,) all islands with hops in them, ascending
    classes
        These islands in classes.
    """

    islands: Int
    classes: Partition[Int]

    def legs(self, network: Network, every: Legs) -> Legs:
        """The hops in the islands that represent others, numbered from 0."""
        keep = np.zeros(network.n_islands, dtype=bool)
        keep[self.islands[self.classes.first]] = True
        rows = np.flatnonzero(keep[network.island[every.source]])
        return Legs(np.arange(len(rows)), every.source[rows], every.target[rows], every.share[rows])

    def links(self, network: Network, links: Int) -> tuple[Int, Int]:
        """All links that some links of representing islands represent, and the row of each in `links`."""
        places = find_islands(network)
        of = self.classes.of[np.searchsorted(self.islands, network.island[network.net.link_a[links]])]
        found, rows = [links[:0]], [links[:0]]
        for number in np.unique(of).tolist():
            mine = np.flatnonzero(of == number)
            start = places.link_start[self.islands[self.classes.of == number]]
            found.append(places.links[start[:, None] + places.link_local[links[mine]]].ravel())
            rows.append(np.tile(mine, len(start)))
        return np.concatenate(found), np.concatenate(rows)


def servers_of(network: Network, legs: Legs) -> Servers | None:
    """Islands in classes by the hops inside them; None where hops leave islands, or too few are the same."""
    islands, island = find_islands(network), network.island[legs.source]
    if not np.array_equal(island, network.island[legs.target]) or len(legs) < FOLDED_LIMIT:
        return None
    order = np.argsort(island, kind="stable")
    used, start, size = np.unique(island[order], return_index=True, return_counts=True)
    columns = np.stack([islands.local[legs.source], islands.local[legs.target], legs.share.view(np.int64)])[:, order]
    place = np.arange(len(order)) - np.repeat(start, size)
    total = np.add.reduceat(mix(*columns, place), start)
    classes = by_value(mix(islands.class_of[used], size, total.view(np.int64)))
    if len(classes) * 2 > len(used):
        return None
    # what represents others has to be as they are, hop by hop
    model = np.repeat(start[classes.lead], size) + place
    same = (size == size[classes.lead]).all() and np.array_equal(columns, columns[:, model])
    return Servers(used, classes) if same else None


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """What hops of each kind put on resources, or on links.

    Parameters
    ----------
    codes
        Kinds of hop that occur: protocol and placement, as efficiencies number them.
    usage : (n_codes, n_rows) what they put on each row per unit of rate
    """

    codes: tuple[int, ...]
    usage: Float


@dataclass(frozen=True, slots=True, eq=False)
class FewMet:
    """Classes of all resources of links of which few are met: curves over group sizes keep many of them.

    Parameters
    ----------
    resource, of : (n_met,) those that are met, ascending, and the class of each
    size
        Number of all.
    first, many : (n_classes,) see `Partition`
    """

    resource: Int
    of: Numbers
    size: int
    first: Int
    many: Int

    @property
    def nbytes(self) -> int:
        """Memory it takes [B]."""
        return self.resource.nbytes + self.of.nbytes

    def whole(self) -> Partition[Numbers]:
        """The classes of all."""
        found = np.zeros(self.size, dtype=self.of.dtype)
        found[self.resource] = self.of
        return Partition(found, self.first, self.many)


def _pack_classes(classes: Partition[Numbers]) -> Partition[Numbers] | FewMet:
    """Classes as they take least memory."""
    resource = np.flatnonzero(classes.of)
    if len(resource) > len(classes.of) // FEW_ROWS_LIMIT:
        return classes
    return FewMet(resource, classes.of[resource], len(classes.of), classes.first, classes.many)


@dataclass(frozen=True, slots=True, eq=False)
class Hops:
    """What some hops load, whatever it can carry.

    Parameters
    ----------
    n_legs, top_share
        How many hops there are, and the largest share of one.
    legs
        The first of them, as many as are listed.
    packed
        The classes as they are kept, see `classes`.
    usage : (n_classes,) what is put on each resource of the other classes per unit of rate
    cells
        Of the other classes.
    two_way, two_way_links, two_way_cells, hosted
        PCIe links that copies use in both directions, their classes, what is on the first of each, and the
        definitions on which some of the copies are to or from host memory.
    placement, staged
        The farthest placement of a hop over PCIe, and whether any stops in host memory.
    links, parts
        Definitions of the network links and of the parts at the ends of all links.
    nics, switches : parts at the ends of network links: adapters, switches
    switch_hops
        Network links on the farthest path, most.
    passed
        Switches on ways between servers, by definition and kind of way, for their latency; see `through`.
    plain
        The hops of the plain design these were taken over from; see ``designer.engine.network.frame.Departure``.
    """

    n_legs: int
    top_share: float
    legs: Legs
    packed: Partition[Numbers] | FewMet
    usage: Float
    cells: Cells
    two_way: Partition[Int]
    two_way_links: Int
    two_way_cells: Cells
    hosted: frozenset[int]
    placement: int
    staged: bool
    links: tuple[int, ...]
    parts: tuple[int, ...]
    nics: Int
    switches: Int
    network_links: float
    passed: tuple[tuple[tuple[int, ...], Float], ...]
    plain: Hops | None = None

    @property
    def classes(self) -> Partition[Numbers]:
        """All resources of links, those that are not met in class 0."""
        return self.packed.whole() if isinstance(self.packed, FewMet) else self.packed

    @property
    def extent(self) -> int:
        """How many numbers take as much memory; see ``designer.memo``."""
        kept = self.packed.nbytes if isinstance(self.packed, FewMet) else self.packed.of.nbytes
        return kept // self.usage.itemsize

    def size(self) -> int:
        """Entries that it keeps."""
        return self.extent + 2 * len(self.two_way_links) + len(self.nics)

    @property
    def first(self) -> Int:
        """The first resource of each class. : (n_classes,)"""
        return self.packed.first[1:]

    @property
    def many(self) -> Int:
        """How many resources each class has. : (n_classes,)"""
        return self.packed.many[1:]

    def members(self, classes: Int) -> Int:
        """All resources of some classes, ascending."""
        return self.classes.members(classes + 1)

    def every(self) -> tuple[Int, Float]:
        """All resources that are met, ascending, and what is put on each. : (n_used,) both"""
        if isinstance(self.packed, FewMet):
            return self.packed.resource, self.usage[self.packed.of - 1]
        resource = np.flatnonzero(self.packed.of)
        return resource, self.usage[self.packed.of[resource] - 1]


def hops_of(network: Network, legs: Legs, routes: Routes, every: Legs, servers: Servers | None) -> Hops:
    """What routed hops load, in classes.

    Parameters
    ----------
    legs, routes
        Hops, and their ways.
    every, servers
        All hops that they represent, and the islands in which they do; None where they are all.
    """
    net, arrays = network.net, network.arrays
    n, link = len(legs), routes.channel >> 1
    entry = np.where(arrays.full[link], routes.channel & 1, 0)
    entry *= arrays.cables[link]
    entry += arrays.first_resource[link]
    if network.frame.hashed:
        entry += cables_of(network.design.policy, routes.flow, link, arrays.cables[link])
    on_bus = stages(network, routes)
    crosses = network.island[legs.source] != network.island[legs.target]
    protocol = np.where(crosses, RDMA, P2P)
    protocol[routes.flow[on_bus]] = COPY
    placement = efficiencies_of(network).placement(routes, n)
    code = (protocol * N_PLACEMENTS + placement).astype(np.int8)[routes.flow]
    resource, usage = _sums(entry, routes.share, network.n_resources)
    cells = _cells(entry, code, routes.share, resource, network.n_resources)
    on = network.links_of(resource)
    way = np.where(arrays.full[on], (resource - arrays.first_resource[on]) // arrays.cables[on], 0)
    classes = classes_of(arrays.rate_class[on], way, figures=tuple(cells.usage))
    first, of, every_resource = resource[classes.first], classes.of, resource
    if servers is not None:
        links, rows = servers.links(network, on)
        every_resource, of = arrays.first_resource[links] + (resource - arrays.first_resource[on])[rows], of[rows]
    both, hosted = _both_ways(network, routes, protocol)
    on_links = _cells(link, code, routes.share, both, net.n_links)
    two_way = classes_of(arrays.rate_class[both], net.link_def[both], figures=tuple(on_links.usage))
    two_way_cells = Cells(on_links.codes, on_links.usage[:, two_way.first])
    if servers is not None and len(both):
        links, rows = servers.links(network, both)
        order = np.argsort(links)
        two_way = Partition(two_way.of[rows[order]], np.searchsorted(links[order], both[two_way.first]))
        both = links[order]
    outside = arrays.domain[link] == NETWORK
    met = np.zeros(net.n_links, dtype=bool)
    met[link] = True
    used = np.flatnonzero(met)
    ends = np.concatenate([net.link_a[used], net.link_b[used]])
    wide = used[arrays.domain[used] == NETWORK]
    joined = np.unique(np.concatenate([net.link_a[wide], net.link_b[wide]]))
    few = slice(LISTED_LIMIT)
    return Hops(
        n_legs=len(every),
        top_share=float(legs.share.max()),
        legs=Legs(every.flow[few], every.source[few], every.target[few], every.share[few]),
        packed=_over_all(every_resource, of, first, arrays.n_link_resources),
        usage=usage[classes.first],
        cells=Cells(cells.codes, cells.usage[:, classes.first]),
        two_way=two_way,
        two_way_links=both,
        two_way_cells=two_way_cells,
        hosted=hosted,
        placement=int(placement.max(initial=0)),
        staged=bool(on_bus.any()),
        links=occurring(net.link_def[wide]),
        parts=occurring(net.part_def[ends]),
        nics=joined[network.has(Capability.ATTACH)[joined]],
        switches=joined[network.has(Capability.SWITCH)[joined]],
        network_links=_farthest(legs, routes, outside.astype(np.float64)) if outside.any() else 0.0,
        passed=_count_switches(network, legs, routes, outside),
    )


def _over_all(resource: Int, of: Int, first: Int, size: int) -> Partition[Numbers] | FewMet:
    """Classes of some of `size` resources as classes of all of them, the others in class 0."""
    small = np.int16 if len(first) < np.iinfo(np.int16).max else np.int32
    found = np.zeros(size, dtype=small)
    found[resource] = of + 1
    many = np.bincount(of, minlength=len(first))
    whole = Partition(found, np.concatenate([[-1], first]), np.concatenate([[size - len(resource)], many]))
    return whole if len(resource) > size // FEW_ROWS_LIMIT else _pack_classes(whole)


def resources_of(network: Network, links: Int) -> tuple[Int, Int]:
    """All resources of some links, and the link of each; ascending where these are."""
    arrays = network.arrays
    many = arrays.cables[links] * np.where(arrays.full[links], 2, 1)
    owner = np.repeat(links, many)
    return arrays.first_resource[owner] + np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many), owner


def hops_on(network: Network, hops: Hops) -> Hops | None:
    """Hops of the plain design on a network whose members differ in values; None where more than classes would change.

    Parts and links are joined the same way, so hops take the same ways and put the same on the same resources: those
    of members that differ are split off the classes.
    """
    net, departs = network.net, network.frame.departs
    parts, links = changed_parts(network.frame), changed_links(network.frame)
    if departs is None or hops.hosted or np.isin(parts, hops.switches).any():
        return None
    resource, owner = resources_of(network, links)
    usual = hops.classes
    met = np.flatnonzero(usual.of[resource])
    resource, owner = resource[met], owner[met]
    classes, was = usual.split(resource, network.arrays.rate_class[owner].astype(np.int64))
    was = was[1:] - 1
    both = links[np.isin(links, hops.two_way_links, assume_unique=True)]
    rows = np.searchsorted(hops.two_way_links, both)
    two_way, two_way_was = hops.two_way.split(rows, net.link_def[both].astype(np.int64))
    wide = np.unique(owner[network.domain[owner] == NETWORK])
    ends = _ends(hops, departs.frame)
    changed = parts[np.isin(parts, ends.parts, assume_unique=True)]
    plain = departs.frame.net
    left_links = ends.links_of - np.bincount(plain.link_def[wide], minlength=len(ends.links_of))
    left_parts = ends.parts_of - np.bincount(plain.part_def[changed], minlength=len(ends.parts_of))
    part_at = departs.part_at
    return replace(
        hops,
        packed=_pack_classes(classes),
        usage=hops.usage[was],
        cells=Cells(hops.cells.codes, hops.cells.usage[:, was]),
        two_way=two_way,
        two_way_cells=Cells(hops.two_way_cells.codes, hops.two_way_cells.usage[:, two_way_was]),
        links=tuple(sorted({*departs.link_at[left_links > 0].tolist(), *net.link_def[wide].tolist()})),
        parts=tuple(sorted({*part_at[left_parts > 0].tolist(), *net.part_def[changed].tolist()})),
        passed=tuple((tuple(part_at[list(found)].tolist()), times) for found, times in hops.passed),
        plain=hops,
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """Parts at the ends of links that hops use, ascending; how many of these there are of each definition, and how
    many of the network links.
    """

    parts: Int
    parts_of: Int
    links_of: Int


@memo(most=_HOPS_LIMIT, size=lambda ends: ends.parts.nbytes, budget=_ENDS_LIMIT)
def _ends(hops: Hops, frame: Frame) -> _Ends:
    net, arrays = frame.net, frame_arrays(frame)
    met = np.add.reduceat(hops.classes.of != 0, arrays.first_resource)
    links = np.flatnonzero(met)
    at = np.zeros(net.n_parts, dtype=bool)
    at[net.link_a[links]] = at[net.link_b[links]] = True
    parts = np.flatnonzero(at)
    wide = links[arrays.domain[links] == NETWORK]
    return _Ends(
        parts,
        np.bincount(net.part_def[parts], minlength=len(net.part_defs)),
        np.bincount(net.link_def[wide], minlength=len(net.link_defs)),
    )


def _sums(row: Int, share: Float, size: int) -> tuple[Int, Float]:
    """Rows of `size` that get anything, ascending, and how much."""
    if len(row) < size // FEW_ROWS_LIMIT:
        met, place = np.unique(row, return_inverse=True)
        total = np.bincount(place, share, len(met))
    else:
        total = np.bincount(row, share, size)
        met = np.flatnonzero(total)
        total = total[met]
    kept = total > 0
    return met[kept], total[kept].astype(np.float64, copy=False)


def _cells(row: Int, code: npt.NDArray[np.signedinteger[Any]], share: Float, rows: Int, size: int) -> Cells:
    """Shares added up by kind of hop, on some of `size` rows."""
    if len(rows) and len(row) < size // FEW_ROWS_LIMIT:
        place = np.minimum(np.searchsorted(rows, row), len(rows) - 1)
        mine = rows[place] == row
        row, code, share = place[mine], code[mine], share[mine]
        rows, size = np.arange(len(rows)), len(rows)
    codes = occurring(code)
    if len(codes) == 1:
        return Cells(codes, np.bincount(row, share, size)[rows][None].astype(np.float64))
    each = [np.bincount(row[code == c], share[code == c], size)[rows] for c in codes]
    return Cells(codes, np.array(each, dtype=np.float64).reshape(len(codes), len(rows)))


def occurring(numbers: npt.NDArray[np.signedinteger[Any]]) -> tuple[int, ...]:
    """Small numbers that occur: counting finds them without sorting millions of rows."""
    return tuple(np.flatnonzero(np.bincount(numbers)).tolist()) if len(numbers) else ()


def _both_ways(network: Network, routes: Routes, protocol: Int) -> tuple[Int, frozenset[int]]:
    """PCIe links that hops use in both directions, and definitions on which some go to or from host memory.

    Copies to and from host memory meet in the root and keep less than those between peers.
    """
    rows, links = both_directions(network, routes.channel, routes.flow, protocol)
    hosted = rows[protocol[routes.flow[rows]] == COPY]
    definitions = network.net.link_def[routes.channel[hosted] >> 1]
    return links, frozenset(occurring(definitions))


def _farthest(legs: Legs, routes: Routes, cost: Float) -> float:
    """The most that a hop between servers pays when its routes pay `cost` for each entry. : cost (nnz,)"""
    n = len(legs)
    own = len(routes.flow) - len(routes.merged_share)
    paid = float((np.bincount(routes.flow[:own], routes.share[:own] * cost[:own], n) / legs.share).max())
    if len(routes.merged_share):
        paid += float(np.bincount(routes.flow[own:], routes.share[own:] / routes.merged_share * cost[own:], n).max())
    return paid


def _count_switches(
    network: Network, legs: Legs, routes: Routes, outside: npt.NDArray[np.bool_]
) -> tuple[tuple[tuple[int, ...], Float], ...]:
    """How often ways pass switches of each definition, the distinct ones: of hops, then of what represents many."""
    net, own = network.net, len(routes.flow) - len(routes.merged_share)
    rows = np.flatnonzero(outside)
    ends = network.ends_of(routes.channel[rows])
    at = network.has(Capability.SWITCH)[ends]
    every, ends = rows[at], ends[at]
    cut = int(np.searchsorted(every, own))
    found: list[tuple[tuple[int, ...], Float]] = []
    for rows, end in ((every[:cut], ends[:cut]), (every[cut:], ends[cut:])):
        if not len(rows):
            continue
        share = routes.share[rows] / (
            legs.share[routes.flow[rows]] if rows[0] < own else routes.merged_share[rows - own]
        )
        passed = net.part_def[end]
        definitions = occurring(passed)
        flows, flow = np.unique(routes.flow[rows], return_inverse=True)
        each = [np.bincount(flow, np.where(passed == d, share, 0.0), len(flows)) for d in definitions]
        times = np.array(each, dtype=np.float64)
        kinds = classes_of(np.zeros(len(flows), dtype=np.int64), figures=tuple(times))
        found.append((definitions, times[:, kinds.first]))
    return tuple(found)


def through(hops: Hops, cost: Float) -> float:
    """The most that a hop pays for switches when each costs what its definition says. : cost (n_part_defs,)"""
    return sum(float((cost[list(definitions)] @ times).max()) for definitions, times in hops.passed)


@dataclass(frozen=True, slots=True, eq=False)
class Common:
    """Resources that two activities both use, in classes: the first of each, and what both put on it."""

    resource: Int
    usage: Float


def common_of(network: Network, one: Hops, other: Hops) -> Common:
    """What two patterns of hops have in common: nothing where no link of one definition is used by both."""
    mine, theirs = (set(network.net.link_def[network.links_of(hops.first)].tolist()) for hops in (one, other))
    if not mine & theirs:
        return Common(one.first[:0], one.usage[:0])
    a, b = one.classes.of, other.classes.of
    shared = np.flatnonzero((a != 0) & (b != 0))
    usage = one.usage[a[shared] - 1] + other.usage[b[shared] - 1]
    classes = classes_of(network.arrays.rate_class[network.links_of(shared)], figures=(usage,))
    return Common(shared[classes.first], usage[classes.first])


def channels_in_classes(network: Network, sides: tuple[Hops, ...]) -> tuple[Partition[Numbers], tuple[Float, ...]]:
    """Channels in classes that patterns of hops use equally, and what each puts on one of a class per unit of rate.

    Of cables that are stated one by one several belong to a channel: not for networks where traffic is hashed.

    Returns
    -------
    tuple
        The classes, and for each pattern (2, n_classes): on the channel itself, and on the other way of its link.
    """
    return _channels_in_classes(network.frame, sides)


def _classes_size(found: tuple[Partition[Numbers], tuple[Float, ...]]) -> int:
    return found[0].of.nbytes


@memo(most=STRUCTURES_LIMIT, size=_classes_size, budget=CLASSES_LIMIT)
def _channels_in_classes(frame: Frame, sides: tuple[Hops, ...]) -> tuple[Partition[Numbers], tuple[Float, ...]]:
    plain = tuple(hops.plain for hops in sides)
    if frame.departs is not None and None not in plain:
        usual = _channels_in_classes(frame.departs.frame, tuple(hops for hops in plain if hops is not None))
        return _depart_from_plain(frame, *usual)
    arrays = frame_arrays(frame)
    n = 2 * len(arrays.full)
    classes: Partition[Numbers] = Partition(np.zeros(n, dtype=np.int32), np.zeros(min(n, 1), dtype=np.int64))
    # of a link that shares its capacity the resource is that of the first way
    resource = np.repeat(arrays.first_resource, 2)
    resource[1::2] += arrays.full
    label: list[Numbers] = []
    for hops in sides:
        known = hops.classes
        mine = known.of[resource]
        mine[1::2] *= arrays.full
        label.append(mine)
        classes = classes.together(replace(known, of=mine))
    shared = np.flatnonzero(np.repeat(~arrays.full, 2))
    opposite = np.zeros(n, dtype=np.int32)
    opposite[shared] = 1 + classes.of[shared ^ 1]
    classes = classes.together(numbered(opposite, len(classes) + 1))
    used: list[Float] = []
    for hops, mine in zip(sides, label, strict=True):
        per_class = np.concatenate([[0.0], hops.usage])
        used.append(np.stack([per_class[mine[classes.first]], per_class[mine[classes.first ^ 1]]]))
    return classes, tuple(used)


def _depart_from_plain(
    frame: Frame, classes: Partition[Numbers], used: tuple[Float, ...]
) -> tuple[Partition[Numbers], tuple[Float, ...]]:
    """Classes of channels of the plain frame with those of links that differ distinguished, where they are used."""
    arrays, links = frame_arrays(frame), changed_links(frame)
    channels = np.sort(np.concatenate([2 * links, 2 * links + 1]))
    of = classes.of[channels]
    busy = np.zeros(len(channels), dtype=bool)
    for mine, opposite in used:
        busy |= (mine[of] > 0) | (~arrays.full[channels >> 1] & (opposite[of] > 0))
    channels = channels[busy]
    counted = replace(classes, counted=classes.many)
    found, was = counted.split(channels, arrays.rate_class[channels >> 1].astype(np.int64))
    found.of.setflags(write=False)
    return found, tuple(side[:, was] for side in used)
