"""The elaborated design as frozen arrays: what can be loaded, how much it carries, and which parts form islands.

Every link (bundle) has two *channels*, one per direction: channel ``2·link`` runs a → b, ``2·link + 1`` b → a. Load is
counted on *resources*: a full-duplex bundle has one per direction, a shared one (a memory bus) one in all; where
traffic is hashed, every cable of a network bundle is a resource of its own. Drives, storage systems and accelerator
memories are resources too. An *island* is what host and accelerator links hold together: a server, a rack-scale
NVLink domain, a single switch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.components import connected
from designer.catalog.parttype import Capability, Domain, Duplex, PartKind, link_kinds, part_kinds, value_of
from designer.design.document import Design, Link, Part, Wiring, with_changes
from designer.design.elaborate import Netlist, elaborate
from designer.design.rates import raw_rate
from designer.errors import AnalysisError
from designer.fields import Quantity, amount
from designer.memo import Memo, memo
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


@dataclass(frozen=True, slots=True, eq=False)
class Network:
    """A design ready to be routed on.

    Parameters
    ----------
    link_facts : one per link definition
    domain : (n_links,) host, accelerator or network
    count : (n_links,) links in the bundle
    rate : (n_links,) raw capacity of the bundle per direction [B/s]
    first_resource : (n_links,) number of the first resource of each link
    cables : (n_links,) resources per direction
    full : (n_links,) whether the directions are separate
    part_resource : (n_parts,) resource number inside the part, −1 for none
    capacity : (n_resources,) [B/s]
    kinds : kind of each part definition
    """

    design: Design
    net: Netlist
    kinds: tuple[PartKind, ...]
    link_facts: tuple[LinkFacts, ...]
    domain: Int
    count: Int
    rate: Float
    first_resource: Int
    cables: Int
    full: Bool
    part_resource: Int
    part_resources: tuple[PartResource | None, ...]
    capacity: Float
    island: Int
    n_islands: int

    @property
    def n_resources(self) -> int:
        """Number of resources."""
        return len(self.capacity)

    @property
    def hop_latency(self) -> Float:
        """Time through each part that passes traffic on, infinite where it does not tell. : (n_parts,) [s]"""
        return self.hop_bands[0]

    @property
    def hop_bands(self) -> Float:
        """The same with its band. : (3, n_parts) [s]"""
        return _hop_bands(self)

    def ends_of(self, channels: Int) -> Int:
        """Part that each channel arrives at. : (n,)"""
        link = channels >> 1
        return np.where(channels & 1, self.net.link_a[link], self.net.link_b[link])

    @property
    def n_link_resources(self) -> int:
        """Number of resources that belong to links; those of parts follow."""
        return int(self.first_resource[-1] + self.cables[-1] * (2 if self.full[-1] else 1)) if len(self.full) else 0

    def kind(self, index: int) -> PartKind:
        """Kind of part number `index`."""
        return self.kinds[int(self.net.part_def[index])]

    def has(self, capability: Capability) -> Bool:
        """Which parts have a capability. : (n_parts,)"""
        return np.array([capability in k.capabilities for k in self.kinds], dtype=bool)[self.net.part_def]

    def parts_of_kind(self, name: str) -> Int:
        """Numbers of all parts of a kind."""
        return np.flatnonzero(np.array([k.name == name for k in self.kinds], dtype=bool)[self.net.part_def])

    def ends(self, channel: int) -> tuple[int, int]:
        """Part numbers a channel runs from and to."""
        link = channel >> 1
        a, b = int(self.net.link_a[link]), int(self.net.link_b[link])
        return (b, a) if channel & 1 else (a, b)

    def channel_id(self, channel: int) -> str:
        """Stable id of a channel: the path of its link and its direction."""
        return f"{self.net.link_path(channel >> 1)}:{'ba' if channel & 1 else 'ab'}"

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
        return int(np.flatnonzero(self.part_resource >= 0)[resource - self.n_link_resources])

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


def _of_cards(design: Design, net: Netlist, kinds: tuple[PartKind, ...]) -> Float:
    """Most that the NICs at the ends of links let through, per direction; infinite elsewhere [B/s]. : (n_links,)

    Notes
    -----
    Both ends of a cable agree on what both can do: a NIC does not gain by a faster switch.
    """

    def most(part: Part, kind: PartKind) -> float:
        quantity = design.quantity(part, "bandwidth_per_direction") if Capability.ATTACH in kind.capabilities else None
        given = value_of(part.kind, "bandwidth_per_direction", quantity) if quantity is not None else None
        if given is None:
            return np.inf
        if given <= 0:
            raise AnalysisError("a NIC of no bandwidth", place=f"parts.{part.id}", remedy="give more than zero")
        return given

    of = np.array([most(p, k) for p, k in zip(net.part_defs, kinds, strict=True)], dtype=np.float64)[net.part_def]
    return np.minimum(of[net.link_a], of[net.link_b])


def _memory_ends(net: Netlist, kinds: tuple[PartKind, ...]) -> dict[int, Part]:
    """For definitions of memory buses: the memory at their end, where it is."""
    found: dict[int, Part] = {}
    buses = [i for i, d in enumerate(net.link_defs) if d.kind == "memory_bus"]
    if not buses:
        return found
    definitions, first = np.unique(net.link_def, return_index=True)
    where = dict(zip(definitions.tolist(), first.tolist(), strict=True))
    for i in buses:
        if i not in where:
            continue
        for end in (net.link_a, net.link_b):
            definition = int(net.part_def[int(end[where[i]])])
            if Capability.MEMORY in kinds[definition].capabilities:
                found[i] = net.part_defs[definition]
    return found


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
    return network_of(design, replace(net, link_a=link_a, link_b=link_b))


def _build(design: Design) -> Network:
    return network_of(design, elaborate(design))


def network_of(design: Design, net: Netlist) -> Network:
    """The network of a netlist that was made from a design; not kept.

    Raises
    ------
    AnalysisError
        If a NIC has no bandwidth.
    """
    hashed = design.policy.ecmp == "hash"
    known = part_kinds()
    kinds = tuple(known.get(p.kind, _UNKNOWN) for p in net.part_defs)
    memories = _memory_ends(net, kinds)
    facts = tuple(_facts(design, d, memories.get(i)) for i, d in enumerate(net.link_defs))
    take = net.link_def
    domain = np.array([f.domain for f in facts], dtype=np.int64)[take]
    domain = np.where(net.link_a == net.link_b, HOST, domain)
    count = np.array([d.count for d in net.link_defs], dtype=np.int64)[take]
    rate = np.array([f.rate for f in facts], dtype=np.float64)[take] * count
    rate = np.where(domain == NETWORK, np.minimum(rate, _of_cards(design, net, kinds)), rate)
    full = np.array([not f.shared for f in facts], dtype=bool)[take]
    cables = np.where((domain == NETWORK) & hashed, count, 1)
    used = cables * np.where(full, 2, 1)
    first = np.cumsum(used) - used
    n_link_resources = int(used.sum())
    per_definition = tuple(_part_resource(design, p, k) for p, k in zip(net.part_defs, kinds, strict=True))
    has = np.array([r is not None for r in per_definition], dtype=bool)[net.part_def]
    part_resource = np.where(has, n_link_resources + np.cumsum(has) - 1, -1)
    part_capacity = np.array([r.capacity if r else 0.0 for r in per_definition])[net.part_def[has]]
    capacity = np.concatenate([np.repeat(rate / cables, used), part_capacity])
    inner = domain != NETWORK
    n_islands, island = connected(net.n_parts, net.link_a[inner], net.link_b[inner])
    return Network(
        design=design,
        net=net,
        kinds=kinds,
        link_facts=facts,
        domain=domain,
        count=count,
        rate=rate,
        first_resource=first,
        cables=cables,
        full=full,
        part_resource=part_resource,
        part_resources=per_definition,
        capacity=capacity,
        island=island,
        n_islands=n_islands,
    )


_networks = Memo(_build, most=NETWORKS_LIMIT)


@memo(most=NETWORKS_LIMIT)
def _hop_bands(network: Network) -> Float:
    stated = [band_of(network.design, part, "hop_latency") or UNTOLD for part in network.net.part_defs]
    return columns(stated)[:, network.net.part_def]


def in_order(network: Network, source: int, channels: list[int]) -> list[int]:
    """Channels of a flow as it meets them from its source; split flows level by level."""
    ends = {channel: network.ends(channel) for channel in channels}
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
