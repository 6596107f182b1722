"""What promises are about: measures with a band and a unit, lists of them, findings, and words."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from designer.checks.syntax import CheckError
from designer.findings import Finding
from designer.units import DIMENSIONS, format_quantity

#: two results of one computation that are this close are equal
_TOLERANCE: Final = 1e-9
_EQUAL: Final = 1e-6


def holds(operator: str, left: Measure, right: Measure, strict: float) -> bool:
    """True if a comparison holds; `strict` is how far towards the bad ends of both bands it has to."""

    def towards(measure: Measure, end: float) -> float:
        return measure.value if strict == 0 or measure.value == end else measure.value + strict * (end - measure.value)

    if operator in ("==", "!="):
        ends = (left.value,) if strict == 0 else (towards(left, left.low), towards(left, left.high))
        same = all(math.isclose(end, right.value, rel_tol=_EQUAL) for end in ends)
        return same is (operator == "==")
    if operator in ("<=", "<"):
        a, b = towards(left, left.high), towards(right, right.low)
    else:
        a, b = towards(right, right.high), towards(left, left.low)
    slack = _TOLERANCE * max(abs(a), abs(b)) if math.isfinite(a) and math.isfinite(b) else 0.0
    return a <= b + slack if "=" in operator else a < b - slack


def closest(operator: str, items: tuple[Measure, ...]) -> tuple[Measure, ...]:
    """Of a list that holds the item nearest to not holding."""
    if len(items) < 2:
        return items
    pick = max if operator in ("<=", "<") else min
    return (pick(items, key=lambda m: m.value),)


def calculated(operator: str, left: Measure, right: Measure, at: int) -> Measure:
    """Two measures joined by ``+ - * /``, the band from the ends of both; `at` is where mistakes are reported.

    Raises
    ------
    CheckError
        If the units do not go together, or the result is no finite quantity.
    """
    if operator in ("+", "-"):
        if left.unit != right.unit:
            word = "adds" if operator == "+" else "subtracts"
            raise CheckError(f"{word} {spelled(left.unit)} and {spelled(right.unit)}", at, "use one unit on both sides")
        sign = 1 if operator == "+" else -1
        ends = sorted((right.low * sign, right.high * sign))
        value, low, high = left.value + sign * right.value, left.low + ends[0], left.high + ends[1]
        return finite(replace(left, value=value, low=low, high=high), at)
    if operator == "/" and right.low <= 0 <= right.high:
        raise CheckError("divides by what may be zero", at, "divide by something that is never zero")
    way = 1 if operator == "*" else -1
    unit: Unit = tuple(a + way * b for a, b in zip(left.unit, right.unit, strict=True))  # type: ignore[assignment]
    if max(map(abs, unit)) > 9:
        raise CheckError("too high a power of a unit", at, "compare plain quantities")
    pairs = [(a, b) for a in (left.low, left.high) for b in (right.low, right.high)]
    try:
        ends = [a * b if way == 1 else a / b for a, b in pairs]
        value = left.value * right.value if way == 1 else left.value / right.value
    except (OverflowError, ZeroDivisionError):
        raise CheckError("the result is too large", at, "use smaller numbers") from None
    stated = left if left.name else right
    return finite(replace(stated, value=value, low=min(ends), high=max(ends), unit=unit), at)


def finite(measure: Measure, at: int) -> Measure:
    """The same measure.

    Raises
    ------
    CheckError
        If it is no number.
    """
    if math.isnan(measure.value) or math.isnan(measure.low) or math.isnan(measure.high):
        raise CheckError("the result is no number", at, "compare finite quantities")
    return measure


def at_end(measure: Measure, which: str) -> Measure:
    """The low or high end of a band as an exact measure."""
    end = measure.low if which == "low" else measure.high
    return replace(measure, value=end, low=end, high=end)


#: exponents of byte, second, FLOP, watt, dollar and kilogram
Unit = tuple[int, int, int, int, int, int]
NONE: Final[Unit] = (0, 0, 0, 0, 0, 0)
_UNITS: Final[Mapping[str, Unit]] = {
    "size": (1, 0, 0, 0, 0, 0),
    "rate": (1, -1, 0, 0, 0, 0),
    "duration": (0, 1, 0, 0, 0, 0),
    "flop": (0, 0, 1, 0, 0, 0),
    "flops": (0, -1, 1, 0, 0, 0),
    "frequency": (0, -1, 0, 0, 0, 0),
    "power": (0, 0, 0, 1, 0, 0),
    "energy": (0, 1, 0, 1, 0, 0),
    "money": (0, 0, 0, 0, 1, 0),
    "mass": (0, 0, 0, 0, 0, 1),
    "ratio": NONE,
}
_SYMBOLS: Final = ("B", "s", "FLOP", "W", "USD", "kg")


def unit_of(dimension: str) -> Unit:
    """The exponents of a dimension of ``designer.units``."""
    return _UNITS[dimension]


def unit_of_si(text: str) -> Unit:
    """The exponents of an SI unit as results print it, such as ``B/s``."""
    return next((_UNITS[name] for name, si in DIMENSIONS.items() if si == text), NONE)


def spelled(unit: Unit) -> str:
    """A unit for people."""
    name = next((name for name, own in _UNITS.items() if own == unit), "")
    if name:
        return {"ratio": "a plain number"}.get(name, f"a {name}")
    return "·".join(f"{s}^{n}" for s, n in zip(_SYMBOLS, unit, strict=True) if n)


@dataclass(frozen=True, slots=True)
class Measure:
    """A number with its 80 % band.

    Parameters
    ----------
    name
        What it is about, for lists.
    binds, mend
        What limits it, and what would change it.
    """

    value: float
    low: float
    high: float
    unit: Unit
    name: str = ""
    binds: str = ""
    mend: str = ""
    note: str = ""

    @classmethod
    def exact(cls, value: float, unit: Unit = NONE, name: str = "") -> Measure:
        """A number without a band."""
        return cls(value, value, value, unit, name)

    @property
    def shown(self) -> str:
        """For people."""
        name = next((name for name, own in _UNITS.items() if own == self.unit), None)
        if name is None:
            return f"{self.value:.4g} {spelled(self.unit)}"
        return format_quantity(self.value, name, 4)

    @property
    def band(self) -> str:
        """The band for people; empty for exact numbers."""
        if self.low == self.high:
            return ""
        low, high = Measure.exact(self.low, self.unit), Measure.exact(self.high, self.unit)
        return f"{low.shown} – {high.shown}"


@dataclass(frozen=True, slots=True)
class Several:
    """Measures of several things, and how they make one where a promise asks for no single ones."""

    items: tuple[Measure, ...]
    whole: str = "sum"
    name: str = ""

    @property
    def one(self) -> Measure:
        """All together."""
        return combine(self.whole, self.items, self.name)


@dataclass(frozen=True, slots=True)
class Found:
    """Findings."""

    findings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class Truth:
    """Whether something holds, and the measures it rests on."""

    holds: bool
    got: tuple[Measure, ...] = ()
    expected: str = ""
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True, slots=True)
class Word:
    """Text in quotes, or a word that represents a metric."""

    text: str
    is_name: bool = field(default=False)


def combine(how: str, items: tuple[Measure, ...], name: str = "") -> Measure:
    """One measure of several: ``sum``, ``min``, ``max`` or ``mean``; an extreme keeps its name."""
    if how in ("min", "max"):
        pick = min if how == "min" else max
        chosen = pick(items, key=lambda m: m.value)
        return Measure(
            chosen.value,
            pick(m.low for m in items),
            pick(m.high for m in items),
            chosen.unit,
            chosen.name,
            chosen.binds,
            chosen.mend,
            chosen.note,
        )
    share = 1 / len(items) if how == "mean" else 1.0
    value, low, high = (share * math.fsum(getattr(m, part) for m in items) for part in ("value", "low", "high"))
    first = items[0]
    return Measure(value, low, high, first.unit, name, first.binds, first.mend)
