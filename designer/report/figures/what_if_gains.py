"""What if: how much better the workload gets when a bottleneck has twice the capacity; ties count together."""

from __future__ import annotations

from designer.design.document import Design
from designer.engine.results import Analysis, Bottleneck, WorkloadResult
from designer.present.limits import named
from designer.report.figure import Axis, BarSeries, Figure, FigureKind

_MOST = 5
#: gains closer than this are stated as one
_SAME = 0.005


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """Gain of doubling what binds: all of a tied set at once first, then each sort alone."""
    bars = _gains(result.binding, design)
    if not bars:
        return None
    names = tuple(name for name, _, _ in bars)
    together = [i for i, (_, _, tied) in enumerate(bars) if tied]
    alone = [i for i, (_, _, tied) in enumerate(bars) if not tied]
    series: list[BarSeries] = []
    for title, role, at in (("all together", "bound", together), ("alone", "main", alone)):
        if at:
            values = tuple(max(0.0, bars[i][1] - 1) for i in at)
            labels = tuple(f"+{v * 100:.0f}%" for v in values)
            series.append(BarSeries(title, tuple(float(i) for i in at), values, role=role, labels=labels))
    return Figure(
        "Gain of twice the capacity",
        Axis("Gain", "1", zero=True),
        Axis("What is doubled", categories=names),
        bars=tuple(series),
        sideways=True,
    )


def _gains(bottlenecks: tuple[Bottleneck, ...], design: Design) -> list[tuple[str, float, bool]]:
    """Name, gain, and whether it is that of a tied set."""
    found: list[tuple[str, float, bool]] = []
    if sum(b.equal for b in bottlenecks) > 1 and bottlenecks[0].gain_together is not None:
        found.append(("All together", bottlenecks[0].gain_together, True))
    sorts = named([b for b in bottlenecks if b.gain_if_doubled is not None], design)[:_MOST]
    gains = {one.id: one.gain_if_doubled or 1.0 for one in reversed(bottlenecks)}
    alone = [(f"{one.title}, {one.phase}" if one.phase else one.title, gains[one.ids[0]]) for one in sorts]
    if found and len(alone) > 1 and max(gain for _, gain in alone) - min(gain for _, gain in alone) < _SAME:
        # a row for each would say the same again
        alone = [("Each alone", alone[0][1])]
    if found and len(alone) == 1 and abs(alone[0][1] - found[0][1]) < _SAME:
        alone = []
    return found + [(label, gain, False) for label, gain in alone]


FIGURE = FigureKind("what-if-gains", "What doubling gains", "improve", build, order=10)
