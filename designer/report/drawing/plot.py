"""Figures of points on two logarithmic axes as display lists, for files."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from designer.report.drawing.elements import Element, Label, Panel, Picture, Stroke
from designer.report.drawing.fonts import fitted_text
from designer.report.drawing.palette import Palette
from designer.report.figure import Axis, Figure
from designer.units import format_si

_SIDE: Final = 560.0
_LEFT, _TOP, _KEY, _BELOW = 110.0, 64.0, 260.0, 84.0
_POINT: Final = 7.0
_TEXT: Final = 12.0
#: groups get the accents of these kinds of parts, in turn
_ACCENTS: Final = ("cpu", "gpu", "nic", "storage", "dpu", "pcie_switch", "switch", "memory", "nvswitch", "unknown")


@dataclass(frozen=True, slots=True)
class _Scale:
    """Places on both axes: the same decades on each, so that equality is the diagonal."""

    low: float
    high: float

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return _SIDE * min(max(share, 0.0), 1.0)

    def x(self, value: float) -> float:
        return _LEFT + self.at(value)

    def y(self, value: float) -> float:
        return _TOP + _SIDE - self.at(value)

    def ticks(self) -> list[float]:
        first, last = math.ceil(self.low), math.floor(self.high)
        step = max(1, math.ceil((last - first) / 8))
        return [10.0**k for k in range(first, last + 1, step)]


def plot(figure: Figure, colours: Palette) -> Picture:
    """The picture of a figure whose series are points and lines of values above zero on logarithmic axes."""
    scale = _scale(figure)
    elements: list[Element] = [*_frame(figure, scale, colours)]
    row = 0
    for line in figure.lines:
        if line.role == "ideal":
            ends = tuple((scale.x(x), scale.y(y)) for x, y in zip(line.x, line.y, strict=True))
            elements.append(Stroke(ends, colours.surface["text_muted"], 1, dashed=True))
            continue
        colour = colours.kind(_ACCENTS[row % len(_ACCENTS)])
        bands = zip(line.x, line.y, line.low or line.y, line.high or line.y, strict=True)
        for x, y, low, high in bands:
            elements.append(Stroke(((scale.x(x), scale.y(low)), (scale.x(x), scale.y(high))), colour, 1.5, opacity=0.6))
            corner = (scale.x(x) - _POINT / 2, scale.y(y) - _POINT / 2)
            elements.append(Panel(*corner, _POINT, _POINT, _POINT / 2, fill=colour))
        at = _TOP + 10 + 20 * row
        elements.append(Panel(_LEFT + _SIDE + 20, at - _POINT, _POINT, _POINT, _POINT / 2, fill=colour))
        name = fitted_text(line.name, _TEXT, _KEY - 50)
        elements.append(Label(_LEFT + _SIDE + 34, at, name, _TEXT, colours.surface["text"]))
        row += 1
    height = max(_TOP + _SIDE + _BELOW, _TOP + 20 * row + 20)
    width = _LEFT + _SIDE + _KEY
    return Picture(tuple(elements), 0, 0, width, height, colours.surface["canvas"], figure.title)


def _scale(figure: Figure) -> _Scale:
    every = [v for line in figure.lines for v in (*line.x, *line.y, *line.low, *line.high)]
    low, high = math.log10(min(every)), math.log10(max(every))
    room = max(0.05 * (high - low), 0.05)
    return _Scale(low - room, high + room)


def _frame(figure: Figure, scale: _Scale, colours: Palette) -> list[Element]:
    text, muted, grid = (colours.surface[name] for name in ("text", "text_muted", "grid"))
    bottom = _TOP + _SIDE
    found: list[Element] = [
        Label(_LEFT, 32, figure.title, 18, text, bold=True),
        Panel(_LEFT, _TOP, _SIDE, _SIDE, 0, fill=colours.surface["card"], stroke=colours.surface["card_border"]),
        Label(_LEFT, _TOP - 12, f"{figure.y.title} (upwards)", _TEXT, muted),
        Label(_LEFT + _SIDE / 2, bottom + 44, f"{figure.x.title} (to the right)", _TEXT, muted, anchor="middle"),
        Label(_LEFT, bottom + 68, figure.note, _TEXT, muted),
    ]
    for tick in scale.ticks():
        x, y = scale.x(tick), scale.y(tick)
        found.append(Stroke(((x, _TOP), (x, bottom)), grid))
        found.append(Stroke(((_LEFT, y), (_LEFT + _SIDE, y)), grid))
        found.append(Label(x, bottom + 20, _tick(tick, figure.x), _TEXT, text, anchor="middle"))
        found.append(Label(_LEFT - 8, y + 4, _tick(tick, figure.y), _TEXT, text, anchor="end"))
    return found


def _tick(value: float, axis: Axis) -> str:
    return format_si(value, axis.unit) if axis.unit and axis.unit != "1" else f"1e{round(math.log10(value))}"
