"""Colours, from ``assets/palettes``."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

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
