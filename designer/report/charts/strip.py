"""Band strips: a grey axis, a light bar for the band, a tick for the value, a black line for the target."""

from __future__ import annotations

import math
from typing import Final

from designer.report.charts.chart import SMALL, Chart
from designer.report.drawing.elements import Picture
from designer.report.verdicts import Verdict
from designer.sources import Estimate

_WIDTH: Final = 146.0
#: ends of the shared scale of margins, target over value or value over target
_LOW, _HIGH = 0.5, 2.2


def margin_strip(
    found: Estimate, comparison: str, target: float, verdict: Verdict, *, width: float = _WIDTH, named: bool = False
) -> Picture:
    """An estimate against its target on the scale all targets share: right is better, width is uncertainty."""

    def margin(value: float) -> float:
        if "<" in comparison:
            value, over = target, value
        else:
            over = target
        return value / over if value > 0 and over > 0 else (_HIGH if value >= over else _LOW)

    low, middle, high = sorted((margin(found.low), margin(found.value), margin(found.high)))
    middle = margin(found.value)
    sheet = Chart(width)
    place = [_place(m, width) for m in (low, middle, high)]
    at = _place(1.0, width)
    colour, tint = ("alarm", "alarm-tint") if verdict is Verdict.NOT_MET else ("data", "band")
    sheet.panel(at, 1, width - at, 14, "tint")
    sheet.line(((0, 8), (width, 8)), "rule")
    sheet.panel(
        place[0],
        4,
        max(2.0, place[2] - place[0]),
        8,
        tint if verdict is not Verdict.NOT_MET else colour,
        opacity=0.45 if verdict is Verdict.NOT_MET else 1,
    )
    sheet.panel(place[1] - 1.5, 2, 3, 12, colour)
    for m, side in ((low, -1), (high, 1)):
        if not _LOW <= m <= _HIGH:
            tip = width if m > _HIGH else 0.0
            sheet.area(
                ((tip, 8), (tip - 5 * (1 if m > _HIGH else -1), 4), (tip - 5 * (1 if m > _HIGH else -1), 12)), colour
            )
            del side
    sheet.line(((at, 0), (at, 16)), "ink", 1.6)
    if named:
        sheet.text(at, 28, "target", "muted", size=SMALL, anchor="middle")
    return sheet.picture(32 if named else 16)


def _place(margin: float, width: float) -> float:
    share = (math.log(margin) - math.log(_LOW)) / (math.log(_HIGH) - math.log(_LOW)) if margin > 0 else 0.0
    return width * min(1.0, max(0.0, share))


def band_strip(found: Estimate, *, width: float = _WIDTH, most: float | None = None) -> Picture:
    """An estimate with its band from zero to a little beyond the band, or to `most`."""
    sheet = Chart(width)
    end = most if most is not None else max(found.high, found.value) * 1.15 or 1.0
    low, value, high = (width * min(1.0, max(0.0, v / end)) for v in (found.low, found.value, found.high))
    sheet.line(((0, 8), (width, 8)), "rule")
    sheet.panel(low, 4, max(2.0, high - low), 8, "band")
    sheet.panel(value - 1.5, 2, 3, 12, "data")
    return sheet.picture(16)
