"""Evacuation: which machine moves when."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, BarSeries, Figure, FigureKind


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """A lane for each machine: waiting for its turn, then moving; None where the study gives none."""
    curves = result.curves.get("evacuation-gantt", ())
    if not curves:
        return None
    names = tuple(c.name for c in curves)
    places = tuple(float(k) for k in range(len(curves)))
    setup = BarSeries(
        "set-up", places, tuple(c.x[1] - c.x[0] for c in curves), start=tuple(c.x[0] for c in curves), role="quiet"
    )
    moving = BarSeries(
        "moving", places, tuple(c.x[2] - c.x[1] for c in curves), start=tuple(c.x[1] for c in curves), role="main"
    )
    axis = Axis("Time", "s", zero=True)
    return Figure("Who moves when", axis, Axis("", categories=names), bars=(setup, moving), sideways=True)


FIGURE = FigureKind("evacuation-gantt", "Who moves when", "migration", build, order=20)
