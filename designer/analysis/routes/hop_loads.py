"""What hops that work in lockstep load: classes of resources, found once for what is connected alike.

A group on sixteen thousand accelerators loads a hundred thousand resources in a dozen ways. Which of them are alike is
no question of rates: resources are in one class when their links are of one class, they run the same way, and hops of
each kind put the same on them. So the hops are routed and classed once; an edit of a value asks one resource of each
class. That all members of a class carry the same is checked where classes are made, so no hash can hide an exception.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.analysis.network import LISTED_LIMIT, Network
from designer.analysis.network.capacities import NETWORK
from designer.analysis.network.frame import STRUCTURES_LIMIT, Frame, changed_links, frame_arrays
from designer.analysis.network.hashing import mix
from designer.analysis.network.islands import find_islands
from designer.analysis.network.partition import Float, Int, Numbers, Partition, by_value, classes_of, numbered
from designer.analysis.routes.efficiency import COPY, N_PLACEMENTS, P2P, RDMA, both_directions, efficiencies_of
from designer.analysis.routes.legs import Legs, Routes
from designer.analysis.routes.staging import stages
from designer.catalog.parttype import Capability
from designer.memo import memo

#: among fewer hops than this nobody looks for those that are alike
ALIKE_LIMIT: Final = 256
#: sums over fewer rows than all divided by this sort the rows
FEW_ROWS_LIMIT: Final = 16
#: resources of hops told one by one, kept for so many [B]
LIFTED_LIMIT: Final = 32_000_000
#: classes of channels kept: of the largest clusters those of two [B]
CLASSES_LIMIT: Final = 24_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Copies:
    """Islands in which hops are the same: the first of each class stands for all of it.

    Parameters
    ----------
    islands : (n_islands,) all islands with hops in them
    partition
        These islands in classes.
    link_start, links, first_resource
        Inner links by island, and the first resource of every link.
    """

    islands: Int
    partition: Partition[Int]
    link_start: Int
    links: Int
    first_resource: Int

    @property
    def lead(self) -> Int:
        """The island that stands for each class. : (n_classes,)"""
        return self.islands[self.partition.first]

    def many(self, link: Int) -> Int:
        """How many islands each of some links of leading islands stands for. : (n,)"""
        found = np.zeros(len(link), dtype=np.int64)
        for cls, members in enumerate(self.partition.many.tolist()):
            found[self.of_class(cls, link)[0]] = members
        return found

    def every(self, link: Int) -> tuple[Int, Int]:
        """All links that some of leading islands stand for, and the row of each in `link`."""
        links: list[Int] = []
        rows: list[Int] = []
        for cls in range(len(self.partition)):
            mine, place = self.of_class(cls, link)
            members = self.islands[self.partition.of == cls]
            links.append(self.links[self.link_start[members][:, None] + place].ravel())
            rows.append(np.tile(mine, len(members)))
        return np.concatenate(links), np.concatenate(rows)

    def of_class(self, cls: int, link: Int) -> tuple[Int, Int]:
        """Rows of `link` that are in the leading island of a class, and their places among its links."""
        lead = int(self.islands[self.partition.first[cls]])
        own = self.links[self.link_start[lead] : self.link_start[lead + 1]]
        place = np.searchsorted(own, link)
        mine = np.flatnonzero(own[np.minimum(place, len(own) - 1)] == link)
        return mine, place[mine]


def leading(network: Network, legs: Legs) -> tuple[Legs, Copies | None]:
    """Those of some hops inside islands that stand for all: in one island of each kind. All, where none are alike."""
    islands, island = find_islands(network), network.island[legs.source]
    if not np.array_equal(island, network.island[legs.target]) or len(legs) < ALIKE_LIMIT:
        return legs, None
    order = np.argsort(island, kind="stable")
    used, start, size = np.unique(island[order], return_index=True, return_counts=True)
    columns = np.stack([islands.local[legs.source], islands.local[legs.target], legs.share.view(np.int64)])[:, order]
    place = np.arange(len(order)) - np.repeat(start, size)
    total = np.add.reduceat(mix(*columns, place), start)
    classes = by_value(mix(islands.class_of[used], size, total.view(np.int64)))
    if len(classes) * 2 > len(used):
        return legs, None
    # what stands for others has to be as they are, hop by hop
    model = np.repeat(start[classes.lead], size) + place
    if not (size == size[classes.lead]).all() or not np.array_equal(columns, columns[:, model]):
        return legs, None
    keep = np.zeros(network.n_islands, dtype=bool)
    keep[used[classes.first]] = True
    rows = np.flatnonzero(keep[island])
    chosen = Legs(np.arange(len(rows)), legs.source[rows], legs.target[rows], legs.share[rows])
    arrays = network.arrays
    return chosen, Copies(used, classes, islands.link_start, islands.links, arrays.first_resource)


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
class Hops:
    """What some hops load, whatever it can carry.

    Parameters
    ----------
    n_legs, top_share
        How many hops there are, and the largest share of one.
    legs
        The first of them, as many as are listed.
    resource, usage : (n_used,) resources that are met, and what is put on them per unit of rate; of leading islands
        where these stand for others
    copies
        Which islands stand for others; None where all are there.
    classes
        Those of `resource`.
    cells
        Of the first resource of each class.
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
    first_resource
        The first resource of every link.
    plain
        The hops of the plain design these were taken over from; see ``designer.analysis.network.frame.Departure``.
    """

    n_legs: int
    top_share: float
    legs: Legs
    resource: Int
    usage: Float
    copies: Copies | None
    classes: Partition[Int]
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
    first_resource: Int
    plain: Hops | None = None

    @property
    def extent(self) -> int:
        """Numbers told one by one; see ``designer.memo``."""
        return 2 * len(self.resource)

    @property
    def first(self) -> Int:
        """The first resource of each class."""
        return self.resource[self.classes.first]

    @property
    def every(self) -> Lifted:
        """All resources, those that others stand for as well."""
        return _lifted(self)


@dataclass(frozen=True, slots=True, eq=False)
class Lifted:
    """All resources of hops, ascending, what is put on each, and its class. : (n_used,)"""

    resource: Int
    usage: Float
    of: Int


def _lifted_size(lifted: Lifted) -> int:
    return lifted.resource.nbytes + lifted.usage.nbytes + lifted.of.nbytes


@memo(most=STRUCTURES_LIMIT, size=_lifted_size, budget=LIFTED_LIMIT)
def _lifted(hops: Hops) -> Lifted:
    if hops.copies is None:
        return Lifted(hops.resource, hops.usage, hops.classes.of)
    first = hops.copies.first_resource
    link = np.searchsorted(first, hops.resource, side="right") - 1
    links, rows = hops.copies.every(link)
    resource = first[links] + (hops.resource - first[link])[rows]
    order = np.argsort(resource)
    rows = rows[order]
    return Lifted(resource[order], hops.usage[rows], hops.classes.of[rows])


def hops_of(network: Network, legs: Legs, routes: Routes, every: Legs, copies: Copies | None) -> Hops:
    """What routed hops load, in classes.

    Parameters
    ----------
    legs, routes
        Hops, and their ways.
    every
        All hops that they stand for, and by which `copies` they do; the first are listed.
    """
    net, arrays = network.net, network.arrays
    n, link = len(legs), routes.channel >> 1
    entry = np.where(arrays.full[link], routes.channel & 1, 0)
    entry *= arrays.cables[link]
    entry += arrays.first_resource[link]
    if network.frame.hashed:
        entry += (mix(routes.flow, link) % arrays.cables[link].astype(np.uint64)).astype(np.int64)
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
    if copies is not None:
        classes = classes.weighed(copies.many(on))
    both, hosted = _both_ways(network, routes, protocol)
    on_links = _cells(link, code, routes.share, both, net.n_links)
    two_way = classes_of(arrays.rate_class[both], net.link_def[both], figures=tuple(on_links.usage))
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
        resource=resource,
        usage=usage,
        copies=copies,
        classes=classes,
        cells=Cells(cells.codes, cells.usage[:, classes.first]),
        two_way=two_way,
        two_way_links=both,
        two_way_cells=Cells(on_links.codes, on_links.usage[:, two_way.first]),
        hosted=hosted,
        placement=int(placement.max(initial=0)),
        staged=bool(on_bus.any()),
        links=occurring(net.link_def[wide]),
        parts=occurring(net.part_def[ends]),
        nics=joined[network.has(Capability.ATTACH)[joined]],
        switches=joined[network.has(Capability.SWITCH)[joined]],
        network_links=_farthest(legs, routes, outside.astype(np.float64)) if outside.any() else 0.0,
        passed=_passed(network, legs, routes, outside),
        first_resource=arrays.first_resource,
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
    own = len(routes.flow) - len(routes.stands)
    paid = float((np.bincount(routes.flow[:own], routes.share[:own] * cost[:own], n) / legs.share).max())
    if len(routes.stands):
        paid += float(np.bincount(routes.flow[own:], routes.share[own:] / routes.stands * cost[own:], n).max())
    return paid


def _passed(
    network: Network, legs: Legs, routes: Routes, outside: npt.NDArray[np.bool_]
) -> tuple[tuple[tuple[int, ...], Float], ...]:
    """How often ways pass switches of each definition, the distinct ones: of hops, then of what stands for many."""
    net, own = network.net, len(routes.flow) - len(routes.stands)
    rows = np.flatnonzero(outside)
    ends = network.ends_of(routes.channel[rows])
    at = network.has(Capability.SWITCH)[ends]
    every, ends = rows[at], ends[at]
    cut = int(np.searchsorted(every, own))
    found: list[tuple[tuple[int, ...], Float]] = []
    for rows, end in ((every[:cut], ends[:cut]), (every[cut:], ends[cut:])):
        if not len(rows):
            continue
        share = routes.share[rows] / (legs.share[routes.flow[rows]] if rows[0] < own else routes.stands[rows - own])
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
    a, b = one.every, other.every
    place = np.full(network.n_resources, -1, dtype=np.int32)
    place[a.resource] = np.arange(len(a.resource))
    rows = np.flatnonzero(place[b.resource] >= 0)
    shared = b.resource[rows]
    arrays, usage = network.arrays, a.usage[place[shared]] + b.usage[rows]
    classes = classes_of(arrays.rate_class[network.links_of(shared)], figures=(usage,))
    return Common(shared[classes.first], usage[classes.first])


def channels_in_classes(network: Network, sides: tuple[Hops, ...]) -> tuple[Partition[Numbers], tuple[Float, ...]]:
    """Channels that some patterns of hops use alike, and what each puts on one of every class per unit of rate.

    Of cables that are told one by one several belong to a channel: not for networks where traffic is hashed.

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
        return _departed(frame, *usual)
    arrays = frame_arrays(frame)
    n = 2 * len(arrays.full)
    classes: Partition[Numbers] = Partition(np.zeros(n, dtype=np.int32), np.zeros(min(n, 1), dtype=np.int64))
    label: list[npt.NDArray[np.int32]] = []
    for hops in sides:
        every = hops.every
        link = np.searchsorted(arrays.first_resource, every.resource, side="right") - 1
        back = arrays.full[link] & (every.resource > arrays.first_resource[link])
        mine = np.zeros(n, dtype=np.int32)
        mine[2 * link + back] = every.of + 1
        label.append(mine)
        classes = classes.together(numbered(mine, len(hops.classes) + 1))
    shared = np.flatnonzero(np.repeat(~arrays.full, 2))
    opposite = np.zeros(n, dtype=np.int32)
    opposite[shared] = 1 + classes.of[shared ^ 1]
    classes = classes.together(numbered(opposite, len(classes) + 1))
    used: list[Float] = []
    for hops, mine in zip(sides, label, strict=True):
        per_class = np.concatenate([[0.0], hops.usage[hops.classes.first]])
        used.append(np.stack([per_class[mine[classes.first]], per_class[mine[classes.first ^ 1]]]))
    return classes, tuple(used)


def _departed(
    frame: Frame, classes: Partition[Numbers], used: tuple[Float, ...]
) -> tuple[Partition[Numbers], tuple[Float, ...]]:
    """Classes of channels of the plain frame with those of links that differ told apart, where they are used."""
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
