"""Requests over time of a serving workload."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, Figure, FigureKind, LineSeries


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """The curves; None where the study gives none."""
    curves = result.curves.get("serving-queue", ())
    if not curves:
        return None
    lines = tuple(LineSeries(c.name, c.x, c.y) for c in curves)
    return Figure("Requests over time", Axis("Time", "s", zero=True), Axis("Requests", "", zero=True), lines)


FIGURE = FigureKind("serving-queue", "Requests over time", "timeline", build, order=60)
