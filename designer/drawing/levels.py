"""How much is drawn at which zoom.

Scale is pixels per scene unit. A level is left only a little beyond where it was entered, so that zooming back and
forth at a threshold does not flicker.
"""

from __future__ import annotations

import math
from enum import IntEnum
from typing import Final


class Level(IntEnum):
    """What is drawn of a design."""

    FAR = 0  #: boxes in the colour of their kind, bundles of links as heat, no text but large titles
    MIDDLE = 1  #: cards with glyph and name, links merged into bundles
    NEAR = 2  #: everything: products, values, single ports, badges


#: scale at which a level begins when zooming in
ENTER: Final = {Level.MIDDLE: 0.28, Level.NEAR: 0.72}
#: of fewer boxes than this, names and links are drawn from farther off
MANY: Final = 400
FEW_ENTER: Final = 0.1
#: it ends when zooming out at this share of that
HYSTERESIS: Final = 0.88


def level_at(scale: float, before: Level | None = None, boxes: int = MANY) -> Level:
    """The level at a scale; `before` is the level drawn so far, `boxes` how many there are to draw."""
    level = Level.FAR
    for candidate, enter in ENTER.items():
        if candidate is Level.MIDDLE and boxes < MANY:
            enter = FEW_ENTER
        threshold = enter * HYSTERESIS if before is not None and before >= candidate else enter
        if scale >= threshold:
            level = candidate
    return level


def next_octave(current: int | None, scale: float, slack: float = 0.65) -> int:
    """Power of two nearest to a scale; the current one is kept until the scale is more than `slack` octaves away."""
    exact = math.log2(scale)
    if current is not None and abs(exact - current) <= slack:
        return current
    return round(exact)
