"""Semantic zoom: how much detail a scale shows, with hysteresis so that the picture does not flicker. No Qt."""

from __future__ import annotations

import math

from designer.report.drawing.detail import Level, level_at

__all__ = ["Level", "next_level", "next_octave"]


def next_level(current: Level | None, scale: float) -> Level:
    """The level at a scale in logical pixels, coming from `current`."""
    return level_at(scale, current)


def next_octave(current: int | None, scale: float, slack: float = 0.65) -> int:
    """Power of two nearest to a scale; the current one is kept until the scale is more than `slack` octaves away."""
    exact = math.log2(scale)
    if current is not None and abs(exact - current) <= slack:
        return current
    return round(exact)
