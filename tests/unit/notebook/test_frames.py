"""Data frames hold the numbers that the results hold."""

from __future__ import annotations

import sys

import pytest

import designer
from designer.design.document import Design
from designer.errors import ExchangeError
from designer.report.figure import Axis, Figure, LineSeries

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
