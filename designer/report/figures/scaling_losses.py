"""Scaling losses: what each cause takes of perfect scaling."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, Figure, FigureKind, LineSeries


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """One line for each cause; None where the study gives none."""
    curves = result.curves.get("scaling", ())
    if not curves:
        return None
    losses = [c for c in curves if c.name.startswith("loss:") and len(c.x) > 1]
    if not losses:
        return None
    lines = tuple(LineSeries(c.name.removeprefix("loss:").replace("_", " "), c.x, c.y) for c in losses)
    return Figure("What is lost, by cause", Axis("Accelerators"), Axis("Share lost", "1", zero=True), lines)


FIGURE = FigureKind("scaling-losses", "Causes of loss", "scaling", build, order=20)
