"""Step timeline: the parts of one training step, one after the other."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, BarSeries, Figure, FigureKind


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """A lane for each part of the step; None where the study gives none."""
    curves = result.curves.get("step-timeline", ())
    if not curves:
        return None
    bars = tuple(
        BarSeries(c.name.replace("_", " "), (float(k),), (c.x[1] - c.x[0],), start=(c.x[0],), role=_role(c.name))
        for k, c in enumerate(curves)
    )
    names = tuple(c.name.replace("_", " ") for c in curves)
    return Figure(
        "One step, part by part", Axis("Time", "s", zero=True), Axis("", categories=names), bars=bars, sideways=True
    )


def _role(name: str) -> str:
    """The colour of a part: waiting for data or for others contrasts with computing."""
    if "input" in name or "stall" in name:
        return "input"
    if any(word in name for word in ("commun", "tensor", "data", "expert", "pipeline", "bubble")):
        return "communication"
    return "idle" if "wait" in name else "decode" if "optim" in name else "compute"


FIGURE = FigureKind("step-timeline", "One step", "timeline", build, order=10)
