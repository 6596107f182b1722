"""Predicted over measured: every measurement of a validation with its band, by group, against the diagonal."""

from __future__ import annotations

from typing import Final

from designer.decisions.validation import Outcome, Validation
from designer.design.document import Design
from designer.engine.results import Analysis, WorkloadResult
from designer.report.figure import Axis, Figure, FigureKind, LineSeries
from designer.units import DIMENSION_OF_UNIT

#: the curves of a result that hold a validation, one for each group: measured over predicted with its band
CURVES: Final = "predicted-measured"
#: groups beyond this many share one colour
GROUPS_SHOWN: Final = 12
_NAMES: Final = {"B/s": "Rate", "s": "Time", "1/s": "Per second", "B": "Size", "1": "Number"}


def figures_of(found: Validation) -> tuple[Figure, ...]:
    """One figure for each unit of the measurements, log over log; values in SI units."""
    scored = [o for o in found.outcomes if o.predicted is not None]
    order = [unit for unit in DIMENSION_OF_UNIT if any(o.predicted.unit == unit for o in scored if o.predicted)]
    return tuple(_figure(unit, [o for o in scored if o.predicted and o.predicted.unit == unit]) for unit in order)


def _figure(unit: str, outcomes: list[Outcome]) -> Figure:
    groups: dict[str, list[Outcome]] = {}
    for outcome in sorted(outcomes, key=lambda o: o.measured.value):
        groups.setdefault(outcome.measured.group, []).append(outcome)
    largest = sorted(groups, key=lambda name: (-len(groups[name]), name))
    if len(largest) > GROUPS_SHOWN:
        rest = largest[GROUPS_SHOWN - 1 :]
        gathered = sorted((o for name in rest for o in groups[name]), key=lambda o: o.measured.value)
        named = [(name, groups[name]) for name in largest[: GROUPS_SHOWN - 1]]
        lines = [_series(name, of) for name, of in [*named, (f"{len(rest)} other groups", gathered)]]
    else:
        lines = [_series(name, groups[name]) for name in largest]
    return _over_diagonal(unit, lines)


def _series(name: str, outcomes: list[Outcome]) -> LineSeries:
    predicted = [o.predicted for o in outcomes if o.predicted is not None]
    return LineSeries(
        name,
        tuple(o.measured.value for o in outcomes),
        tuple(p.value for p in predicted),
        tuple(p.low if p.low > 0 else p.value for p in predicted),
        tuple(p.high for p in predicted),
        "measured",
    )


def _over_diagonal(unit: str, lines: list[LineSeries]) -> Figure:
    every = [v for line in lines for v in (*line.x, *line.y, *line.low, *line.high)]
    ends = (min(every), max(every))
    diagonal = LineSeries("as measured", ends, ends, role="ideal")
    title = _NAMES.get(unit, unit)
    count = sum(len(line.x) for line in lines)
    return Figure(
        f"{title}: predicted over measured, {count} points",
        Axis("Measured", unit, log=True),
        Axis("Predicted, 80% band", unit, log=True),
        (diagonal, *lines),
    )


def build(design: Design, analysis: Analysis, result: WorkloadResult) -> Figure | None:
    """The same from a result that carries a validation; None where it does not."""
    curves = result.curves.get(CURVES, ())
    if not curves:
        return None
    lines = [LineSeries(c.name, c.x, c.y, c.low, c.high, "measured") for c in curves]
    return _over_diagonal(next((m.unit for m in result.metrics.values()), "1"), lines)


FIGURE = FigureKind("predicted-measured", "Predicted over measured", "flow", build, order=90)
