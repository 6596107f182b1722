"""Figures of results as objects of Matplotlib and Plotly, with the axes, bands and colours of reports."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from designer.checks.analysing import analyze
from designer.design.document import Design
from designer.notebook import extra
from designer.report.figure import Axis, BarSeries, Figure, LineSeries
from designer.report.figure_kinds import figure_kinds
from designer.report.inks import INKS

if TYPE_CHECKING:
    from matplotlib.figure import Figure as MatplotlibFigure
    from plotly.graph_objects import Figure as PlotlyFigure

#: inks of series in their order, and of roles with a colour of their own
_INKS: Final = ("data", "data2", "warn", "muted")
_ROLES: Final = {"bottleneck": "alarm", "quiet": "quiet", "idle": "quiet2", "ideal": "muted", "measured": "ink"}
#: how strong bands and spans are
_FAINT: Final = 0.2
_BAR: Final = 0.7
#: half the length of the mark of a capacity, in places of the category axis
_TICK: Final = 0.4


def figures(design: Design, workload: str = "") -> Mapping[str, Figure]:
    """Return the figures of a workload by name.

    Parameters
    ----------
    workload
        Id of the workload; by default the one the design opens with.

    Raises
    ------
    AnalysisError
        If there is no such workload, or it cannot run.
    """
    analysis = analyze(design, [workload] if workload else None)
    found: dict[str, Figure] = {}
    for kind in sorted(figure_kinds().values(), key=lambda kind: (kind.order, kind.name)):
        for result in analysis.workloads[:1]:
            figure = kind.build(design, analysis, result)
            if figure is not None:
                found[kind.name] = figure
    return found


def to_matplotlib(figure: Figure) -> MatplotlibFigure:
    """Return a figure as a ``matplotlib.figure.Figure``; values are in the SI units of its axes.

    It is not registered with pyplot: ``savefig`` writes it, and a notebook displays it.

    Raises
    ------
    ExchangeError
        If Matplotlib is not installed.
    """
    module = extra("matplotlib.figure", "matplotlib", "Figures of Matplotlib")

    def png(self: Any) -> bytes:
        out = io.BytesIO()
        self.savefig(out, format="png", bbox_inches="tight")
        return out.getvalue()

    # a bare figure has no display of its own before pyplot has chosen a backend
    kind: Any = type("DesignFigure", (module.Figure,), {"_repr_png_": png})
    made: Any = kind(layout="constrained")
    axes: Any = made.add_subplot()
    for number, line in enumerate(figure.lines):
        colour = _colour(line, number)
        style = {"linestyle": ""} if line.role == "measured" else {"linestyle": "--"} if line.role == "ideal" else {}
        marker = "o" if line.role == "measured" or len(line.x) == 1 else None
        axes.plot(line.x, line.y, label=line.name, color=colour, marker=marker, **style)
        if line.low and line.high:
            axes.fill_between(line.x, line.low, line.high, color=colour, alpha=_FAINT, linewidth=0)
    for number, bar in enumerate(figure.bars):
        start = bar.start or (0.0,) * len(bar.at)
        across = {"color": _colour(bar, number), "label": bar.name, **_whiskers(bar, figure.sideways)}
        if figure.sideways:
            axes.barh(bar.at, bar.value, _BAR, left=start, **across)
        else:
            axes.bar(bar.at, bar.value, _BAR, bottom=start, **across)
    for tick in figure.ticks:
        ends = [at - _TICK for at in tick.at], [at + _TICK for at in tick.at]
        lines = axes.vlines if figure.sideways else axes.hlines
        lines(tick.value, *ends, colors=INKS["ink"][0], label=tick.name)
    for span in figure.spans:
        shade = axes.axvspan if figure.sideways or not figure.bars else axes.axhspan
        shade(span.start, span.end, color=INKS["quiet"][0], alpha=_FAINT, label=span.name)
    for axis, stated, upright in ((axes.xaxis, figure.x, False), (axes.yaxis, figure.y, True)):
        _dress(axes, axis, stated, upright)
    if figure.sideways:
        axes.invert_yaxis()
    axes.set_title(figure.title)
    if len(axes.get_legend_handles_labels()[0]) > 1:
        axes.legend()
    return made


def _whiskers(bar: BarSeries, sideways: bool) -> dict[str, Any]:
    """Error bars from the band of each bar, as keyword arguments of Matplotlib."""
    if not (bar.low and bar.high):
        return {}
    below = [max(v - low, 0.0) for v, low in zip(bar.value, bar.low, strict=True)]
    above = [max(high - v, 0.0) for v, high in zip(bar.value, bar.high, strict=True)]
    return {"xerr" if sideways else "yerr": (below, above), "ecolor": INKS["muted"][0], "capsize": 2}


def _dress(axes: Any, axis: Any, stated: Axis, upright: bool) -> None:
    axis.set_label_text(_head(stated))
    if stated.categories:
        axis.set_ticks(range(len(stated.categories)), labels=stated.categories)
    elif stated.log:
        (axes.set_yscale if upright else axes.set_xscale)("log")
    elif stated.zero:
        (axes.set_ylim if upright else axes.set_xlim)(0.0)


def to_plotly(figure: Figure) -> PlotlyFigure:
    """Return a figure as a ``plotly.graph_objects.Figure``; values are in the SI units of its axes.

    Raises
    ------
    ExchangeError
        If Plotly is not installed.
    """
    plotly = extra("plotly.graph_objects", "plotly", "Figures of Plotly")
    made: Any = plotly.Figure()
    for number, line in enumerate(figure.lines):
        colour = _colour(line, number)
        if line.low and line.high:
            edge = (*line.high, *reversed(line.low))
            shape = {"x": (*line.x, *reversed(line.x)), "y": edge, "fill": "toself", "line": {"width": 0}}
            shown = {"fillcolor": colour, "opacity": _FAINT, "hoverinfo": "skip", "showlegend": False}
            made.add_scatter(**shape, **shown, mode="lines", name=f"{line.name}, band")
        mode = "markers" if line.role == "measured" or len(line.x) == 1 else "lines"
        style = {"color": colour, "dash": "dash" if line.role == "ideal" else "solid"}
        made.add_scatter(x=line.x, y=line.y, mode=mode, name=line.name, line=style, marker={"color": colour})
    for number, bar in enumerate(figure.bars):
        _add_bars(made, figure, bar, _colour(bar, number))
    for tick in figure.ticks:
        x, y = (tick.value, tick.at) if figure.sideways else (tick.at, tick.value)
        mark = {"symbol": "line-ns-open" if figure.sideways else "line-ew-open", "size": 14, "color": INKS["ink"][0]}
        made.add_scatter(x=x, y=y, mode="markers", marker=mark, name=tick.name)
    for span in figure.spans:
        shade = made.add_vrect if figure.sideways or not figure.bars else made.add_hrect
        shade(span.start, span.end, fillcolor=INKS["quiet"][0], opacity=_FAINT, line_width=0, annotation_text=span.name)
    down = {"autorange": "reversed"} if figure.sideways else {}
    made.update_layout(title=figure.title, barmode="overlay", template="plotly_white")
    made.update_xaxes(**_axis(figure.x))
    made.update_yaxes(**(_axis(figure.y) | down))
    return made


def _add_bars(made: Any, figure: Figure, bar: BarSeries, colour: str) -> None:
    x, y = (bar.value, bar.at) if figure.sideways else (bar.at, bar.value)
    more: dict[str, Any] = {}
    if bar.low and bar.high:
        whiskers = _whiskers(bar, figure.sideways)
        below, above = whiskers["xerr" if figure.sideways else "yerr"]
        band = {"type": "data", "symmetric": False, "array": above, "arrayminus": below}
        more["error_x" if figure.sideways else "error_y"] = band
    made.add_bar(
        x=x,
        y=y,
        base=bar.start or None,
        width=_BAR,
        name=bar.name,
        marker={"color": colour},
        orientation="h" if figure.sideways else "v",
        text=bar.labels or None,
        **more,
    )


def _axis(axis: Axis) -> dict[str, Any]:
    found: dict[str, Any] = {"title": _head(axis)}
    if axis.categories:
        found |= {"tickmode": "array", "tickvals": list(range(len(axis.categories))), "ticktext": axis.categories}
    elif axis.log:
        found["type"] = "log"
    elif axis.zero:
        found["rangemode"] = "tozero"
    return found


def _head(axis: Axis) -> str:
    return f"{axis.title} [{axis.unit}]" if axis.unit and axis.unit != "1" else axis.title


def _colour(series: LineSeries | BarSeries, number: int) -> str:
    return INKS[_ROLES.get(series.role, _INKS[number % len(_INKS)])][0]
