"""Where the time of one request goes: a usual one, and a slow one."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, BarSeries, Figure, FigureKind

_ROLES = {
    "waiting": "idle",
    "prompt": "compute",
    "hand-over": "communication",
    "first token": "input",
    "answer": "decode",
}


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """A lane for each of the two; None where the study gives none."""
    curves = result.curves.get("serving-request", ())
    if not curves:
        return None
    names = list(dict.fromkeys(c.name.rpartition(" ")[0] for c in curves))
    bars: list[BarSeries] = []
    for name in names:
        mine = [c for c in curves if c.name.rpartition(" ")[0] == name]
        bars.append(
            BarSeries(
                name,
                tuple(c.y[0] for c in mine),
                tuple(c.x[1] - c.x[0] for c in mine),
                start=tuple(c.x[0] for c in mine),
                role=_ROLES.get(name, "quiet"),
            )
        )
    lanes = ("a usual request", "a slow one")
    return Figure(
        "One request", Axis("Time", "s", zero=True), Axis("", categories=lanes), bars=tuple(bars), sideways=True
    )


FIGURE = FigureKind("serving-request", "One request", "timeline", build, order=55)
