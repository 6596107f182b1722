"""Scaling: speed-up over accelerators beside the ideal line."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, Figure, FigureKind, LineSeries


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """Speed-up and its ideal; None where the study gives none."""
    curves = result.curves.get("scaling", ())
    if not curves:
        return None
    speedup = next((c for c in curves if c.name == "speedup"), None)
    if speedup is None or len(speedup.x) < 2:
        return None
    first = speedup.x[0]
    ideal = LineSeries("ideal", speedup.x, tuple(n / first for n in speedup.x), role="ideal")
    line = LineSeries("speed-up", speedup.x, speedup.y, speedup.low, speedup.high)
    return Figure("Speed-up over accelerators", Axis("Accelerators"), Axis("Speed-up", zero=True), (ideal, line))


FIGURE = FigureKind("scaling", "Speed-up", "scaling", build, order=10)
