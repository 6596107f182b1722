"""Racks from the front: a grid of units, boxes with names, one rack of each kind."""

from __future__ import annotations

from collections.abc import Sequence

from designer.report.charts.chart import SMALL, WIDTH, Chart
from designer.report.drawing.elements import Picture
from designer.report.tables.racks import Rack
from designer.report.wording import counted, quantity

_INKS = {"server": "band", "storage": "quiet", "switch": "quiet2", "nvswitch": "quiet2"}
#: height of a rack unit in a drawing, and the least a name needs
_UNIT = 8.4
_TEXT = 8.4


def elevation(kinds: Sequence[tuple[Rack, int]]) -> Picture:
    """Up to four racks side by side."""
    sheet = Chart()
    shown = list(kinds[:4])
    gap = 26.0
    wide = min(190.0, (WIDTH - 22.0 * len(shown) - gap * (len(shown) - 1)) / max(1, len(shown)))
    tallest = max((r.height for r, _ in shown), default=42.0)
    bottom = 44.0 + tallest * _UNIT
    for k, (rack, alike) in enumerate(shown):
        x = 20.0 + k * (wide + 22.0 + gap)
        title = rack.name if alike == 1 else f"{rack.name} and {alike - 1:,} alike"
        sheet.text(x, 12, title, bold=True, room=wide + 20)
        power = f"{quantity(rack.watts, 'W')} rated" if rack.watts else "power not stated"
        limit = f" of {quantity(rack.power, 'W')}" if rack.power and rack.watts else ""
        sheet.text(x, 26, f"{rack.used:g} of {rack.height:g} U · {power}{limit}", "muted", size=SMALL, room=wide + 24)
        high = rack.height * _UNIT
        sheet.panel(x, bottom - high, wide, high, "tint", stroke="rule")
        for u in range(0, int(rack.height) + 1, 6):
            y = bottom - u * _UNIT
            if u:
                sheet.text(x - 5, y + 3.2 + _UNIT, str(u), "muted", size=_TEXT, anchor="end")
                sheet.line(((x, y), (x + wide, y)), "hair")
        for unit in rack.units:
            y = bottom - (unit.at - 1 + unit.height) * _UNIT
            sheet.panel(
                x + 3,
                y + 0.7,
                wide - 6,
                unit.height * _UNIT - 1.4,
                _INKS.get(unit.kind, "quiet2"),
                radius=1.5,
                stroke="" if unit.height_known else "assumed",
                dashed=not unit.height_known,
            )
            if unit.height * _UNIT >= 8.0:
                told = (
                    unit.name if unit.watts is None or unit.height < 4 else f"{unit.name} · {quantity(unit.watts, 'W')}"
                )
                middle = y + unit.height * _UNIT / 2 + 2.9
                sheet.text(x + 9, middle, told, size=min(SMALL, _TEXT if unit.height < 2 else SMALL), room=wide - 18)
    if len(kinds) > len(shown):
        sheet.text(0, bottom + 16, f"and {counted(len(kinds) - len(shown), 'kind')} of rack more", "muted", size=SMALL)
    return sheet.picture(bottom + (22 if len(kinds) > len(shown) else 8))
