"""Time between tokens of a serving workload."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, Figure, FigureKind, LineSeries


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """The curves; None where the study gives none."""
    curves = result.curves.get("serving-itl", ())
    if not curves:
        return None
    lines = tuple(LineSeries(c.name, c.x, c.y) for c in curves)
    return Figure("Time between tokens", Axis("Time", "s", zero=True), Axis("Share of tokens", "1", zero=True), lines)


FIGURE = FigureKind("serving-itl", "Time between tokens", "timeline", build, order=60)
