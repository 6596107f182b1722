"""Device glyphs: the shapes of ``assets/icons/<kind>.svg``, drawn in one colour.

The files keep to a small part of SVG: ``rect``, ``circle`` and ``path`` with absolute M, L, H, V, C and Z, lines in
``currentColor`` and, where a shape says so, filled with it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from defusedxml import ElementTree

from designer.resources import assets

#: glyphs are drawn on a square of this extent
EXTENT: Final = 24.0
#: width of their lines on it
LINE: Final = 1.5
_TOKEN: Final = re.compile(r"[MLHVCZ]|-?\d+(?:\.\d+)?")
_ROUND: Final = 0.5523  # control distance of a quarter circle drawn as a Bézier curve
Command = tuple[str, tuple[float, ...]]


@dataclass(frozen=True, slots=True)
class Outline:
    """A path of M, L, C and Z commands in absolute coordinates."""

    commands: tuple[Command, ...]
    filled: bool


@lru_cache(maxsize=1024)
def glyph(kind: str) -> tuple[Outline, ...]:
    """The outlines of a kind's glyph; kinds without one look unknown."""
    path = assets() / "icons" / f"{kind}.svg"
    if not kind.isidentifier() or not path.is_file():
        path = assets() / "icons" / "unknown.svg"
    root = ElementTree.fromstring(path.read_text(encoding="utf-8"))
    return tuple(_outline(element.tag.rpartition("}")[2], element.attrib) for element in root)


def _outline(tag: str, values: dict[str, str]) -> Outline:
    filled = values.get("fill") == "currentColor"
    if tag == "path":
        return Outline(_path(values["d"]), filled)
    if tag == "circle":
        r = float(values["r"])
        x, y = float(values["cx"]) - r, float(values["cy"]) - r
        return Outline(rounded(x, y, 2 * r, 2 * r, r), filled)
    if tag == "rect":
        x, y, width, height = (float(values[k]) for k in ("x", "y", "width", "height"))
        return Outline(rounded(x, y, width, height, float(values.get("rx", 0))), filled)
    raise AssertionError(f"glyphs cannot hold <{tag}>")


def rounded(x: float, y: float, width: float, height: float, radius: float) -> tuple[Command, ...]:
    """The outline of a rectangle with rounded corners."""
    r = min(radius, width / 2, height / 2)
    right, bottom, k = x + width, y + height, r * (1 - _ROUND)
    if r <= 0:
        return (("M", (x, y)), ("L", (right, y)), ("L", (right, bottom)), ("L", (x, bottom)), ("Z", ()))
    return (
        ("M", (x + r, y)),
        ("L", (right - r, y)),
        ("C", (right - k, y, right, y + k, right, y + r)),
        ("L", (right, bottom - r)),
        ("C", (right, bottom - k, right - k, bottom, right - r, bottom)),
        ("L", (x + r, bottom)),
        ("C", (x + k, bottom, x, bottom - k, x, bottom - r)),
        ("L", (x, y + r)),
        ("C", (x, y + k, x + k, y, x + r, y)),
        ("Z", ()),
    )


def _path(text: str) -> tuple[Command, ...]:
    commands: list[Command] = []
    tokens = _TOKEN.findall(text)
    at, x, y, name = 0, 0.0, 0.0, ""
    sizes = {"M": 2, "L": 2, "H": 1, "V": 1, "C": 6, "Z": 0}
    while at < len(tokens):
        if tokens[at] in sizes:
            name = tokens[at]
            at += 1
        values = tuple(float(t) for t in tokens[at : at + sizes[name]])
        at += sizes[name]
        if name == "H":
            commands.append(("L", (values[0], y)))
            x = values[0]
        elif name == "V":
            commands.append(("L", (x, values[0])))
            y = values[0]
        else:
            commands.append((name, values))
            if values:
                x, y = values[-2:]
    return tuple(commands)
