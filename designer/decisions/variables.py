"""What a sweep varies: the path of a value and what it is set to, spelled as lists and ranges.

``workloads.train.batch=64,128,256`` lists values, ``32..1024*2`` doubles, ``1..8+1`` steps, ``100 Gb/s..800 Gb/s:8``
spaces evenly. Pieces may be mixed: ``1,2,4..64*2``. Where values hold commas themselves, ``;`` separates them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Final

from designer.errors import DesignerError, FormatError
from designer.units import DIMENSIONS, parse

#: one value is given no more settings than this
VALUES_LIMIT: Final = 100_000
#: digits of values that are worked out; more are noise of the arithmetic
_DIGITS: Final = 12
#: whole numbers below this are written out
_PLAIN: Final = 1e15
_NUMBER: Final = r"[+-]?(?:\d[\d_]*(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?"
_UNIT: Final = r"(?:(?:1/|[A-Za-zµμ%])[^*+:.]*?)?"
_END: Final = re.compile(rf"\s*({_NUMBER})\s*({_UNIT})\s*\Z", re.ASCII)
_LAST: Final = re.compile(rf"\s*({_NUMBER})\s*({_UNIT})\s*(?:([*+:])\s*(.+?))?\s*\Z", re.ASCII)
_REMEDY: Final = "write a list 64,128,256 or a range 32..1024*2, 1..8+1, 100 Gb/s..800 Gb/s:8"


@dataclass(frozen=True, slots=True)
class Span:
    """A range to draw from; `log` where each factor counts equally, `whole` where only whole numbers are meant."""

    low: float
    high: float
    unit: str
    log: bool
    whole: bool


@dataclass(frozen=True, slots=True)
class Variable:
    """One value that is varied.

    Parameters
    ----------
    path
        What is changed, as ``--set PATH=VALUE`` spells it.
    values
        What it is set to in turn, spelled with units; empty where only a range to draw from is known.
    span
        The range, where it is one: random sweeps draw from all of it.
    """

    path: str
    values: tuple[str, ...]
    span: Span | None = None


def read_variable(text: str, drawn: bool = False) -> Variable:
    """A variable from ``PATH=VALUES``.

    Parameters
    ----------
    drawn
        True if values are drawn at random: a range then needs no step.

    Raises
    ------
    FormatError
        If it cannot be read.
    """
    path, sign, values = text.partition("=")
    path = path.strip()
    if not sign or not path:
        raise FormatError(f"{text!r} is no PATH=VALUES", place="--vary", remedy=_REMEDY)
    return make_variable(path, values, drawn)


def make_variable(path: str, values: str, drawn: bool = False) -> Variable:
    """A variable of a path.

    Raises
    ------
    FormatError
        If the values cannot be read.
    """
    place = f"--vary {path}"
    pieces = [piece.strip() for piece in values.split(";" if ";" in values else ",")]
    if not all(pieces):
        raise FormatError("a value is missing" if len(pieces) > 1 else "no values", place=place, remedy=_REMEDY)
    if len(pieces) == 1 and ".." in pieces[0]:
        found, span = _range(pieces[0], place, drawn)
        return Variable(path, found, span)
    every = [value for piece in pieces for value in (_range(piece, place, False)[0] if ".." in piece else (piece,))]
    if len(every) > VALUES_LIMIT:
        raise FormatError(f"{len(every):,} values", place=place, remedy=f"at most {VALUES_LIMIT:,}")
    return Variable(path, tuple(dict.fromkeys(every)))


def _range(text: str, place: str, drawn: bool) -> tuple[tuple[str, ...], Span]:
    first, _, last = text.partition("..")
    begin, end = _END.match(first), _LAST.match(last)
    if begin is None or end is None:
        raise FormatError(f"{text!r} is no range", place=place, remedy=_REMEDY)
    low, high = float(begin[1]), float(end[1])
    unit = end[2] or begin[2]
    if begin[2] and begin[2] != unit:
        raise FormatError(f"{begin[2]!r} and {end[2]!r} in one range", place=place, remedy="give both in one unit")
    if not (low < high and math.isfinite(low) and math.isfinite(high)):
        raise FormatError(f"{text!r} does not go up", place=place, remedy="the smaller value comes first")
    whole = not unit and low.is_integer() and high.is_integer() and end[3] != "*"
    whole = whole or (not unit and low.is_integer() and high.is_integer() and end[3] == "*" and _is_integer(end[4]))
    numbers = _numbers(low, high, end[3], end[4], unit, text, place, drawn)
    span = Span(low, high, unit, end[3] == "*", whole)
    return tuple(dict.fromkeys(spelled(x, unit) for x in numbers)), span


def _times(low: float, step: float, k: int) -> float:
    """A number times a factor, `k` times; the power alone may be too large for a float."""
    try:
        return low * step**k
    except OverflowError:
        return math.exp(math.log(low) + k * math.log(step))


def _floor(number: float) -> int:
    """The whole number below, of far too many values just too many."""
    return math.floor(min(number, 1e15))


def _numbers(  # noqa: C901, PLR0912
    low: float, high: float, sign: str | None, by: str | None, unit: str, text: str, place: str, drawn: bool
) -> list[float]:
    if sign is None:
        if drawn:
            return []
        if unit or not (low.is_integer() and high.is_integer()):
            remedy = f"say how it goes on: {text}*2, {text}+{spelled(high - low, unit)} or {text}:5"
            raise FormatError(f"{text!r} has no step", place=place, remedy=remedy)
        sign, by = "+", "1"
    match = _END.match(by or "")
    if match is None or (match[2] and (sign != "+" or match[2] != unit)):
        raise FormatError(f"{by!r} is no step of {text!r}", place=place, remedy=_REMEDY)
    step = float(match[1])
    if not math.isfinite(step):
        raise FormatError(f"{by!r} is no step of {text!r}", place=place, remedy="give a smaller number")
    if sign == "*":
        if low <= 0 or step <= 1:
            raise FormatError(f"{text!r} gets nowhere", place=place, remedy="a factor is above 1 and begins above zero")
        count = _floor((math.log(high) - math.log(low)) / math.log(step) * (1 + 1e-12) + 1e-9) + 1
    elif sign == "+":
        if step <= 0:
            raise FormatError(f"{text!r} gets nowhere", place=place, remedy="a step is above zero")
        count = _floor((high - low) / step + 1e-9) + 1
    else:
        if step < 2 or not step.is_integer():
            raise FormatError(f"{by!r} is no count of values", place=place, remedy="2 or more, such as :5")
        # divided first: between numbers of both signs the difference itself may be too large
        count, step = int(step), high / (step - 1) - low / (step - 1)
    if count > VALUES_LIMIT:
        raise FormatError(f"{text!r} is {count:,} values", place=place, remedy=f"at most {VALUES_LIMIT:,}")
    if sign == "*":
        return [_times(low, step, k) for k in range(count)]
    return [min(low + step * k, high) for k in range(count)]


def _is_integer(text: str | None) -> bool:
    try:
        return float(text or "").is_integer()
    except ValueError:
        return False


def spelled(number: float, unit: str) -> str:
    """A number with its unit, whole where it is whole.

    >>> spelled(64.0, ""), spelled(12.5, "GB/s")
    ('64', '12.5 GB/s')
    """
    text = f"{number:.{_DIGITS}g}"
    if float(text).is_integer() and abs(number) < _PLAIN:
        text = f"{float(text):.0f}"
    return f"{text} {unit}".strip()


def amount_of(text: str) -> tuple[float, str] | None:
    """The number behind spelled text in its SI unit, "" for plain numbers; None where it is none.

    >>> amount_of("400 Gb/s"), amount_of("64"), amount_of("bf16")
    ((50000000000.0, 'B/s'), (64.0, ''), None)
    """
    try:
        return float(text.replace("_", "")), ""
    except ValueError:
        pass
    for dimension, unit in DIMENSIONS.items():
        try:
            return parse(text, dimension), unit
        except DesignerError:
            continue
    return None
