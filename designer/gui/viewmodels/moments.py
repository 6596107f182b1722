"""An instant of a run in words, and what the canvas shows of it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from designer.units import format_quantity

if TYPE_CHECKING:
    from designer.engine.clock.frames import Held

_MINUTE: Final = 60.0
_HOUR: Final = 3600.0
#: of a run longer than this minutes are stated
_LONG: Final = 120.0


def clock_text(time: float, end: float) -> str:
    """A time of a run that ends at `end`: ``12.3 ms``, ``4.20 s`` or ``3:07.5``."""
    if end <= _LONG:
        return format_quantity(time, "duration") if time > 0 else "0 s"
    whole, rest = divmod(time, _MINUTE)
    if end >= _HOUR:
        hours, minutes = divmod(int(whole), 60)
        return f"{hours}:{minutes:02d}:{int(rest):02d}"
    return f"{int(whole)}:{rest:04.1f}"


def ticks(begin: float, end: float, most: float) -> list[float]:
    """Round times from `begin` to `end`, at most about `most` of them [s]."""
    span, room = end - begin, max(1.0, most)
    if span <= 0:
        return [begin]
    step = 10.0 ** math.floor(math.log10(span / room))
    step = next((step * m for m in (1, 2, 5, 10) if span / (step * m) <= room), step * 10)
    return [k * step for k in range(math.ceil(begin / step), math.floor(end / step) + 1)]


def speed_text(speed: float) -> str:
    """A speed for people: ``×60``, ``1/500``."""
    return f"×{speed:g}" if speed >= 1 else f"1/{round(1 / speed):,}"


def shown_binding(held: list[Held]) -> tuple[tuple[str, ...], tuple[tuple[str, int], ...]]:
    """Channels and parts to mark on the canvas; parts that only do one thing at a time are not short of anything."""
    channels: list[str] = []
    parts: list[tuple[str, int]] = []
    for one in held:
        if one.bottleneck.what == "channel":
            channels += one.equal
        elif one.bottleneck.what == "part":
            parts.append((one.bottleneck.id, len(one.equal)))
    return tuple(dict.fromkeys(channels)), tuple(dict.fromkeys(parts))
