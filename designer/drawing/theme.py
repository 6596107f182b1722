"""Colours, sizes and the font of the canvas, from the same palettes as exported pictures. No Qt.

Utilisation runs over a sequential scale whose lightness changes steadily, so it reads without colour vision.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from designer.drawing.fonts import FAMILY
from designer.drawing.palette import Palette, mixed, palette

#: dash and gap of assumed capacities [px]
DASH: Final = (7.0, 4.0)
#: utilisation at which the next colour of the scale begins; the last one is a saturated channel
STEPS: Final = (0.05, 0.30, 0.60, 0.80, 0.95)
#: where on the palette's scale the colours of these classes are taken
_TAKEN: Final = (0.0, 0.22, 0.45, 0.66, 0.83, 1.0)


@dataclass(frozen=True, slots=True)
class CanvasTheme:
    """How the canvas looks.

    Parameters
    ----------
    containers, container_edges
        Fill and edge of containers by nesting depth, repeating.
    accents
        Colour of each part kind.
    links
        Colour of each link kind while no load is known.
    heat
        Colours of utilisation, idle first; one more than ``STEPS``.
    """

    name: str
    background: str
    grid: str
    containers: tuple[str, ...]
    container_edges: tuple[str, ...]
    header_text: str
    card: str
    card_edge: str
    text: str
    muted: str
    accents: Mapping[str, str]
    links: Mapping[str, str]
    heat: tuple[str, ...]
    selection: str
    hover: str
    guide: str
    good: str
    bad: str
    badge: str
    badge_text: str
    bottleneck: str
    bottleneck_text: str
    note: str
    note_edge: str
    note_text: str
    frame: str
    pill: str
    pill_text: str
    family: str = FAMILY
    title_px: int = 13
    detail_px: int = 12
    header_px: int = 14

    def accent(self, kind: str) -> str:
        """Colour of a part kind."""
        return self.accents.get(kind) or self.accents["unknown"]

    def link(self, kind: str) -> str:
        """Colour of a link kind while no load is known."""
        return self.links.get(kind) or self.links["other"]

    def tint(self, kind: str, share: float = 0.16) -> str:
        """A quiet fill in the colour of a part kind."""
        return mixed(self.card, self.accent(kind), share)


@lru_cache(maxsize=16)
def canvas_theme(name: str) -> CanvasTheme:
    """The look called ``light`` or ``dark``, or another palette's.

    Raises
    ------
    CatalogError
        If there is no such palette.
    """
    return themed(palette(name))


def themed(colours: Palette) -> CanvasTheme:
    """The look of a palette."""
    s = colours.surface
    edge = s["container_border"]
    return CanvasTheme(
        name=colours.name,
        background=s["canvas"],
        grid=s["grid"],
        containers=(s["container"], s["container_alternate"]),
        container_edges=(edge, mixed(edge, s["container"], 0.3)),
        header_text=s["text"],
        card=s["card"],
        card_edge=s["card_border"],
        text=s["text"],
        muted=s["text_muted"],
        accents=colours.kinds,
        links=colours.links,
        heat=tuple(colours.utilisation(share) for share in _TAKEN),
        selection=s["selection"],
        hover=mixed(s["selection"], s["card"], 0.35),
        guide=s["bound"],
        good=colours.kinds["gpu"],
        bad=s["error"],
        badge=s["badge"],
        badge_text=s["badge_text"],
        bottleneck=s["bound"],
        bottleneck_text=s["bound_text"],
        note=s["note"],
        note_edge=s["note_border"],
        note_text=s["text"],
        frame=s["frame"],
        pill=s["card"],
        pill_text=s["text"],
    )


LIGHT: Final = canvas_theme("light")
DARK: Final = canvas_theme("dark")
