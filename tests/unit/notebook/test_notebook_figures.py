"""Figures as objects of plotting libraries: the same series, axes and bands."""

from __future__ import annotations

import pytest

import designer
from designer.report.figure import Axis, BarSeries, Figure, LineSeries, Span, TickSeries

LINES = Figure(
    "Rates",
    Axis("Size", "B", log=True),
    Axis("Rate", "B/s", zero=True),
    lines=(
        LineSeries("a", (1.0, 10.0), (2.0, 4.0), (1.0, 3.0), (3.0, 6.0)),
        LineSeries("b", (1.0, 10.0), (2.0, 5.0), role="measured"),
    ),
)
BARS = Figure(
    "Memory",
    Axis("Memory", "B", zero=True),
    Axis("", categories=("weights", "cache")),
    bars=(BarSeries("used", (0.0, 1.0), (5.0, 7.0), low=(4.0, 6.0), high=(6.0, 9.0)),),
    ticks=(TickSeries("capacity", (1.0,), (8.0,)),),
    spans=(Span("reserve", 8.0, 9.0),),
    sideways=True,
)


def test_matplotlib_draws_lines_with_their_bands() -> None:
    pytest.importorskip("matplotlib")
    axes = designer.to_matplotlib(LINES).axes[0]
    assert [line.get_ydata().tolist() for line in axes.lines] == [[2.0, 4.0], [2.0, 5.0]]
    assert len(axes.collections) == 1, "the band of the first line"
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "linear")
    assert axes.get_xlabel() == "Size [B]"
    assert axes.get_ylim()[0] == 0


def test_matplotlib_draws_lying_bars_from_the_top() -> None:
    pytest.importorskip("matplotlib")
    made = designer.to_matplotlib(BARS)
    axes = made.axes[0]
    assert [bar.get_width() for bar in axes.patches[:2]] == [5.0, 7.0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["weights", "cache"]
    assert axes.yaxis_inverted()
    assert made._repr_png_().startswith(b"\x89PNG")


def test_plotly_has_the_same_series() -> None:
    pytest.importorskip("plotly")
    made = designer.to_plotly(LINES)
    named = {trace.name: trace for trace in made.data}
    assert list(named["a"].y) == [2.0, 4.0]
    assert list(named["a, band"].y) == [3.0, 6.0, 3.0, 1.0]
    assert named["b"].mode == "markers"
    assert made.layout.xaxis.type == "log"
    bars = designer.to_plotly(BARS)
    assert list(bars.data[0].x) == [5.0, 7.0]
    assert list(bars.data[0].error_x.array) == [1.0, 2.0]
    assert list(bars.data[0].error_x.arrayminus) == [1.0, 1.0]
    assert bars.layout.yaxis.autorange == "reversed"


@pytest.mark.parametrize("template", ["hgx-h100-8", "vsphere-cluster-4"])
def test_every_figure_of_a_workload_can_be_drawn(template: str) -> None:
    pytest.importorskip("matplotlib")
    pytest.importorskip("plotly")
    design = designer.open_design(template)
    for workload in list(design.workloads)[:3]:
        for figure in designer.figures(design, workload).values():
            assert designer.to_matplotlib(figure)._repr_png_()
            assert len(designer.to_plotly(figure).data) >= len(figure.lines) + len(figure.bars)
