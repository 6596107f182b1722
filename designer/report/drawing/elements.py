"""The display list: everything of a picture as rectangles, lines, texts and glyphs, in painter's order.

Coordinates and extents are scene units, y grows downwards; colours are ``#rrggbb``.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from math import inf
from typing import Final

from designer.drawing.theme import DASH

Point = tuple[float, float]
#: charts and small drawings are no wider, and are read where they stand [units]
NARROW: Final = 700.0
#: a text size that fewer of all texts have is that of a legend or a heading
_COMMON: Final = 0.1


@dataclass(frozen=True, slots=True)
class Panel:
    """A rectangle with rounded corners; ``fill`` and ``stroke`` may be empty."""

    x: float
    y: float
    width: float
    height: float
    radius: float = 4
    fill: str = ""
    stroke: str = ""
    stroke_width: float = 1
    dashed: bool = False
    opacity: float = 1


@dataclass(frozen=True, slots=True)
class Stroke:
    """A line through points, or one cubic Bézier curve of four points."""

    points: tuple[Point, ...]
    colour: str
    width: float = 1
    curve: bool = False
    dashed: bool = False
    opacity: float = 1
    dash: tuple[float, ...] = DASH


@dataclass(frozen=True, slots=True)
class Area:
    """A filled shape with straight sides."""

    points: tuple[Point, ...]
    fill: str
    opacity: float = 1


@dataclass(frozen=True, slots=True)
class Label:
    """One line of text; (x, y) is on its baseline, at its start, middle or end."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    bold: bool = False
    anchor: str = "start"


@dataclass(frozen=True, slots=True)
class Glyph:
    """A device glyph of ``assets/icons`` in a square."""

    x: float
    y: float
    size: float
    kind: str
    colour: str


Element = Panel | Stroke | Area | Label | Glyph


@dataclass(frozen=True, slots=True)
class Picture:
    """A display list with its frame; its legend begins at ``legend`` and goes downwards."""

    elements: tuple[Element, ...]
    x: float
    y: float
    width: float
    height: float
    background: str
    title: str = ""
    legend: float = inf


def text_size(picture: Picture) -> float:
    """The smallest size that many texts of a picture have; 0 without texts [units]."""
    counts = Counter(e.size for e in picture.elements if isinstance(e, Label))
    return min((size for size, n in counts.items() if n >= _COMMON * counts.total()), default=0.0)
