"""Stops in host memory: where devices cannot reach each other's memory, every byte lies in a buffer of the host.

With GPUDirect, NICs, drives and peers read and write the memory of an accelerator over PCIe. Without it, and always
for a protocol or a card that cannot, a byte goes from the accelerator to host memory and from there to the NIC, the
drive or the other accelerator: it crosses the uplink of a shared PCIe switch once up and once down, and the memory bus
twice. Links between accelerators are no PCIe and stay as they are. The NIC is the one the accelerator would use.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability, part_kinds
from designer.design.document import Part
from designer.engine.network import NETWORKS_LIMIT, Network
from designer.engine.network.capacities import of_each
from designer.engine.network.islands import find_islands
from designer.engine.routes import crossings
from designer.engine.routes.legs import Legs, Routes, groups_of, join_legs
from designer.engine.routes.protocols import ends_in_host, hosted_definitions
from designer.engine.routes.routing.host_paths import Rules, find_segment
from designer.engine.routes.selection import buffers, nearest_places, tiers_of_definitions
from designer.memo import memo

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


def staged(network: Network, legs: Legs, direct: bool | None = None, far: Bool | None = None) -> Legs:
    """The same traffic with its stops in host memory; legs keep the numbers of their flows.

    Parameters
    ----------
    direct
        True if adapters and peers reach the memory of accelerators; None for what the policy of the design says.
    far : (n_legs,)
        Legs between peers that the library does not let reach each other over PCIe.
    """
    if direct is None:
        direct = network.design.policy.gpudirect
    alone = refusing(network)
    hosted = ends_in_host(network)
    hosted_rows = hosted[legs.source] | hosted[legs.target]
    if direct and not alone.any() and not hosted_rows.any() and (far is None or not far.any()):
        return legs
    accelerates, stores = network.has(Capability.ACCELERATE), network.has(Capability.STORE)
    attaches = network.has(Capability.ATTACH)
    source, target = legs.source, legs.target
    a, b = accelerates[source], accelerates[target]
    outside = network.island[source] != network.island[target]
    storage = stores[source] | stores[target]
    peers = a & b & ~outside & (source != target)
    adapters = storage | ((attaches[source] | attaches[target]) & ~outside)
    if direct:
        # only what a card or a protocol cannot do
        a, b = a & (alone[source] | hosted_rows), b & (alone[target] | hosted_rows)
        closed = alone[source] | alone[target]
        peers &= closed if far is None else closed | far
    plain = np.ones(len(legs), dtype=bool)
    pieces: list[Legs] = []
    if peers.any():
        rows = np.flatnonzero(peers)
        rows = rows[_over_pcie(network, legs, rows)]
        plain[rows] = False
        pieces += _one_stop(network, _rows(legs, rows), at_source=True)
    for ends, at_source in ((a & ~b, True), (b & ~a, False)):
        rows = np.flatnonzero(ends & adapters)
        plain[rows] = False
        pieces += _one_stop(network, _rows(legs, rows), at_source=at_source)
    rows = np.flatnonzero(outside & ~storage & (a | b))
    if len(rows):
        plain[rows] = False
        pieces += _over_networks(network, _rows(legs, rows), a[rows], b[rows])
    return join_legs([_rows(legs, plain), *pieces]) if pieces else legs


def stages(network: Network, routes: Routes) -> Bool:
    """Which entries of routes are on a memory bus: traffic that begins, ends or stops in host memory. : (nnz,)"""
    bus = np.array([link.kind == "memory_bus" for link in network.net.link_defs], dtype=bool)
    return bus[network.net.link_def[routes.channel >> 1]]


def refusing(network: Network) -> Bool:
    """Accelerators whose memory no other device may reach over PCIe. : (n_parts,)"""
    found = _refusing_definitions(network)
    if not found.any():
        return np.zeros(network.net.n_parts, dtype=bool)
    return found[network.net.part_def]


def _refusing_definitions(network: Network) -> Bool:
    design, kinds = network.design, part_kinds()

    def refuses(part: Part) -> bool:
        accelerates = part.kind in kinds and Capability.ACCELERATE in kinds[part.kind].capabilities
        says = design.quantity(part, "peer_access") if accelerates else None
        return says is not None and says.value is False

    return np.array(of_each(refuses, network.net.part_defs), dtype=bool)


@memo(most=NETWORKS_LIMIT)
def stops_key(network: Network) -> bytes:
    """What stops in host memory depend on next to the way parts are joined: networks with the same key stop in the same
    way."""
    policy = network.design.policy
    said = f"{policy.gpudirect};{policy.memory_tier};".encode()
    arrays = (_refusing_definitions(network), hosted_definitions(network), tiers_of_definitions(network))
    return said + b"".join(array.tobytes() for array in arrays)


def stops_as_plain(network: Network) -> bool:
    """True if traffic stops in host memory where it does on the plain network."""
    plain, departs = network.plain, network.frame.departs
    if plain is None or departs is None:
        return False
    found = (_refusing_definitions, hosted_definitions, tiers_of_definitions)
    return all(np.array_equal(of(network), of(plain)[departs.part_of]) for of in found)


def _rows(legs: Legs, keep: Bool | Int) -> Legs:
    return Legs(legs.flow[keep], legs.source[keep], legs.target[keep], legs.share[keep])


def _over_pcie(network: Network, legs: Legs, rows: Int) -> Bool:
    """Which legs between parts of one island take PCIe somewhere on their way."""
    islands = find_islands(network)
    rules = Rules(network.design.policy.relay_through_gpu, network.design.policy.pcie_acs)
    source, target = legs.source[rows], legs.target[rows]
    key = np.stack([islands.class_of[network.island[source]], islands.local[source], islands.local[target]], axis=1)
    found = np.zeros(len(rows), dtype=bool)
    for (cls, a, b), equal in groups_of(key):
        graph = islands.classes[cls]
        segment = find_segment(graph, a, b, rules)
        found[equal] = segment is not None and any(graph.shape.links[c >> 1] == "pcie" for c in segment.channels)
    return found


def _one_stop(network: Network, legs: Legs, at_source: bool) -> list[Legs]:
    """Legs by way of the host memory near one of their ends."""
    if not len(legs):
        return []
    stop = near_memory(network, legs.source if at_source else legs.target)
    stops = stop != (legs.source if at_source else legs.target)
    stop = np.where(stops, stop, legs.source)
    return [_rows(replace(legs, target=stop), stops), replace(legs, source=stop)]


def _over_networks(network: Network, legs: Legs, at_source: Bool, at_target: Bool) -> list[Legs]:
    """Legs to other servers: from memory to the NIC of the accelerator, and from its NIC to memory at the far end."""
    policy = network.design.policy
    rules = Rules(policy.relay_through_gpu, policy.pcie_acs)
    marks = (at_source.astype(np.int64), at_target.astype(np.int64))
    pieces: list[Legs] = []
    for rows, (first, last), doors in crossings(network, find_islands(network), rules, legs, *marks):
        mine = _rows(legs, rows)
        if not doors:
            pieces.append(mine)
        for door in doors:
            share = mine.share * door.share
            here = near_memory(network, mine.source) if first and door.leaves else mine.source
            there = near_memory(network, mine.target) if last and door.enters else mine.target
            ways = (mine.source, here, door.out, door.into, there, mine.target)
            for a, b in pairwise(ways):
                moves = a != b
                pieces.append(Legs(mine.flow[moves], a[moves], b[moves], share[moves]))
    return pieces


def near_memory(network: Network, parts: Int) -> Int:
    """The host memory for buffers nearest to each part; the part itself where its island has none."""
    islands = find_islands(network)
    memory = buffers(network)
    island = network.island[parts]
    near = parts.copy()
    for (cls, at), rows in groups_of(np.stack([islands.class_of[island], islands.local[parts]], axis=1)):
        offered = np.flatnonzero(memory[islands.members(int(island[rows[0]]))]).tolist()
        place = nearest_places(islands.classes[cls], at, offered)[0] if offered else at
        near[rows] = islands.parts[islands.part_start[island[rows]] + place]
    return near
