"""Semantic zoom: how much detail a scale shows, with hysteresis so that the picture does not flicker. No Qt."""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Final


class Level(IntEnum):
    """How much is drawn."""

    FAR = 0  #: blocks and heat, links between containers
    MIDDLE = 1  #: cards with glyph and name, parallel links as one
    NEAR = 2  #: everything: both directions, ports, values


#: below the first scale a level is left downwards, above the second it is entered upwards
THRESHOLDS: Final = {Level.MIDDLE: (0.20, 0.25), Level.NEAR: (0.50, 0.60)}


def next_level(current: Level, scale: float) -> Level:
    """The level at a scale, coming from `current`."""
    level = current
    while level < Level.NEAR and scale >= THRESHOLDS[Level(level + 1)][1]:
        level = Level(level + 1)
    while level > Level.FAR and scale < THRESHOLDS[level][0]:
        level = Level(level - 1)
    return level


def next_octave(current: int | None, scale: float, slack: float = 0.65) -> int:
    """Power of two nearest to a scale; the current one is kept until the scale is more than `slack` octaves away."""
    exact = math.log2(scale)
    if current is not None and abs(exact - current) <= slack:
        return current
    return round(exact)
