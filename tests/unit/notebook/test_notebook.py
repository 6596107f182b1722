"""Notebooks: data frames, figures of plotting libraries, and HTML in which no text of others is markup."""

from __future__ import annotations

import re
import sys

import pytest

import designer
from designer.design.document import Design, with_changes
from designer.errors import ExchangeError
from designer.report.figure import Axis, BarSeries, Figure, LineSeries, Span, TickSeries

# Data frames hold the numbers that the results hold.

pytest.importorskip("pandas")


@pytest.fixture(scope="module")
def design() -> Design:
    return designer.open_design("hgx-h100-8")


def test_a_design_has_its_parts_and_each_link_once(design: Design) -> None:
    tables = designer.frames(design)
    parts, links = tables["parts"], tables["links"]
    assert parts.groupby("kind").size()["gpu"] == 8
    assert len(parts) == len(design.parts)
    assert links["path"].is_unique
    assert len(links) == len(design.links)
    # PCIe 5 ×16 between a GPU and its switch: 32 GT/s × 16 lanes ÷ 8 bits × 128/130
    pcie = links[(links["kind"] == "pcie") & links["a"].str.startswith("gpu")]
    assert pcie["capacity"].to_numpy() == pytest.approx([32e9 * 16 / 8 * 128 / 130] * len(pcie), rel=1e-3)
    assert links.attrs["units"]["capacity"] == "B/s"
    assert tables["bill"]["Count"].sum() > 8


def test_an_analysis_keeps_values_bands_and_own_tables(design: Design) -> None:
    found = designer.analyze(design, "llama-2-7b-fsdp")
    tables = designer.frames(found)
    metrics = tables["metrics"].set_index("metric")
    step = found.workloads[0].metrics["step_time"]
    assert metrics.loc["step_time", ["value", "low", "high"]].tolist() == [step.value, step.low, step.high]
    memory = tables["llama-2-7b-fsdp/memory"]
    assert memory["y"].min() >= 0
    first = tables["limits"].iloc[0]
    assert (first["when"], first["id"]) == ("now", found.workloads[0].binding[0].id)
    assert len(tables["links"]) == len(found.channels)


def test_a_sweep_is_one_frame_of_numbers(design: Design) -> None:
    loaded = designer.with_workload(design, "r", "collective", collective="all-reduce", group="gpus", size="1 GiB")
    rows = designer.sweep(loaded, {"workloads.r.size": "1 MiB,1 GiB"}, "r", ["communication_time"])
    table = designer.frames(rows)["rows"]
    assert table["setting_1"].tolist() == ["1 MiB", "1 GiB"]
    assert table["communication_time"].tolist() == [row.metrics["communication_time"].value for row in rows]
    assert (table["communication_time_low"] <= table["communication_time"]).all()


def test_a_simulation_lists_its_tasks(design: Design) -> None:
    found = designer.simulate(design, ["h2d"], until=0.1)
    tables = designer.frames(found)
    assert len(tables["tasks"]) == len(found.run.tasks)
    assert set(tables["metrics"]["workload"]) == {"h2d"}


def test_a_report_and_the_catalog_have_every_table() -> None:
    report = designer.compose_report([designer.open_design("m40-server")])
    tables = designer.frames(report)
    assert "bill-of-materials/What to order" in tables
    assert all(len(tables[name].columns) for name in tables)
    parts = designer.frames(designer.load_catalog())
    assert parts["gpu"].set_index("id").loc["gpu/nvidia/h100-sxm5", "memory_capacity"] == 80e9


def test_findings_and_figures(design: Design) -> None:
    findings = designer.check(design)
    assert designer.frames(findings)["findings"]["code"].tolist() == [one.code for one in findings]
    figure = Figure("t", Axis("x", "s"), Axis("y", "B"), (LineSeries("a", (1.0, 2.0), (3.0, 4.0)),))
    data = designer.frames(figure)["data"]
    assert data["y [B]"].tolist() == [3.0, 4.0]


def test_a_frame_is_made_when_it_is_read_and_once(design: Design) -> None:
    tables = designer.frames(design)
    assert tables["bill"] is tables["bill"]
    with pytest.raises(KeyError):
        tables["no such table"]


def test_what_has_no_tables_is_refused() -> None:
    with pytest.raises(TypeError, match="int has no tables"):
        designer.frames(3)


def test_without_pandas_the_message_says_what_to_install(design: Design, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ExchangeError, match="pip install pandas"):
        designer.frames(design)


# Figures as objects of plotting libraries: the same series, axes and bands.

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


# What a notebook displays: HTML of designs, results and reports in which no text of others is markup.

BAD = '<script>alert("x")</script>'


def test_designs_and_reports_are_framed() -> None:
    design = designer.open_design("m40-server")
    assert re.match(r"<iframe srcdoc=.* sandbox=\"allow-scripts\"", design._repr_html_(), re.DOTALL)
    report = designer.compose_report([design])
    assert re.match(r"<iframe srcdoc=.* sandbox=\"\"", report._repr_html_(), re.DOTALL)


def test_analyses_and_runs_show_values_with_bands_and_limits() -> None:
    design = designer.open_design("hgx-h100-8")
    shown = designer.analyze(design, "llama-2-7b-fsdp")._repr_html_()
    assert "<td>Step time</td><td>462 ms</td>" in shown
    assert "What limits it" in shown
    run = designer.simulate(design, ["all-reduce", "h2d"], until=0.1)._repr_html_()
    assert run.count("<caption>What limits it</caption>") == 2
    assert "<th>Alone</th>" in run


def test_titles_are_text() -> None:
    design = designer.open_design("hgx-h100-8")
    spec = with_changes(design.workloads["h2d"], title=BAD)
    shown = designer.analyze(with_changes(design, workloads=[spec]), "h2d")._repr_html_()
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
