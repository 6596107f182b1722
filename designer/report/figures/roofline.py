"""Roofline: what the accelerator attains at the intensity of the model, and what the step reaches."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, Figure, FigureKind, LineSeries


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """The roof as a line, the step as a point; None where the study gives none."""
    curves = result.curves.get("roofline", ())
    if not curves:
        return None
    roles = ("main", "ideal", "measured")
    lines = tuple(
        LineSeries(c.name, c.x, c.y, role="measured" if len(c.x) == 1 else role)
        for c, role in zip(curves, roles, strict=False)
    )
    return Figure(
        "Roofline",
        Axis("FLOP per byte", "1", log=True),
        Axis("Rate", "FLOP/s", log=True),
        lines,
    )


FIGURE = FigureKind("roofline", "Roofline", "timeline", build, order=30)
