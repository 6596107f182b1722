"""Racks from the front: a grid of units, boxes with names, one rack of each kind."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from designer.drawing.fonts import text_width
from designer.report.charts.chart import SMALL, WIDTH, Chart
from designer.report.drawing.elements import Picture
from designer.report.tables.racks import Placed, Rack
from designer.report.wording import counted, quantity

_INKS = {"server": "band", "storage": "quiet", "switch": "quiet2", "nvswitch": "quiet2"}
#: height of a rack unit in a drawing: room for a name of seven points on paper
UNIT: Final = 11.0
_TEXT = 9.4
#: of one rack by itself: room next to it and above it
GUTTER: Final = 22.0
HEAD: Final = 34.0
#: names in a single unit of height; from where they have room, and from where the power is written next to them [U]
_LOW, _ROOMY, _TALL = 9.4, 1.6, 4
#: a unit of this height has room for a name [px]
_NAMED: Final = 8.0
#: so many low units of one name stand as one box with its first and last number
_RUN = 4
#: every so many units are numbered [U]
_NUMBERED: Final = 6
_LAST = re.compile(r"^(.*?)(\d+)$")
#: between the names of nested groups and parts, each with its number
_WITHIN = " · "
_NUMBERS = re.compile(r" ?\d+")


def _runs(units: Sequence[Placed]) -> Iterator[list[Placed]]:
    """Units from below; low ones of one name that stand on each other together."""
    found: list[Placed] = []
    for unit in sorted(units, key=lambda u: u.at):
        last = found[-1] if found else None
        goes_on = last is not None and last.at + last.height == unit.at and _stem(last) == _stem(unit)
        if not goes_on:
            yield from _gather_units(found)
            found = []
        found.append(unit)
    yield from _gather_units(found)


def _gather_units(run: list[Placed]) -> Iterator[list[Placed]]:
    if len(run) >= _RUN and all(u.height < _ROOMY for u in run):
        yield run
    else:
        yield from ([unit] for unit in run)


def _stem(unit: Placed) -> tuple[str, str, float, bool]:
    if _WITHIN in unit.name:
        return unit.kind, _NUMBERS.sub("", unit.name), unit.height, unit.height_known
    named = _LAST.match(unit.name)
    return unit.kind, named[1] if named else unit.name, unit.height, unit.height_known


def _draw_racks(sheet: Chart, run: list[Placed], x: float, bottom: float, wide: float) -> None:
    first, last = run[0], run[-1]
    y = bottom - (last.at - 1 + last.height) * UNIT
    high = (last.at + last.height - first.at) * UNIT
    known = first.height_known
    ink = _INKS.get(first.kind, "quiet2")
    sheet.panel(
        x + 3, y + 0.7, wide - 6, high - 1.4, ink, radius=1.5, stroke="" if known else "assumed", dashed=not known
    )
    for unit in run[1:]:
        edge = bottom - (unit.at - 1) * UNIT
        sheet.line(((x + 3, edge), (x + wide - 3, edge)), "tint")
    named, ends = _LAST.match(last.name), _LAST.match(first.name)
    stated = f"{first.name} to {named[2]}" if named and ends else f"{len(run)} × {first.name}"
    if _WITHIN in first.name:
        stated = f"{len(run)} × {_NUMBERS.sub('', first.name)}"
    size = SMALL
    if text_width(stated, size) > wide - 22 and _WITHIN in first.name:
        stated = f"{len(run)} × {_NUMBERS.sub('', first.name.rsplit(_WITHIN, 1)[-1])}"
    middle = y + high / 2
    plate = min(text_width(stated, size) + 8, wide - 14)
    sheet.panel(x + 7, middle - 7, plate, 14, ink, radius=1.5)
    sheet.text(x + 11, middle + size * 0.36, stated, size=size, room=plate - 8)


def _front(
    sheet: Chart,
    rack: Rack,
    x: float,
    bottom: float,
    wide: float,
    runs: Iterable[list[Placed]],
    shown: float = math.inf,
) -> None:
    """One rack up to its lowest `shown` units: its frame, every sixth unit numbered, and what is in it."""
    shown = min(rack.height, shown)
    high = shown * UNIT
    sheet.panel(x, bottom - high, wide, high, "tint", stroke="rule")
    if shown < rack.height:
        free = f"units {shown + 1:g} to {rack.height:g} are free"
        sheet.text(x + wide / 2, bottom - high + _TEXT + 4, free, "muted", size=_TEXT, anchor="middle")
    for u in range(0, int(shown) + 1, _NUMBERED):
        y = bottom - u * UNIT
        if u:
            sheet.text(x - 5, y + 3.2 + UNIT, str(u), "muted", size=_TEXT, anchor="end")
            sheet.line(((x, y), (x + wide, y)), "hair")
    for fixture in rack.fixed:
        if fixture.top - 1 <= shown:
            top = bottom - (fixture.top - 1) * UNIT
            sheet.panel(x + 3, top + 0.7, wide - 6, fixture.height * UNIT - 1.4, "rule", radius=1.5)
            middle = top + fixture.height * UNIT / 2 + _LOW * 0.36 - 0.7
            sheet.text(x + 9, middle, fixture.name, "muted", size=_LOW, room=wide - 18)
    for run in runs:
        if len(run) > 1:
            _draw_racks(sheet, run, x, bottom, wide)
        else:
            _draw_rack(sheet, run[0], x, bottom, wide)


def _draw_rack(sheet: Chart, unit: Placed, x: float, bottom: float, wide: float) -> None:
    y = bottom - (unit.at - 1 + unit.height) * UNIT
    sheet.panel(
        x + 3,
        y + 0.7,
        wide - 6,
        unit.height * UNIT - 1.4,
        _INKS.get(unit.kind, "quiet2"),
        radius=1.5,
        stroke="" if unit.height_known else "assumed",
        dashed=not unit.height_known,
    )
    if unit.height * UNIT >= _NAMED:
        size = _LOW if unit.height < _ROOMY else SMALL
        stated = unit.name
        if unit.watts is not None and unit.height >= _TALL:
            more = f"{stated} · {quantity(unit.watts, 'W')}"
            stated = more if text_width(more, size) <= wide - 18 else stated
        room = wide - (32 if unit.feed else 18)
        if text_width(stated, size) > room:
            # which of its unit it is states more than the unit
            stated = unit.name.rsplit(_WITHIN, 1)[-1]
        sheet.text(x + 9, y + unit.height * UNIT / 2 + size * 0.36 - 0.7, stated, size=size, room=room)
        if unit.feed:
            middle = y + unit.height * UNIT / 2 + size * 0.36 - 0.7
            sheet.text(x + wide - 9, middle, unit.feed, size=size, bold=True, anchor="end")


def front(rack: Rack, width: float) -> Picture:
    """One rack alone, every unit for itself: `GUTTER` next to it for the numbers, `HEAD` above it for name and power.

    Only units too low for a name are drawn in runs, which have one.
    """
    sheet = Chart(width)
    wide, bottom = width - GUTTER - 1, HEAD + rack.height * UNIT
    sheet.text(GUTTER, 12, rack.name, bold=True, room=wide)
    sheet.text(GUTTER, 26, _filled_units(rack, " rated" if not rack.power else ""), "muted", size=SMALL, room=wide)
    named = [[unit] for unit in rack.units if unit.height * UNIT >= _NAMED]
    low = _runs([unit for unit in rack.units if unit.height * UNIT < _NAMED])
    _front(sheet, rack, GUTTER, bottom, wide, (*named, *low))
    return sheet.picture(bottom + 4, rack.name)


def _filled_units(rack: Rack, rated: str = " rated") -> str:
    power = f"{quantity(rack.watts, 'W')}{rated}" if rack.watts else "power not stated"
    limit = f" of {quantity(rack.power, 'W')}" if rack.power and rack.watts else ""
    return f"{rack.used:g} of {rack.height:g} U · {power}{limit}"


def elevation(kinds: Sequence[tuple[Rack, int]]) -> Picture:
    """Up to four racks side by side."""
    sheet = Chart()
    shown = list(kinds[:4])
    gap = 26.0
    wide = min(190.0, (WIDTH - 22.0 * len(shown) - gap * (len(shown) - 1)) / max(1, len(shown)))
    # what is empty above all units is not drawn
    used = max((unit.top - 1 for r, _ in shown for unit in (*r.units, *r.fixed)), default=0.0)
    tallest = min(max((r.height for r, _ in shown), default=42.0), _NUMBERED * math.ceil((used + 3) / _NUMBERED))
    bottom = 44.0 + tallest * UNIT
    for k, (rack, equal) in enumerate(shown):
        x = 20.0 + k * (wide + 22.0 + gap)
        title = rack.name if equal == 1 else f"{rack.name} and {equal - 1:,} like it"
        sheet.text(x, 12, title, bold=True, room=wide + 20)
        sheet.text(x, 26, _filled_units(rack), "muted", size=SMALL, room=wide + 24)
        _front(sheet, rack, x, bottom, wide, _runs(rack.units), tallest)
    if len(kinds) > len(shown):
        sheet.text(0, bottom + 16, f"and {counted(len(kinds) - len(shown), 'kind')} of rack more", "muted", size=SMALL)
    return sheet.picture(bottom + (22 if len(kinds) > len(shown) else 8))
