"""Lying bars with a band at their end and a limit line; linear from zero."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from designer.report.charts.chart import SMALL, WIDTH, Chart, Scale
from designer.report.drawing.elements import Picture
from designer.report.ticks import round_up


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
