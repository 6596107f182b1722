"""Flow stages: the way of the slowest flow as bars with the capacity of each stage, so one sees where it chokes."""

from __future__ import annotations

from designer.analysis.results import Analysis, Flow, WorkloadResult
from designer.design.document import Design
from designer.report.figure import Axis, BarSeries, Figure, FigureKind, TickSeries

#: a way of more stages than this is cut
_MOST = 14
_LISTED = 400


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """The stages of the slowest listed flow."""
    if result.kind != "transfer" or not result.n_flows:
        return None
    flows = [f for f in result.flows[:_LISTED] if f.via]
    return stages(analysis, min(flows, key=lambda f: f.rate)) if flows else None


def stages(analysis: Analysis, flow: Flow) -> Figure | None:
    """The stages of one flow: load and capacity of every channel on its way. [B/s]"""
    rows = {row.id: row for row in analysis.channels}
    way = [rows[c] for c in flow.via if c in rows][:_MOST]
    if not way:
        return None
    names = tuple(f"{row.source} → {row.target}" for row in way)
    bound = [row.id in flow.bound_by for row in way]
    own = tuple(min(flow.rate, row.load) for row in way)
    bars: list[BarSeries] = []
    for series, role, wanted in (("this flow", "main", False), ("this flow, bound here", "bound", True)):
        at = [i for i, b in enumerate(bound) if b is wanted]
        if at:
            bars.append(
                BarSeries(
                    series,
                    tuple(float(i) for i in at),
                    tuple(own[i] for i in at),
                    role=role,
                    keys=tuple(way[i].id for i in at),
                )
            )
    others = [(i, row) for i, row in enumerate(way) if row.load - own[i] > 0]
    if others:
        bars.append(
            BarSeries(
                "other flows",
                tuple(float(i) for i, _ in others),
                tuple(row.load - own[i] for i, row in others),
                tuple(own[i] for i, _ in others),
                role="quiet",
                keys=tuple(row.id for _, row in others),
            )
        )
    capacity = TickSeries("raw capacity", tuple(float(i) for i in range(len(way))), tuple(row.capacity for row in way))
    return Figure(
        f"Way of {flow.source} → {flow.target}",
        Axis("Bandwidth, one direction", "B/s", zero=True),
        Axis("Stage", categories=names),
        bars=tuple(bars),
        ticks=(capacity,),
        sideways=True,
    )


FIGURE = FigureKind("flow-stages", "Stages of a flow", "flow", build, order=10)
