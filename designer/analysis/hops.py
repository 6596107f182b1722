"""Who sends to whom in groups of ranks: rings inside every server, and the exchange from server to server.

Groups whose ranks sit alike, in servers of the same classes, send alike: hops are found once for each such pattern
and moved to every group.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.gateways import Gateways, find_doors, nearest_door
from designer.analysis.hashing import mix
from designer.analysis.islands import Islands, LocalShape, find_islands
from designer.analysis.network import Network
from designer.analysis.rings import find_rings
from designer.analysis.routes import Legs
from designer.analysis.routing.host_paths import Rules
from designer.formulas.collectives import PathClass

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: more hops between servers than this are not routed for an exchange of all with all
EXCHANGE_LIMIT: Final = 20_000


@dataclass(frozen=True, slots=True, eq=False)
class _Hops:
    """Hops between ranks, by their places in the group: share of what a rank (or server) sends."""

    source: Int
    target: Int
    share: Float

    @staticmethod
    def of(rows: list[tuple[int, int, float]]) -> _Hops:
        columns = tuple(zip(*rows, strict=True)) or ((), (), ())
        return _Hops(np.array(columns[0], np.int64), np.array(columns[1], np.int64), np.array(columns[2], np.float64))


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """How the ranks of a group send.

    Parameters
    ----------
    members
        Places in the group by server, servers in order of rank.
    inside, between
        Hops inside servers, and from each server to the next.
    senders
        The ranks of each server that send to other servers.
    path, mixed
        What the rings inside run over, None for PCIe; whether only some hops run over accelerator links.
    """

    members: tuple[tuple[int, ...], ...]
    inside: _Hops
    between: _Hops
    senders: tuple[tuple[int, ...], ...]
    path: PathClass | None
    mixed: bool


def pattern_of(network: Network, ranks: Int) -> Pattern:
    """How one group sends."""
    return _pattern(network, find_islands(network), ranks)


def legs_of(network: Network, groups: Int) -> tuple[Legs, Legs]:
    """What all groups send inside servers and between them, each hop a flow, in the order of the groups.

    Parameters
    ----------
    groups : (n_groups, size) ranks of each group
    """
    islands = find_islands(network)
    first, which = _alike(network, islands, groups)
    patterns = [_pattern(network, islands, groups[row]) for row in first.tolist()]
    rows = [np.flatnonzero(which == k) for k in range(len(patterns))]
    return _moved(groups, [p.inside for p in patterns], rows), _moved(groups, [p.between for p in patterns], rows)


def all_with_all(network: Network, groups: Int) -> Legs:
    """What the servers of all groups send when every rank sends to every other one, in the order of the groups.

    Parameters
    ----------
    groups : (n_groups, size) ranks of each group

    Notes
    -----
    Every server sends each other one an equal share, its i-th rank to the i-th there, as libraries do that gather what
    goes to one NIC beforehand. Where these are more hops than `EXCHANGE_LIMIT`, servers at some distances stand for
    all: evenly spread, so near and far ones keep their weight.
    """
    islands = find_islands(network)
    first, which = _alike(network, islands, groups)
    patterns = [_pattern(network, islands, groups[row]) for row in first.tolist()]
    rows = [np.flatnonzero(which == k) for k in range(len(patterns))]
    ring = sum(len(p.between.share) * len(r) for p, r in zip(patterns, rows, strict=True))
    most = max(1, EXCHANGE_LIMIT // max(1, ring))
    return _moved(groups, [_Hops.of(_exchange(p.senders, most)) for p in patterns], rows)


def _alike(network: Network, islands: Islands, groups: Int) -> tuple[Int, Int]:
    """The first group of every pattern, and the pattern of each group."""
    n, width = groups.shape
    island = network.island[groups].ravel()
    row, column = np.repeat(np.arange(n), width), np.tile(np.arange(width), n)
    # a server is known by the place of its first rank in the group
    _, head, server = np.unique(row * network.n_islands + island, return_index=True, return_inverse=True)
    kind = islands.class_of[island]
    if len(head) > n:
        # which ranks send to other servers depends on where the gateways are
        doors = find_doors(network).signature[island]
        kind = mix(kind, doors).astype(np.int64)
    signs = mix(kind, islands.local[groups].ravel(), column[head[server]], column)
    total = np.add.reduce(signs.reshape(n, width), axis=1)
    _, first, which = np.unique(total, return_index=True, return_inverse=True)
    return first, which


def _moved(groups: Int, hops: list[_Hops], rows: list[Int]) -> Legs:
    """The hops of each pattern in its groups, by group."""
    group = np.concatenate([np.repeat(r, len(h.share)) for h, r in zip(hops, rows, strict=True)])
    source = np.concatenate([groups[r][:, h.source].ravel() for h, r in zip(hops, rows, strict=True)])
    target = np.concatenate([groups[r][:, h.target].ravel() for h, r in zip(hops, rows, strict=True)])
    share = np.concatenate([np.tile(h.share, len(r)) for h, r in zip(hops, rows, strict=True)])
    order = np.argsort(group, kind="stable")
    return Legs(np.arange(len(group)), source[order], target[order], share[order])


def _pattern(network: Network, islands: Islands, ranks: Int) -> Pattern:
    policy = network.design.policy
    rules = Rules(policy.relay_through_gpu, policy.pcie_acs)
    members: dict[int, list[int]] = {}
    for place, island in enumerate(network.island[ranks].tolist()):
        members.setdefault(island, []).append(place)
    inside: list[tuple[int, int, float]] = []
    kinds: set[PathClass | None] = set()
    mixed = False
    for island, inner in members.items():
        if len(inner) < 2:
            continue
        local = tuple(islands.local[ranks[inner]].tolist())
        rings = find_rings(islands.classes[int(islands.class_of[island])], local, rules)
        place = dict(zip(local, inner, strict=True))
        inside += [(place[a], place[b], share) for a, b, share in rings.hops]
        kinds.add(rings.path)
        mixed = mixed or rings.mixed
    servers = tuple(tuple(m) for m in members.values())
    # over PCIe the way to another rank costs what the way to the NIC does: all send, as nothing measured says otherwise
    gathered = len(servers) > 1 and None not in kinds
    senders = _senders(network, islands, ranks, servers, rules) if gathered else servers
    return Pattern(servers, _Hops.of(inside), _Hops.of(_exchange(senders)), senders, _slowest(kinds), mixed)


def _senders(
    network: Network, islands: Islands, ranks: Int, servers: tuple[tuple[int, ...], ...], rules: Rules
) -> tuple[tuple[int, ...], ...]:
    """Ranks of each server that send to other servers: the nearest to each gateway, where the library's rings leave."""
    found = find_doors(network)
    affinity = network.design.policy.rail_affinity
    local = islands.local[ranks].tolist()
    island = network.island[ranks].tolist()
    known: dict[tuple[int, int, tuple[int, ...]], tuple[int, ...]] = {}
    senders: list[tuple[int, ...]] = []
    for inner in servers:
        if len(inner) < 2:
            senders.append(inner)
            continue
        home = island[inner[0]]
        where = tuple(local[place] for place in inner)
        kind, doors = int(islands.class_of[home]), int(found.signature[home])
        key = (kind, doors, where)
        if key not in known:
            known[key] = _nearest_to_doors(islands.classes[kind].shape, where, found.doors[doors], rules, affinity)
        senders.append(tuple(inner[k] for k in known[key]))
    return tuple(senders)


def _nearest_to_doors(
    shape: LocalShape, where: tuple[int, ...], doors: Gateways, rules: Rules, affinity: bool
) -> tuple[int, ...]:
    """Which of some accelerators are nearest to the gateways they use; all of them where there is none."""
    near: dict[int, list[tuple[float, int]]] = {}
    for k, at in enumerate(where):
        door = nearest_door(shape, at, doors, rules, affinity)
        if door is not None:
            near.setdefault(door[0], []).append((door[1], k))
    kept = [k for costs in near.values() for cost, k in costs if cost == min(costs)[0]]
    return tuple(sorted(kept)) or tuple(range(len(where)))


def _exchange(servers: tuple[tuple[int, ...], ...], distances: int = 0) -> list[tuple[int, int, float]]:
    """Every server sends to the next: the i-th to the i-th, each an equal share of what a server sends.

    With `distances` every server sends to all others, or to so many of them.
    """
    n = len(servers)
    if n < 2:
        return []
    count = min(distances, n - 1) or 1
    steps = sorted({1 + (2 * k + 1) * (n - 1) // (2 * count) for k in range(count)}) if distances else [1]
    rows: list[tuple[int, int, float]] = []
    for step in steps:
        for here, there in zip(servers, [*servers[step:], *servers[:step]], strict=True):
            width = max(len(here), len(there))
            rows += [(here[r % len(here)], there[r % len(there)], 1 / (width * len(steps))) for r in range(width)]
    return rows


_ORDER: Final = {kind: number for number, kind in enumerate(PathClass)}


def _slowest(kinds: set[PathClass | None]) -> PathClass | None:
    """The kind of ring that holds up the others; None, where the routes decide, is PCIe."""
    if None in kinds:
        return None
    return max((k for k in kinds if k), key=_ORDER.__getitem__, default=PathClass.NVLINK_SWITCH)
