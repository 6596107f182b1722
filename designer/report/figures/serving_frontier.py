"""Latency over load of a serving workload, with the knee."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, Figure, FigureKind, LineSeries

_ROLES = ("main", "second", "decode", "measured")


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """The frontier, the knee as a point; None where the study gives none."""
    curves = result.curves.get("serving-frontier", ())
    if not curves:
        return None
    lines = tuple(LineSeries(c.name, c.x, c.y, role=role) for c, role in zip(curves, _ROLES, strict=True))
    return Figure("Latency and load", Axis("Requests", "1/s", zero=True), Axis("Time", "s", log=True), lines)


FIGURE = FigureKind("serving-frontier", "Latency and load", "flow", build, order=5)
