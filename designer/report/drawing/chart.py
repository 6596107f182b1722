"""Figures of lines and points as pictures: axes, ticks, bands and a legend, with nothing but the display list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from designer.drawing.fonts import fitted_text, text_width
from designer.drawing.palette import Palette, palette
from designer.errors import ExchangeError
from designer.report.drawing.elements import Element, Label, Panel, Picture, Stroke
from designer.report.figure import Axis, Figure, LineSeries
from designer.report.ticks import ticks
from designer.units import format_si

#: plot area and margins, in scene units
_WIDTH: Final = 420.0
_HEIGHT: Final = 320.0
_LEFT: Final = 78.0
_TOP: Final = 40.0
_BELOW: Final = 50.0
_GAP: Final = 40.0
_ROW: Final = 18.0
_TEXT: Final = 11.0
#: shares of the plot left free at the ends of an axis
_ROOM: Final = 0.05
_TICKS: Final = 5
_APART: Final = 52.0
#: figures beside each other before a new row begins
_COLUMNS: Final = 2
#: accents that stay apart from each other, of the palette's kinds
_COLOURS: Final = ("cpu", "nic", "gpu", "storage", "dpu", "pcie_switch", "switch", "memory", "nvswitch", "rack")


@dataclass(frozen=True, slots=True)
class _Scale:
    """Values of an axis to a length of the picture."""

    low: float
    high: float
    log: bool
    start: float
    length: float

    def at(self, value: float) -> float:
        return self.start + self.length * (self.flat(value) - self.low) / (self.high - self.low)

    def flat(self, value: float) -> float:
        return math.log10(value) if self.log else value

    def ticks(self, unit: str) -> list[float]:
        low, high = (10.0**self.low, 10.0**self.high) if self.log else (self.low, self.high)
        return ticks(low, high, self._fit, unit=unit, log=self.log)

    def _fit(self, values: Sequence[float]) -> bool:
        places = [self.at(value) for value in values]
        return len(values) <= _TICKS + 1 and all(abs(b - a) >= _APART for a, b in pairwise(places))


def picture_of(figures: Sequence[Figure], theme: str = "light") -> Picture:
    """Figures of lines and points side by side, the legend of all of them below.

    Raises
    ------
    ExchangeError
        If one has bars, which are drawn elsewhere.
    """
    colours = palette(theme)
    names = list(dict.fromkeys(line.name for figure in figures for line in figure.lines))
    elements: list[Element] = []
    for k, figure in enumerate(figures):
        if figure.bars or figure.ticks or figure.spans:
            raise ExchangeError("only lines and points can be drawn here", remedy="choose another figure")
        row, column = divmod(k, _COLUMNS)
        left, top = _LEFT + column * (_WIDTH + _LEFT + _GAP), _TOP + row * (_TOP + _HEIGHT + _BELOW)
        elements += _plot(figure, left, top, colours, names)
    width = min(_COLUMNS, max(1, len(figures))) * (_WIDTH + _LEFT + _GAP)
    rows = max(1, math.ceil(len(figures) / _COLUMNS))
    legend, height = _legend(figures, colours, names, rows * (_TOP + _HEIGHT + _BELOW), width)
    surface = colours.surface
    return Picture((*elements, *legend), 0, 0, width, height, surface["canvas"], figures[0].title if figures else "")


def _colour(colours: Palette, role: str, number: int) -> str:
    if role == "ideal":
        return colours.surface["text_muted"]
    return colours.kind(_COLOURS[number % len(_COLOURS)])


def _plot(figure: Figure, left: float, top: float, colours: Palette, names: list[str]) -> list[Element]:
    surface = colours.surface
    x = _scale(figure, 0, left, _WIDTH)
    y = _scale(figure, 1, top + _HEIGHT, -_HEIGHT)
    elements: list[Element] = [
        Panel(left, top, _WIDTH, _HEIGHT, 0, surface["card"], surface["card_border"]),
        Label(left, top - 14, fitted_text(figure.title, 13, _WIDTH, True), 13, surface["text"], True),
    ]
    for value in x.ticks(figure.x.unit):
        at = x.at(value)
        elements.append(Stroke(((at, top), (at, top + _HEIGHT)), surface["grid"]))
        elements.append(
            Label(at, top + _HEIGHT + 16, _said(value, figure.x), _TEXT, surface["text_muted"], False, "middle")
        )
    for value in y.ticks(figure.y.unit):
        at = y.at(value)
        elements.append(Stroke(((left, at), (left + _WIDTH, at)), surface["grid"]))
        elements.append(Label(left - 6, at + 4, _said(value, figure.y), _TEXT, surface["text_muted"], False, "end"))
    middle = left + _WIDTH / 2
    elements.append(Label(middle, top + _HEIGHT + 34, figure.x.title, _TEXT, surface["text"], False, "middle"))
    elements.append(Label(left + 6, top + 14, figure.y.title, _TEXT, surface["text"]))
    numbers = {name: k for k, name in enumerate(names)}
    for line in figure.lines:
        elements += _line(line, x, y, _colour(colours, line.role, numbers[line.name]))
    return elements


def _scale(figure: Figure, side: int, start: float, length: float) -> _Scale:
    axis = (figure.x, figure.y)[side]
    across = [v for line in figure.lines for v in line.x]
    up = [v for line in figure.lines for each in (line.y, line.low, line.high) for v in each]
    # where both axes tell the same quantity, the diagonal is one
    same = axis.log and (figure.x.unit, figure.x.log) == (figure.y.unit, figure.y.log)
    values = [*across, *up] if same else (across, up)[side]
    usable = [v for v in values if math.isfinite(v) and (v > 0 or not axis.log)] or [1.0]
    flat = [math.log10(v) if axis.log else v for v in (min(usable), max(usable))]
    if axis.zero and not axis.log:
        flat[0] = min(0.0, flat[0])
    room = (flat[1] - flat[0]) * _ROOM or 0.5
    return _Scale(flat[0] - room, flat[1] + room, axis.log, start, length)


def _said(value: float, axis: Axis) -> str:
    return format_si(value, axis.unit or "1")


def _line(line: LineSeries, x: _Scale, y: _Scale, colour: str) -> list[Element]:
    points = tuple((x.at(a), y.at(b)) for a, b in zip(line.x, line.y, strict=True))
    if line.role != "measured":
        return [Stroke(points, colour, 1 if line.role == "ideal" else 2, dashed=line.role == "ideal")]
    found: list[Element] = []
    for (a, _), low, high in zip(points, line.low or line.y, line.high or line.y, strict=True):
        found.append(Stroke(((a, y.at(low)), (a, y.at(high))), colour, 3, opacity=0.3))
    found += [Panel(a - 3, b - 3, 6, 6, 3, colour) for a, b in points]
    return found


def _legend(
    figures: Sequence[Figure], colours: Palette, names: list[str], top: float, width: float
) -> tuple[list[Element], float]:
    roles = {line.name: line.role for figure in figures for line in figure.lines}
    found: list[Element] = []
    x, y = _LEFT, top + _ROW
    for number, name in enumerate(names):
        text = fitted_text(name, _TEXT, width - _LEFT - _GAP)
        wide = text_width(text, _TEXT) + 34
        if x + wide > width - 8 and x > _LEFT:
            x, y = _LEFT, y + _ROW
        colour = _colour(colours, roles[name], number)
        mark: Element = Panel(x + 4, y - 7, 6, 6, 3, colour)
        if roles[name] != "measured":
            mark = Stroke(((x, y - 4), (x + 14, y - 4)), colour, dashed=roles[name] == "ideal")
        found += [mark, Label(x + 18, y, text, _TEXT, colours.surface["text"])]
        x += wide
    return found, y + _ROW
