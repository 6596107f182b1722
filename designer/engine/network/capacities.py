"""What links and parts can carry, read from their definitions: rates, latencies, memories, and how sure each is."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Final, TypeVar

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability, Domain, Duplex, PartKind, link_kinds, value_of
from designer.design.document import Design, Link, Part, Wiring, with_changes
from designer.design.rates import raw_rate
from designer.errors import AnalysisError
from designer.fields import Quantity, amount
from designer.formulas.storage.storage_servers import redundancy_of
from designer.sources import Constant, Status

Float = npt.NDArray[np.float64]
Thing = TypeVar("Thing")
Stated = TypeVar("Stated")

DOMAINS: Final = (Domain.HOST, Domain.ACCELERATOR, Domain.NETWORK)
_DOMAIN_CODE: Final = {domain: code for code, domain in enumerate(DOMAINS)}
HOST, ACCELERATOR, NETWORK = range(len(DOMAINS))
#: tiers of host memory, the usual place of buffers first
TIERS: Final = ("dram", "hbm", "cxl", "pmem")
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

    ``measured`` states that the rate is one of real traffic, so that nothing more is taken off it.
    """

    domain: int
    shared: bool
    rate: float
    status: Status
    latency: Band
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
    assumed
        What the rates rest on where the drawing does not give them.
    """

    capacity: float
    read: float
    write: float
    label: str
    read_band: tuple[float, float] = (1.0, 1.0)
    write_band: tuple[float, float] = (1.0, 1.0)
    assumed: str = ""


def of_each(
    tell: Callable[[Thing], Stated], things: Sequence[Thing], of: Callable[[Thing], Hashable] = id
) -> list[Stated]:
    """What is stated of each of some definitions: of one that members of a group share, once.

    A member that differs has its own part where it differs, and shares the others: so a hundred of them cost little.

    Parameters
    ----------
    of
        What distinguishes definitions.
    """
    numbers = [of(one) for one in things]
    known = {number: tell(one) for number, one in dict(zip(numbers, things, strict=True)).items()}
    return [known[number] for number in numbers]


def facts_of_link(design: Design, definition: Link | Wiring, memory: Part | None) -> LinkFacts:
    """What a link definition can carry; that of a memory bus is what the memory at its end can do."""
    kind = link_kinds().get(definition.kind)
    rate, status = raw_rate(definition)
    shared, measured = False, False
    latency: Band = (0.0, 0.0, 0.0)
    if kind is not None:
        shared = kind.duplex is Duplex.SHARED
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
    return LinkFacts(domain, shared, rate, status if kind is not None else Status.ASSUMED, latency, measured)


@dataclass(frozen=True, slots=True)
class MemoryRate:
    """What a memory can do.

    Parameters
    ----------
    bus
        Reads and writes together [B/s]; of memory that reads and writes unlike the faster of both.
    read, write
        Each alone [B/s]; 0 where the memory does not distinguish them.
    measured
        True if the figures are of real copies, not of channels × transfer rate.
    """

    bus: float
    read: float
    write: float
    status: Status
    measured: bool


def memory_rate(design: Design, part: Part) -> MemoryRate | None:
    """What a memory part can do: its channels × the speed of one, or its whole bandwidth; None where not given."""

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

    def end(stated: str | int | None, usual: float) -> float:
        found = None if stated is None else value_of(part.kind, name, with_changes(quantity, value=stated))
        return usual if found is None else found

    return value, end(quantity.low, value * (1 - spread)), end(quantity.high, value * (1 + spread))


def tier_of(design: Design, part: Part) -> str:
    """The tier of a memory part: ``dram`` unless it says another, such as ``hbm``, ``cxl`` or ``pmem``."""
    says = design.quantity(part, "tier")
    words = str(says.value).lower().split() if says is not None else []
    return next((tier for tier in TIERS if tier in words), TIERS[0])


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


#: what storage writes of what it reads, where it does not say: parity or copies, and drives that write slower
WRITE_SHARE: Final = Constant(
    0.54, 0.37, 0.81, "flash-writes", Status.DERIVED, "1", "median and tenths of 18 products of flash"
)
#: its band relative to its value [1]
WRITE_BAND: Final = (WRITE_SHARE.low / WRITE_SHARE.value, WRITE_SHARE.high / WRITE_SHARE.value)
#: what a client writes of what it reads, where it does not say
CLIENT_WRITE_SHARE: Final = Constant(
    0.83, 0.55, 1.0, "flash-writes", Status.DERIVED, "1", "median and tenths of 15 products, ten clients at most"
)


def bytes_written(design: Design, part: Part, kind: PartKind) -> float:
    """Bytes that drives in a host write for each byte of data [1]; what a storage system is given is of its data.

    Raises
    ------
    AnalysisError
        If their redundancy cannot be read.
    """
    redundancy = design.quantity(part, "redundancy") if kind.field("servers") is None else None
    try:
        return redundancy_of(str(redundancy.value)).written if redundancy is not None else 1.0
    except AnalysisError as error:
        raise AnalysisError(error.text, place=part.id, remedy=error.remedy) from None


def resource_inside(design: Design, part: Part, kind: PartKind) -> PartResource | None:
    """The capacity inside a part that traffic takes of: media, memory; None where there is none."""

    def value(name: str) -> float | None:
        quantity = design.quantity(part, name)
        return value_of(part.kind, name, quantity) if quantity is not None else None

    if Capability.STORE in kind.capabilities:
        read, write = value("read_bandwidth"), value("write_bandwidth")
        if read or write:
            capacity = read or write or 1.0
            bands = [rated_band(design.quantity(part, f"{way}_bandwidth"), "rate") for way in ("read", "write")]
            if not write:
                write, bands[1] = capacity * WRITE_SHARE.value, WRITE_BAND
            cost = capacity / write * bytes_written(design, part, kind)
            return PartResource(capacity, 1.0, cost, "media", bands[0], bands[1])
    if Capability.ACCELERATE in kind.capabilities:
        bandwidth = value("memory_bandwidth")
        if bandwidth:
            band = rated_band(design.quantity(part, "memory_bandwidth"), "rate")
            return PartResource(bandwidth, 1.0, 1.0, "memory", band, band)
    if Capability.MEMORY in kind.capabilities:
        memory = memory_rate(design, part)
        if memory is not None and memory.read:
            bands = [rated_band(design.quantity(part, f"{way}_bandwidth"), "rate") for way in ("read", "write")]
            return PartResource(memory.read, 1.0, memory.read / memory.write, "media", bands[0], bands[1])
    return None
