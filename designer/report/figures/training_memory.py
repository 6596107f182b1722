"""Memory of one accelerator in training: what takes it, and what there is."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, BarSeries, Figure, FigureKind, TickSeries


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """A bar for each use, the capacity as a mark; None where the study gives none."""
    curves = result.curves.get("memory", ())
    if not curves:
        return None
    used = [c for c in curves if c.name != "capacity"]
    capacity = next((c.y[0] for c in curves if c.name == "capacity"), None)
    names = (*(c.name for c in used), "together")
    values = (*(c.y[0] for c in used), sum(c.y[0] for c in used))
    places = tuple(float(k) for k in range(len(names)))
    ticks = (TickSeries("capacity", (places[-1],), (capacity,)),) if capacity is not None else ()
    bars = (BarSeries("memory of one accelerator", places, values),)
    axis = Axis("Memory", "B", zero=True)
    return Figure("Memory of one accelerator", axis, Axis("", categories=names), bars=bars, ticks=ticks, sideways=True)


FIGURE = FigureKind("training-memory", "Memory", "timeline", build, order=20)
