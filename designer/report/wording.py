"""Numbers and names as reports write them: those of `designer.present.numbers`, with no-break spaces."""

from __future__ import annotations

import math
import re
from typing import Final

from designer import plain_text
from designer.present import numbers
from designer.sources import Estimate
from designer.units import format_line_rate

NBSP: Final = "\u00a0"
DASH: Final = "–"
#: what makes a word an id: digits, brackets, underscores, strokes
_ID: Final = re.compile(r"[\d\[\]_/]")
_SPELLED: Final = {
    "gpu": "GPU",
    "cpu": "CPU",
    "dpu": "DPU",
    "nic": "NIC",
    "nfs": "NFS",
    "nvswitch": "NVSwitch",
    "nvme": "NVMe",
    "nvlink": "NVLink",
    "pcie": "PCIe",
    "vm": "VM",
    "vmotion": "vMotion",
    "vsan": "vSAN",
}
#: from and up to here times along an axis are in minutes [s]
_MINUTES: Final = 120.0
_HOURS: Final = 36_000.0
#: a number this near to a whole one was given as one
_WHOLE: Final = 1e-9
_NUMBERS: Final = (
    "no",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
)


def counted(n: float, what: str = "", many: str = "") -> str:
    """``1 server``, ``32 servers``, ``1,280 cables``."""
    if not what:
        return f"{round(n):,}"
    return plain_text.counted(n, what, many).replace(" ", NBSP, 1)


def in_words(n: int, what: str, many: str = "") -> str:
    """The same with small numbers in words: ``three targets``."""
    name = what if n == 1 else many or what + "s"
    return f"{_NUMBERS[n] if n < len(_NUMBERS) else f'{n:,}'} {name}"


def sentence(text: str) -> str:
    """The text with a large first letter; names that are written otherwise, and ids, keep theirs."""
    first = text.split(" ", 1)[0]
    if _ID.search(first) or first != first.lower():
        return text
    if first in _SPELLED:
        return _SPELLED[first] + text[len(first) :]
    return text[:1].upper() + text[1:]


#: where a clause ends: a message can stop there and is still a sentence
_ENDS: Final = re.compile(r"(?<=[^\s\d])(?:\. |; |: )|\s\(")


def whole_clauses(text: str, room: int) -> str:
    """As many whole clauses of a message as `room` characters hold; at least the first, never a part of one."""
    if len(text) <= room:
        return text
    ends = [match.start() for match in _ENDS.finditer(text) if " " in text[: match.start()]]
    return text[: max((at for at in ends if at <= room), default=min(ends, default=len(text)))]


def spelled(words: str) -> str:
    """Words of an id as the field writes them: ``vmotion switch`` is ``vMotion switch``."""
    return " ".join(_SPELLED.get(word, word) for word in words.split(" "))


def continued(text: str) -> str:
    """A sentence as it goes on inside another: with a small letter, except where its first word is a name."""
    first = text.split(" ", 1)[0]
    return text if first == "Ethernet" or first[1:] != first[1:].lower() else text[:1].lower() + text[1:]


def listed(names: list[str], most: int = 4) -> str:
    """``a, b and c``; what is too many is counted."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def quantity(value: float, unit: str, what: str = "") -> str:
    """A value with its unit; ``what`` is counted per second where the unit is 1/s: ``tokens/s``."""
    number, name = split(value, unit, what)
    return f"{number}{NBSP}{name}" if name else number


def split(value: float, unit: str, what: str = "", like: float | None = None) -> tuple[str, str]:
    """The number and the unit of a value, in the prefix that `like` (or the value itself) asks for."""
    if like is not None and unit == "s" and _MINUTES <= abs(like) < _HOURS:
        # along an axis a time of minutes is a number with a unit
        return numbers.given(value / 60.0), "min"
    whole = like is not None and math.isfinite(value) and abs(value - round(value)) <= _WHOLE
    number, name = numbers.split(value, unit, what.removesuffix("/s"), like=like, exact=whole)
    return number.replace(" ", NBSP), name


def percent(share: float, digits: int = 0) -> str:
    """``97%``; what is not nothing does not read as nothing."""
    return numbers.percent(share, digits).replace(" ", NBSP)


def times(factor: float) -> str:
    """``1.73×``."""
    return f"{factor:.2f}×"


def band(estimate: Estimate, what: str = "") -> str:
    """``210–301 tokens/s``, both ends in the prefix of the value."""
    name = split(estimate.value, estimate.unit, what)[1]
    return f"{NBSP}".join(p for p in (DASH.join(ends(estimate, what)), name) if p)


def ends(estimate: Estimate, what: str = "") -> tuple[str, str]:
    """The ends of a band as numbers, in the unit its value has."""
    one, other = (
        numbers.split(v, estimate.unit, what.removesuffix("/s"), like=estimate.value)[0].replace(" ", NBSP)
        for v in (estimate.low, estimate.high)
    )
    return one, other


def line_rate(value: float) -> str:
    """The raw rate of a port in bits, ``400 Gb/s``."""
    return format_line_rate(value).replace(" ", NBSP)
