"""The elaborated design as frozen arrays: what can be loaded, how much it carries, and which parts form islands.

Every link (bundle) has two *channels*, one per direction: channel ``2·link`` runs a → b, ``2·link + 1`` b → a. Load is
counted on *resources*: a full-duplex bundle has one per direction, a shared one (a memory bus) one in all; where
traffic is hashed, every cable of a network bundle is a resource of its own. Drives, storage systems and accelerator
memories are resources too. An *island* is what host and accelerator links hold together: a server, a rack-scale
NVLink domain, a single switch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from itertools import pairwise
from typing import Any, Final, cast

import numpy as np
import numpy.typing as npt

from designer.analysis.components import connected
from designer.analysis.hashing import mix
from designer.catalog.parttype import Capability, Domain, Duplex, PartKind, link_kinds, part_kinds, value_of
from designer.design.document import Design, Link, Part, Wiring, with_changes
from designer.design.elaborate import Netlist, Shape, elaborate
from designer.design.rates import raw_rate
from designer.errors import AnalysisError
from designer.fields import Quantity, amount
from designer.memo import Alike, Memo, memo
from designer.sources import Constant, Status

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]

DOMAINS: Final = (Domain.HOST, Domain.ACCELERATOR, Domain.NETWORK)
_DOMAIN_CODE: Final = {domain: code for code, domain in enumerate(DOMAINS)}
HOST, ACCELERATOR, NETWORK = range(len(DOMAINS))
#: tiers of host memory, the usual place of buffers first
TIERS: Final = ("dram", "hbm", "cxl", "pmem")
#: most flows that are listed one by one
LISTED_LIMIT: Final = 256
#: rates and levels this close together are tied
TIE_TOLERANCE: Final = 1e-9
#: a placeholder of unknown kind passes nothing on and offers nothing
_UNKNOWN: Final = PartKind("unknown", "Unknown part", "Unknown parts")
#: relative half width of a capacity whose source gives no band, by how sure it is
SPREAD: Final = {
    Status.PRIMARY: Constant(0.02, 0.0, 0.05, "assumed-spread", Status.ASSUMED),
    Status.SECONDARY: Constant(0.05, 0.0, 0.1, "assumed-spread", Status.ASSUMED),
    Status.DERIVED: Constant(0.05, 0.0, 0.1, "assumed-spread", Status.ASSUMED),
    Status.UNVERIFIED: Constant(0.2, 0.1, 0.4, "assumed-spread", Status.ASSUMED),
    Status.ASSUMED: Constant(0.3, 0.1, 0.5, "assumed-spread", Status.ASSUMED),
}


#: a value and the ends of its band
Band = tuple[float, float, float]
UNTOLD: Final[Band] = (np.inf, np.inf, np.inf)


def columns(bands: Sequence[Band]) -> Float:
    """Bands as arrays of their values and their ends. : (3, n)"""
    return np.array([*bands, UNTOLD], dtype=np.float64)[:-1].T


@dataclass(frozen=True, slots=True)
class LinkFacts:
    """What the engine needs of a link definition: domain, duplex, raw rate of one link [B/s], latency [s].

    ``measured`` tells that the rate is one of real traffic, so that nothing more is taken off it.
    """

    domain: int
    shared: bool
    rate: float
    status: Status
    latency: Band
    latency_source: str
    measured: bool = False


@dataclass(frozen=True, slots=True)
class PartResource:
    """A capacity inside a part: a drive's media, a storage system, an accelerator's memory, a card's total.

    Parameters
    ----------
    read, write
        Usage per byte read from and written to the part, relative to ``capacity`` [B/s].
    read_band, write_band
        Low and high end of reading and writing relative to the value: the part's own where its figures state one.
    """

    capacity: float
    read: float
    write: float
    label: str
    read_band: tuple[float, float] = (1.0, 1.0)
    write_band: tuple[float, float] = (1.0, 1.0)


#: networks of the designs analysed last, such as both sides of a comparison
NETWORKS_LIMIT: Final = 6
#: structures kept, such as those of both sides of a comparison and of the edits between them
STRUCTURES_LIMIT: Final = 8


#: bytes of arrays kept for designs that share a frame, and of their rates
FRAMES_LIMIT: Final = 256_000_000
RATES_LIMIT: Final = 96_000_000
#: netlists of which one link of each definition is known
_SHAPES_LIMIT: Final = 2048


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """What networks have in common whose parts and links stand alike and are of the same kinds, whatever their rates.

    One object for all of them, so that answers which no rate changes can hang on it.

    Parameters
    ----------
    net
        A netlist of this shape.
    kinds
        Kind of each part definition.
    links
        Domain, links in the bundle and whether both directions are one resource, of each link definition.
    inner
        Which part definitions have a resource of their own.
    hashed
        True if every cable of a network bundle is a resource.
    """

    net: Netlist
    kinds: tuple[PartKind, ...]
    links: tuple[tuple[int, int, bool], ...]
    inner: tuple[bool, ...]
    hashed: bool


@dataclass(frozen=True, slots=True, eq=False)
class FrameArrays:
    """The arrays of a frame; see `Network` for those of the same name.

    Parameters
    ----------
    rate_class : (n_links,) links of one class have the same rate: one definition, and ends of the same definitions
    example : (n_classes,) the first link of each class
    n_link_resources
        Number of resources that belong to links.
    """

    domain: Int
    count: Int
    first_resource: Int
    cables: Int
    full: Bool
    part_resource: Int
    rate_class: Int
    example: Int
    n_link_resources: int
    n_part_resources: int
    island: Int
    n_islands: int


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
    """

    design: Design
    net: Netlist
    kinds: tuple[PartKind, ...]
    link_facts: tuple[LinkFacts, ...]
    part_resources: tuple[PartResource | None, ...]
    frame: Frame
    arrays: FrameArrays

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
            parts = _inner_parts(self.frame)[resource[~on_link] - arrays.n_link_resources]
            per_definition = np.array([r.capacity if r else 0.0 for r in self.part_resources])
            found[~on_link] = per_definition[self.net.part_def[parts]]
        return found

    @property
    def n_resources(self) -> int:
        """Number of resources."""
        return self.arrays.n_link_resources + self.arrays.n_part_resources

    @property
    def hop_latency(self) -> Float:
        """Time through each part that passes traffic on, infinite where it does not tell. : (n_parts,) [s]"""
        return self.hop_bands[0]

    @property
    def hop_bands(self) -> Float:
        """The same with its band. : (3, n_parts) [s]"""
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
        return int(_inner_parts(self.frame)[resource - self.n_link_resources])

    def parts_inside(self, resource: Int) -> Int:
        """The part that each of some part resources belongs to. : (n,)"""
        return _inner_parts(self.frame)[resource - self.n_link_resources]

    def links_of(self, resource: Int) -> Int:
        """The link that each of some link resources belongs to. : (n,)"""
        return np.searchsorted(self.first_resource, resource, side="right") - 1

    def channels_of(self, resource: Int) -> Int:
        """A channel that uses each of some link resources, as `resource_channel`. : (n,)"""
        link = self.links_of(resource)
        back = self.full[link] & (resource - self.first_resource[link] >= self.cables[link])
        return 2 * link + back

    def quantity_status(self, link: int) -> Status:
        """How sure the capacity of a link is."""
        return self.link_facts[int(self.net.link_def[link])].status


def _facts(design: Design, definition: Link | Wiring, memory: Part | None) -> LinkFacts:
    kind = link_kinds().get(definition.kind)
    rate, status = raw_rate(definition)
    shared, source, measured = False, "", False
    latency: Band = (0.0, 0.0, 0.0)
    if kind is not None:
        shared, source = kind.duplex is Duplex.SHARED, kind.latency.source
        latency = (kind.latency.value, kind.latency.low, kind.latency.high)
    if memory is not None:
        given = memory_rate(design, memory)
        drawn = definition.bandwidth_per_direction is not None and status in (Status.PRIMARY, Status.SECONDARY)
        # what the memory can do rules; a drawing that knows of less, such as a dump of the machine, narrows it
        if given is not None and not (drawn and rate * definition.count < given.bus):
            rate, status, measured = given.bus / definition.count, given.status, given.measured
        shared = shared and tier_of(design, memory) != "cxl"
        latency = band_of(design, memory, "access_latency") or latency
    domain = _DOMAIN_CODE[kind.domain] if kind is not None else NETWORK
    return LinkFacts(domain, shared, rate, status if kind is not None else Status.ASSUMED, latency, source, measured)


@dataclass(frozen=True, slots=True)
class MemoryRate:
    """What a memory can do.

    Parameters
    ----------
    bus
        Reads and writes together [B/s]; of memory that reads and writes unlike the faster of both.
    read, write
        Each alone [B/s]; 0 where the memory does not tell them apart.
    measured
        True if the figures are of real copies, not of channels × transfer rate.
    """

    bus: float
    read: float
    write: float
    status: Status
    measured: bool


def memory_rate(design: Design, part: Part) -> MemoryRate | None:
    """What a memory part can do: its channels × the speed of one, or its bandwidth as a whole; None where untold."""

    def value(name: str) -> tuple[float, Status]:
        quantity = design.quantity(part, name)
        found = value_of(part.kind, name, quantity) if quantity is not None else None
        return (found or 0.0, quantity.status if quantity is not None and found else Status.ASSUMED)

    whole, status = value("memory_bandwidth")
    channels, one = value("memory_channels")[0], value("bandwidth_per_channel")
    changed = {"memory_channels", "bandwidth_per_channel"} & set(part.overrides)
    if channels and one[0] and (not whole or (changed and "memory_bandwidth" not in part.overrides)):
        whole, status = channels * one[0], one[1]
    read, write = value("read_bandwidth"), value("write_bandwidth")
    if read[0] and write[0]:
        return MemoryRate(max(read[0], write[0]), read[0], write[0], read[1], True)
    return MemoryRate(whole, 0.0, 0.0, status, False) if whole else None


def band_of(design: Design, part: Part, name: str) -> Band | None:
    """A value of a part with the band its type states, as wide as its status asks where it states none [SI]."""
    quantity = design.quantity(part, name)
    value = value_of(part.kind, name, quantity) if quantity is not None else None
    if quantity is None or value is None:
        return None
    spread = SPREAD[quantity.status].value

    def end(told: str | int | None, usual: float) -> float:
        found = None if told is None else value_of(part.kind, name, with_changes(quantity, value=told))
        return usual if found is None else found

    return value, end(quantity.low, value * (1 - spread)), end(quantity.high, value * (1 + spread))


def tier_of(design: Design, part: Part) -> str:
    """The tier of a memory part: ``dram`` unless it says another, such as ``hbm``, ``cxl`` or ``pmem``."""
    says = design.quantity(part, "tier")
    words = str(says.value).lower().split() if says is not None else []
    return next((tier for tier in TIERS if tier in words), TIERS[0])


def _of_cards(network: Network) -> Float:
    """Most that the NICs at the ends of the links of each class let through, per direction; infinite elsewhere [B/s].

    : (n_classes,)

    Notes
    -----
    Both ends of a cable agree on what both can do: a NIC does not gain by a faster switch.
    """
    design, net = network.design, network.net

    def most(part: Part, kind: PartKind) -> float:
        quantity = design.quantity(part, "bandwidth_per_direction") if Capability.ATTACH in kind.capabilities else None
        given = value_of(part.kind, "bandwidth_per_direction", quantity) if quantity is not None else None
        if given is None:
            return np.inf
        if given <= 0:
            raise AnalysisError("a NIC of no bandwidth", place=f"parts.{part.id}", remedy="give more than zero")
        return given

    of = np.array([most(p, k) for p, k in zip(net.part_defs, network.kinds, strict=True)], dtype=np.float64)
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
    for i, link in zip(*examples(net), strict=True):
        if i not in buses:
            continue
        for end in (net.link_a, net.link_b):
            definition = int(net.part_def[int(end[link])])
            if holds[definition]:
                found[i] = net.part_defs[definition]
    return found


def examples(net: Netlist) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Link definitions that occur, and the first link of each."""
    if net.changed is None:
        return _examples(net.shape)
    return _first_links(net.link_def)


@memo(most=_SHAPES_LIMIT)
def _examples(shape: Shape) -> tuple[tuple[int, ...], tuple[int, ...]]:
    return _first_links(elaborate(shape.block).link_def)


def _first_links(link_def: Int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    size = int(link_def.max()) + 1 if len(link_def) else 0
    first = np.full(size, len(link_def), dtype=np.int64)
    # written back to front, so that the first of each stays
    first[link_def[::-1]] = np.arange(len(link_def))[::-1]
    occurs = np.flatnonzero(first < len(link_def))
    return tuple(occurs.tolist()), tuple(first[occurs].tolist())


def rated_band(quantity: Quantity | None, dimension: str) -> tuple[float, float]:
    """Low and high end of a figure relative to its value [1].

    Notes
    -----
    A figure without a band of its own is what the part is rated at: it may give less, by how sure the figure is, not
    more.
    """
    if quantity is None:
        return 1.0, 1.0
    value = quantity.si(dimension)
    ends = [amount(end, dimension) if isinstance(end, str) else None for end in (quantity.low, quantity.high)]
    low = 1 - SPREAD[quantity.status].value if ends[0] is None else ends[0] / value
    high = 1.0 if ends[1] is None else ends[1] / value
    return min(low, 1.0), max(high, 1.0)


def _part_resource(design: Design, part: Part, kind: PartKind) -> PartResource | None:
    def value(name: str) -> float | None:
        quantity = design.quantity(part, name)
        return value_of(part.kind, name, quantity) if quantity is not None else None

    if Capability.STORE in kind.capabilities:
        read, write = value("read_bandwidth"), value("write_bandwidth")
        if read or write:
            capacity = read or write or 1.0
            bands = [rated_band(design.quantity(part, f"{way}_bandwidth"), "rate") for way in ("read", "write")]
            return PartResource(capacity, 1.0, capacity / (write or capacity), "media", *bands)
    if Capability.ACCELERATE in kind.capabilities:
        bandwidth = value("memory_bandwidth")
        if bandwidth:
            band = rated_band(design.quantity(part, "memory_bandwidth"), "rate")
            return PartResource(bandwidth, 1.0, 1.0, "memory", band, band)
    if Capability.MEMORY in kind.capabilities:
        memory = memory_rate(design, part)
        if memory is not None and memory.read:
            bands = [rated_band(design.quantity(part, f"{way}_bandwidth"), "rate") for way in ("read", "write")]
            return PartResource(memory.read, 1.0, memory.read / memory.write, "media", *bands)
    return None


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


def network_without(design: Design, parts: Sequence[int]) -> Network:
    """The network of a design in which nothing reaches some parts, by their numbers; links and parts keep theirs.

    Raises
    ------
    DocumentError, AnalysisError
        As `build_network`.
    """
    net = elaborate(design)
    dead = np.zeros(net.n_parts, dtype=bool)
    dead[list(parts)] = True
    cut = dead[net.link_a] | dead[net.link_b]
    # a link that leads from a dead part back to it carries nothing
    end = np.where(dead[net.link_a], net.link_a, net.link_b)
    link_a, link_b = np.where(cut, end, net.link_a), np.where(cut, end, net.link_b)
    cut_off = replace(net.arrays, link_a=link_a, link_b=link_b)
    return network_of(design, replace(net, shape=Shape(net.block), changed=cut_off))


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
    facts = tuple(_facts(design, d, memories.get(i)) for i, d in enumerate(net.link_defs))
    per_definition = tuple(_part_resource(design, p, k) for p, k in zip(net.part_defs, kinds, strict=True))
    links = tuple((f.domain, d.count, f.shared) for f, d in zip(facts, net.link_defs, strict=True))
    inner = tuple(r is not None for r in per_definition)
    hashed = design.policy.ecmp == "hash"
    key = (net.shape, tuple(k.name for k in kinds), names, links, inner, hashed)
    frame = Frame(net, kinds, links, inner, hashed)
    if net.changed is None:
        frame = _frames(key, lambda: frame)
    network = Network(design, net, kinds, facts, per_definition, frame, frame_arrays(frame))
    _class_rate(network)
    return network


_frames: Alike[Frame] = Alike(STRUCTURES_LIMIT)


def _frame_size(arrays: FrameArrays) -> int:
    return sum(a.nbytes for a in (getattr(arrays, f.name) for f in fields(arrays)) if isinstance(a, np.ndarray))


@memo(most=STRUCTURES_LIMIT, size=_frame_size, budget=FRAMES_LIMIT)
def frame_arrays(frame: Frame) -> FrameArrays:
    """The arrays of a frame."""
    net = frame.net
    take = net.link_def
    domain = _column([one[0] for one in frame.links], np.int8)[take]
    domain[net.link_a == net.link_b] = HOST
    most = max((one[1] for one in frame.links), default=0)
    small = np.int32 if most < np.iinfo(np.int32).max else np.int64
    count = _column([one[1] for one in frame.links], small)[take]
    full = np.array([not one[2] for one in frame.links], dtype=bool)[take]
    outer = domain == NETWORK
    cables = np.where(outer, count, 1) if frame.hashed else _column(np.ones(len(take)), small)
    used = cables * np.where(full, 2, 1)
    upto = np.cumsum(used)
    has = np.array(frame.inner, dtype=bool)[net.part_def]
    n_link_resources = int(upto[-1]) if len(upto) else 0
    n_parts = int(has.sum())
    part_resource = np.full(net.n_parts, -1, dtype=np.int64)
    part_resource[has] = n_link_resources + np.arange(n_parts)
    rate_class, example = _rate_classes(net, outer)
    n_islands, island = _islands(net, np.array([one[0] == NETWORK for one in frame.links], dtype=bool))
    found = FrameArrays(
        domain,
        count,
        upto - used,
        cables,
        full,
        part_resource,
        rate_class,
        example,
        n_link_resources,
        n_parts,
        island,
        n_islands,
    )
    for array in (domain, count, found.first_resource, cables, full, part_resource, rate_class, example, island):
        array.setflags(write=False)
    return found


def _column(values: Sequence[int] | Float, kind: type[np.integer[Any]]) -> Int:
    """Whole numbers in as few bytes as they need: a large design has a million of each."""
    return cast("Int", np.asarray(values).astype(kind))


def _rate_classes(net: Netlist, outer: Bool) -> tuple[Int, Int]:
    """Class of each link, by its definition and, of a cable, those of its ends; and the first link of each class."""
    which = net.link_def.copy()
    cables = np.flatnonzero(outer)
    signs = mix(net.link_def[cables], net.part_def[net.link_a[cables]], net.part_def[net.link_b[cables]])
    _, of_cable = np.unique(signs, return_inverse=True)
    which[cables] = len(net.link_defs) + of_cable
    occurs, first = _first_links(which)
    number = np.zeros(occurs[-1] + 1 if occurs else 0, dtype=np.int64)
    number[list(occurs)] = np.arange(len(occurs))
    return number[which], np.array(first, dtype=np.int64)


def _islands(net: Netlist, outer: Bool) -> tuple[int, Int]:
    """How many islands there are, and the one of each part: found in one member of a group, and moved to its equals.

    Parameters
    ----------
    outer : (n_link_defs,) which definitions are of networks
    """
    if net.changed is not None or not net.groups:
        inner = ~outer[net.link_def] | (net.link_a == net.link_b)
        return connected(net.n_parts, net.link_a[inner], net.link_b[inner])
    base = net.own_links
    count, labels = net.own_parts, [np.arange(net.own_parts)]
    for group in net.groups:
        found: list[tuple[int, Int]] = []
        for one in group.nets:
            found.append(_islands(one, outer[base : base + len(one.link_defs)]))
            base += len(one.link_defs)
        sizes = np.array([n for n, _ in found])[group.net_of]
        start = count + np.cumsum(sizes) - sizes
        cuts = [0, *(np.flatnonzero(np.diff(group.net_of)) + 1).tolist(), len(group.net_of)]
        for low, high in pairwise(cuts):
            labels.append((start[low:high, None] + found[int(group.net_of[low])][1]).ravel())
        count += int(sizes.sum())
    label = np.concatenate(labels)
    drawn = np.concatenate([np.arange(net.own_links), *(np.arange(a, b) for _, a, b in net.wirings)]).astype(np.int64)
    drawn = drawn[~outer[net.link_def[drawn]]]
    if not len(drawn):
        return count, label
    count, joined = connected(count, label[net.link_a[drawn]], label[net.link_b[drawn]])
    return count, joined[label]


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
    inside = per_definition[network.net.part_def[_inner_parts(network.frame)]]
    return np.concatenate([np.repeat(network.rate / arrays.cables, used), inside])


@memo(most=STRUCTURES_LIMIT)
def _inner_parts(frame: Frame) -> Int:
    """The parts that have a resource of their own."""
    return np.flatnonzero(frame_arrays(frame).part_resource >= 0)


@memo(most=STRUCTURES_LIMIT)
def parts_with(frame: Frame, capability: Capability) -> Bool:
    """Which parts have a capability. : (n_parts,)"""
    found = np.array([capability in k.capabilities for k in frame.kinds], dtype=bool)[frame.net.part_def]
    found.setflags(write=False)
    return found


@memo(most=STRUCTURES_LIMIT)
def parts_of_kind(frame: Frame, name: str) -> Int:
    """Numbers of all parts of a kind."""
    found = np.flatnonzero(np.array([k.name == name for k in frame.kinds], dtype=bool)[frame.net.part_def])
    found.setflags(write=False)
    return found


_networks = Memo(_build, most=NETWORKS_LIMIT)


@memo(most=NETWORKS_LIMIT)
def _hop_bands(network: Network) -> Float:
    stated = [band_of(network.design, part, "hop_latency") or UNTOLD for part in network.net.part_defs]
    return columns(stated)


def in_order(network: Network, source: int, channels: list[int]) -> list[int]:
    """Channels of a flow as it meets them from its source; split flows level by level."""
    return _in_order(source, channels, _ends_of(network, np.array(channels, dtype=np.int64)))


def ways(network: Network, sources: Int, channels: Int, cuts: Int) -> list[tuple[str, ...]]:
    """Ids of the channels of many flows, each in the order in which the flow meets them.

    Parameters
    ----------
    sources : (n_flows,) the part each begins at
    channels, cuts
        Channels by flow: those of flow f are ``channels[cuts[f]:cuts[f + 1]]``.
    """
    different = np.unique(channels[cuts[0] : cuts[-1]])
    ends = _ends_of(network, different)
    ids = dict(zip(different.tolist(), network.channel_ids(different), strict=True))
    found: list[tuple[str, ...]] = []
    for source, low, high in zip(sources.tolist(), cuts[:-1].tolist(), cuts[1:].tolist(), strict=True):
        found.append(tuple([ids[c] for c in _in_order(source, channels[low:high].tolist(), ends)]))
    return found


def _ends_of(network: Network, channels: Int) -> dict[int, tuple[int, int]]:
    link, back = channels >> 1, (channels & 1).astype(bool)
    a, b = network.net.link_a[link], network.net.link_b[link]
    both = zip(np.where(back, b, a).tolist(), np.where(back, a, b).tolist(), strict=True)
    return dict(zip(channels.tolist(), both, strict=True))


def _in_order(source: int, channels: list[int], ends: dict[int, tuple[int, int]]) -> list[int]:
    by_start: dict[int, list[int]] = {}
    for channel in channels:
        by_start.setdefault(ends[channel][0], []).append(channel)
    return _one_way(source, by_start, ends, len(channels)) or _by_level(source, by_start, ends)


def _one_way(source: int, by_start: dict[int, list[int]], ends: dict[int, tuple[int, int]], n: int) -> list[int]:
    """The channels as one way that may come by a part again (a stop in memory, a turn at the root); else nothing."""
    left = {part: list(found) for part, found in by_start.items()}
    way: list[int] = []
    trail: list[tuple[int, int]] = [(source, -1)]
    while trail:
        at, channel = trail[-1]
        if left.get(at):
            step = left[at].pop()
            trail.append((ends[step][1], step))
        else:
            trail.pop()
            way.append(channel)
    way = way[-2::-1]
    joined = all(ends[one][1] == ends[other][0] for one, other in pairwise(way))
    return way if joined and len(way) == n else []


def _by_level(source: int, by_start: dict[int, list[int]], ends: dict[int, tuple[int, int]]) -> list[int]:
    left = dict(by_start)
    ordered: list[int] = []
    todo, seen = [source], {source}
    while todo:
        at = todo.pop(0)
        for channel in left.pop(at, ()):
            ordered.append(channel)
            end = ends[channel][1]
            if end not in seen:
                seen.add(end)
                todo.append(end)
    return ordered + [c for rest in left.values() for c in rest]
