"""Quantities: SI floats inside, spelled units at every door.

Inside, every quantity is a float in one unit per dimension: byte, second, byte/second, FLOP, FLOP/second,
1/second, watt, joule, kilogram, USD, plain ratio. Text carries its unit: ``"400 Gb/s"``, ``"80 GiB"``, ``"8.9 us"``.
The parser knows b (bit) from B (byte) and G (10^9) from Gi (2^30), reads the unambiguous spellings people type
and refuses what could mean two things, each time with the reason and the likely meanings.

>>> parse_rate("400 Gb/s")
50000000000.0
>>> parse_size("80 GiB")
85899345920.0
>>> format_quantity(50e9, "rate")
'50 GB/s'
"""

from __future__ import annotations

import math
import re
from typing import Final, NewType

from designer.errors import UnitError

Bytes = NewType("Bytes", float)
Seconds = NewType("Seconds", float)
BytesPerSecond = NewType("BytesPerSecond", float)
Flop = NewType("Flop", float)
FlopPerSecond = NewType("FlopPerSecond", float)
PerSecond = NewType("PerSecond", float)
Watts = NewType("Watts", float)
Dollars = NewType("Dollars", float)
Kilograms = NewType("Kilograms", float)
Ratio = NewType("Ratio", float)

DECIMAL: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
BINARY: Final = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50, "Ei": 2.0**60}
PREFIXES: Final = DECIMAL | BINARY

_NUMBER = re.compile(
    r"\s*([+-]?(?:\d+(?:[_']?\d+)*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?)\s*(.*?)\s*\Z", re.ASCII | re.DOTALL
)
_PREFIX = r"(?P<prefix>[KkMGTPE]i?|)"
_SIZE = re.compile(rf"{_PREFIX}(?P<unit>B|b|bytes?|bits?)\Z")
_RATE = re.compile(rf"{_PREFIX}(?P<unit>B|b|bytes?|bits?)(?:/s|ps|/sec)\Z")
_FLOPS = re.compile(r"(?P<prefix>[kKMGTPE]?)(?:FLOP/s|FLOPS|FLOPs/s|OP/s|OPS)\Z")
_FLOP = re.compile(r"(?P<prefix>[kKMGTPE]?)(?:FLOP|FLOPs|OP)\Z")
#: what is counted changes nothing: people write requests, images or tokens where others write 1
_COUNTED_THINGS = "1|req|reqs|requests?|queries|samples?|images?|frames?|tokens?"
_FREQUENCY = re.compile(
    rf"(?P<prefix>[kKMG]?) ?(?:Hz|IOPS|T/s|[Rr][Pp][Ss]|[Qq][Pp][Ss]|(?:{_COUNTED_THINGS})?/(?P<per>s|sec|min|h|d))\Z"
)
_TIMES: Final = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "sec": 1.0,
    "min": 60.0,
    "h": 3600.0,
    "d": 86400.0,
    "day": 86400.0,
    "days": 86400.0,
    "weeks": 604800.0,
}
_WATTS: Final = {"W": 1.0, "kW": 1e3, "MW": 1e6}
_JOULES: Final = {"mJ": 1e-3, "J": 1.0, "kJ": 1e3, "MJ": 1e6, "Wh": 3600.0, "kWh": 3.6e6}
_MONEY: Final = {"USD": 1.0, "kUSD": 1e3}
_MASS: Final = {"g": 1e-3, "kg": 1.0, "t": 1e3, "lb": 0.45359237, "lbs": 0.45359237}
_RATIO: Final = {"": 1.0, "1": 1.0, "%": 0.01, "x": 1.0}

#: the dimensions, with the SI unit values are kept in
DIMENSIONS: Final = {
    "size": "B",
    "rate": "B/s",
    "duration": "s",
    "flop": "FLOP",
    "flops": "FLOP/s",
    "frequency": "1/s",
    "power": "W",
    "energy": "J",
    "money": "USD",
    "mass": "kg",
    "ratio": "1",
}
EXAMPLE: Final = {
    "size": "80 GiB",
    "rate": "400 Gb/s",
    "duration": "8.9 us",
    "flop": "1 TFLOP",
    "flops": "989 TFLOP/s",
    "frequency": "1000 1/s",
    "power": "700 W",
    "energy": "3 J",
    "money": "100 USD",
    "mass": "130 kg",
    "ratio": "0.88",
}


def parse(text: object, dimension: str) -> float:
    """The value of `text` in the SI unit of `dimension`.

    Raises
    ------
    UnitError
        If the text is no string, has no unit or one of another dimension, could mean two things, or is not finite.
    """
    if dimension not in DIMENSIONS:
        raise AssertionError(f"unknown dimension {dimension!r}")
    example = EXAMPLE[dimension]
    if not isinstance(text, str):
        if dimension == "ratio" and isinstance(text, int | float) and not isinstance(text, bool):
            return _finite(float(text), repr(text))
        raise UnitError(f"{text!r} is not text with a unit", remedy=f'write the unit out, for example "{example}"')
    if len(text) > 100:
        raise UnitError(f"{text[:20]!r}… is too long for a quantity", remedy=f'write for example "{example}"')
    match = _NUMBER.match(text)
    if match is None:
        raise UnitError(f"{text!r} does not begin with a number", remedy=f'write for example "{example}"')
    number, unit = _finite(float(match[1].replace("_", "").replace("'", "")), text), match[2]
    return _finite(number * _scale(text, match[1], unit, dimension), text)


def _finite(value: float, text: str) -> float:
    if not math.isfinite(value):
        raise UnitError(f"{text!r} is not a finite number", remedy="give a number that can be measured")
    return value


def _scale(text: str, number: str, unit: str, dimension: str) -> float:
    if dimension in ("size", "rate"):
        return _bits_or_bytes(text, number, unit, dimension)
    table = {
        "duration": _TIMES,
        "power": _WATTS,
        "energy": _JOULES,
        "money": _MONEY,
        "mass": _MASS,
        "ratio": _RATIO,
    }.get(dimension)
    if table is not None:
        if unit in table:
            return table[unit]
    else:
        pattern = {"flops": _FLOPS, "flop": _FLOP, "frequency": _FREQUENCY}[dimension]
        found = pattern.match(unit)
        if found is not None:
            return DECIMAL[found["prefix"]] / _TIMES[found.groupdict().get("per") or "s"]
    if not unit:
        raise UnitError(f"{text!r} has no unit", remedy=f'write for example "{EXAMPLE[dimension]}"')
    raise UnitError(
        f"{text!r}: {unit!r} is not a unit of {dimension}", remedy=f'write for example "{EXAMPLE[dimension]}"'
    )


def _bits_or_bytes(text: str, number: str, unit: str, dimension: str) -> float:
    per = "/s" if dimension == "rate" else ""
    found = (_RATE if dimension == "rate" else _SIZE).match(unit)
    if found is not None:
        prefix = found["prefix"]
        factor = PREFIXES[prefix]
        return factor / 8 if found["unit"] in ("b", "bit", "bits") else factor
    if not unit:
        raise UnitError(
            f"{text!r} has no unit",
            remedy=f'write "{number} GB{per}" for gigabytes or "{number} Gb{per}" for gigabits',
        )
    if dimension == "rate" and _SIZE.match(unit):
        raise UnitError(
            f"{text!r} is an amount, not a rate", remedy=f'write "{number} {unit}/s" if per second is meant'
        )
    if dimension == "size" and _RATE.match(unit):
        raise UnitError(f"{text!r} is a rate, not an amount", remedy='write it without "/s"')
    bare = re.fullmatch(r"([KkMGTPE])(i?)", unit)
    if bare:
        p = bare[0]
        raise UnitError(
            f"{text!r} does not say bits or bytes",
            remedy=f'write "{number} {p}b{per}" for bits or "{number} {p}B{per}" for bytes',
        )
    wrong_case = re.fullmatch(r"([kmgtpe])(i?)([bB])(.*)", unit)
    if wrong_case:
        big, i, b = wrong_case[1].upper(), wrong_case[2], wrong_case[3]
        raise UnitError(
            f"{text!r}: {unit!r} is not a unit of {dimension} (case matters: b bit, B byte, M mega, m milli)",
            remedy=f'write "{number} {big}{i}{b}{per}"',
        )
    raise UnitError(
        f"{text!r}: {unit!r} is not a unit of {dimension}", remedy=f'write for example "{EXAMPLE[dimension]}"'
    )


def parse_rate(text: object) -> BytesPerSecond:
    """A data rate in bytes per second [B/s]."""
    return BytesPerSecond(parse(text, "rate"))


def parse_size(text: object) -> Bytes:
    """An amount of data in bytes [B]."""
    return Bytes(parse(text, "size"))


def parse_duration(text: object) -> Seconds:
    """A duration in seconds [s]."""
    return Seconds(parse(text, "duration"))


def shortest(value: float) -> str:
    """The shortest decimal text that reads back to exactly `value`, without exponent for ordinary sizes."""
    text = repr(float(value))
    if text.endswith(".0"):
        text = text[:-2]
    return text


_SPELLINGS: Final = {
    "size": [("EB", 1e18), ("PB", 1e15), ("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3), ("B", 1.0)],
    "rate": [("PB/s", 1e15), ("TB/s", 1e12), ("GB/s", 1e9), ("MB/s", 1e6), ("kB/s", 1e3), ("B/s", 1.0)],
    "duration": [("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)],
    "flop": [("EFLOP", 1e18), ("PFLOP", 1e15), ("TFLOP", 1e12), ("GFLOP", 1e9), ("MFLOP", 1e6), ("FLOP", 1.0)],
    "flops": [("EFLOP/s", 1e18), ("PFLOP/s", 1e15), ("TFLOP/s", 1e12), ("GFLOP/s", 1e9), ("FLOP/s", 1.0)],
    "frequency": [("1/s", 1.0)],
    "power": [("MW", 1e6), ("kW", 1e3), ("W", 1.0)],
    "energy": [("MJ", 1e6), ("kJ", 1e3), ("J", 1.0), ("mJ", 1e-3)],
    "money": [("USD", 1.0)],
    "mass": [("t", 1e3), ("kg", 1.0), ("g", 1e-3)],
    "ratio": [("", 1.0)],
}
_BINARY_SIZES: Final = [("TiB", 2.0**40), ("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10)]


def write(value: float, dimension: str) -> str:
    """The canonical exact spelling for files: reading it back gives `value` again, bit for bit."""
    candidates = list(_SPELLINGS[dimension])
    if dimension == "size" and value >= 2**20 and value % 2**20 == 0 and value % 1e6 != 0:
        candidates = _BINARY_SIZES + candidates
    best: str | None = None
    for unit, factor in candidates:
        if value != 0 and abs(value) < factor and unit != candidates[-1][0]:
            continue
        for digits in range(1, 18):
            number = f"{value / factor:.{digits}g}"
            text = f"{shortest(float(number))} {unit}".strip()
            if parse(text, dimension) == value:
                if best is None or len(text) < len(best):
                    best = text
                break
        if best is not None:
            break
    return best if best is not None else f"{value!r} {DIMENSIONS[dimension]}"


#: counts from here on are stated as powers of ten [1]
_COUNTED: Final = 1e10


def format_quantity(value: float, dimension: str, digits: int = 3) -> str:
    """Text for people: `digits` significant digits and a fitting prefix. The only place that makes such text."""
    if math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    if dimension == "ratio":
        text = f"{value:.{digits}g}"
        # counts of thousands and millions are read more easily than powers of ten
        return f"{float(text):,.0f}" if "e+" in text and abs(value) < _COUNTED else text
    if dimension == "duration":
        return _format_duration(value, digits)
    if dimension == "frequency":
        return _format_frequency(value, digits)
    for unit, factor in _SPELLINGS[dimension]:
        if abs(value) >= factor * (1 - 0.5 * 10.0**-digits):
            return f"{_round(value / factor, digits)} {unit}"
    unit, factor = _SPELLINGS[dimension][-1]
    return f"{_round(value / factor, digits)} {unit}"


def _format_frequency(value: float, digits: int) -> str:
    """How often in a second, as ``125/s``, ``12.5 k/s``, ``2.3 G/s``."""
    for unit, factor in (("G/s", 1e9), ("M/s", 1e6), ("k/s", 1e3)):
        # whole numbers of a few thousand are read more easily than thousands of them
        if abs(value) >= max(factor, 1e4) * (1 - 0.5 * 10.0**-digits):
            return f"{_round(value / factor, digits)} {unit}"
    return f"{_round(value, digits)}/s"


def format_line_rate(value: float, digits: int = 3) -> str:
    """Text for the raw rate of a network port or cable [B/s], in bits as network people know it.

    >>> format_line_rate(50e9), format_line_rate(3.125e9), format_line_rate(1.25e8)
    ('400 Gb/s', '25 Gb/s', '1 Gb/s')
    """
    for unit, factor in (("Tb/s", 1e12), ("Gb/s", 1e9), ("Mb/s", 1e6)):
        if 8 * abs(value) >= factor * (1 - 0.5 * 10.0**-digits):
            return f"{_round(8 * value / factor, digits)} {unit}"
    return format_quantity(value, "rate", digits)


def _format_duration(value: float, digits: int) -> str:
    size = abs(value)
    for limit, unit, factor in ((86400 * 2, "d", 86400.0), (7200, "h", 3600.0), (120, "min", 60.0), (1, "s", 1.0)):
        if size >= limit:
            return f"{_round(value / factor, digits)} {unit}"
    for unit, factor in (("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)):
        if size >= factor:
            return f"{_round(value / factor, digits)} {unit}"
    return f"{_round(value / 1e-9, digits)} ns" if value else "0 s"


def _round(value: float, digits: int) -> str:
    text = f"{value:.{digits}g}"
    if "e" in text:
        if abs(value) >= 1:
            return f"{float(text):.0f}"
        plain = f"{value:.{digits + 3}f}".rstrip("0")
        # what is too small for that stays a power of ten
        return plain if plain[-1] != "." else text
    return text


#: SI unit as printed in JSON, and the dimension it belongs to
DIMENSION_OF_UNIT: Final = {
    "B": "size",
    "B/s": "rate",
    "s": "duration",
    "1/s": "frequency",
    "1": "ratio",
    "FLOP/s": "flops",
    "FLOP": "flop",
    "W": "power",
    "J": "energy",
    "USD": "money",
    "kg": "mass",
}


def format_si(value: float, unit: str, digits: int = 3) -> str:
    """Text for people of a value whose SI unit is known by its printed name, such as ``"B/s"``."""
    return format_quantity(value, DIMENSION_OF_UNIT[unit], digits)
