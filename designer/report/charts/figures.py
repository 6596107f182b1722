"""Figures of lines as charts of a report: the same figures that the window shows, in the inks of the page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from designer.engine.results import WorkloadResult
from designer.report.charts.lines import Trace, lines
from designer.report.document import Block, Drawing, SideBySide
from designer.report.figure import Axis, Figure, LineSeries
from designer.report.figure_kinds import figure_kinds
from designer.report.subject import Subject
from designer.report.wording import percent, quantity, split

#: points of a line that are drawn, and up to how many they are marked
_POINTS, _MARKED = 200, 16
#: lines whose largest values differ by more than this are charts of their own
_APART = 5.0
_INKS = ("data", "data2", "ink", "muted")


def charts(subject: Subject, results: Sequence[WorkloadResult], names: Sequence[str], most: int = 6) -> list[Block]:
    """The first charts there are of figures called so, two on a line.

    Parameters
    ----------
    results
        The figure of each name is that of the first result which has it.
    """
    drawn: list[Drawing] = []
    kinds = figure_kinds()
    for name in names:
        made = ((kinds[name].build(subject.design, subject.analysis, w), w.title) for w in results)
        first = next(((figure, title) for figure, title in made if figure is not None and not figure.bars), None)
        if first is not None:
            drawn += [_draw_figure(one, first[1]) for one in _split_by_scale(first[0])]
    drawn = drawn[:most]
    pairs = [drawn[k : k + 2] for k in range(0, len(drawn), 2)]
    return [SideBySide((pair[0],), tuple(pair[1:])) if len(pair) > 1 else pair[0] for pair in pairs]


def _split_by_scale(figure: Figure) -> list[Figure]:
    """A figure whose lines can be read on one scale, or one for each line."""
    kept = [line for line in figure.lines if len(line.x) > 1]
    tops = [max(line.y) for line in kept]
    if len(kept) < 2 or max(tops) <= _APART * max(min(tops), 1e-30):
        return [replace(figure, lines=tuple(kept))] if kept else []
    return [replace(figure, title=_title_of(figure, line), lines=(replace(line, name=""),)) for line in kept]


def _title_of(figure: Figure, line: LineSeries) -> str:
    """What a line alone is called: by its name, which needs that of the figure where it is a value, as 10 Gb/s."""
    name = f"{line.name[:1].upper()}{line.name[1:]}"
    return f"{figure.title}, {name}" if name[:1].isdigit() else name


def _draw_figure(figure: Figure, title: str) -> Drawing:
    across = max(v for line in figure.lines for v in line.x)
    up = max(v for line in figure.lines for v in (*line.y, *line.high))
    alone = len(figure.lines) == 1
    inks = iter(_INKS * len(figure.lines))
    traces = [_trace(line, "muted" if line.role == "ideal" else next(inks), alone) for line in figure.lines]
    picture = lines(
        traces,
        lambda v: _text(v, figure.x, across),
        lambda v: _text(v, figure.y, up),
        captions=(_caption(figure.y, up, ""), _caption(figure.x, across, figure.x.title)),
        log_x=figure.x.log,
        x_unit="s" if figure.x.unit == "s" else "",
        unit_up=60.0 if split(up, figure.y.unit, "", up)[1] == "min" else 1.0,
    )
    return Drawing(picture, f"{figure.title} of {title}", figure.title, aside=title)


def _trace(line: LineSeries, ink: str, alone: bool) -> Trace:
    step = -(-len(line.x) // _POINTS)
    x, y, low, high = (values[::step] for values in (line.x, line.y, line.low, line.high))
    name = "" if alone else line.name.replace(" ", "\u00a0")
    return Trace(name, x, y, low, high, ink, line.role == "ideal", dots=len(x) <= _MARKED)


def _is_share(axis: Axis) -> bool:
    return axis.unit == "1" and axis.title.startswith("Share")


def _text(value: float, axis: Axis, most: float) -> str:
    if _is_share(axis):
        return percent(value)
    if axis.unit == "B":
        return quantity(value, "B")
    if not value or not axis.unit:
        return f"{value:,.4g}"
    return split(value, axis.unit, "", most)[0]


def _caption(axis: Axis, most: float, title: str) -> str:
    """What an axis counts, with its unit where ticks do not carry it."""
    unit = "" if axis.unit in ("", "1", "B") else split(most, axis.unit, axis.counts, most)[1]
    name = title or axis.title
    return f"{name} [{unit}]" if unit else name
