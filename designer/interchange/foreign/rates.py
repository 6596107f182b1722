"""Rates, interface types and roles as other programs spell them.

``400Gbps`` is bits, ``125MBps`` is bytes, ``1e9Bps`` has an exponent.
"""

from __future__ import annotations

import math
import re
from typing import Final

#: payload of one lane [bit/s] by what tools call the generation
LANE_RATES: Final = {
    "SDR": 2e9,
    "DDR": 4e9,
    "QDR": 8e9,
    "FDR10": 10e9,
    "FDR": 14.0625e9 * 64 / 66,
    "EDR": 25e9,
    "HDR": 50e9,
    "NDR": 100e9,
    "XDR": 200e9,
}
#: the same by the signalling rate of a lane [Gb/s] that iblinkinfo prints
_SIGNALLING: Final = {
    "2.5": "SDR",
    "5.0": "DDR",
    "5": "DDR",
    "10.0": "QDR",
    "10": "QDR",
    "10.3125": "FDR10",
    "14.0625": "FDR",
    "25.78125": "EDR",
    "53.125": "HDR",
    "106.25": "NDR",
    "212.5": "XDR",
}


def rate_of(width: str, generation: str) -> float | None:
    """Rate per direction [B/s] of ``4x``, ``NDR`` or its signalling rate; None where either is not known."""
    lanes = width.lower().removesuffix("x")
    lane = LANE_RATES.get(_SIGNALLING.get(generation, generation.upper()))
    return int(lanes) * lane / 8 if lane and lanes in ("1", "2", "4", "8", "12") else None


_RATE: Final = re.compile(r"\s*([0-9.]{1,20}(?:[eE][+-]?\d{1,3})?)\s*([kKMGTPE]?i?)(b|B)ps\s*\Z")
_TIME: Final = re.compile(r"\s*([0-9.]{1,20}(?:[eE][+-]?\d{1,3})?)\s*(w|d|h|m|s|ms|us|ns|ps)?\s*\Z")
_FLOPS: Final = re.compile(r"\s*([0-9.]{1,20}(?:[eE][+-]?\d{1,3})?)\s*([kKMGTPE]?)f\s*\Z")
_PREFIX: Final = {"": 1.0, "k": 1e3, "K": 1e3, "M": 1e6, "G": 1e9, "T": 1e12, "P": 1e15, "E": 1e18}
_BINARY: Final = {"Ki": 2.0**10, "Mi": 2.0**20, "Gi": 2.0**30, "Ti": 2.0**40, "Pi": 2.0**50}
_SECONDS: Final = {
    "w": 604800.0,
    "d": 86400.0,
    "h": 3600.0,
    "m": 60.0,
    "s": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "ns": 1e-9,
    "ps": 1e-12,
}
#: a rate above this is a slip, not a link [B/s]
_MOST: Final = 1e18


def number(text: str) -> float | None:
    """A plain finite number not below zero, or None."""
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 and text.isascii() else None


def rate(text: str) -> float | None:
    """A rate [B/s] spelled ``400Gbps`` or ``125MBps``; None where it is none."""
    found = _RATE.match(text)
    value = number(found[1]) if found else None
    if found is None or value is None:
        return None
    scale = {**_PREFIX, **_BINARY}.get(found[2])
    made = value * scale / (8 if found[3] == "b" else 1) if scale else 0.0
    return made if 0 < made < _MOST else None


def seconds(text: str) -> float | None:
    """A time [s] spelled ``50us``; one without a unit is in seconds; None where it is none."""
    found = _TIME.match(text)
    value = number(found[1]) if found else None
    return None if found is None or value is None else value * _SECONDS[found[2] or "s"]


def flops(text: str) -> float | None:
    """A compute rate [FLOP/s] spelled ``98.095Mf``; None where it is none."""
    found = _FLOPS.match(text)
    value = number(found[1]) if found else None
    return None if found is None or value is None else value * _PREFIX[found[2]]


_SERVER: Final = re.compile(
    r"server|host|compute|dgx|hgx|gpu|\bnode|ubuntu|centos|esx|hypervisor|storage|datastore|\bnas\b|filer",
    re.IGNORECASE,
)
_SWITCH: Final = re.compile(r"switch|lea(?:f|ves)|spine|core|super|exit|border", re.IGNORECASE)


def is_server(name: str) -> bool:
    """True if a device of that name or role is a server, or storage, and no switch: ``storage-leaf1`` is a switch."""
    return bool(_SERVER.search(name)) and not _SWITCH.search(name)


_ETHERNET: Final = re.compile(r"(\d{1,4}(?:\.\d)?)(g?)base-")
_FIBRE: Final = re.compile(r"(\d{1,3})gfc-")
#: interfaces that are no socket for a cable
VIRTUAL: Final = frozenset({"virtual", "lag", "bridge"})


def interface(slug: str) -> tuple[str, float | None]:
    """The kind of link an interface of that type takes, and its rate per direction [B/s] where the slug says it."""
    slug = slug.strip().lower()
    if slug.startswith("infiniband-"):
        return "infiniband", rate_of("4x", slug.removeprefix("infiniband-"))
    found = _ETHERNET.match(slug)
    if found is not None:
        return "ethernet", float(found[1]) * (1e9 if found[2] else 1e6) / 8
    fibre = _FIBRE.match(slug)
    return ("fabric", float(fibre[1]) * 1e9 / 8) if fibre is not None else ("ethernet", None)
