"""Part kinds, link kinds and part types: the vocabulary of the catalog.

A *kind* (GPU, NIC, switch …) is code: which values its types have, which ports, what it is capable of and which
traffic may pass through it. A *part type* (one product) is data: a file in ``assets/catalog``. Code above asks for
capabilities and ports, never for the name of a kind.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache

from pydantic import Field as PydanticField

from designer.errors import CatalogError, UnitError
from designer.fields import Frozen, Quantity
from designer.registry import discover
from designer.sources import Constant, Status
from designer.units import DIMENSIONS

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
    """Whether the two directions of a link have a capacity each or share one."""

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
    """A group of equal ports: which links fit, and how many (a count field of the kind, or a fixed number; 0 = any)."""

    name: str
    title: str
    links: tuple[str, ...]
    count: int = 0
    count_field: str = ""


@dataclass(frozen=True, slots=True)
class PartKind:
    """A kind of part. ``transit`` lists pairs of domains between which traffic may pass through it."""

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

    def field(self, name: str) -> Field | None:
        """The field called `name`, or None."""
        return next((f for f in self.fields if f.name == name), None)

    def passes(self, arriving: Domain, leaving: Domain) -> bool:
        """Whether traffic arriving over one domain may leave over another."""
        return (arriving, leaving) in self.transit

    def port_for(self, link_kind: str) -> PortKind | None:
        """The port a link of that kind plugs into, or None."""
        return next((p for p in self.ports if link_kind in p.links), None)


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


class SourceRecord(Frozen):
    """A source as it stands in a part file or design."""

    title: str
    status: Status = Status.SECONDARY
    publisher: str = ""
    locator: str = ""
    url: str = ""
    accessed: str = ""


class PartType(Frozen):
    """One product of the catalog, or one type a design brings along.

    ``id`` is ``kind/vendor/name``, which is also its path below ``assets/catalog``.
    """

    id: str = PydanticField(pattern=r"^[a-z0-9_]+(/[a-zA-Z0-9_.+-]+)+$", max_length=200)
    kind: str
    title: str
    vendor: str = ""
    revision: int = 1
    values: Mapping[str, Quantity] = {}
    sources: Mapping[str, SourceRecord] = {}
    note: str = ""
    history: tuple[str, ...] = ()

    def number(self, name: str, default: float | None = None) -> float | None:
        """The value called `name` in SI units, or `default` where the type does not give it."""
        quantity = self.values.get(name)
        if quantity is None:
            return default
        return value_of(self.kind, name, quantity)

    def problems(self) -> list[str]:
        """What is wrong with the values, in words; empty when all is well. Unknown kinds are not judged."""
        kind = part_kinds().get(self.kind)
        if kind is None:
            return []
        found: list[str] = []
        for name, quantity in self.values.items():
            field = kind.field(name)
            if field is None:
                found.append(f"values.{name}: {kind.title} has no such value")
            else:
                found += [f"values.{name}: {text}" for text in problems_of(field, quantity)]
            if quantity.source and self.sources and quantity.source not in self.sources:
                found.append(f"values.{name}: source {quantity.source!r} is not in [sources]")
        found += [f"values.{f.name} is missing" for f in kind.fields if f.required and f.name not in self.values]
        return found


def problems_of(field: Field, quantity: Quantity) -> list[str]:
    """Why `quantity` cannot be a value of `field`; empty when it can."""
    found: list[str] = []
    for text in (quantity.value, quantity.low, quantity.high):
        if text is None:
            continue
        if field.dimension in DIMENSIONS:
            try:
                if Quantity(value=text).si(field.dimension) < 0:
                    found.append(f"{text!r} is negative")
                if not isinstance(text, str) and field.dimension != "ratio":
                    found.append(f"{text!r} has no unit")
            except UnitError as error:
                found.append(str(error))
        elif field.dimension == "count" and (isinstance(text, str | bool) or not 0 <= text <= 10**9):
            found.append(f"{text!r} is not a count")
        elif field.dimension == "flag" and not isinstance(text, bool):
            found.append(f"{text!r} is not true or false")
        elif field.dimension == "text" and not isinstance(text, str):
            found.append(f"{text!r} is not text")
    return found


def value_of(kind_name: str, name: str, quantity: Quantity) -> float | None:
    """The SI value of a quantity stored under `name` for a part of that kind; None for text and unknown fields."""
    kind = part_kinds().get(kind_name)
    field = kind.field(name) if kind else None
    if field is None or field.dimension == "text":
        return None
    if field.dimension in ("count", "flag"):
        return float(quantity.value) if not isinstance(quantity.value, str) else None
    return quantity.si(field.dimension)


@cache
def part_kinds() -> Mapping[str, PartKind]:
    """All part kinds by name."""
    return discover("designer.catalog.kinds", "KIND", PartKind)


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
        if a.port_for(k.name) and b.port_for(k.name)
    )
