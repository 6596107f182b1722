"""Figures of lines and points as pictures: axes, ticks, bands and a legend, with nothing but the display list."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from designer.drawing.fonts import fitted_text, text_width
from designer.drawing.theme import Palette, palette
from designer.errors import ExchangeError
from designer.report.charts.chart import Chart, Scale
from designer.report.drawing.elements import Picture
from designer.report.figure import Axis, Figure, LineSeries
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
#: figures next to each other before a new row begins
_COLUMNS: Final = 2
#: accents that stay apart from each other, of the palette's kinds
_COLOURS: Final = ("cpu", "nic", "gpu", "storage", "dpu", "pcie_switch", "switch", "memory", "nvswitch", "rack")


def picture_of(figures: Sequence[Figure], theme: str = "light") -> Picture:
    """Figures of lines and points side by side, the legend of all of them below.

    Raises
    ------
    ExchangeError
        If one has bars, which are drawn elsewhere.
    """
    colours = palette(theme)
    names = list(dict.fromkeys(line.name for figure in figures for line in figure.lines))
    sheet = Chart(min(_COLUMNS, max(1, len(figures))) * (_WIDTH + _LEFT + _GAP))
    for k, figure in enumerate(figures):
        if figure.bars or figure.ticks or figure.spans:
            raise ExchangeError("only lines and points can be drawn here", remedy="choose another figure")
        row, column = divmod(k, _COLUMNS)
        left, top = _LEFT + column * (_WIDTH + _LEFT + _GAP), _TOP + row * (_TOP + _HEIGHT + _BELOW)
        _plot(sheet, figure, left, top, colours, names)
    rows = max(1, math.ceil(len(figures) / _COLUMNS))
    height = _legend(sheet, figures, colours, names, rows * (_TOP + _HEIGHT + _BELOW))
    title = figures[0].title if figures else ""
    return replace(sheet.picture(height, title), background=colours.surface["canvas"])


def _colour(colours: Palette, role: str, number: int) -> str:
    if role == "ideal":
        return colours.surface["text_muted"]
    return colours.kind(_COLOURS[number % len(_COLOURS)])


def _plot(sheet: Chart, figure: Figure, left: float, top: float, colours: Palette, names: list[str]) -> None:
    surface = colours.surface
    ink, muted = surface["text"], surface["text_muted"]
    right, bottom, middle = left + _WIDTH, top + _HEIGHT, left + _WIDTH / 2
    x, y = _scale(figure, 0, left, _WIDTH), _scale(figure, 1, bottom, -_HEIGHT)
    sheet.panel(left, top, _WIDTH, _HEIGHT, surface["card"], stroke=surface["card_border"])
    sheet.text(left, top - 23, figure.title, ink, size=13, bold=True, room=_WIDTH)
    for value in x.ticks(_TICKS, figure.x.unit, _APART):
        at = x.at(value)
        sheet.line(((at, top), (at, bottom)), surface["grid"])
        sheet.text(at, bottom + 16, _escape_text(value, figure.x), muted, size=_TEXT, anchor="middle")
    for value in y.ticks(_TICKS, figure.y.unit, _APART):
        at = y.at(value)
        sheet.line(((left, at), (right, at)), surface["grid"])
        sheet.text(left - 6, at + 4, _escape_text(value, figure.y), muted, size=_TEXT, anchor="end")
    sheet.text(middle, bottom + 34, figure.x.title, ink, size=_TEXT, anchor="middle")
    sheet.text(left, top - 7, figure.y.title, muted, size=_TEXT)
    for line in figure.lines:
        _line(sheet, line, x, y, _colour(colours, line.role, names.index(line.name)))


def _scale(figure: Figure, side: int, start: float, length: float) -> Scale:
    axis = (figure.x, figure.y)[side]
    across = [v for line in figure.lines for v in line.x]
    up = [v for line in figure.lines for each in (line.y, line.low, line.high) for v in each]
    # where both axes state the same quantity, the diagonal is one
    same = axis.log and (figure.x.unit, figure.x.log) == (figure.y.unit, figure.y.log)
    values = [*across, *up] if same else (across, up)[side]
    usable = [v for v in values if math.isfinite(v) and (v > 0 or not axis.log)] or [1.0]
    flat = [math.log10(v) if axis.log else v for v in (min(usable), max(usable))]
    if axis.zero and not axis.log:
        flat[0] = min(0.0, flat[0])
    room = (flat[1] - flat[0]) * _ROOM or 0.5
    low, high = flat[0] - room, flat[1] + room
    return Scale(*((10.0**low, 10.0**high) if axis.log else (low, high)), start, length, log=axis.log)


def _escape_text(value: float, axis: Axis) -> str:
    return format_si(value, axis.unit or "1")


def _line(sheet: Chart, line: LineSeries, x: Scale, y: Scale, colour: str) -> None:
    points = [(x.at(a), y.at(b)) for a, b in zip(line.x, line.y, strict=True)]
    if line.role != "measured":
        sheet.line(points, colour, 1 if line.role == "ideal" else 2, line.role == "ideal")
        return
    for (a, _), low, high in zip(points, line.low or line.y, line.high or line.y, strict=True):
        sheet.line(((a, y.at(low)), (a, y.at(high))), colour, 3, opacity=0.3)
    for a, b in points:
        sheet.panel(a - 3, b - 3, 6, 6, colour, radius=3)


def _legend(sheet: Chart, figures: Sequence[Figure], colours: Palette, names: list[str], top: float) -> float:
    """Names of all lines below the figures; gives where they end."""
    roles = {line.name: line.role for figure in figures for line in figure.lines}
    x, y = _LEFT, top + _ROW
    for number, name in enumerate(names):
        text = fitted_text(name, _TEXT, sheet.width - _LEFT - _GAP)
        wide = text_width(text, _TEXT) + 34
        if x + wide > sheet.width - 8 and x > _LEFT:
            x, y = _LEFT, y + _ROW
        colour = _colour(colours, roles[name], number)
        if roles[name] == "measured":
            sheet.panel(x + 4, y - 7, 6, 6, colour, radius=3)
        else:
            sheet.line(((x, y - 4), (x + 14, y - 4)), colour, dashed=roles[name] == "ideal")
        sheet.text(x + 18, y, text, colours.surface["text"], size=_TEXT)
        x += wide
    return y + _ROW
