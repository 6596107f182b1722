"""Islands and their classes: equal servers are routed once.

Two islands belong to one class when they have the same definitions, joined in the same way, in the same order. Routes
inside an island are found once per class and moved to each island by adding offsets.
"""

from __future__ import annotations

import weakref
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.network import NETWORK, Network
from designer.catalog.parttype import PartKind

Int = npt.NDArray[np.int64]

#: how willingly a path takes a link: accelerator links before chip-to-chip before PCIe before socket links
_COST: Final = {"nvlink": 1, "xgmi": 1, "c2c": 3, "pcie": 4, "memory_bus": 4, "upi": 6, "infinity_fabric": 6}


@dataclass(frozen=True, slots=True)
class Step:
    """A way out of a part: over local channel ``channel`` to part ``to``."""

    to: int
    channel: int
    cost: int
    capacity: float
    domain: int


@dataclass(frozen=True, slots=True, eq=False)
class LocalGraph:
    """One class of islands, parts and links numbered from 0. ``routes`` remembers what was found."""

    kinds: tuple[PartKind, ...]
    steps: tuple[tuple[Step, ...], ...]
    links: tuple[str, ...]
    routes: dict[object, object] = field(default_factory=dict[object, object])

    @property
    def n_parts(self) -> int:
        """Number of parts."""
        return len(self.kinds)


@dataclass(frozen=True, slots=True, eq=False)
class Islands:
    """All islands of a network, by class.

    Parameters
    ----------
    class_of : (n_islands,) class of each island
    part_start, parts : members of island i are ``parts[part_start[i]:part_start[i+1]]``, ascending
    local : (n_parts,) place of each part in its island
    link_start, links : inner links of each island, likewise
    """

    classes: tuple[LocalGraph, ...]
    class_of: Int
    part_start: Int
    parts: Int
    local: Int
    link_start: Int
    links: Int

    def part(self, island: int, local: int) -> int:
        """Number of the part at place `local` of an island."""
        return int(self.parts[int(self.part_start[island]) + local])

    def members(self, island: int) -> Int:
        """Numbers of the parts of an island."""
        return self.parts[int(self.part_start[island]) : int(self.part_start[island + 1])]


#: graphs with the routes found on them, kept over edits that do not change what they are made from
_graphs: dict[object, LocalGraph] = {}
_MOST_GRAPHS: Final = 256
_islands: dict[int, tuple[weakref.ref[Network], Islands]] = {}


def find_islands(network: Network) -> Islands:
    """The islands of a network; remembered as long as the network lives."""
    key = id(network)
    known = _islands.get(key)
    if known is not None and known[0]() is network:
        return known[1]
    found = _find(network)
    _islands[key] = (weakref.ref(network, lambda _: _islands.pop(key, None)), found)
    return found


def _find(network: Network) -> Islands:
    net, island, n = network.net, network.island, network.n_islands
    parts = np.argsort(island, kind="stable")
    part_start = np.concatenate([[0], np.cumsum(np.bincount(island, minlength=n))])
    local = np.empty(net.n_parts, dtype=np.int64)
    local[parts] = np.arange(net.n_parts) - part_start[island[parts]]
    inner = np.flatnonzero(network.domain != NETWORK)
    of_link = island[net.link_a[inner]]
    order = np.argsort(of_link, kind="stable")
    links, of_link = inner[order], of_link[order]
    link_start = np.concatenate([[0], np.cumsum(np.bincount(of_link, minlength=n))])
    place = np.arange(len(links)) - link_start[of_link]
    signature = np.zeros(n, dtype=np.uint64)
    np.add.at(signature, island, _mix(net.part_def, local))
    np.add.at(
        signature,
        of_link,
        _mix(net.link_def[links] + net.n_parts, local[net.link_a[links]], local[net.link_b[links]], place),
    )
    _, first, class_of = np.unique(signature, return_index=True, return_inverse=True)
    found = Islands((), class_of.astype(np.int64), part_start, parts, local, link_start, links)
    classes = tuple(_local_graph(network, found, int(i)) for i in first)
    return Islands(classes, found.class_of, part_start, parts, local, link_start, links)


def _mix(*columns: Int) -> npt.NDArray[np.uint64]:
    """A 64-bit hash of rows (splitmix64 finaliser), so that a sum over an island tells classes apart."""
    state = np.zeros(len(columns[0]), dtype=np.uint64)
    for column in columns:
        state = (state + column.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return state


def _local_graph(network: Network, islands: Islands, island: int) -> LocalGraph:
    net = network.net
    members = islands.members(island)
    links = islands.links[int(islands.link_start[island]) : int(islands.link_start[island + 1])]
    kinds = tuple(network.kinds[d] for d in net.part_def[members].tolist())
    names = tuple(net.link_defs[d].kind for d in net.link_def[links].tolist())
    ends_a, ends_b = islands.local[net.link_a[links]], islands.local[net.link_b[links]]
    rates = network.rate[links]
    key = (tuple(k.name for k in kinds), names, ends_a.tobytes(), ends_b.tobytes(), rates.tobytes())
    known = _graphs.get(key)
    if known is None:
        while len(_graphs) >= _MOST_GRAPHS:
            _graphs.pop(next(iter(_graphs)))
        known = _graphs[key] = _make_graph(kinds, names, ends_a, ends_b, rates, network.domain[links])
    return known


def _make_graph(
    kinds: tuple[PartKind, ...],
    names: tuple[str, ...],
    ends_a: Int,
    ends_b: Int,
    rates: npt.NDArray[np.float64],
    domains: Int,
) -> LocalGraph:
    steps: list[list[Step]] = [[] for _ in kinds]
    columns = (ends_a.tolist(), ends_b.tolist(), rates.tolist(), domains.tolist())
    for k, (name, a, b, rate, domain) in enumerate(zip(names, *columns, strict=True)):
        cost = _COST.get(name, 4)
        steps[a].append(Step(b, 2 * k, cost, rate, domain))
        steps[b].append(Step(a, 2 * k + 1, cost, rate, domain))
    return LocalGraph(kinds, tuple(tuple(s) for s in steps), names)
