"""Part kinds and link kinds: which values, ports and capabilities parts have, and what links join them.

Kept apart from part types so that code that only counts parts, such as the start page, needs nothing large.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Final

from designer.errors import CatalogError
from designer.registry import discover
from designer.sources import Constant

#: what a path pays for a link whose kind says nothing
UNKNOWN_PREFERENCE = 4


class Domain(StrEnum):
    """Which kind of interconnect a link belongs to; transit rules are written in these."""

    HOST = "host"  #: PCIe, socket links, memory buses, chip-to-chip
    ACCELERATOR = "accelerator"  #: NVLink, xGMI between accelerators
    NETWORK = "network"  #: Ethernet, InfiniBand, storage fabrics


class Capability(StrEnum):
    """What a part can do for a workload."""

    CONTAIN = "contain"  #: holds other parts
    ACCELERATE = "accelerate"  #: runs training and inference at high rate, has its own memory
    COMPUTE = "compute"  #: general-purpose cores
    ROOT = "root"  #: PCIe root ports: the top of a host's PCIe tree
    MEMORY = "memory"  #: host memory
    SWITCH = "switch"  #: passes traffic on
    ATTACH = "attach"  #: joins a host to a network
    STORE = "store"  #: keeps data


class Duplex(StrEnum):
    """Full duplex: each direction has the whole capacity; half duplex: both share it."""

    FULL = "full"
    SHARED = "shared"


@dataclass(frozen=True, slots=True)
class Field:
    """One value that types of a kind have.

    Parameters
    ----------
    dimension
        A dimension of ``designer.units``, or ``count``, ``text``, ``flag``.
    """

    name: str
    title: str
    dimension: str
    required: bool = False
    help: str = ""


@dataclass(frozen=True, slots=True)
class PortKind:
    """A group of equal ports: which links fit, and how many (a count field of the kind, or a fixed number; 0 = any).

    Parameters
    ----------
    partners
        Kinds of parts that may be at the other end; empty means any.
    names_field
        The value in which types name what these ports speak, as "InfiniBand, Ethernet".
    given_by
        The value that products with such ports give; a product without it has none of them.
    only
        A value and a word it must hold: a part that states another has no such ports.
    """

    name: str
    title: str
    links: tuple[str, ...]
    count: int = 0
    count_field: str = ""
    partners: tuple[str, ...] = ()
    names_field: str = ""
    given_by: str = ""
    only: tuple[str, str] | None = None

    def takes(self, link_kind: str, partner: str | None = None) -> bool:
        """Whether a link of that kind to a part of kind `partner` plugs in here; None is any kind."""
        return link_kind in self.links and (partner is None or not self.partners or partner in self.partners)


#: the ports of what joins hosts to networks
NETWORK_PORTS: Final = PortKind(
    "network", "Network ports", ("ethernet", "infiniband", "fabric"), count_field="ports", names_field="technology"
)
#: and the values that state them
NETWORK_FIELDS: Final = (
    Field("ports", "Network ports", "count"),
    Field("bandwidth_per_direction", "All ports together, per direction", "rate"),
    Field("port_bandwidth_per_direction", "One port, per direction", "rate"),
)


@dataclass(frozen=True, slots=True)
class PartKind:
    """A kind of part.

    Parameters
    ----------
    transit
        Pairs of domains between which traffic may pass through it.
    called
        What new parts are called, before their number, where that is shorter than the title.
    brief
        What a card says where the product does not fit, such as ``{ports} × {port_bandwidth_per_direction}``; the
        first of them that fits and whose values are known.
    """

    name: str
    title: str
    plural: str
    fields: tuple[Field, ...] = ()
    ports: tuple[PortKind, ...] = ()
    capabilities: frozenset[Capability] = frozenset()
    transit: frozenset[tuple[Domain, Domain]] = frozenset()
    contains: tuple[str, ...] = ()
    icon: str = ""
    order: int = 100
    help: str = ""
    called: str = ""
    brief: tuple[str, ...] = ()

    def field(self, name: str) -> Field | None:
        """The field called `name`, or None."""
        return next((f for f in self.fields if f.name == name), None)

    def passes(self, arriving: Domain, leaving: Domain) -> bool:
        """True if traffic arriving over one domain may leave over another."""
        return (arriving, leaving) in self.transit

    def port_for(self, link_kind: str, partner: str | None = None) -> PortKind | None:
        """The port a link of that kind to a part of kind `partner` plugs into, or None."""
        return next((p for p in self.ports if p.takes(link_kind, partner)), None)


@dataclass(frozen=True, slots=True)
class LinkKind:
    """A kind of link.

    Parameters
    ----------
    default_rate
        Raw capacity per direction assumed where a drawing or dump does not say, spelled; shown as assumed.
    latency
        What one such link adds to the time of the first byte.
    preference
        What a path pays for taking such a link: accelerator links before chip-to-chip before PCIe before sockets.
    names
        How parts name it among what their ports speak. Parts that name only others do not take it, and both ends
        must name the same.
    vendors
        Whose products have it; empty means it is open to all.
    generation
        The value with its generation; ends of different generations do not understand each other.
    relayed
        True if accelerators pass on what others send over such links, by routers of their own.
    """

    name: str
    title: str
    domain: Domain
    duplex: Duplex
    default_rate: str
    latency: Constant
    order: int = 100
    preference: int = UNKNOWN_PREFERENCE
    help: str = ""
    names: tuple[str, ...] = ()
    vendors: tuple[str, ...] = ()
    generation: str = ""
    relayed: bool = False


@cache
def part_kinds() -> Mapping[str, PartKind]:
    """All part kinds by name."""
    return discover("designer.catalog.kinds", "KIND", PartKind, group="designer.parts")


@cache
def link_kinds() -> Mapping[str, LinkKind]:
    """All link kinds by name."""
    return discover("designer.catalog.linkkinds", "LINK_KIND", LinkKind)


def link_kind(name: str) -> LinkKind:
    """The link kind called `name`.

    Raises
    ------
    CatalogError
        If there is none.
    """
    found = link_kinds().get(name)
    if found is None:
        raise CatalogError(f"there is no link kind {name!r}", remedy=f"use one of {', '.join(link_kinds())}")
    return found


def fitting_links(a_kind: str, b_kind: str) -> tuple[str, ...]:
    """Link kinds that may join a part of kind `a_kind` to one of kind `b_kind`, most usual first."""
    a, b = part_kinds().get(a_kind), part_kinds().get(b_kind)
    if a is None or b is None:
        return ()
    return tuple(
        k.name
        for k in sorted(link_kinds().values(), key=lambda k: k.order)
        if a.port_for(k.name, b_kind) and b.port_for(k.name, a_kind)
    )
