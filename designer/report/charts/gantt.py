"""Who is busy when: a lane each, with waiting, moving and pausing; the band of the end behind all of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from designer.drawing.fonts import text_width
from designer.report.charts.chart import SMALL, WIDTH, Chart, Scale
from designer.report.drawing.elements import Picture
from designer.report.wording import quantity
from designer.sources import Estimate


@dataclass(frozen=True, slots=True)
class Lane:
    """A lane.

    Parameters
    ----------
    start, end, pause
        When it begins and ends, and how long of that at its end it is paused [s]; without an end it stays.
    inside, after
        What is written in the bar and behind it.
    """

    label: str
    detail: str
    start: float = 0.0
    end: float | None = None
    pause: float = 0.0
    inside: str = ""
    after: str = ""


def gantt(lanes: Sequence[Lane], end: Estimate | None = None) -> Picture:
    """Lanes below each other on one clock."""
    sheet = Chart()
    left, right = 140.0, WIDTH - 84.0
    last = max([lane.end or 0.0 for lane in lanes] + ([end.high] if end else [])) or 1.0
    scale = Scale(0.0, last * 1.04, left, right - left)
    top, row = 24.0, 38.0
    bottom = top + row * len(lanes)
    if end is not None:
        sheet.panel(scale.at(end.low), top, scale.at(end.high) - scale.at(end.low), bottom - top, "band", opacity=0.5)
    for value in scale.ticks(6, "s"):
        x = scale.at(value)
        sheet.line(((x, top), (x, bottom)), "hair")
        text = "0" if value == 0 else quantity(value, "s")
        sheet.text(x, bottom + 15, text, "muted", size=SMALL, anchor="middle")
    if end is not None:
        x = scale.at(end.value)
        sheet.line(((x, top - 6), (x, bottom)), "data", 1.4)
        text = f"last one out after {quantity(end.value, 's')}"
        sheet.text(max(x, left + text_width(text, SMALL, True)), 13, text, "data", bold=True, anchor="end")
    for k, lane in enumerate(lanes):
        _lane(sheet, scale, lane, top + row * k, right)
    return sheet.picture(bottom + 22)


def _lane(sheet: Chart, scale: Scale, lane: Lane, y: float, right: float) -> None:
    sheet.text(0, y + 15, lane.label, bold=True, room=130)
    sheet.text(0, y + 28, lane.detail, "muted", size=SMALL, room=130)
    if lane.end is None:
        sheet.panel(scale.start, y + 6, right - scale.start, 22, "alarm-tint", stroke="alarm", radius=3, dashed=True)
        sheet.text(scale.start + 9, y + 20.5, lane.inside, "alarm", bold=True, room=right - scale.start - 18)
        return
    begin, still, end = scale.at(lane.start), scale.at(lane.end - lane.pause), scale.at(lane.end)
    if begin > scale.start + 3:
        sheet.line(((scale.start, y + 17), (begin, y + 17)), "quiet", 1, dashed=True)
        sheet.text(scale.start + 6, y + 12, "waits", "muted", size=SMALL, room=begin - scale.start - 10)
    sheet.panel(begin, y + 6, max(1.5, still - begin), 22, "data", radius=2)
    sheet.panel(still, y + 6, max(2.0, end - still), 22, "ink", radius=2)
    sheet.text(begin + 9, y + 20.5, lane.inside, "on", bold=True, room=max(0.1, still - begin - 16))
    sheet.text(end + 6, y + 20.5, lane.after, bold=True, room=WIDTH - end - 6)
