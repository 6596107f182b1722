"""Numbers as all doors show them: three significant digits, thousands with commas, a blank before the unit.

>>> shown(72_000.0, "1/s", "tokens")
'72,000 tokens/s'
>>> shown(152.4, "s")
'2 min 32 s'
>>> percent(0.312)
'31%'
>>> gain(1.31), gain(6.2)
('+31%', '6.2×')
"""

from __future__ import annotations

import math
from typing import Final

from designer.sources import Estimate

#: decimal prefixes by SI unit, the largest first; rates of events and counts are written in full
_PREFIXED: Final[dict[str, tuple[tuple[float, str], ...]]] = {
    "B": ((1e18, "EB"), (1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "B")),
    "B/s": ((1e15, "PB/s"), (1e12, "TB/s"), (1e9, "GB/s"), (1e6, "MB/s"), (1e3, "kB/s"), (1.0, "B/s")),
    "FLOP": ((1e18, "EFLOP"), (1e15, "PFLOP"), (1e12, "TFLOP"), (1e9, "GFLOP"), (1.0, "FLOP")),
    "FLOP/s": ((1e18, "EFLOP/s"), (1e15, "PFLOP/s"), (1e12, "TFLOP/s"), (1e9, "GFLOP/s"), (1.0, "FLOP/s")),
    "W": ((1e6, "MW"), (1e3, "kW"), (1.0, "W")),
    "J": ((1e9, "GJ"), (1e6, "MJ"), (1e3, "kJ"), (1.0, "J"), (1e-3, "mJ")),
    "kg": ((1e3, "t"), (1.0, "kg")),
}
_MINUTE, _HOUR, _DAY, _YEAR = 60.0, 3600.0, 86400.0, 365.25 * 86400.0
#: below a millionth of a nanosecond a time is nothing [s]
_NOTHING: Final = 1e-15
#: factors up to which a gain is written in per cent
_TWICE: Final = 2.0
#: a gain below half a per cent is none
_NO_GAIN: Final = 1.005
#: values so near to a whole number were given as one
_WHOLE: Final = 1e-9


def digits(value: float, significant: int = 3) -> str:
    """`significant` digits with commas, without exponent: ``12.3``, ``77.0``, ``72,000``."""
    if value == 0:
        return "0"
    if not math.isfinite(value):
        return "–" if math.isnan(value) else "∞" if value > 0 else "−∞"
    rounded = float(f"{value:.{significant - 1}e}")
    places = max(0, significant - 1 - math.floor(math.log10(abs(rounded))))
    return f"{rounded:,.{min(places, 12)}f}".replace("-", "−")


def given(value: float) -> str:
    """A number that was counted or given, without zeros behind the point: ``6``, ``4,760,743``, ``0.5``."""
    if math.isfinite(value) and abs(value - round(value)) <= _WHOLE * max(1.0, abs(value)):
        return f"{round(value):,}".replace("-", "−")
    text = digits(value)
    return text.rstrip("0").rstrip(".") if "." in text else text


def _scale(size: float, table: tuple[tuple[float, str], ...]) -> tuple[float, str]:
    for factor, name in table:
        # 999.9 MB reads 1.00 GB
        if size >= factor * 0.9995:
            return factor, name
    return table[-1]


def _duration(size: float) -> tuple[float, str]:
    """Factor and name of the unit of a time; the name is empty where minutes and seconds are written out."""
    for limit, factor, name in (
        (1000 * _DAY, _YEAR, "years"),
        (2 * _DAY, _DAY, "days"),
        (10 * _HOUR, _HOUR, "h"),
        (119.95, 1.0, ""),
        (0.9995, 1.0, "s"),
        (0.9995e-3, 1e-3, "ms"),
        (0.9995e-6, 1e-6, "µs"),
    ):
        if size >= limit:
            return factor, name
    return (1e-9, "ns") if size > _NOTHING else (1.0, "s")


def clock(seconds: float) -> str:
    """A time of minutes or hours: ``2 min 32 s``, ``25 min``, ``3 h 20 min``."""
    if seconds < _HOUR - 0.5:
        minutes, rest = divmod(round(seconds), 60)
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    hours, minutes = divmod(round(seconds / _MINUTE), 60)
    return f"{hours} h {minutes} min" if minutes else f"{hours} h"


def unit_of(value: float, unit: str, what: str = "") -> tuple[float, str]:
    """Factor and name of the unit that a value is written in.

    Parameters
    ----------
    unit
        SI unit, as metrics name it.
    what
        What is counted, for ``1/s`` and ``1``: ``requests``.
    """
    size = abs(value)
    if unit == "s":
        return _duration(size)
    if unit == "1/s":
        return 1.0, f"{what}/s" if what else "per second"
    if unit == "1":
        return 1.0, what
    if unit in _PREFIXED:
        return _scale(size, _PREFIXED[unit])
    return 1.0, unit


def split(
    value: float, unit: str, what: str = "", *, exact: bool = False, like: float | None = None
) -> tuple[str, str]:
    """Number and unit of a value; the unit is empty where the number carries it.

    Parameters
    ----------
    exact
        True for values that were counted or given: no zeros behind the point.
    like
        The value whose unit is taken, for the ends of a band.
    """
    if not math.isfinite(value):
        return digits(value), ""
    factor, name = unit_of(value if like is None else like, unit, what)
    if unit == "s" and not name:
        return (clock(value), "") if value >= _MINUTE else (f"{digits(value)} s", "")
    number = given(value / factor) if exact else digits(value / factor)
    return number, singular(name) if number == "1" else name


def singular(name: str) -> str:
    """The name of a unit after ``1``: ``request/s``, ``day``."""
    head, slash, rest = name.partition("/")
    word = head[:-1] if head in _COUNTED else head
    return f"{word}{slash}{rest}"


_COUNTED: Final = frozenset(
    ("requests", "tokens", "images", "sequences", "samples", "streams", "days", "years", "GPUs", "machines", "steps")
)


def shown(value: float, unit: str, what: str = "", *, exact: bool = False) -> str:
    """A value with its unit."""
    number, name = split(value, unit, what, exact=exact)
    return f"{number} {name}" if name else number


def band(estimate: Estimate, what: str = "") -> str:
    """The 80 % band without unit, ``10.5–14.3``; empty where it is narrower than the digits of the value."""
    return span(estimate.value, estimate.low, estimate.high, estimate.unit, what)


def span(value: float, low: float, high: float, unit: str, what: str = "") -> str:
    """Two ends in the unit of `value`, without it; empty where they read as the value does."""
    texts = [split(end, unit, what, like=value)[0] for end in (low, value, high)]
    if texts[0] == texts[1] == texts[2]:
        return ""
    join = " – " if any(" " in text for text in (texts[0], texts[2])) else "–"
    return f"{texts[0]}{join}{texts[2]}"


def percent(share: float, places: int = 0) -> str:
    """``31%``; a share that is not nothing does not read as nothing."""
    text = f"{share * 100:.{places}f}"
    if float(text) == 0 and share > 0:
        return "below 0.1%" if share < 0.0005 else f"{share * 100:.1f}%"
    return f"{text.replace('-', '−')}%" if float(text) else "0%"


def share(value: float) -> str:
    """A share with three digits, ``41.9%``; ``100%`` without any."""
    return f"{given(round(value * 100, 9))}%" if value in (0.0, 1.0) else f"{digits(value * 100)}%"


def gain(factor: float) -> str:
    """A gain: ``+31%`` up to twice, then ``6.2×``; ``0%`` for none."""
    if abs(factor - 1) < _NO_GAIN - 1:
        return "0%"
    if factor > _TWICE + 0.005:
        return f"{factor:.1f}×"
    return f"{'+' if factor > 1 else '−'}{abs(factor - 1) * 100:.0f}%"


def counted(n: float, one: str, many: str = "") -> str:
    """``1 link``, ``196,608 links``."""
    number = round(n)
    return f"{number:,} {one if number == 1 else many or one + 's'}"
