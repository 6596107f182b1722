"""Lying bars with a band at their end and a limit line; linear from zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from designer.drawing.fonts import text_width
from designer.report.charts.chart import SMALL, TEXT, WIDTH, Chart, Scale
from designer.report.drawing.elements import Picture
from designer.report.ticks import round_up
from designer.report.wording import percent


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar: label, a line below it, value with its band, and what is at its end."""

    label: str
    detail: str
    value: float
    low: float
    high: float
    stated: str
    ink: str = "data"
    limit: float = 0.0


def bars(rows: Sequence[Bar], written: Callable[[float], str], *, width: float = WIDTH, left: float = 200.0) -> Picture:
    """Bars below each other on one scale."""
    sheet = Chart(width)
    most = round_up(max([v for bar in rows for v in (bar.high, bar.limit)] or [1.0]))
    right = width - 96.0
    scale = Scale(0.0, most, left, right - left)
    row, top = 32.0, 6.0
    bottom = top + row * len(rows)
    for value in scale.ticks():
        x = scale.at(value)
        sheet.line(((x, top), (x, bottom)), "hair")
        sheet.text(x, bottom + 14, written(value), "muted", size=SMALL, anchor="middle")
    for k, bar in enumerate(rows):
        y = top + row * k
        sheet.text(0, y + 13, bar.label, bold=True, room=left - 12)
        sheet.text(0, y + 25, bar.detail, "muted", size=SMALL, room=left - 12)
        solid = min(bar.low, bar.value)
        sheet.panel(left, y + 7, scale.at(solid) - left, 14, bar.ink)
        sheet.panel(scale.at(solid), y + 7, scale.at(bar.high) - scale.at(solid), 14, bar.ink, opacity=0.35)
        sheet.panel(scale.at(bar.value) - 1.2, y + 4, 2.4, 20, "ink")
        if bar.limit:
            sheet.line(((scale.at(bar.limit), y + 2), (scale.at(bar.limit), y + row - 6)), "alarm", 1.6)
        sheet.text(
            max(scale.at(max(bar.high, bar.value)), scale.at(bar.limit) if bar.limit else 0) + 7,
            y + 18,
            bar.stated,
            bold=True,
        )
    return sheet.picture(bottom + 20)


# What a whole is made of: one stacked bar a row; parts of some size are named inside, the rest in a line below.


@dataclass(frozen=True, slots=True)
class Share:
    """A part of a whole: its name, its share, what it is in figures, and its ink."""

    name: str
    share: float
    value: str
    ink: str


@dataclass(frozen=True, slots=True)
class Whole:
    """A row: what it is, a line below that, and its parts from left to right."""

    label: str
    detail: str
    parts: tuple[Share, ...]


_ON = {"data", "data2", "alarm", "ink", "muted"}


def shares(rows: Sequence[Whole], caption: str = "", left: float = 164.0) -> Picture:
    """Stacked bars below each other."""
    sheet = Chart()
    y = 0.0
    if caption:
        sheet.text(left, 11, caption, "muted", size=SMALL)
        y = 18.0
    for whole in rows:
        sheet.text(0, y + 13, whole.label, bold=True, room=left - 12)
        sheet.text(0, y + 26, whole.detail, "muted", size=SMALL, room=left - 12)
        x, below = left, list[str]()
        for part in whole.parts:
            wide = (WIDTH - left) * part.share
            if wide <= 0:
                continue
            sheet.panel(x, y, max(0.6, wide - 1), 30, part.ink)
            stated = f"{percent(part.share)} · {part.value}"
            room = wide - 12
            if part.share > 0.1 and max(text_width(part.name, TEXT, True), text_width(stated, SMALL)) <= room:
                ink = "on" if part.ink in _ON else "ink"
                sheet.text(x + 7, y + 12.5, part.name, ink, bold=True)
                sheet.text(x + 7, y + 25, stated, ink, size=SMALL)
            elif part.share >= 0.005:
                below.append(f"{part.name} {percent(part.share)}")
            x += wide
        if below:
            sheet.text(WIDTH, y + 44, f"then {', '.join(below)}", "muted", size=SMALL, anchor="end", room=WIDTH - left)
        y += 60.0 if below else 44.0
    return sheet.picture(y - 8)
