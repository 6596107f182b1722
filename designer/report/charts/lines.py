"""Lines over a quantity, with bands as filled shapes and names at the lines instead of a legend."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from designer.drawing.fonts import text_width
from designer.report.charts.chart import HALF, SMALL, TEXT, Chart, Scale
from designer.report.drawing.elements import Picture
from designer.report.ticks import round_up


@dataclass(frozen=True, slots=True)
class Trace:
    """A line: points, band where there is one, ink, and whether it is an ideal (dashed) or has points marked."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    low: tuple[float, ...] = ()
    high: tuple[float, ...] = ()
    ink: str = "data"
    dashed: bool = False
    dots: bool = True


def lines(
    traces: Sequence[Trace],
    across: Callable[[float], str],
    up: Callable[[float], str],
    *,
    captions: tuple[str, str] = ("", ""),
    log_x: bool = False,
    x_unit: str = "",
    x_ticks: Sequence[float] = (),
    width: float = HALF,
    height: float = 250.0,
    top_value: float | None = None,
    target: tuple[str, float] | None = None,
    unit_up: float = 1.0,
) -> Picture:
    """A chart of lines.

    Parameters
    ----------
    across, up
        How values of the axes are written.
    unit_up
        What one of the unit is that values of the upright axis are written in: its end is a round number of those.
    x_unit
        Unit of the lower axis: long times are marked at whole minutes, hours and days.
    captions
        What is at the upper left and at the right end below: the quantities.
    """
    sheet = Chart(width)
    xs = [v for t in traces for v in t.x if not log_x or v > 0]
    ys = [v for t in traces for v in (*t.y, *t.high) if math.isfinite(v)]
    if target:
        ys.append(target[1])
    most = top_value if top_value is not None else round_up((max(ys, default=1.0) or 1.0) / unit_up) * unit_up
    y_scale_top, foot = 26.0, height - 34.0
    ticks = [most * k / 4 for k in range(5)]
    left = max(text_width(up(v), SMALL) for v in ticks) + 8
    right = width - 14
    x = Scale(
        min(xs, default=1.0) if log_x else min(0.0, min(xs, default=0.0)),
        max(xs, default=1.0),
        left + 6,
        right - left - 6,
        log=log_x,
    )
    y = Scale(0.0, most, foot, y_scale_top - foot)
    sheet.text(0, 11, captions[0], "muted", size=SMALL, room=width)
    for value in ticks:
        sheet.line(((left, y.at(value)), (right, y.at(value))), "hair")
        sheet.text(left - 6, y.at(value) + 3.6, up(value), "muted", size=SMALL, anchor="end")
    last = -math.inf
    for value in x_ticks or x.ticks(unit=x_unit):
        text = across(value)
        half = text_width(text, SMALL) / 2
        at = min(x.at(value), width - half)
        if at - half > last + 6:
            sheet.text(at, foot + 15, text, "muted", size=SMALL, anchor="middle")
            last = at + half
    sheet.text(right, foot + 29, captions[1], "muted", size=SMALL, anchor="end")
    for trace in traces:
        if trace.low:
            ends = [(x.at(a), y.at(b)) for a, b in zip(trace.x, trace.high, strict=True)]
            back = [(x.at(a), y.at(b)) for a, b in zip(trace.x, trace.low, strict=True)]
            sheet.area((*ends, *reversed(back)), "band2" if trace.ink == "data2" else "band", 0.75)
    if target:
        at = y.at(target[1])
        sheet.line(((left, at), (right, at)), "ink", 1.4)
        sheet.text(left + 4, at - 4, target[0], size=SMALL, bold=True)
    for trace in traces:
        points = [(x.at(a), y.at(b)) for a, b in zip(trace.x, trace.y, strict=True)]
        sheet.line(points, trace.ink, 1.2 if trace.dashed else 2, trace.dashed)
        if trace.dots and not trace.dashed:
            for a, b in points:
                sheet.panel(a - 3, b - 3, 6, 6, trace.ink, radius=3)
    _names(sheet, traces, x, y, width)
    return sheet.picture(height)


def _names(sheet: Chart, traces: Sequence[Trace], x: Scale, y: Scale, width: float) -> None:
    """The name of each line near its end, moved where it would stand on another, else left out."""
    taken: list[tuple[float, float, float, float]] = []
    for trace in traces:
        if not trace.name or not trace.x:
            continue
        wide = text_width(trace.name, TEXT, not trace.dashed)
        places = [(k, side) for k in range(len(trace.x) - 1, -1, -1) for side in (-9.0, 17.0)]
        if trace.dashed:
            places = places[len(places) // 3 :] + places[: len(places) // 3]
        corners = [
            (x.at(trace.x[k]) - wide / 2 - (12 if k == len(trace.x) - 1 else 0), y.at(trace.y[k]) + side)
            for k, side in places
        ]
        for corner, base in (*corners, *_label_places(trace, x, y, wide)):
            at = min(width - wide, max(x.start, corner))
            box = (at, base - 9, wide, 12.0)
            if (
                base < 22
                or base > y.start - 2
                or any(_overlaps(box, other) for other in taken)
                or _is_crossed(box, traces, x, y)
            ):
                continue
            taken.append(box)
            sheet.text(at, base, trace.name, "muted" if trace.dashed else trace.ink, bold=not trace.dashed)
            break


def _label_places(trace: Trace, x: Scale, y: Scale, wide: float) -> list[tuple[float, float]]:
    """Places for the name of a line with few points: left of it, above or below, from its end down."""
    points = [(x.at(a), y.at(b)) for a, b in zip(trace.x, trace.y, strict=True)]
    found: list[tuple[float, float]] = []
    for (x0, y0), (x1, y1) in reversed(list(pairwise(points))):
        for k in range(9, 2, -1):
            px, py = x0 + (x1 - x0) * k / 10, y0 + (y1 - y0) * k / 10
            found += [(px - wide - 8, py + 4), (px - wide / 2, py - 7), (px - wide / 2, py + 15)]
    return found


def _overlaps(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[0] + b[2] + 4 and b[0] < a[0] + a[2] + 4 and a[1] < b[1] + b[3] and b[1] < a[1] + a[3]


def _is_crossed(box: tuple[float, float, float, float], traces: Sequence[Trace], x: Scale, y: Scale) -> bool:
    """True if a line runs through the box."""
    for trace in traces:
        points = [(x.at(a), y.at(b)) for a, b in zip(trace.x, trace.y, strict=True)]
        for (x0, y0), (x1, y1) in pairwise(points):
            for k in range(13):
                px, py = x0 + (x1 - x0) * k / 12, y0 + (y1 - y0) * k / 12
                if box[0] <= px <= box[0] + box[2] and box[1] <= py <= box[1] + box[3]:
                    return True
    return False
