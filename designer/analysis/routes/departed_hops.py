"""Hops of a design whose members differ in values alone, taken over from those of the plain design.

Parts and links stand alike, so hops take the same ways and put the same on the same resources: what is found anew are
the classes, in which the links of members that differ stand for themselves.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final, cast

import numpy as np

from designer.analysis.network import Network
from designer.analysis.network.capacities import NETWORK
from designer.analysis.network.frame import changed_links, changed_parts
from designer.analysis.network.islands import Islands, find_islands
from designer.analysis.network.partition import Float, Int, Partition
from designer.analysis.routes.hop_loads import Cells, Copies, Hops, occurring
from designer.analysis.routes.legs import Legs
from designer.memo import memo

#: hops of which the links are kept: those of every group of ranks that a curve looks at
_HOPS_LIMIT: Final = 64
#: bytes of such links: of 98,304 GPUs with all of their links some 3 MB
LINKS_LIMIT: Final = 40_000_000


def _bytes(links: Int) -> int:
    """Memory that an array of links takes [B]."""
    return links.nbytes


def copies_on(network: Network, copies: Copies) -> Copies:
    """Islands that stand for others, where some of these differ from the plain ones."""
    islands = find_islands(network)
    if network.plain is None:
        return copies
    differ = islands.class_of[copies.islands] != find_islands(network.plain).class_of[copies.islands]
    rows = np.flatnonzero(differ)
    return replace(copies, partition=copies.partition.split(rows, islands.class_of[copies.islands[rows]])[0])


def legs_on(network: Network, every: Legs, copies: Copies | None) -> Legs:
    """The hops in islands that stand for others."""
    if copies is None:
        return every
    keep = np.zeros(network.n_islands, dtype=bool)
    keep[copies.lead] = True
    rows = np.flatnonzero(keep[network.island[every.source]])
    return Legs(np.arange(len(rows)), every.source[rows], every.target[rows], every.share[rows])


def hops_on(network: Network, hops: Hops, copies: Copies | None) -> Hops | None:
    """Hops of the plain design on a network that departs from it; None where more than classes would change.

    Parameters
    ----------
    copies
        Which islands stand for others here.
    """
    net, departs = network.net, network.frame.departs
    parts, links = changed_parts(network.frame), changed_links(network.frame)
    if departs is None or hops.hosted or np.isin(parts, hops.switches).any():
        return None
    resource, origin = _moved_resources(network, hops, copies)
    usage, classes, was = _classed(network, hops, resource, origin, links)
    if copies is not None:
        on = network.links_of(resource)
        classes = classes.weighed(copies.many(on))
        used = np.unique(on)
    else:
        used = _links_of(hops)
    both, both_origin = _moved_links(network, hops, copies)
    two_way, two_way_was = _two_way(network, hops, both, both_origin, links)
    wide = used[network.domain[used] == NETWORK]
    ends = np.concatenate([net.link_a[used], net.link_b[used]])
    at = departs.part_at
    return replace(
        hops,
        resource=resource,
        usage=usage,
        copies=copies,
        classes=classes,
        cells=Cells(hops.cells.codes, hops.cells.usage[:, was]),
        two_way=two_way,
        two_way_links=both,
        two_way_cells=Cells(hops.two_way_cells.codes, hops.two_way_cells.usage[:, two_way_was]),
        links=occurring(net.link_def[wide]),
        parts=occurring(net.part_def[ends]),
        passed=tuple((tuple(at[list(found)].tolist()), times) for found, times in hops.passed),
        plain=hops,
    )


@memo(most=_HOPS_LIMIT, size=_bytes, budget=LINKS_LIMIT)
def _links_of(hops: Hops) -> Int:
    """Links that hops use, ascending; of leading islands where these stand for others."""
    link = np.searchsorted(hops.first_resource, hops.resource, side="right") - 1
    return cast("Int", link[np.concatenate([[True], link[1:] != link[:-1]])].astype(np.int32))


def _moved(copies: Copies, before: Copies, links: Int, islands: Islands) -> tuple[Int, Int]:
    """Links of the islands that stand for others now, by those of the islands that did, and the row of each."""
    classes = before.partition.of[copies.partition.first]
    found: list[Int] = []
    rows: list[Int] = []
    for lead, cls in zip(copies.lead.tolist(), classes.tolist(), strict=True):
        mine, place = before.of_class(cls, links)
        found.append(islands.links[islands.link_start[lead] + place])
        rows.append(mine)
    return np.concatenate(found), np.concatenate(rows)


def _moved_resources(network: Network, hops: Hops, copies: Copies | None) -> tuple[Int, Int | None]:
    """Resources that are told one by one, ascending, and the row each had before; None for all as they were."""
    if copies is None or hops.copies is None:
        return hops.resource, None
    link = network.links_of(hops.resource)
    moved, rows = _moved(copies, hops.copies, link, find_islands(network))
    first = network.first_resource
    resource = first[moved] + hops.resource[rows] - first[link[rows]]
    order = np.argsort(resource, kind="stable")
    return resource[order], rows[order]


def _moved_links(network: Network, hops: Hops, copies: Copies | None) -> tuple[Int, Int | None]:
    if copies is None or hops.copies is None:
        return hops.two_way_links, None
    moved, rows = _moved(copies, hops.copies, hops.two_way_links, find_islands(network))
    order = np.argsort(moved, kind="stable")
    return moved[order], rows[order]


def _classed(
    network: Network, hops: Hops, resource: Int, origin: Int | None, links: Int
) -> tuple[Float, Partition[Int], Int]:
    """What is put on each resource, the classes, and which each was before."""
    arrays = network.arrays
    many = arrays.cables[links] * np.where(arrays.full[links], 2, 1)
    owner = np.repeat(links, many)
    offset = np.arange(len(owner)) - np.repeat(np.cumsum(many) - many, many)
    changed = arrays.first_resource[owner] + offset
    rows = np.minimum(np.searchsorted(resource, changed), len(resource) - 1)
    met = resource[rows] == changed
    sign = arrays.rate_class[owner[met]].astype(np.int64)
    usage = hops.usage if origin is None else hops.usage[origin]
    classes, was = _split(hops.classes, origin, rows[met], sign)
    return usage, classes, was


def _two_way(network: Network, hops: Hops, both: Int, origin: Int | None, links: Int) -> tuple[Partition[Int], Int]:
    rows = np.flatnonzero(np.isin(both, links))
    return _split(hops.two_way, origin, rows, network.net.link_def[both[rows]].astype(np.int64))


def _split(classes: Partition[Int], origin: Int | None, rows: Int, sign: Int) -> tuple[Partition[Int], Int]:
    """Classes with some rows apart, numbered by their first rows, and which each was before."""
    of, first = classes.of, classes.first
    if origin is not None:
        of = of[origin]
        # the first rows of the islands that stand for others now
        first = np.full(len(classes), len(of), dtype=np.int64)
        np.minimum.at(first, of, np.arange(len(of)))
    found, was = Partition(of, first).split(rows, sign)
    found, order = found.ordered()
    return replace(found, counted=found.many), was[order]
