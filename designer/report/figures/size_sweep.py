"""Size sweep: bus bandwidth of a collective over the size of its message, with its band."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, Figure, FigureKind, LineSeries


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """Bus bandwidth over message size; None where the study made no sweep."""
    curves = [c for c in result.curves.get("size-sweep", ()) if c.name == "bus bandwidth"]
    if not curves or len(curves[0].x) < 2:
        return None
    lines = tuple(LineSeries(c.name, c.x, c.y, c.low, c.high) for c in curves)
    return Figure(
        "Bus bandwidth over message size",
        Axis("Message", "B", log=True),
        Axis("Bus bandwidth", "B/s", zero=True),
        lines,
    )


FIGURE = FigureKind("size-sweep", "Bus bandwidth over size", "flow", build, order=20)
