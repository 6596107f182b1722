"""Islands and their classes: equal servers are routed once.

Two islands belong to one class when they have the same definitions, joined in the same way, in the same order. Routes
inside an island are found once per class and moved to each island by adding offsets.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import UNKNOWN_PREFERENCE, PartKind, link_kinds
from designer.design.document import Part
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.capacities import NETWORK, of_each
from designer.engine.network.frame import (
    FRAMES_LIMIT,
    STRUCTURES_LIMIT,
    Departure,
    Frame,
    changed_links,
    changed_parts,
    frame_arrays,
    size_of,
)
from designer.engine.network.hashing import Hash, mix
from designer.engine.network.partition import Partition, by_value
from designer.memo import Interned, memo

Int = npt.NDArray[np.int64]

#: attribute of accelerators of a network whose links to those of other partitions are switched off
PARTITION: Final = "nvlink_partition"


@dataclass(frozen=True, slots=True)
class Step:
    """A step out of a part: over local channel ``channel`` to part ``to``."""

    to: int
    channel: int
    cost: int
    domain: int


@dataclass(frozen=True, slots=True, eq=False)
class LocalShape:
    """How the islands of a class are made, whatever the rates of their links; parts and links are numbered from 0.

    Graphs that differ in rates alone have the same one. Roles say what NICs are for, partitions which accelerators
    their links still join: those with the same text.
    """

    kinds: tuple[PartKind, ...]
    roles: tuple[str, ...]
    partitions: tuple[str, ...]
    steps: tuple[tuple[Step, ...], ...]
    links: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class LocalGraph:
    """One class of islands: its shape, and the rate of each link [B/s]."""

    shape: LocalShape
    rates: tuple[float, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Islands:
    """All islands of a network, by class.

    Parameters
    ----------
    classes
        The graph of each class; empty while only the places are known.
    partition
        Islands in classes.
    part_start, parts : members of island i are ``parts[part_start[i]:part_start[i+1]]``, ascending
    local : (n_parts,) place of each part in its island
    link_start, links : inner links of each island, likewise
    link_local : (n_links,) place of each inner link in its island
    """

    classes: tuple[LocalGraph, ...]
    partition: Partition[Int]
    part_start: Int
    parts: Int
    local: Int
    link_start: Int
    links: Int
    link_local: Int

    @property
    def class_of(self) -> Int:
        """Class of each island. : (n_islands,)"""
        return self.partition.of

    def part(self, island: int, local: int) -> int:
        """Number of the part at place `local` of an island."""
        return int(self.parts[int(self.part_start[island]) + local])

    def members(self, island: int) -> Int:
        """Numbers of the parts of an island."""
        return self.parts[int(self.part_start[island]) : int(self.part_start[island + 1])]


#: graphs with the routes found on them, kept over edits that do not change what they are made from
GRAPHS_LIMIT: Final = 256
_graphs: Interned[LocalGraph] = Interned(GRAPHS_LIMIT)
_shapes: Interned[LocalShape] = Interned(GRAPHS_LIMIT)


@memo(most=NETWORKS_LIMIT, size=size_of, budget=FRAMES_LIMIT)
def find_islands(network: Network) -> Islands:
    """The islands of a network."""
    found = _places(network.frame)
    return replace(found, classes=tuple(_local_graph(network, found, int(i)) for i in found.partition.first))


@memo(most=STRUCTURES_LIMIT, size=size_of, budget=FRAMES_LIMIT)
def _places(frame: Frame) -> Islands:
    """Where the parts and inner links of a frame are in its islands, without graphs."""
    return _find_islands(frame) if frame.departs is None else _depart_from_plain(frame, frame.departs)


@memo(most=NETWORKS_LIMIT)
def plain_classes(network: Network) -> tuple[int, ...] | None:
    """The class of the plain network that each class of islands was; None where some are made otherwise."""
    if network.plain is None:
        return None
    own, plain = find_islands(network), find_islands(network.plain)
    was = plain.class_of[own.partition.first].tolist()
    same = all(one.shape is plain.classes[of].shape for one, of in zip(own.classes, was, strict=True))
    return tuple(was) if same else None


def _depart_from_plain(frame: Frame, departs: Departure) -> Islands:
    """The places of the plain frame, with classes of their own for islands of which parts or inner links differ."""
    net, arrays, plain = frame.net, frame_arrays(frame), _places(departs.frame)
    parts, links = changed_parts(frame), changed_links(frame)
    links = links[arrays.domain[links] != NETWORK]
    holder = arrays.island[net.link_a[links]]
    islands = np.unique(np.concatenate([arrays.island[parts], holder]))
    signs = _sums(
        mix(net.part_def[parts], plain.local[parts]), np.searchsorted(islands, arrays.island[parts]), len(islands)
    )
    signs += _sums(
        mix(net.link_def[links] + net.n_parts, plain.link_local[links]),
        np.searchsorted(islands, holder),
        len(islands),
    )
    return replace(plain, partition=plain.partition.split(islands, signs.view(np.int64))[0])


def _find_islands(frame: Frame) -> Islands:
    net, arrays = frame.net, frame_arrays(frame)
    island, n = arrays.island, arrays.n_islands
    parts = np.argsort(island, kind="stable")
    part_start = np.concatenate([[0], np.cumsum(np.bincount(island, minlength=n))])
    local = np.empty(net.n_parts, dtype=np.int64)
    local[parts] = np.arange(net.n_parts) - part_start[island[parts]]
    inner = np.flatnonzero(arrays.domain != NETWORK)
    of_link = island[net.link_a[inner]]
    order = np.argsort(of_link, kind="stable")
    links, of_link = inner[order], of_link[order]
    link_start = np.concatenate([[0], np.cumsum(np.bincount(of_link, minlength=n))])
    place = np.arange(len(links)) - link_start[of_link]
    link_local = np.zeros(net.n_links, dtype=np.int32)
    link_local[links] = place
    signature = _sums(mix(net.part_def, local), island, n)
    signature += _sums(
        mix(net.link_def[links] + net.n_parts, local[net.link_a[links]], local[net.link_b[links]], place),
        of_link,
        n,
    )
    return Islands((), by_value(signature), part_start, parts, local, link_start, links, cast("Int", link_local))


def _sums(signs: Hash, owner: Int, n: int) -> Hash:
    """Sums of hashes by owner, modulo 2^64. : (n,)"""
    total = np.zeros(n, dtype=np.uint64)
    np.add.at(total, owner, signs)
    return total


def _local_graph(network: Network, islands: Islands, island: int) -> LocalGraph:
    net = network.net
    members = islands.members(island)
    links = islands.links[int(islands.link_start[island]) : int(islands.link_start[island + 1])]
    definitions = net.part_def[members].tolist()
    kinds = tuple(network.kinds[d] for d in definitions)
    said = roles_of(network)
    roles = tuple(said[d] for d in definitions)
    partitions = tuple(net.part_defs[d].attributes.get(PARTITION, "") for d in definitions)
    names = tuple(net.link_defs[d].kind for d in net.link_def[links].tolist())
    ends_a, ends_b = islands.local[net.link_a[links]], islands.local[net.link_b[links]]
    rates = network.class_rate[network.arrays.rate_class[links]]
    joined = (tuple(k.name for k in kinds), roles, partitions, names, ends_a.tobytes(), ends_b.tobytes())
    domains = network.domain[links]

    def shaped() -> LocalShape:
        return LocalShape(kinds, roles, partitions, _steps(kinds, names, ends_a, ends_b, domains), names)

    shape = _shapes(joined, shaped)
    return _graphs((joined, rates.tobytes()), lambda: LocalGraph(shape, tuple(rates.tolist())))


@memo(most=NETWORKS_LIMIT)
def roles_of(network: Network) -> tuple[str, ...]:
    """What a NIC of each part definition is said to be for: its own attribute, else its type's value."""

    def role(part: Part) -> str:
        own = part.attributes.get("role", "")
        quantity = None if own else network.design.quantity(part, "role")
        return (str(quantity.value) if quantity is not None else own).lower()

    return tuple(of_each(role, network.net.part_defs))


def _steps(
    kinds: tuple[PartKind, ...], names: tuple[str, ...], ends_a: Int, ends_b: Int, domains: Int
) -> tuple[tuple[Step, ...], ...]:
    steps: list[list[Step]] = [[] for _ in kinds]
    known = link_kinds()
    columns = (ends_a.tolist(), ends_b.tolist(), domains.tolist())
    for k, (name, a, b, domain) in enumerate(zip(names, *columns, strict=True)):
        cost = known[name].preference if name in known else UNKNOWN_PREFERENCE
        steps[a].append(Step(b, 2 * k, cost, domain))
        steps[b].append(Step(a, 2 * k + 1, cost, domain))
    return tuple(tuple(s) for s in steps)
