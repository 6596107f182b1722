"""Replicas needed by the hour, where the load changes through the day."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, Figure, FigureKind, LineSeries


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """A line of steps; None where the load is the same all day."""
    curves = result.curves.get("serving-replicas", ())
    if not curves:
        return None
    lines = tuple(LineSeries(c.name, c.x, c.y) for c in curves)
    return Figure("Replicas by hour", Axis("Hour of the day", "", zero=True), Axis("Replicas", "", zero=True), lines)


FIGURE = FigureKind("serving-replicas", "Replicas by hour", "timeline", build, order=65)
