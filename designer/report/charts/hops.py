"""A data path as a ladder of hops: what each can carry on a log scale, and the load that passes through all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from designer.drawing.fonts import text_width
from designer.report.charts.chart import SMALL, TEXT, WIDTH, Chart, Scale
from designer.report.drawing.elements import Picture
from designer.report.wording import percent, quantity


@dataclass(frozen=True, slots=True)
class Hop:
    """One hop: all its parallel links together.

    Parameters
    ----------
    achievable, raw, load
        What it can carry, its raw rate, and what it carries [B/s].
    state
        ``binds``, ``next`` or empty.
    """

    label: str
    detail: str
    achievable: float
    raw: float
    load: float
    assumed: bool = False
    state: str = ""


def hops(path: Sequence[Hop], demand: tuple[str, float, float, float] | None = None) -> Picture:
    """The ladder. `demand` is what a workload could use: its name, value, low and high end [B/s]."""
    sheet = Chart()
    top, row = 30.0, 36.0
    left, right = 262.0, 510.0
    values = [v for hop in path for v in (hop.achievable, hop.raw, hop.load) if v > 0]
    if demand:
        values += [v for v in demand[1:] if v > 0]
    scale = Scale(min(values) * 0.6, max(values) * 1.35, left, right - left, log=True)
    bottom = top + row * len(path)
    for value in scale.ticks(apart=text_width("1.25 TB/s", SMALL) + 6):
        x = scale.at(value)
        sheet.line(((x, top), (x, bottom)), "hair")
        sheet.text(x, bottom + 15, quantity(value, "B/s"), "muted", size=SMALL, anchor="middle")
    load = max((hop.load for hop in path), default=0.0)
    if demand:
        _demand(sheet, scale, demand, top, bottom, scale.at(load) if load else 0.0)
    crossed = scale.at(load) if load > 0 else 0.0
    for k, hop in enumerate(path):
        _row(sheet, scale, k, hop, top + row * k, row, crossed)
    sheet.text(WIDTH - 7, top - 12, "load ÷ achievable", "muted", size=SMALL, anchor="end")
    if load > 0:
        x = scale.at(load)
        sheet.line(((x, top - 6), (x, bottom)), "data", 1.6)
        wide = text_width(f"load {quantity(load, 'B/s')}", TEXT, True)
        sheet.text(max(wide, x), top - 12, f"load {quantity(load, 'B/s')}", "data", bold=True, anchor="end")
    return sheet.picture(bottom + 22)


def _demand(
    sheet: Chart, scale: Scale, demand: tuple[str, float, float, float], top: float, bottom: float, load: float
) -> None:
    name, value, low, high = demand
    x = scale.at(value)
    sheet.panel(scale.at(low), top, scale.at(high) - scale.at(low), bottom - top, "quiet2", opacity=0.5)
    sheet.line(((x, top - 6), (x, bottom)), "muted", 1.2, dashed=True)
    text = f"{name} could use {quantity(value, 'B/s')}"
    start = max(x, load) + 4 if x >= load else 262.0
    sheet.text(
        min(start, 560 - text_width(text, SMALL)),
        top - 24 if x < load else top - 12,
        text,
        "muted",
        size=SMALL,
        room=330,
    )


def _row(sheet: Chart, scale: Scale, number: int, hop: Hop, y: float, row: float, crossed: float) -> None:
    binds = hop.state == "binds"
    if binds:
        sheet.panel(0, y + 1, WIDTH, row - 2, "alarm-tint")
    ink = "alarm" if binds else "ink"
    sheet.text(4, y + 15, str(number + 1), "alarm" if binds else "muted", size=SMALL)
    sheet.text(18, y + 15, hop.label, ink, bold=True, room=238)
    sheet.text(18, y + 28, hop.detail, "muted", size=SMALL, room=238)
    middle = y + row / 2
    end, raw = scale.at(hop.achievable), scale.at(hop.raw)
    fill = "alarm" if binds else "data2" if hop.state == "next" else "quiet"
    sheet.panel(scale.start, middle - 2.5, end - scale.start, 5, fill, opacity=0.6)
    if raw > end + 1:
        sheet.panel(
            end, middle - 3.5, raw - end, 7, "", stroke="assumed" if hop.assumed else "quiet", dashed=hop.assumed
        )
    sheet.panel(end - 1.5, middle - 9, 3, 18, fill)
    at, stated = max(end, raw) + 8, quantity(hop.achievable, "B/s")
    if at < crossed < at + text_width(stated, TEXT, bool(hop.state)):
        # the line of the load goes down through all rows
        at = crossed + 6
    at += sheet.text(at, middle + 4, stated, ink, bold=bool(hop.state)) + 8
    if binds:
        wide = text_width("limits", SMALL, True) + 14
        sheet.panel(at, middle - 8, wide, 16, "alarm", radius=8)
        sheet.text(at + wide / 2, middle + 3.6, "limits", "on", size=SMALL, bold=True, anchor="middle")
    elif hop.state == "next":
        sheet.text(at, middle + 4, "next", "muted")
    share = hop.load / hop.achievable if hop.achievable > 0 else 0.0
    sheet.text(
        WIDTH - 7, middle + 4, percent(share) if share >= 0.1 else percent(share, 1), ink, bold=binds, anchor="end"
    )
