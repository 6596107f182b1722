"""Migration curve: memory still to be moved, round by round, for each machine."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, Figure, FigureKind, LineSeries


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """Remaining memory over time; None where the study gives none."""
    curves = result.curves.get("migration-curve", ())
    if not curves:
        return None
    lines = tuple(LineSeries(c.name, c.x, c.y) for c in curves)
    return Figure("Memory left to move", Axis("Time", "s", zero=True), Axis("Remaining", "B", zero=True), lines)


FIGURE = FigureKind("migration-curve", "Memory left to move", "migration", build, order=10)
