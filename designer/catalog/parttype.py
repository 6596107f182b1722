"""Part kinds, link kinds and part types: the vocabulary of the catalog.

A *kind* (GPU, NIC, switch …) is code: which values its types have, which ports, what it is capable of and which
traffic may pass through it. A *part type* (one product) is data: a file in ``assets/catalog``. Code above asks for
capabilities and ports, never for the name of a kind.
"""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import Field as PydanticField

from designer.catalog.partkind import (
    UNKNOWN_PREFERENCE,
    Capability,
    Domain,
    Duplex,
    Field,
    LinkKind,
    PartKind,
    PortKind,
    fitting_links,
    link_kind,
    link_kinds,
    part_kinds,
)
from designer.errors import UnitError
from designer.fields import Frozen, Quantity
from designer.sources import Status
from designer.units import DIMENSIONS

__all__ = [
    "UNKNOWN_PREFERENCE",
    "Capability",
    "Domain",
    "Duplex",
    "Field",
    "LinkKind",
    "PartKind",
    "PartType",
    "PortKind",
    "SourceRecord",
    "fitting_links",
    "link_kind",
    "link_kinds",
    "part_kinds",
    "problems_of",
    "value_of",
]


class SourceRecord(Frozen):
    """A source as it is in a part file or design."""

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
