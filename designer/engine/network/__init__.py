"""The elaborated design as frozen arrays: what can be loaded, how much it carries, and which parts form islands.

Every link (bundle) has two *channels*, one per direction: channel ``2·link`` runs a → b, ``2·link + 1`` b → a. Load is
counted on *resources*: a full-duplex bundle has one per direction, a shared one (a memory bus) one in all; where
traffic is hashed, every cable of a network bundle is a resource of its own. Drives, storage systems and accelerator
memories are resources too. An *island* is what host and accelerator links hold together: a server, a rack-scale
NVLink domain, a single switch.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from designer.catalog.parttype import Capability, PartKind, part_kinds, value_of
from designer.design.document import Design, Part
from designer.design.elaborate import Netlist, elaborate, plain_definitions
from designer.design.shapes import Shape, plain_of
from designer.engine.network.capacities import (
    NETWORK,
    UNTOLD,
    LinkFacts,
    PartResource,
    band_of,
    columns,
    facts_of_link,
    of_each,
    resource_inside,
)
from designer.engine.network.frame import (
    STRUCTURES_LIMIT,
    Bool,
    Departure,
    Float,
    Frame,
    FrameArrays,
    Int,
    examples,
    frame_arrays,
    inner_parts,
    parts_of_kind,
    parts_with,
    size_of,
)
from designer.engine.network.storage import ports_of, storage_inside
from designer.errors import AnalysisError
from designer.memo import Interned, Memo, memo
from designer.sources import Status

#: most flows that are listed one by one
LISTED_LIMIT: Final = 256
#: rates and levels this close together are tied
TIE_TOLERANCE: Final = 1e-9
#: a placeholder of unknown kind passes nothing on and offers nothing
_UNKNOWN: Final = PartKind("unknown", "Unknown part", "Unknown parts")
#: networks of the designs analysed last, such as both sides of a comparison
NETWORKS_LIMIT: Final = 6
#: bytes of their rates
RATES_LIMIT: Final = 16_000_000


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A design ready to be routed on. Its arrays are made when somebody asks for them.

    Parameters
    ----------
    link_facts : one per link definition
    kinds : kind of each part definition
    part_resources : what is inside each part definition, None for nothing
    frame, arrays
        What it has in common with networks that differ in rates alone, and the arrays of that.
    plain
        The network of the plain design, where its members differ from that in values alone; see
        ``designer.engine.network.frame.Departure``.
    """

    design: Design
    net: Netlist
    kinds: tuple[PartKind, ...]
    link_facts: tuple[LinkFacts, ...]
    part_resources: tuple[PartResource | None, ...]
    frame: Frame
    arrays: FrameArrays
    plain: Network | None = None

    @property
    def extent(self) -> int:
        """Parts and links; see ``designer.memo``."""
        return self.frame.extent

    @property
    def domain(self) -> Int:
        """Host, accelerator or network. : (n_links,)"""
        return self.arrays.domain

    @property
    def count(self) -> Int:
        """Links in each bundle. : (n_links,)"""
        return self.arrays.count

    @property
    def first_resource(self) -> Int:
        """Number of the first resource of each link. : (n_links,)"""
        return self.arrays.first_resource

    @property
    def cables(self) -> Int:
        """Resources per direction. : (n_links,)"""
        return self.arrays.cables

    @property
    def full(self) -> Bool:
        """Whether the directions of each link are separate. : (n_links,)"""
        return self.arrays.full

    @property
    def part_resource(self) -> Int:
        """Resource number inside each part, −1 for none. : (n_parts,)"""
        return self.arrays.part_resource

    @property
    def island(self) -> Int:
        """Island of each part. : (n_parts,)"""
        return self.arrays.island

    @property
    def n_islands(self) -> int:
        """Number of islands."""
        return self.arrays.n_islands

    @property
    def class_rate(self) -> Float:
        """Raw capacity of the links of each class per direction [B/s]. : (n_classes,)"""
        return _class_rate(self)

    @property
    def rate(self) -> Float:
        """Raw capacity of each bundle per direction [B/s]. : (n_links,)"""
        return _rate(self)

    def rate_of(self, links: Int) -> Float:
        """The same of some links; does not make those of all. : (n,) [B/s]"""
        return self.class_rate[self.arrays.rate_class[links]]

    @property
    def capacity(self) -> Float:
        """Capacity of each resource [B/s]. : (n_resources,)"""
        return _capacity(self)

    def capacity_of(self, resource: Int) -> Float:
        """Capacity of some resources [B/s]; does not make those of all. : (n,)"""
        arrays = self.arrays
        found = np.empty(len(resource))
        on_link = resource < arrays.n_link_resources
        link = np.searchsorted(arrays.first_resource, resource[on_link], side="right") - 1
        found[on_link] = self.class_rate[arrays.rate_class[link]] / arrays.cables[link]
        if not on_link.all():
            parts = inner_parts(self.frame)[resource[~on_link] - arrays.n_link_resources]
            per_definition = np.array([r.capacity if r else 0.0 for r in self.part_resources])
            found[~on_link] = per_definition[self.net.part_def[parts]]
        return found

    @property
    def n_resources(self) -> int:
        """Number of resources."""
        return self.arrays.n_link_resources + self.arrays.n_part_resources

    @property
    def hop_bands(self) -> Float:
        """Time through each part that passes traffic on with its band, infinite if not known. : (3, n_parts) [s]"""
        return self.hop_bands_of_definitions[:, self.net.part_def]

    @property
    def hop_bands_of_definitions(self) -> Float:
        """The same of part definitions. : (3, n_part_defs) [s]"""
        return _hop_bands(self)

    def ends_of(self, channels: Int) -> Int:
        """Part that each channel arrives at. : (n,)"""
        link = channels >> 1
        return np.where(channels & 1, self.net.link_a[link], self.net.link_b[link])

    @property
    def n_link_resources(self) -> int:
        """Number of resources that belong to links; those of parts follow."""
        return self.arrays.n_link_resources

    def kind(self, index: int) -> PartKind:
        """Kind of part number `index`."""
        return self.kinds[int(self.net.part_def[index])]

    def has(self, capability: Capability) -> Bool:
        """Which parts have a capability. : (n_parts,)"""
        return parts_with(self.frame, capability)

    def parts_of_kind(self, name: str) -> Int:
        """Numbers of all parts of a kind."""
        return parts_of_kind(self.frame, name)

    def common_link(self, links: Int) -> Int:
        """The definition that each of some links is stated as: those of an edited member that say what they said
        before,
        and whose ends let as much through, are those of the other members. : (n,)
        """
        found = self.net.link_def[links]
        if self.frame.departs is None or self.plain is None:
            return found
        same = self.rate_of(links) == self.plain.rate_of(links)
        return np.where(same, self.frame.departs.common_link[found], found)

    def common_part(self, parts: Int) -> Int:
        """The same of parts. : (n,)"""
        found = self.net.part_def[parts]
        return self.frame.departs.common_part[found] if self.frame.departs is not None else found

    def ends(self, channel: int) -> tuple[int, int]:
        """Part numbers a channel runs from and to."""
        link = channel >> 1
        a, b = int(self.net.link_a[link]), int(self.net.link_b[link])
        return (b, a) if channel & 1 else (a, b)

    def channel_id(self, channel: int) -> str:
        """Stable id of a channel: the path of its link and its direction."""
        return f"{self.net.link_path(channel >> 1)}:{'ba' if channel & 1 else 'ab'}"

    def channel_ids(self, channels: Int) -> list[str]:
        """Ids of many channels."""
        paths = self.net.link_paths(channels >> 1)
        return [f"{path}:{'ba' if back else 'ab'}" for path, back in zip(paths, (channels & 1).tolist(), strict=True)]

    def channel_label(self, channel: int, *, both_ways: bool = False) -> str:
        """Name for people; of a link as a whole where `both_ways`."""
        a, b = self.ends(channel)
        link = self.net.link(channel >> 1)
        times = f" ×{link.count}" if link.count > 1 else ""
        return f"{self.net.path(a)} {'↔' if both_ways else '→'} {self.net.path(b)} ({link.kind}{times})"

    def resource_channel(self, resource: int) -> int:
        """A channel that uses a link resource (the first direction of a shared one)."""
        link = int(np.searchsorted(self.first_resource, resource, side="right")) - 1
        offset = resource - int(self.first_resource[link])
        return 2 * link + (1 if self.full[link] and offset >= self.cables[link] else 0)

    def resource_part(self, resource: int) -> int:
        """Part a part resource belongs to."""
        return int(inner_parts(self.frame)[resource - self.n_link_resources])

    def parts_inside(self, resource: Int) -> Int:
        """The part that each of some part resources belongs to. : (n,)"""
        return inner_parts(self.frame)[resource - self.n_link_resources]

    def links_of(self, resource: Int) -> Int:
        """The link that each of some link resources belongs to. : (n,)"""
        return np.searchsorted(self.first_resource, resource, side="right") - 1

    def channels_of(self, resource: Int) -> Int:
        """A channel that uses each of some link resources, as `resource_channel`. : (n,)"""
        link = self.links_of(resource)
        back = self.full[link] & (resource - self.first_resource[link] >= self.cables[link])
        return 2 * link + back

    def over_both_ways(self, use: Float) -> Float:
        """Use of channels; of links whose directions share one capacity that of both together. : (n_channels,)"""
        together = use.reshape(-1, 2).sum(axis=1).repeat(2)
        return np.where(np.repeat(self.full, 2), use, together)

    def quantity_status(self, link: int) -> Status:
        """How sure the capacity of a link is."""
        return self.link_facts[int(self.net.link_def[link])].status


def _of_cards(network: Network) -> Float:
    """Most that the NICs at the ends of the links of each class let through, per direction; infinite elsewhere [B/s].

    : (n_classes,)

    Notes
    -----
    Both ends of a cable agree on what both can do: a NIC does not gain by a faster switch.
    """
    design, net = network.design, network.net

    known = part_kinds()

    def most(part: Part) -> float:
        joins = Capability.ATTACH in known.get(part.kind, _UNKNOWN).capabilities
        quantity = design.quantity(part, "bandwidth_per_direction") if joins else None
        given = value_of(part.kind, "bandwidth_per_direction", quantity) if quantity is not None else None
        if given is None:
            return np.inf
        if given <= 0:
            raise AnalysisError("a NIC of no bandwidth", place=f"parts.{part.id}", remedy="give more than zero")
        return given

    of = np.array(of_each(most, net.part_defs), dtype=np.float64)
    example = network.arrays.example
    a, b = net.part_def[net.link_a[example]], net.part_def[net.link_b[example]]
    return np.minimum(of[a], of[b])


@memo(most=NETWORKS_LIMIT)
def _bus_memories(net: Netlist, names: tuple[str, ...], holds: tuple[bool, ...]) -> dict[int, Part]:
    """For definitions of memory buses: the memory at their end, where it is.

    Parameters
    ----------
    names, holds
        Kind of each link definition, and which part definitions are memories.
    """
    found: dict[int, Part] = {}
    buses = {i for i, name in enumerate(names) if name == "memory_bus"}
    ends, part_def = (net.link_a, net.link_b), net.part_def
    for i, link in zip(*examples(net), strict=True):
        if i not in buses:
            continue
        for end in ends:
            definition = int(part_def[int(end[link])])
            if holds[definition]:
                found[i] = net.part_defs[definition]
    return found


def build_network(design: Design) -> Network:
    """The network of a design; kept for the last few designs.

    Raises
    ------
    DocumentError
        If the design cannot be elaborated.
    AnalysisError
        If a NIC has no bandwidth.
    """
    return _networks(design)


def network_without_links(network: Network, links: Sequence[int]) -> Network:
    """The network with nothing on some of its links, by their numbers; links, parts and resources keep theirs.

    Raises
    ------
    AnalysisError
        As `build_network`.
    """
    net = network.net
    cut = np.zeros(net.n_links, dtype=bool)
    cut[list(links)] = True
    cut_off = replace(net.arrays, link_b=np.where(cut, net.link_a, net.link_b))
    return network_of(network.design, replace(net, shape=Shape(net.block), changed=cut_off))


def network_with_attributes(network: Network, attribute: str, values: Mapping[int, str]) -> Network:
    """The network with an attribute on some of its parts, by their numbers; parts, links and resources keep theirs.

    Raises
    ------
    AnalysisError
        As `build_network`.
    """
    net = network.net
    part_def = net.part_def.copy()
    definitions = list(net.part_defs)
    known: dict[tuple[int, str], int] = {}
    for part, value in values.items():
        was = int(part_def[part])
        if (was, value) not in known:
            known[was, value] = len(definitions)
            one = net.part_defs[was]
            definitions.append(one.model_copy(update={"attributes": {**one.attributes, attribute: value}}))
        part_def[part] = known[was, value]
    arrays = replace(net.arrays, part_def=part_def)
    changed = replace(net, part_defs=tuple(definitions), shape=Shape(net.block), changed=arrays)
    return network_of(network.design, changed)


def _build(design: Design) -> Network:
    return network_of(design, elaborate(design))


def network_of(design: Design, net: Netlist) -> Network:
    """The network of a netlist that was made from a design; not kept.

    Raises
    ------
    AnalysisError
        If a NIC has no bandwidth.
    """
    known = part_kinds()
    kinds = tuple(known.get(p.kind, _UNKNOWN) for p in net.part_defs)
    names = tuple(d.kind for d in net.link_defs)
    memories = _bus_memories(net, names, tuple(Capability.MEMORY in k.capabilities for k in kinds))
    facts = tuple(_facts(design, net, memories))
    ports = ports_of(net, facts)

    def inside(part: Part) -> PartResource | None:
        kind = known.get(part.kind, _UNKNOWN)
        return storage_inside(design, part, kind, ports) or resource_inside(design, part, kind)

    per_definition = tuple(of_each(inside, net.part_defs))
    links = tuple((f.domain, d.count, f.shared) for f, d in zip(facts, net.link_defs, strict=True))
    inner = tuple(r is not None for r in per_definition)
    hashed = design.policy.ecmp == "hash"
    key = (net.shape, tuple(k.name for k in kinds), names, links, inner, hashed)
    frame, plain = Frame(net, kinds, links, inner, hashed), None
    if net.changed is None:
        plain, departs = _plain_network(design, frame)
        own = (departs.own_part.tobytes(), departs.own_link.tobytes()) if departs is not None else ()
        frame = _frames((*key, *own), lambda: replace(frame, departs=departs))
    network = Network(design, net, kinds, facts, per_definition, frame, frame_arrays(frame), plain)
    _class_rate(network)
    return network


def _facts(design: Design, net: Netlist, memories: Mapping[int, Part]) -> list[LinkFacts]:
    """What each link definition can carry; that of a memory bus is what the memory at its end can do."""
    found = of_each(lambda link: facts_of_link(design, link, None), net.link_defs)
    buses = [(net.link_defs[i], memory) for i, memory in memories.items()]
    given = of_each(lambda one: facts_of_link(design, *one), buses, of=lambda one: (id(one[0]), id(one[1])))
    for i, facts in zip(memories, given, strict=True):
        found[i] = facts
    return found


def _plain_network(design: Design, frame: Frame) -> tuple[Network, Departure] | tuple[None, None]:
    """The network of the plain design, and how a frame departs from it; none where they differ in more than values."""
    usual = plain_of(design)
    if usual is design or frame.net.block is not design:
        return None, None
    net = elaborate(usual)
    network = network_of(usual, net)
    part_of, link_of = plain_definitions(frame.net, net)
    known = network.frame
    same = all(
        kind is known.kinds[of] and inner == known.inner[of]
        for kind, inner, of in zip(frame.kinds, frame.inner, part_of.tolist(), strict=True)
    ) and all(
        facts == known.links[of] and link.kind == net.link_defs[of].kind
        for facts, link, of in zip(frame.links, frame.net.link_defs, link_of.tolist(), strict=True)
    )
    if not same:
        return None, None
    own_part = _unlike(frame.net.part_defs, net.part_defs, part_of)
    own_link = _unlike(frame.net.link_defs, net.link_defs, link_of)
    return network, Departure(known, part_of, link_of, own_part, own_link)


def _unlike(own: Sequence[object], plain: Sequence[object], of: Int) -> Bool:
    """Which definitions say something else than the plain ones in their place."""
    pairs = ((one, plain[other]) for one, other in zip(own, of.tolist(), strict=True))
    return np.array([one is not other and one != other for one, other in pairs], dtype=bool)


_frames: Interned[Frame] = Interned(STRUCTURES_LIMIT)


@memo(most=NETWORKS_LIMIT)
def _class_rate(network: Network) -> Float:
    arrays, net = network.arrays, network.net
    definition = net.link_def[arrays.example]
    rate = np.array([f.rate for f in network.link_facts], dtype=np.float64)[definition] * arrays.count[arrays.example]
    outer = arrays.domain[arrays.example] == NETWORK
    return np.where(outer, np.minimum(rate, _of_cards(network)), rate)


def _nbytes(array: Float) -> int:
    return array.nbytes


@memo(most=NETWORKS_LIMIT, size=_nbytes, budget=RATES_LIMIT)
def _rate(network: Network) -> Float:
    return network.class_rate[network.arrays.rate_class]


@memo(most=NETWORKS_LIMIT, size=_nbytes, budget=RATES_LIMIT)
def _capacity(network: Network) -> Float:
    arrays = network.arrays
    used = arrays.cables * np.where(arrays.full, 2, 1)
    per_definition = np.array([r.capacity if r else 0.0 for r in network.part_resources])
    inside = per_definition[network.net.part_def[inner_parts(network.frame)]]
    return np.concatenate([np.repeat(network.rate / arrays.cables, used), inside])


def _weight(network: Network) -> int:
    return size_of(network.arrays)


#: bytes of arrays of networks kept, of the largest clusters three; those of edits share theirs, which count for each
_KEPT_LIMIT: Final = 100_000_000
_networks = Memo(_build, most=NETWORKS_LIMIT, size=_weight, budget=_KEPT_LIMIT)


@memo(most=NETWORKS_LIMIT)
def _hop_bands(network: Network) -> Float:
    stated = of_each(lambda part: band_of(network.design, part, "hop_latency") or UNTOLD, network.net.part_defs)
    return columns(stated)
