"""Colours, sizes and the font of the canvas, from the same palettes as exported pictures. No Qt.

Utilisation runs over a sequential scale whose lightness changes steadily, so it reads without colour vision.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from designer.drawing.fonts import FAMILY
from designer.errors import CatalogError
from designer.resources import assets


@dataclass(frozen=True, slots=True, eq=False)
class Palette:
    """The colours of one look, as ``#rrggbb``.

    Parameters
    ----------
    surface
        Colours of what carries no meaning of its own: canvas, card, text, border.
    kinds, links
        Accent of each kind of part, colour of each kind of link.
    scale
        Colours of utilisation from 0 to 1, equally far apart.
    """

    name: str
    title: str
    surface: Mapping[str, str]
    kinds: Mapping[str, str]
    links: Mapping[str, str]
    scale: tuple[str, ...]

    def kind(self, name: str) -> str:
        """Accent of a kind of part."""
        return self.kinds.get(name, self.kinds["unknown"])

    def link(self, name: str) -> str:
        """Colour of a kind of link without load."""
        return self.links.get(name, self.links["other"])

    def utilisation(self, share: float) -> str:
        """Colour of a utilisation; below 0 and above 1 as the ends."""
        at = min(max(share, 0.0), 1.0) * (len(self.scale) - 1)
        low = min(int(at), len(self.scale) - 2)
        return mixed(self.scale[low], self.scale[low + 1], at - low)


def rgb(colour: str) -> tuple[int, int, int]:
    """Red, green and blue of ``#rrggbb``, 0 to 255."""
    return int(colour[1:3], 16), int(colour[3:5], 16), int(colour[5:7], 16)


def mixed(a: str, b: str, share: float) -> str:
    """The colour `share` of the way from `a` to `b`."""
    red, green, blue = (round(x + (y - x) * share) for x, y in zip(rgb(a), rgb(b), strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"


@cache
def palettes() -> Mapping[str, Palette]:
    """All palettes by name."""
    found: dict[str, Palette] = {}
    for path in sorted((assets() / "palettes").glob("*.toml")):
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        found[data["name"]] = Palette(
            data["name"],
            data["title"],
            data["surface"],
            data["kinds"],
            data["links"],
            tuple(data["utilisation"]["scale"]),
        )
    return found


def palette(name: str) -> Palette:
    """The palette called `name`.

    Raises
    ------
    CatalogError
        If there is none.
    """
    found = palettes().get(name)
    if found is None:
        raise CatalogError(f"there is no palette {name!r}", remedy=f"use one of {', '.join(palettes())}")
    return found


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
