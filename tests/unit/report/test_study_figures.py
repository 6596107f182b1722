"""Figures of training and migration: made from real studies, with the numbers of the study."""

from __future__ import annotations

import pytest

from designer.analysis.study import analyze
from designer.interchange.templates import open_design
from designer.report.figure_kinds import figure_kinds


@pytest.mark.parametrize(
    ("template", "workload", "names"),
    [
        (
            "hgx-h100-8",
            "llama-2-7b-fsdp",
            {"step-timeline", "training-memory", "roofline", "scaling", "scaling-losses"},
        ),
        ("vsphere-cluster-4", "evacuate", {"migration-curve", "evacuation-gantt", "stun-sweep"}),
    ],
)
def test_a_study_offers_its_figures(template: str, workload: str, names: set[str]) -> None:
    design = open_design(template)
    found = analyze(design, [workload])
    (result,) = found.workloads
    made = {name: figure for name, kind in figure_kinds().items() if (figure := kind.build(design, found, result))}
    assert names <= set(made)
    for name in names:
        figure = made[name]
        assert figure.title
        assert figure.lines or figure.bars
        for line in figure.lines:
            assert len(line.x) == len(line.y) > 0
        for bar in figure.bars:
            assert len(bar.at) == len(bar.value)
            assert min(bar.value) >= 0


def test_the_timeline_adds_up_to_the_step() -> None:
    design = open_design("hgx-h100-8")
    found = analyze(design, ["llama-2-7b-fsdp"])
    (result,) = found.workloads
    figure = figure_kinds()["step-timeline"].build(design, found, result)
    assert figure is not None
    total = sum(sum(bar.value) for bar in figure.bars)
    assert total == pytest.approx(result.metrics["step_time"].value, rel=0.02)


@pytest.mark.parametrize(
    ("template", "workload"),
    [
        ("hgx-h100-8", "resnet-50"),
        ("hgx-h100-8", "llama-2-7b-fsdp"),
        ("hgx-h100-8", "all-reduce"),
        ("vsphere-cluster-4", "evacuate"),
        ("serving-h100-8", "chat-70b"),
    ],
)
def test_every_curve_of_a_result_is_drawn_by_a_figure(template: str, workload: str) -> None:
    design = open_design(template)
    found = analyze(design, [workload])
    (result,) = found.workloads
    made = [figure for kind in figure_kinds().values() if (figure := kind.build(design, found, result)) is not None]
    drawn = {(line.x, line.y) for figure in made for line in figure.lines}
    lines = {
        (key, curve.name)
        for key, curves in result.curves.items()
        for curve in curves
        # an efficiency is a speed-up over its ideal line; parts of a step and stages are bars
        if len(curve.x) > 1 and curve.name != "scaling_efficiency" and (curve.x, curve.y) not in drawn
    }
    assert {key for key, _ in lines} <= {"step-timeline", "flow-stages", "evacuation-gantt", "serving-request"}


def test_a_throughput_has_the_unit_of_what_it_counts() -> None:
    design = open_design("hgx-h100-8")
    found = analyze(design, ["resnet-50"])
    figure = figure_kinds()["throughput"].build(design, found, found.workloads[0])
    assert figure is not None
    assert figure.y.counts == "images"
    last = figure.lines[0].y[-1]
    assert last == pytest.approx(found.workloads[0].metrics["samples_per_second"].value, rel=1e-6)
