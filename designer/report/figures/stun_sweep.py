"""Stun sweep: stun over frame buffer, one line for each NIC speed, and what was published beside them."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, Figure, FigureKind, LineSeries


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """Stun over frame buffer; None where the study gives none."""
    curves = result.curves.get("stun-sweep", ())
    if not curves:
        return None
    lines = tuple(LineSeries(c.name, c.x, c.y, c.low, c.high) for c in curves)
    published = result.curves.get("stun-published", ())
    lines += tuple(LineSeries(c.name, c.x, c.y, role="measured") for c in published)
    return Figure("Stun over frame buffer", Axis("Frame buffer", "B", log=True), Axis("Stun", "s", zero=True), lines)


FIGURE = FigureKind("stun-sweep", "Stun over frame buffer", "migration", build, order=30)
