"""A surface to draw charts on: 658 units wide, as the text area of a page, with names of inks as colours."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Final

from designer.drawing.fonts import fitted_text, text_width
from designer.report.drawing.elements import Area, Element, Label, Panel, Picture, Point, Stroke
from designer.report.ticks import ticks

#: width of the text area of a page
WIDTH: Final = 658.0
#: width of half of it, next to a gap
HALF: Final = 315.0
#: text of charts, and the smallest there is
TEXT: Final = 10.6
SMALL: Final = 10.0


class Chart:
    """Elements in painter's order."""

    def __init__(self, width: float = WIDTH) -> None:
        self.width = width
        self.elements: list[Element] = []

    def panel(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str = "",
        *,
        stroke: str = "",
        radius: float = 0.0,
        dashed: bool = False,
        opacity: float = 1.0,
    ) -> None:
        """A rectangle."""
        self.elements.append(Panel(x, y, max(0.0, width), height, radius, fill, stroke, 1, dashed, opacity))

    def line(
        self, points: Sequence[Point], colour: str, width: float = 1.0, dashed: bool = False, opacity: float = 1.0
    ) -> None:
        """A line through points."""
        self.elements.append(Stroke(tuple(points), colour, width, dashed=dashed, opacity=opacity))

    def area(self, points: Sequence[Point], fill: str, opacity: float = 1.0) -> None:
        """A filled shape."""
        self.elements.append(Area(tuple(points), fill, opacity))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        colour: str = "ink",
        *,
        size: float = TEXT,
        bold: bool = False,
        anchor: str = "start",
        room: float = 0.0,
    ) -> float:
        """A line of text on a baseline, cut where it has no `room`; gives its width."""
        text = fitted_text(text, size, room, bold) if room else text
        if text:
            self.elements.append(Label(x, y, text, size, colour, bold, anchor))
        return text_width(text, size, bold)

    def picture(self, height: float, title: str = "") -> Picture:
        """The sheet as a picture on paper."""
        return Picture(tuple(self.elements), 0.0, 0.0, self.width, height, "paper", title)


class Scale:
    """Values along a length; logarithmic ones leave out what is not above zero."""

    def __init__(self, low: float, high: float, start: float, length: float, *, log: bool = False) -> None:
        self.log, self.start, self.length = log, start, length
        self.low, self.high = (math.log10(low), math.log10(high)) if log else (low, high)
        if self.high <= self.low:
            self.high = self.low + 1.0

    def at(self, value: float) -> float:
        """Place of a value, inside the ends."""
        flat = (math.log10(value) if value > 0 else self.low) if self.log else value
        share = (flat - self.low) / (self.high - self.low)
        return self.start + self.length * min(1.0, max(0.0, share))

    def ticks(self, about: int = 4, unit: str = "", apart: float = 0.0) -> list[float]:
        """Round values, about so many, that stand so far `apart`."""

        def fit(values: Sequence[float]) -> bool:
            places = [self.at(value) for value in values]
            return len(values) <= about + 1 and all(abs(b - a) >= apart for a, b in pairwise(places))

        low, high = (10.0**self.low, 10.0**self.high) if self.log else (self.low, self.high)
        return ticks(low, high, fit, unit=unit, log=self.log)
