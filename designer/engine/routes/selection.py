"""Selectors of workloads resolved to parts, and who sends to whom."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.engine.network import Network
from designer.engine.network.capacities import TIERS, tier_of
from designer.engine.network.frame import STRUCTURES_LIMIT, Frame, parts_of_kind, parts_with
from designer.engine.network.islands import Islands, LocalGraph, find_islands
from designer.engine.routes.legs import Legs, groups_of
from designer.engine.routes.routing.host_paths import Rules, find_cost
from designer.engine.routes.structure import Structure, structure_of
from designer.errors import AnalysisError, NothingNamed, raised_as
from designer.memo import Store, memo
from designer.workload.program.tasks import Move, Pairing

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

_WORDS: Final = {
    "gpus": Capability.ACCELERATE,
    "accelerators": Capability.ACCELERATE,
    "nics": Capability.ATTACH,
    "cpus": Capability.COMPUTE,
}
#: words that name part kinds with a capability in common but a different place in the design
_KINDS: Final = {
    "storage": ("storage", "drive"),
    "storage_systems": ("storage",),
    "drives": ("drive",),
    "servers": ("server",),
    "dpus": ("dpu",),
    "sensors": ("sensor",),
    "clients": ("client",),
}
#: all pairs of two sets are refused above this
FLOWS_LIMIT: Final = 4_000_000


def resolve(network: Network, selector: str, place: str) -> Int:
    """Numbers of the parts a selector names, in natural order.

    Raises
    ------
    AnalysisError
        If it names none.
    """
    pieces = [p.strip() for p in selector.split(",")]
    with raised_as(AnalysisError, place):
        if any(piece == "memory" or piece in TIERS for piece in pieces):
            return _unique_parts([_choose_piece(network.frame, piece, network) for piece in pieces], selector)
        departs = network.frame.departs
        return _selection_store(departs.frame if departs is not None else network.frame, selector)


@memo(most=STRUCTURES_LIMIT)
def _selection_store(frame: Frame, selector: str) -> Int:
    """Parts chosen by what does not change with their values: the same for all designs of a frame."""
    found = _unique_parts([_choose_piece(frame, piece.strip(), None) for piece in selector.split(",")], selector)
    found.setflags(write=False)
    return found


def _choose_piece(frame: Frame, piece: str, network: Network | None) -> Int:
    if network is not None and piece == "memory":
        return np.flatnonzero(buffers(network))
    if network is not None and piece in TIERS and piece not in frame.net.block.parts:
        return np.flatnonzero(tier_numbers(network) == TIERS.index(piece))
    if piece in _WORDS:
        return np.flatnonzero(parts_with(frame, _WORDS[piece]))
    if piece in _KINDS:
        # Storage systems come first; the drives of servers are used where there is none.
        chosen = (parts_of_kind(frame, kind) for kind in _KINDS[piece])
        return next((parts for parts in chosen if len(parts)), np.empty(0, dtype=np.int64))
    return frame.net.select(piece).flat


def _unique_parts(found: list[Int], selector: str) -> Int:
    parts = np.concatenate(found) if found else np.empty(0, dtype=np.int64)
    if not len(parts):
        error = NothingNamed(f"{selector!r} names no part of this design", remedy="add such parts or choose others")
        error.selector = selector
        raise error
    if (np.diff(parts) > 0).all():
        return parts
    _, first = np.unique(parts, return_index=True)
    return parts[np.sort(first)]


def tier_numbers(network: Network) -> Int:
    """Tier of every memory by its place in ``TIERS``, −1 for other parts. : (n_parts,)"""
    return tiers_of_definitions(network)[network.net.part_def]


def tiers_of_definitions(network: Network) -> Int:
    """The same of every definition. : (n_part_defs,)"""
    design = network.design
    tiers = [
        TIERS.index(tier_of(design, part)) if Capability.MEMORY in kind.capabilities else -1
        for part, kind in zip(network.net.part_defs, network.kinds, strict=True)
    ]
    return np.array(tiers, dtype=np.int64)


def buffers(network: Network) -> Bool:
    """Memories that buffers lie in: of the tier the policy asks for, else of the first tier the server has."""
    tier = tier_numbers(network)
    asked = network.design.policy.memory_tier
    order = np.where(tier < 0, len(TIERS), tier)
    if asked != "auto":
        order = np.where(tier == TIERS.index(asked), -1, order)
    best = np.full(network.n_islands, len(TIERS))
    np.minimum.at(best, network.island, order)
    return (tier >= 0) & (order == best[network.island])


def tiers_key(network: Network) -> bytes:
    """What memories are chosen by next to the way parts are joined: on networks with the same key they are the same."""
    return f"{network.design.policy.memory_tier};".encode() + tiers_of_definitions(network).tobytes()


@dataclass(frozen=True, slots=True, eq=False)
class Traffic:
    """Flows of a transfer before routing.

    Parameters
    ----------
    legs
        Ways to route; several legs may belong to one flow.
    source, target : (n_flows,) the part a flow is named after at each end
    """

    legs: Legs
    source: Int
    target: Int

    @property
    def n_flows(self) -> int:
        """Number of flows."""
        return len(self.source)


def pair_up(network: Network, operation: Move, place: str) -> Traffic:
    """The flows of a transfer; the same object for networks connected in the same way.

    Raises
    ------
    AnalysisError
        If a side names nothing, sides do not match, or there would be more than ``FLOWS_LIMIT`` flows.
    """
    asked = (operation.source, operation.target, operation.pairing, operation.both_ways, operation.seed)
    known, key = _traffic_store(structure_of(network)), repr(asked).encode() + tiers_key(network)
    found = known.get(key)
    if found is None:
        source = resolve(network, operation.source, f"{place}.from")
        target = resolve(network, operation.target, f"{place}.to")
        found = frozen(pair_parts(network, source, target, operation, place))
        known.keep(key, found, found.legs.size() + 2 * found.n_flows)
    return found


#: numbers of flows kept for each structure: 16 MB
PAIRED_LIMIT: Final = 2_000_000


@memo(most=STRUCTURES_LIMIT)
def _traffic_store(_structure: Structure) -> Store[Traffic]:
    return Store(PAIRED_LIMIT)


def frozen(traffic: Traffic) -> Traffic:
    """The same flows, whose arrays can be shared: nobody writes to them."""
    legs = traffic.legs
    for column in (legs.flow, legs.source, legs.target, legs.share, traffic.source, traffic.target):
        column.setflags(write=False)
    return traffic


def pair_parts(network: Network, source: Int, target: Int, operation: Move, place: str) -> Traffic:
    """The flows of a transfer between parts already chosen.

    Raises
    ------
    AnalysisError
        If the two sides cannot be paired so.
    """
    pairing = operation.pairing if operation.pairing != "auto" else _choose(network, source, target)
    if pairing == "nearest":
        traffic = _pair_nearest(network, source, target)
    elif pairing == "striped":
        traffic = _stripe_sources(source, target)
    else:
        a, b = _pairs(source, target, pairing, operation.seed, place)
        traffic = Traffic(Legs.of(a[a != b], b[a != b]), a[a != b], b[a != b])
    if not traffic.n_flows:
        raise AnalysisError("every flow would end where it begins", place=place, remedy="choose other parts")
    return _and_back(traffic) if operation.both_ways else traffic


def _and_back(traffic: Traffic) -> Traffic:
    """The same flows, and after them their twins in the other direction."""
    legs = traffic.legs
    both = Legs(
        np.concatenate([legs.flow, legs.flow + traffic.n_flows]),
        np.concatenate([legs.source, legs.target]),
        np.concatenate([legs.target, legs.source]),
        np.tile(legs.share, 2),
    )
    ends = traffic.source, traffic.target
    return Traffic(both, np.concatenate(ends), np.concatenate(ends[::-1]))


def _choose(network: Network, source: Int, target: Int) -> Pairing:
    memory, store = network.has(Capability.MEMORY), network.has(Capability.STORE)
    local = memory | store
    if len(source) > 1 and np.array_equal(np.sort(source), np.sort(target)):
        return "shift"
    if store[source].all() and not _share_islands(network, source, target):
        return "striped"
    if local[source].all() or local[target].all():
        return "nearest"
    return "pairs" if len(source) == len(target) else "all"


def _share_islands(network: Network, source: Int, target: Int) -> bool:
    return bool(np.isin(network.island[target], network.island[source]).any())


def _pairs(source: Int, target: Int, pairing: Pairing, seed: int, place: str) -> tuple[Int, Int]:
    if pairing == "shift":
        both = np.concatenate([source, target[~np.isin(target, source)]])
        return both, np.roll(both, -(len(both) // 2))
    if pairing == "permutation":
        both = np.concatenate([source, target[~np.isin(target, source)]])
        # Around a random circle: nobody draws itself.
        circle = np.random.default_rng(seed).permutation(len(both))
        drawn = np.empty_like(both)
        drawn[circle] = both[np.roll(circle, -1)]
        return both, drawn
    if pairing == "pairs":
        if len(source) != len(target) and 1 not in (len(source), len(target)):
            raise AnalysisError(
                f"pairs need as many parts on both sides, here {len(source)} and {len(target)}",
                place=place,
                remedy="change the selection or use the pairing all",
            )
        n = max(len(source), len(target))
        return np.resize(source, n), np.resize(target, n)
    if len(source) * len(target) > FLOWS_LIMIT:
        raise AnalysisError(
            f"all pairs would be {len(source) * len(target):,} flows", place=place, remedy="use the pairing permutation"
        )
    return np.repeat(source, len(target)), np.tile(target, len(source))


def _stripe_sources(source: Int, target: Int) -> Traffic:
    """Each target from all sources in equal shares, but not from itself."""
    flow, other = np.repeat(np.arange(len(target)), len(source)), np.tile(source, len(target))
    return _number_flows(*_without_self(flow, other, target), target, outward=False)


def _without_self(flow: Int, partner: Int, owner: Int) -> tuple[Int, Int]:
    keep = partner != owner[flow]
    return flow[keep], partner[keep]


def _number_flows(flow: Int, partner: Int, owner: Int, outward: bool) -> Traffic:
    """Flows of the owners that have partners: numbered from 0, shared equally over the partners."""
    order = np.argsort(flow, kind="stable")
    rows, first, number, width = np.unique(flow[order], return_index=True, return_inverse=True, return_counts=True)
    partner, own = partner[order], owner[rows][number]
    share = 1 / width[number]
    lead = partner[first]
    if outward:
        return Traffic(Legs(number, own, partner, share), owner[rows], lead)
    return Traffic(Legs(number, partner, own, share), lead, owner[rows])


def _pair_nearest(network: Network, source: Int, target: Int) -> Traffic:
    """Each part of the one side with the parts of the other that are nearest to it, in equal shares.

    The side with accelerators makes the flows; where neither or both have, the targets do. No part is its own partner.
    """
    accelerates = network.has(Capability.ACCELERATE)
    outward = bool(accelerates[source].all() and not accelerates[target].all())
    owners, offered = (source, target) if outward else (target, source)
    islands = find_islands(network)
    allowed = np.zeros(network.net.n_parts, dtype=bool)
    allowed[offered] = True
    offers = np.bincount(network.island[offered], minlength=network.n_islands)
    inside = offers[network.island[owners]] > allowed[owners]
    flow: list[Int] = []
    partner: list[Int] = []
    for owner_rows, partners in _nearest_rows(network, islands, owners, np.flatnonzero(inside), allowed):
        flow.append(np.repeat(owner_rows, partners.shape[1]))
        partner.append(partners.ravel())
    far = np.flatnonzero(~inside)
    all_flows, others = _without_self(np.repeat(far, len(offered)), np.tile(offered, len(far)), owners)
    return _number_flows(np.concatenate([*flow, all_flows]), np.concatenate([*partner, others]), owners, outward)


def _nearest_rows(network: Network, islands: Islands, owners: Int, rows: Int, allowed: Bool) -> list[tuple[Int, Int]]:
    """For owners with offers in their own island: rows that look the same, and the partners of each row."""
    found: list[tuple[Int, Int]] = []
    own = owners[rows]
    home = network.island[own]
    offer, offers = _offers(islands, home, allowed)
    for (cls, at, number), equal in groups_of(np.stack([islands.class_of[home], islands.local[own], offer], axis=1)):
        offered = [place for place in offers[number] if place != at]
        local = np.array(nearest_places(islands.classes[cls], at, offered), dtype=np.int64)
        base = islands.part_start[home[equal]]
        found.append((rows[equal], islands.parts[base[:, None] + local]))
    return found


def _offers(islands: Islands, home: Int, allowed: Bool) -> tuple[Int, list[list[int]]]:
    """Which of some islands offer the same places: a number for each, and the places that each number represents.

    Parameters
    ----------
    home : (n,) islands
    allowed : (n_parts,) which parts are on offer
    """
    found = np.zeros(len(home), dtype=np.int64)
    places: list[list[int]] = []
    kind = islands.class_of[home]
    for cls in np.flatnonzero(np.bincount(kind)).tolist():
        mine = np.flatnonzero(kind == cls)
        members, which = np.unique(home[mine], return_inverse=True)
        size = int(islands.part_start[members[0] + 1] - islands.part_start[members[0]])
        # islands of a class have as many parts: one row for each, whether the part at each place is on offer
        table = allowed[islands.parts[islands.part_start[members][:, None] + np.arange(size)]]
        if (table == table[0]).all():
            distinct, number = table[:1], np.zeros(len(members), dtype=np.int64)
        else:
            distinct, number = np.unique(table, axis=0, return_inverse=True)
        found[mine] = len(places) + number.ravel()[which]
        places += [np.flatnonzero(row).tolist() for row in distinct]
    return found, places


def nearest_places(graph: LocalGraph, at: int, offered: list[int]) -> list[int]:
    """Those of `offered` that are cheapest to reach from place `at`; all of them where there is no path."""
    cost = {o: c for o in offered if (c := find_cost(graph.shape, at, o, Rules())) is not None}
    best = min(cost.values(), default=0)
    return [o for o in offered if cost.get(o) == best] or offered
