"""Figures of training and migration: made from real studies, with the numbers of the study."""

from __future__ import annotations

import pytest

from designer.analysis.study import analyze
from designer.interchange.templates import open_design
from designer.report.figure import figure_kinds


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
