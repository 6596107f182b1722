"""What a whole is made of: one stacked bar a row; parts of some size are named inside, the rest in a line below."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from designer.drawing.fonts import text_width
from designer.report.charts.chart import SMALL, TEXT, WIDTH, Chart
from designer.report.drawing.elements import Picture
from designer.report.wording import percent


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
