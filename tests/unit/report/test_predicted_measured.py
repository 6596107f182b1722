"""The figure of predictions over measurements, as data and as a picture."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

from designer.cli.main import run
from designer.decisions.validation import Measured, Outcome, Validation, score
from designer.design.document import WorkloadSpec
from designer.engine.results import Curve
from designer.errors import ExchangeError
from designer.formulas.scoring import Sided
from designer.report.charts.plots import picture_of
from designer.report.drawing.elements import Label, Stroke
from designer.report.figure import Axis, BarSeries, Figure
from designer.report.figures.predicted_measured import GROUPS_SHOWN, figures_of
from designer.sources import Estimate


def outcome(group: str, measured: float, predicted: float, unit: str = "B/s") -> Outcome:
    what = Measured(group, "a", group, "s", "rate", measured, Sided.BOTH, WorkloadSpec(id="w", kind="transfer"))
    return Outcome(what, Estimate(predicted, predicted * 0.9, predicted * 1.1, unit), 0.0)


def found(*outcomes: Outcome) -> Validation:
    return score(outcomes)


def test_each_unit_has_a_figure_with_a_line_for_each_group() -> None:
    made = figures_of(found(outcome("a", 1e9, 1.1e9), outcome("b", 5e10, 4e10), outcome("a", 2.0, 2.5, "s")))
    assert [f.x.unit for f in made] == ["B/s", "s"]
    assert all(f.x.log and f.y.log for f in made)
    rates = made[0]
    assert {line.name for line in rates.lines} == {"as measured", "a", "b"}
    (of_b,) = (line for line in rates.lines if line.name == "b")
    assert (of_b.x, of_b.y) == ((5e10,), (4e10,))
    assert of_b.low[0] < of_b.y[0] < of_b.high[0]
    diagonal = rates.lines[0]
    assert diagonal.x == diagonal.y


def test_many_groups_share_the_last_colour_and_none_is_lost() -> None:
    (figure,) = figures_of(found(*(outcome(f"g{k}", 1e9 + k, 1e9) for k in range(40))))
    assert len(figure.lines) == GROUPS_SHOWN + 1
    assert sum(len(line.x) for line in figure.lines[1:]) == 40
    assert "29 other groups" in figure.lines[-1].name


def test_cases_without_a_prediction_are_left_out() -> None:
    what = outcome("a", 1e9, 1e9).measured
    assert figures_of(found(Outcome(what, None, float("inf"), "why"))) == ()


def test_the_picture_has_the_diagonal_straight_and_points_inside() -> None:
    picture = picture_of(figures_of(found(outcome("a", 1e9, 2e9), outcome("a", 1e10, 1e10))))
    dashed = [e for e in picture.elements if isinstance(e, Stroke) and e.dashed]
    (x0, y0), (x1, y1) = dashed[0].points
    assert x1 > x0
    assert y1 < y0, "y grows downwards"
    assert any(isinstance(e, Label) and e.text == "a" for e in picture.elements)


@pytest.mark.parametrize(("suffix", "begins"), [(".svg", b"<svg"), (".png", b"\x89PNG")])
def test_the_command_writes_the_picture(tmp_path: Path, suffix: str, begins: bytes) -> None:
    one = {
        "source": "s",
        "design": "hgx-a100-8",
        "metric": "rate",
        "value": "26 GB/s",
        "workload": {"kind": "transfer", "settings": {"from": "memory", "to": "gpu0"}},
    }
    cases = tmp_path / "c.json"
    cases.write_text(json.dumps({"format": "designer-cases", "version": 1, "cases": [one]}))
    out = tmp_path / f"p{suffix}"
    assert run(["validate", str(cases), "--figure", str(out)]) == 0
    assert out.read_bytes().startswith(begins)
    if suffix == ".svg":
        ElementTree.fromstring(out.read_text("utf-8"))


def test_bars_are_refused() -> None:
    with pytest.raises(ExchangeError):
        picture_of([Figure("t", Axis("x"), Axis("y"), bars=(BarSeries("b", (0.0,), (1.0,)),))])


def test_a_result_that_carries_a_validation_shows_it() -> None:
    from designer.analysis.study import analyze
    from designer.interchange.templates import open_design
    from designer.report.figures.predicted_measured import CURVES, FIGURE

    design = open_design("m40-server")
    analysis = analyze(design, curves=False)
    result = analysis.workloads[0]
    assert FIGURE.build(design, analysis, result) is None
    from dataclasses import replace

    carried = replace(result, curves={CURVES: (Curve("g", (1.0, 2.0), (1.1, 1.9), (1.0, 1.5), (1.2, 2.5)),)})
    figure = FIGURE.build(design, analysis, carried)
    assert figure is not None
    assert [line.name for line in figure.lines] == ["as measured", "g"]
