"""Measures calculated and compared with their bands and units."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

from designer.checks.syntax import CheckError
from designer.checks.values import Measure, Unit, spelled

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
    told = left if left.name else right
    return finite(replace(told, value=value, low=min(ends), high=max(ends), unit=unit), at)


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
