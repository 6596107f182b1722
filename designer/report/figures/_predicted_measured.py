"""Predicted against measured: a point for each case with its band, by group. It is made of cases, not of a study."""

from __future__ import annotations

from collections import defaultdict

from designer.analysis.validation import Outcome, Validation
from designer.report.figure import Axis, Figure, LineSeries


def build(found: Validation) -> Figure | None:
    """All cases with a prediction above zero, in the unit of their metric; None if there is none."""
    groups: defaultdict[str, list[Outcome]] = defaultdict(list)
    for outcome in found.outcomes:
        if outcome.predicted is not None and outcome.predicted.value > 0:
            groups[outcome.measured.group].append(outcome)
    if not groups:
        return None
    units = {o.predicted.unit for group in groups.values() for o in group if o.predicted}
    unit = units.pop() if len(units) == 1 else ""
    lines = tuple(_line(name, outcomes) for name, outcomes in groups.items())
    values = [v for line in lines for v in (*line.x, *line.y)]
    ends = (min(values), max(values))
    shown, listed = sum(len(line.x) for line in lines), len(found.outcomes)
    left = f"{listed - shown} of {listed} cases have no prediction above zero. " if shown < listed else ""
    mixed = "" if unit else "Each case in the SI unit of its metric. "
    return Figure(
        "Predicted against measured",
        Axis("Measured", unit, log=True),
        Axis("Predicted", unit, log=True),
        (LineSeries("equal", ends, ends, role="ideal"), *lines),
        note=f"Bars are 80 % bands. {mixed}{left}".strip(),
    )


def _line(name: str, outcomes: list[Outcome]) -> LineSeries:
    pairs = [(o.measured.value, o.predicted) for o in outcomes if o.predicted is not None]
    return LineSeries(
        name,
        tuple(measured for measured, _ in pairs),
        tuple(p.value for _, p in pairs),
        # a band that reaches zero has no end on a logarithmic axis: it stops at a hundredth of the value
        tuple(max(p.low, p.value / 100) for _, p in pairs),
        tuple(p.high for _, p in pairs),
        role="measured",
    )
