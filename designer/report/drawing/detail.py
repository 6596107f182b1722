"""How much is drawn at which zoom: shared by the canvas and by exported pictures.

Scale is pixels per scene unit. A level is left only a little beyond where it was entered, so that zooming back and
forth at a threshold does not flicker.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final


class Level(IntEnum):
    """What is drawn of a design."""

    FAR = 0  #: boxes in the colour of their kind, bundles of links as heat, no text but large titles
    MIDDLE = 1  #: cards with glyph and name, links merged into bundles
    NEAR = 2  #: everything: products, values, single ports, badges


#: scale at which a level begins when zooming in
ENTER: Final = {Level.MIDDLE: 0.28, Level.NEAR: 0.72}
#: it ends when zooming out at this share of that
HYSTERESIS: Final = 0.88
#: text smaller than this on the screen is left out [pixels]
READABLE: Final = 7.5
#: boxes narrower than this on the screen are drawn without border and glyph [pixels]
PLAIN: Final = 14.0
#: a container narrower than this on the screen is drawn as one card, its contents left out [pixels]
CLOSED: Final = 72.0
#: font sizes at 1:1 [scene units]
TITLE_SIZE: Final = 13.0
DETAIL_SIZE: Final = 12.0


def level_at(scale: float, before: Level | None = None) -> Level:
    """The level at a scale; `before` is the level drawn so far."""
    level = Level.FAR
    for candidate, enter in ENTER.items():
        threshold = enter * HYSTERESIS if before is not None and before >= candidate else enter
        if scale >= threshold:
            level = candidate
    return level


def is_readable(size: float, scale: float) -> bool:
    """True if text of a font size is drawn at a scale."""
    return size * scale >= READABLE
