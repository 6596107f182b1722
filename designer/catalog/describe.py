"""A part type as plain rows: what the parts command prints and the inspector shows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from designer.catalog.parttype import Field, PartType, part_kinds
from designer.errors import UnitError
from designer.fields import Quantity
from designer.sources import Status
from designer.units import DIMENSIONS, format_line_rate, format_quantity

_BITS: Final = re.compile(r"[KkMGTPE]i?b(?:/s|ps)|bits?/s")
_NAMES: Final = re.compile(r"\{(\w+)\}")


@dataclass(frozen=True, slots=True)
class ValueRow:
    """One value of a part type.

    ``text`` is for people and carries the unit; ``spelled`` is what the file says; ``value``, ``low`` and ``high``
    are SI in ``unit`` (None for names). ``band`` is empty where no band is known.
    """

    name: str
    title: str
    text: str
    spelled: str
    unit: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    band: str = ""
    source: str = ""
    source_title: str = ""
    status: Status = Status.SECONDARY
    note: str = ""


def describe(part: PartType) -> tuple[ValueRow, ...]:
    """Every value of a part type, in the order its kind lists them; values of an unknown kind in their own order."""
    kind = part_kinds().get(part.kind)
    fields = {f.name: f for f in kind.fields} if kind else {}
    names = [n for n in fields if n in part.values] + [n for n in part.values if n not in fields]
    return tuple(_row(part, name, fields.get(name), part.values[name]) for name in names)


def briefs(kind: str, values: Mapping[str, Quantity]) -> tuple[str, ...]:
    """What is most worth knowing of a part in a few letters, as its kind says, best first: ``400 Gb/s``."""
    found = part_kinds().get(kind)
    texts: list[str] = []
    for words in found.brief if found else ():
        fields = [found.field(name) for name in _NAMES.findall(words)] if found else []
        known = {f.name: _short(values[f.name], f.dimension) for f in fields if f and f.name in values}
        if len(known) == len(fields):
            texts.append(words.format(**known).removeprefix("1 × "))
    return tuple(texts)


def _short(quantity: Quantity, dimension: str) -> str:
    """A value in three digits: in bits where the data sheet counts bits."""
    number, spelled = _si(quantity.value, dimension), quantity.value
    if number is None or dimension not in DIMENSIONS:
        return str(spelled)
    in_bits = isinstance(spelled, str) and _BITS.search(spelled)
    return format_line_rate(number) if in_bits else format_quantity(number, dimension)


def _row(part: PartType, name: str, field: Field | None, quantity: Quantity) -> ValueRow:
    dimension = field.dimension if field else "text"
    record = part.sources.get(quantity.source)
    low, high = _si(quantity.low, dimension), _si(quantity.high, dimension)
    return ValueRow(
        name=name,
        title=field.title if field else name.replace("_", " "),
        text=_text(quantity.value, dimension),
        spelled=str(quantity.value),
        unit=DIMENSIONS.get(dimension, ""),
        value=_si(quantity.value, dimension),
        low=low,
        high=high,
        band=_band(quantity, dimension),
        source=quantity.source,
        source_title=record.title if record else "",
        status=quantity.status,
        note=" ".join(quantity.note.split()),
    )


def _si(value: str | int | bool | None, dimension: str) -> float | None:
    if value is None or dimension == "text":
        return None
    if dimension in DIMENSIONS:
        try:
            return Quantity(value=value).si(dimension)
        except UnitError:
            return None
    return None if isinstance(value, str) else float(value)


def _text(value: str | int | bool, dimension: str) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    number = _si(value, dimension)
    if number is None or dimension not in DIMENSIONS:
        return str(value)
    text = format_quantity(number, dimension, digits=4)
    # Network people think in bits, buses are in bytes: show both where the data sheet counts bits.
    return f"{text} ({value})" if isinstance(value, str) and _BITS.search(value) else text


def _band(quantity: Quantity, dimension: str) -> str:
    if quantity.low is None and quantity.high is None:
        return ""
    low = quantity.value if quantity.low is None else quantity.low
    high = quantity.value if quantity.high is None else quantity.high
    return f"{_text(low, dimension)} – {_text(high, dimension)}"
