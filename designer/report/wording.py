"""Numbers and names as reports write them: no-break spaces, en dashes, thousands with commas, three digits."""

from __future__ import annotations

import math
import re
from typing import Final

from designer import plain_text
from designer.sources import Estimate
from designer.units import DIMENSION_OF_UNIT, format_line_rate, format_quantity

NBSP: Final = "\u00a0"
DASH: Final = f"{NBSP}–{NBSP}"
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
_PREFIXES: Final = ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e3, "k"))
#: how often per second of what, by metric
PER_SECOND: Final = {
    "tokens_per_second": "tokens/s",
    "samples_per_second": "samples/s",
    "requests_per_second": "requests/s",
}
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
    """A sentence as it goes on inside another: with a small letter, except where its first word has more large ones."""
    first = text.split(" ", 1)[0]
    return text if first[1:] != first[1:].lower() else text[:1].lower() + text[1:]


def listed(names: list[str], most: int = 4) -> str:
    """``a, b and c``; what is too many is counted."""
    if len(names) > most:
        names = [*names[: most - 1], f"{len(names) - most + 1} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}" if names else ""


def quantity(value: float, unit: str, what: str = "") -> str:
    """A value with its unit; ``what`` is counted per second where the unit is 1/s."""
    number, name = split(value, unit, what)
    return f"{number}{NBSP}{name}".strip() if name else number


def split(value: float, unit: str, what: str = "", like: float | None = None) -> tuple[str, str]:
    """The number and the unit of a value, in the prefix that `like` (or the value itself) asks for."""
    if not math.isfinite(value):
        return ("–" if math.isnan(value) else "∞"), ""
    scale = abs(value if like is None else like)
    if unit == "1/s" or (unit == "1" and scale >= 1e6):
        name = what or ("1/s" if unit == "1/s" else "")
        for factor, prefix in _PREFIXES:
            if scale >= max(factor, 2e4) * 0.9995 and factor <= scale * 1.0005:
                return _digits(value / factor, scale / factor), f"{prefix}{NBSP}{name}".strip()
        return _digits(value, scale), name
    if unit == "1":
        return _digits(value, scale), ""
    text = format_quantity(scale, DIMENSION_OF_UNIT.get(unit, "ratio")).replace("us", "µs")
    number, _, name = text.partition(" ")
    shown = float(number.replace(",", "")) if number not in ("∞", "–") else 0.0
    factor = scale / shown if shown else 1.0
    factor = _unit_factor(name, unit, factor)
    return _digits(value / factor, scale / factor), name


def _unit_factor(name: str, unit: str, rough: float) -> float:
    """The exact factor of a unit, from its name."""
    exact = {
        "s": 1.0,
        "ms": 1e-3,
        "µs": 1e-6,
        "ns": 1e-9,
        "min": 60.0,
        "h": 3600.0,
        "d": 86400.0,
        "MW": 1e6,
        "kW": 1e3,
        "W": 1.0,
        "t": 1e3,
        "kg": 1.0,
        "g": 1e-3,
    }
    if name in exact:
        return exact[name]
    for factor, prefix in ((1e18, "E"), (1e15, "P"), *_PREFIXES):
        if name == f"{prefix}{unit}":
            return factor
    return 1.0 if name == unit else rough


def _digits(value: float, like: float) -> str:
    """Three significant digits of `like`; a band is written to the digits of its value."""
    if value == 0:
        return "0"
    places = max(0, 2 - math.floor(math.log10(like))) if like > 0 else 2
    text = f"{round(value, places):,.{min(places, 6)}f}"
    if places and "." in text and like >= 1 and abs(like - round(like)) < _WHOLE and abs(value - round(value)) < _WHOLE:
        # whole numbers need no zeros behind the point, measured ones keep theirs
        text = text.split(".")[0]
    return text.replace("-", "−")


def percent(share: float, digits: int = 0) -> str:
    """``97 %``; what is not nothing does not read as nothing."""
    text = f"{share * 100:.{digits}f}"
    if float(text) == 0 and share > 0:
        text = f"{share * 100:.1f}" if share >= 0.0005 else "0.1"
        return f"below{NBSP}0.1{NBSP}%" if share < 0.0005 else f"{text}{NBSP}%"
    return f"{text}{NBSP}%"


def times(factor: float) -> str:
    """``1.73×``."""
    return f"{factor:.2f}×"


def band(estimate: Estimate, what: str = "") -> str:
    """``210 – 301 k tokens/s``, both ends in the prefix of the value."""
    return f"{NBSP}".join(
        p for p in (DASH.join(ends(estimate, what)), split(estimate.value, estimate.unit, what)[1]) if p
    )


def ends(estimate: Estimate, what: str = "") -> tuple[str, str]:
    """The ends of a band as numbers, in the unit its value has."""
    low, high = (split(v, estimate.unit, what, estimate.value)[0] for v in (estimate.low, estimate.high))
    return low, high


def line_rate(value: float) -> str:
    """The raw rate of a port in bits, ``400 Gb/s``."""
    return format_line_rate(value).replace(" ", NBSP)


def per_second(metric: str, dataset_of_images: bool = False) -> str:
    """What a metric counts per second."""
    if dataset_of_images and metric == "samples_per_second":
        return "images/s"
    return PER_SECOND.get(metric, "")
