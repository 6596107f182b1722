"""Link utilisation: the busiest channels of the shown workload, each as a share of what it can achieve."""

from __future__ import annotations

from designer.design.document import Design
from designer.design.naming import link_title
from designer.engine.results import Analysis, WorkloadResult
from designer.engine.routes.channel_rows import busiest_first
from designer.report.figure import Axis, BarSeries, Figure, FigureKind

_MOST = 12
_SATURATED = 0.95


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """The busiest channels, most used on top."""
    busy = [analysis.channels[i] for i in busiest_first(analysis.channels, idle=False)[:_MOST]]
    if not busy:
        return None
    bars: list[BarSeries] = []
    for name, role, full in (("in use", "main", False), ("saturated", "bound", True)):
        at = [i for i, row in enumerate(busy) if (row.utilization >= _SATURATED) is full]
        if at:
            shares = tuple(busy[i].utilization for i in at)
            keys = tuple(busy[i].id for i in at)
            bars.append(BarSeries(name, tuple(float(i) for i in at), shares, role=role, keys=keys))
    ends = [f"{r.source} → {r.target}" for r in busy]
    names = tuple(link_title(design, label, alone=True) for label in ends)
    if len(set(names)) < len(ends):
        names = tuple(link_title(design, label) for label in ends)
    return Figure(
        "Busiest links",
        Axis("Share of achievable rate", "1", zero=True),
        Axis("Channel", categories=names),
        bars=tuple(bars),
        sideways=True,
    )


FIGURE = FigureKind("link-utilization", "Busiest links", "improve", build, order=20)
