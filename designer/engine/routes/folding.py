"""Classes of the flows of a transfer, found before routing, so that one of each is routed and solved.

Flows, servers, crossings of a fabric and channels refine each other's classes until none distinguishes any. A crossing
goes from one gateway to another; what it takes up to the last switch is a *trunk*, which it shares with all crossings
to gateways behind the same switches. So a hundred thousand flows are distinguished by as many rows as they have ends,
and
no route of theirs is written down.

The classes are an equitable partition: every resource of a class meets as much of every class of flows, and every flow
of a class as much of every class of resources. Averaging over them keeps rates feasible and never lowers the least of
them, and the fair answer is one alone, so it is the same for all members of a class.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.network import Network
from designer.engine.network.capacities import NETWORK
from designer.engine.network.frame import inner_parts
from designer.engine.network.hashing import Hash, mix, rounded
from designer.engine.network.islands import find_islands
from designer.engine.network.partition import Partition, by_value, refined
from designer.engine.routes import crossings
from designer.engine.routes.fabric_routes import Trunks, trunks_of
from designer.engine.routes.gateways import find_fabric
from designer.engine.routes.legs import Legs, join_legs
from designer.engine.routes.routing.host_paths import Rules
from designer.engine.routes.selection import Traffic
from designer.engine.routes.structure import Structure, digest, structure_of
from designer.memo import Store, memo

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]

#: of fewer flows than this each is a class of its own
FOLDED_LIMIT: Final = 512
#: structures that classes are kept for: that shown, those before and after an edit, and another to compare with
_FOLDED_LIMIT: Final = 4
#: what states pairs and nodes of different meaning apart
_SOURCE, _TARGET, _WAY, _ISLAND, _CHANNEL, _TRUNK, _CROSSING, _MEETING = range(
    len(("source", "target", "way", "island", "channel", "trunk", "crossing", "meeting"))
)


@dataclass(frozen=True, slots=True, eq=False)
class Meeting:
    """Flows that meet something next to links and parts: which flow meets which of these, and how much of it it takes.

    Parameters
    ----------
    kind : (n_nodes,) nodes of other numbers are never of one class
    """

    flow: Int
    node: Int
    usage: Float
    kind: Int


@dataclass(frozen=True, slots=True, eq=False)
class Fold:
    """Classes of flows, and of what they meet; without islands every flow is a class of its own.

    Parameters
    ----------
    flows, islands
        Classes of flows, and of islands; None where no flow represents another one.
    channels : (n,) channels between islands that are met, ascending
    channel_classes
        Classes of these channels.
    meetings
        Classes of the nodes of each of the given meetings.
    legs, met : rows of the legs, and of each of the given meetings, that belong to the first flows
    """

    network: Network
    flows: Partition[Int]
    islands: Partition[Int] | None
    channels: Int
    channel_classes: Partition[Int]
    meetings: tuple[Partition[Int], ...]
    legs: Int
    met: tuple[Int, ...]

    @property
    def extent(self) -> int:
        """Parts and links of its network; see ``designer.memo``."""
        return self.network.extent

    @property
    def folds(self) -> bool:
        """Whether some flows represent others."""
        return self.islands is not None

    def size(self) -> int:
        """Numbers that it keeps."""
        if self.islands is None:
            return 0
        classes = (self.flows, self.islands, self.channel_classes, *self.meetings)
        rows = len(self.legs) + len(self.channels) + sum(len(one) for one in self.met)
        return rows + sum(len(one.of) + 2 * len(one) for one in classes)

    def channel(self, channels: Int) -> tuple[Int, Int]:
        """For some channels, those that represent them, and how many each of these represents."""
        if self.islands is None:
            return channels, np.ones(len(channels), dtype=np.int64)
        network, at = self.network, find_islands(self.network)
        link = channels >> 1
        island = network.island[network.net.link_a[link]]
        inner = network.arrays.domain[link] != NETWORK
        found, many = channels.copy(), np.ones(len(channels), dtype=np.int64)
        rows = np.flatnonzero(inner)
        place = at.link_local[link[rows]]
        cls = self.islands.of[island[rows]]
        found[rows] = 2 * at.links[at.link_start[self.islands.first[cls]] + place] + (channels[rows] & 1)
        many[rows] = self.islands.many[cls]
        rows = np.flatnonzero(~inner)
        if len(rows) and len(self.channels):
            where = np.minimum(np.searchsorted(self.channels, channels[rows]), len(self.channels) - 1)
            met = self.channels[where] == channels[rows]
            rows, where = rows[met], where[met]
            cls = self.channel_classes.of[where]
            found[rows] = self.channels[self.channel_classes.first[cls]]
            many[rows] = self.channel_classes.many[cls]
        return found, many

    def part(self, parts: Int) -> tuple[Int, Int]:
        """The same for parts of islands."""
        if self.islands is None:
            return parts, np.ones(len(parts), dtype=np.int64)
        at, cls = find_islands(self.network), self.islands.of[self.network.island[parts]]
        found = at.parts[at.part_start[self.islands.first[cls]] + at.local[parts]]
        return found, self.islands.many[cls]

    def every_channel(self) -> Int:
        """The channel that represents each channel of the network. : (n_channels,)"""
        if self.islands is None:
            return np.arange(2 * self.network.net.n_links)
        at, link = find_islands(self.network), np.arange(self.network.net.n_links)
        lead = np.repeat(self.islands.lead, np.diff(at.link_start))
        link[at.links] = at.links[at.link_start[lead] + at.link_local[at.links]]
        found = np.repeat(2 * link, 2)
        found[1::2] += 1
        found[self.channels] = self.channels[self.channel_classes.lead]
        return found

    def every_resource(self) -> Int:
        """The resource that represents each resource of the network. : (n_resources,)"""
        return _every_resource(self)


@memo(most=_FOLDED_LIMIT)
def _every_resource(folded: Fold) -> Int:
    network = folded.network
    arrays, channel = network.arrays, np.arange(2 * network.net.n_links)
    # links whose directions share one capacity have resources in the first direction alone
    many = np.where(arrays.full[channel >> 1] | (channel & 1 == 0), arrays.cables[channel >> 1], 0)
    moved = arrays.first_resource[folded.every_channel() >> 1] - arrays.first_resource[channel >> 1]
    found = np.empty(network.n_resources, dtype=np.int64)
    found[: network.n_link_resources] = np.repeat(moved, many) + np.arange(network.n_link_resources)
    parts = inner_parts(network.frame)
    found[network.n_link_resources :] = network.part_resource[folded.part(parts)[0]]
    found.setflags(write=False)
    return found


def fold(
    network: Network, traffic: Traffic, legs: Legs, marks: Sequence[Int], meetings: Sequence[Meeting] = ()
) -> Fold:
    """Classes of flows; of one flow each where it is not worth looking, or where hashing leaves nothing equal.

    On another network of the same structure the same flows are of one class, by the same object.

    Parameters
    ----------
    traffic
        The parts at which each flow is said to begin and to end.
    legs
        What is to be routed, with its stops.
    marks : of (n_flows,) each, flows of other marks are never of one class
    """
    if traffic.n_flows < FOLDED_LIMIT or network.design.policy.ecmp == "hash":
        return every_flow(network, traffic.n_flows, legs)
    key = b"".join([_digest_of(legs), _digest_of(traffic), digest(*marks), *map(_digest_of, meetings)])
    kept = _fold_store(structure_of(network))
    known = kept.get(key)
    if known is None:
        definition, ends = network.net.part_def, (traffic.source, traffic.target)
        kind = mix(*(definition[end] for end in ends), *(m.view(np.int64) for m in marks)).view(np.int64)
        found = _fold(network, legs, kind, ends, meetings)
        known = found or every_flow(network, traffic.n_flows, legs)
        kept.keep(key, known, known.size())
    return known


def every_flow(network: Network, n_flows: int, legs: Legs) -> Fold:
    """Every flow, and all that flows meet, by itself."""
    every, none = np.arange(n_flows), np.empty(0, dtype=np.int64)
    flows = Partition(every, every, np.ones(n_flows, dtype=np.int64))
    return Fold(network, flows, None, none, Partition(none, none), (), np.arange(len(legs)), ())


#: flows, legs and meetings whose digests are kept, with themselves
_DIGESTS_LIMIT: Final = 8


@memo(most=_DIGESTS_LIMIT)
def _digest_of(columns: Legs | Traffic | Meeting) -> bytes:
    """A digest of columns that stay the same from edit to edit."""
    names = (f.name for f in fields(columns))
    return digest(*(column for name in names if isinstance(column := getattr(columns, name), np.ndarray)))


#: numbers kept of classes of flows, for each structure: 16 MB
_KEPT_LIMIT: Final = 2_000_000


@memo(most=_FOLDED_LIMIT)
def _fold_store(_structure: Structure) -> Store[Fold]:
    return Store(_KEPT_LIMIT)


def _fold(network: Network, legs: Legs, kind: Int, ends: tuple[Int, Int], meetings: Sequence[Meeting]) -> Fold | None:
    graph = _Graph(network, len(kind))
    if not graph.trace(legs, ends):
        return None
    for meeting in meetings:
        graph.meet(meeting)
    return graph.refined(kind, legs, meetings)


class _Graph:
    """What meets what, as rows of pairs of nodes with a label each."""

    def __init__(self, network: Network, n_flows: int) -> None:
        self.network, self.islands = network, find_islands(network)
        self.colours: list[Hash] = [
            np.zeros(n_flows, dtype=np.uint64),
            mix(self.islands.class_of, np.full(network.n_islands, _ISLAND)),
        ]
        self.first = [0, n_flows]
        self.end = n_flows + network.n_islands
        self.pairs: list[tuple[Int, Int, Hash]] = []
        self.channels = np.empty(0, dtype=np.int64)

    def nodes(self, colours: Hash) -> int:
        """New nodes; the number of the first."""
        self.colours.append(colours)
        self.first.append(self.end)
        self.end += len(colours)
        return self.first[-1]

    def trace(self, legs: Legs, ends: tuple[Int, Int]) -> bool:
        """The path of all legs; False where that cannot be given in classes."""
        network, island = self.network, self.network.island
        fabric = find_fabric(network)
        policy = network.design.policy
        rules = Rules(policy.relay_through_gpu, policy.pcie_acs)
        here = island[legs.source] == island[legs.target]
        self._ends(legs, ends)
        self._pair_inside(legs.chosen(here))
        if here.all():
            return True
        if fabric.direct:
            return False
        away = legs.chosen(~here)
        inner: list[Legs] = []
        across: list[Legs] = []
        for rows, _, doors in crossings(network, self.islands, rules, away):
            for door in doors:
                share = away.share[rows] * door.share
                inner.append(Legs(away.flow[rows], away.source[rows], door.out, share))
                inner.append(Legs(away.flow[rows], door.into, away.target[rows], share))
                across.append(Legs(away.flow[rows], door.out, door.into, share))
        if not across:
            return True
        self._pair_inside(join_legs(inner))
        return self._pair_across(join_legs(across))

    def _ends(self, legs: Legs, ends: tuple[Int, Int]) -> None:
        """Where legs begin and end, for the media and memories there, and whether flows are named after it."""
        for side, parts, named in zip((_SOURCE, _TARGET), (legs.source, legs.target), ends, strict=True):
            sides, own = np.full(len(legs), side), named[legs.flow] == parts
            label = mix(self.islands.local[parts], rounded(legs.share), sides, own.astype(np.int64))
            self._pair(legs.flow, self.first[1] + self.network.island[parts], label)

    def _pair_inside(self, legs: Legs) -> None:
        legs = legs.chosen(legs.source != legs.target)
        local = self.islands.local
        label = mix(local[legs.source], local[legs.target], rounded(legs.share), np.full(len(legs), _WAY))
        self._pair(legs.flow, self.first[1] + self.network.island[legs.source], label)

    def _pair_across(self, legs: Legs) -> bool:
        network = self.network
        key = legs.source * network.net.n_parts + legs.target
        _, first, crossing = np.unique(key, return_index=True, return_inverse=True)
        found: Trunks = trunks_of(network, legs.source[first], legs.target[first])
        channels = np.unique(np.concatenate([found.channel, found.last_channel]))
        link = channels >> 1
        if not network.full[link].all():
            return False
        self.channels = channels
        colours = mix(network.arrays.rate_class[link], channels & 1, np.full(len(link), _CHANNEL))
        at_channels = self.nodes(colours)
        at_trunks = self.nodes(np.full(found.n_trunks, _TRUNK, dtype=np.uint64))
        at_crossings = self.nodes(np.full(len(first), _CROSSING, dtype=np.uint64))
        self._pair(legs.flow, at_crossings + crossing, mix(rounded(legs.share)))
        self._pair(at_crossings + np.arange(len(first)), at_trunks + found.trunk, np.zeros(len(first), dtype=np.uint64))
        where = at_channels + np.searchsorted(channels, found.channel)
        self._pair(at_trunks + found.trunk_of, where, mix(rounded(found.share)))
        where = at_channels + np.searchsorted(channels, found.last_channel)
        self._pair(at_crossings + found.crossing_of, where, mix(rounded(found.last_share)))
        return True

    def meet(self, meeting: Meeting) -> None:
        """Limits that flows meet."""
        at = self.nodes(mix(meeting.kind, np.full(len(meeting.kind), _MEETING)))
        self._pair(meeting.flow, at + meeting.node, mix(rounded(meeting.usage)))

    def _pair(self, one: Int, other: Int, label: Hash) -> None:
        self.pairs.append((one, other, label))

    def refined(self, kind: Int, legs: Legs, meetings: Sequence[Meeting]) -> Fold | None:
        """The coarsest classes that all pairs agree with."""
        self.colours[0] = mix(kind)
        colour = np.concatenate(self.colours)
        colour, n_flows = refined(colour, self.pairs), len(kind)
        flows = by_value(colour[:n_flows])
        if len(flows) * 2 > n_flows:
            return None
        ends = [*self.first, len(colour)]
        parts = [by_value(colour[ends[k] : ends[k + 1]]) for k in range(1, len(self.first))]
        channels = parts[1] if len(self.channels) else by_value(colour[:0])
        leads = np.zeros(n_flows, dtype=bool)
        leads[flows.first] = True
        return Fold(
            self.network,
            flows,
            parts[0],
            self.channels,
            channels,
            tuple(parts[len(parts) - len(meetings) :]) if meetings else (),
            np.flatnonzero(leads[legs.flow]),
            tuple(np.flatnonzero(leads[m.flow]) for m in meetings),
        )
