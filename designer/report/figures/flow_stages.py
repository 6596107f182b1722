"""Flow stages: the path of the slowest flow as bars with the capacity of each stage, so one sees where it chokes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.design.document import Design
from designer.design.naming import link_title
from designer.engine.results import Analysis, ChannelRow, Flow, Rows, WorkloadResult
from designer.engine.routes.channel_rows import with_ids
from designer.report.figure import Axis, BarSeries, Figure, FigureKind, TickSeries

#: a way of more stages than this is cut
_MOST = 14
_LISTED = 400
_MEMBER: Final = re.compile(r"\[\d+\]")


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """The stages of the slowest listed flow."""
    if result.kind != "transfer" or not result.n_flows:
        return None
    slowest = _slowest(result.flows)
    return stages(design, analysis, slowest) if slowest is not None else None


def _slowest(flows: Sequence[Flow]) -> Flow | None:
    """The slowest of the first flows that has a path; of flows that know their rates only that one is made."""
    rank = flows.rank if isinstance(flows, Rows) else None
    if rank is None:
        return min((f for f in flows[:_LISTED] if f.via), key=lambda f: f.rate, default=None)
    order = np.argsort(rank[:_LISTED], kind="stable").tolist()
    return next((flows[i] for i in order if flows[i].via), None)


@dataclass(frozen=True, slots=True)
class Stage:
    """Channels a flow uses side by side: what they carry and can carry together. [B/s]"""

    label: str
    load: float
    capacity: float
    bottleneck: bool
    key: str


def stages(design: Design, analysis: Analysis, flow: Flow) -> Figure | None:
    """One flow of a design: load and capacity of the channels on its path, parallel ones as one stage. [B/s]"""
    way = _stages(design, analysis, flow)[:_MOST]
    if not way:
        return None
    own = tuple(min(flow.rate, stage.load) for stage in way)
    bars: list[BarSeries] = []
    for series, role, wanted in (("this flow", "main", False), ("this flow, its bottleneck", "bound", True)):
        at = [i for i, stage in enumerate(way) if stage.bottleneck is wanted]
        if at:
            places, keys = tuple(float(i) for i in at), tuple(way[i].key for i in at)
            bars.append(BarSeries(series, places, tuple(own[i] for i in at), role=role, keys=keys))
    others = [i for i, stage in enumerate(way) if stage.load > own[i]]
    if others:
        places, keys = tuple(float(i) for i in others), tuple(way[i].key for i in others)
        rest = tuple(way[i].load - own[i] for i in others)
        bars.append(BarSeries("other flows", places, rest, tuple(own[i] for i in others), role="quiet", keys=keys))
    capacity = TickSeries("raw capacity", tuple(float(i) for i in range(len(way))), tuple(s.capacity for s in way))
    return Figure(
        f"Path of {link_title(design, f'{flow.source} → {flow.target}')}",
        Axis("Bandwidth, each way", "B/s", zero=True),
        Axis("Stage", categories=tuple(stage.label for stage in way)),
        bars=tuple(bars),
        ticks=(capacity,),
        sideways=True,
    )


def _stages(design: Design, analysis: Analysis, flow: Flow) -> list[Stage]:
    """Channels whose ends differ only in the number of a member are side by side: one stage."""
    bottleneck = set(flow.bound_by)
    rows = with_ids(analysis.channels, flow.via)
    found: dict[str, list[ChannelRow]] = {}
    for channel in flow.via:
        if channel in rows:
            row = rows[channel]
            found.setdefault(_MEMBER.sub("[*]", f"{row.source} → {row.target}"), []).append(row)
    return [
        Stage(
            link_title(design, f"{group[0].source} → {group[0].target}", alone=True)
            if len(group) == 1
            else f"{link_title(design, name, alone=True)} × {len(group)}",
            sum(row.load for row in group),
            sum(row.capacity for row in group),
            any(row.id in bottleneck for row in group),
            group[0].id,
        )
        for name, group in found.items()
    ]


FIGURE = FigureKind("flow-stages", "Stages of a flow", "flow", build, order=10)
