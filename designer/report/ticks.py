"""Where the axes of all charts are marked: at the finest round steps whose texts fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Final

Fits = Callable[[Sequence[float]], bool]

_STEPS: Final = (1, 2, 5)
#: ends of an axis; a fourth of each is a short number
_ENDS: Final = (1, 1.2, 1.6, 2, 2.4, 3.2, 4, 5, 6, 8)
_MINUTE: Final = 60.0
_DAY: Final = 86_400.0
#: minutes and hours are no tens [min]
_TIMES: Final = (1, 2, 5, 10, 20, 30, 60, 120, 240, 720, 1440)
#: no axis has room for more
_MOST: Final = 200
#: beyond so many powers of ten only they are marked
_FEW_DECADES: Final = 2


def ticks(low: float, high: float, fits: Fits, *, unit: str = "", log: bool = False) -> list[float]:
    """Round values between two ends: the finest steps that fit; where no two do, the last value alone.

    Parameters
    ----------
    fits
        True if these values can be written next to each other.
    unit
        Unit of the values: long times are marked at whole minutes, hours and days, sizes on a logarithmic axis at
        powers of two.
    """
    found: list[float] = []
    for marks in _by_fineness(low, high, unit, log):
        if marks:
            found = marks
            if fits(marks):
                return marks
    return found[-1:]


def round_up(value: float) -> float:
    """The next value whose quarters are short numbers: where a scale ends."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next((m * power for m in _ENDS if m * power >= value * (1 - 1e-9)), 10 * power)


def _by_fineness(low: float, high: float, unit: str, log: bool) -> Iterator[list[float]]:
    if log:
        yield from _powers(low, high, 2.0 if unit == "B" else 10.0)
        return
    span = max(high - low, 1e-300)
    if unit == "s" and span > 2 * _MINUTE:
        yield from (_multiples(low, high, _MINUTE * n) for n in _TIMES if span / (_MINUTE * n) < _MOST)
        low, high, span, times = low / _DAY, high / _DAY, span / _DAY, _DAY
    else:
        times = 1.0
    first = math.floor(math.log10(span)) - 1
    for step in (m * 10.0**e for e in range(first, first + 3) for m in _STEPS):
        if times == 1.0 or step >= 1.0:
            yield [v * times for v in _multiples(low, high, step)]


def _multiples(low: float, high: float, step: float) -> list[float]:
    return [step * k for k in range(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1)]


def _powers(low: float, high: float, base: float) -> Iterator[list[float]]:
    first, last = math.ceil(math.log(low, base) - 1e-9), math.floor(math.log(high, base) + 1e-9)
    if base == 10.0 and last - first < _FEW_DECADES:
        inside = [m * base**k for k in range(first - 1, last + 1) for m in _STEPS]
        inside = [v for v in inside if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
        if len(inside) > 2:
            yield inside
        else:
            yield from _by_fineness(low, high, "", False)
    for step in range(1, max(2, last - first + 2)):
        yield [base**k for k in range(first, last + 1) if k % step == 0]
