"""A promise about a figure of the answer: what it says now, and the edit that writes it into the design."""

from __future__ import annotations

import math
from typing import Final, Literal

from designer.design.document import Assertion, Design
from designer.design.edit import Edit
from designer.design.edits.assertions import AddAssertions, RemoveAssertions
from designer.design.edits.together import Together
from designer.design.ids import next_id
from designer.sources import Estimate
from designer.units import DIMENSION_OF_UNIT, format_si, parse, write
from designer.workload.metrics import Better, better

#: digits of the value that is offered
_DIGITS: Final = 3

Comparison = Literal["<=", ">="]
SIGNS: Final[dict[Comparison, str]] = {"<=": "≤", ">=": "≥"}


def comparison_of(metric: str, kind: str) -> Comparison | None:
    """What a promise about a metric demands: at least or at most; None where neither is better."""
    return {Better.MORE: ">=", Better.LESS: "<="}.get(better(metric, kind))  # type: ignore[return-value]


def value_offered(estimate: Estimate, comparison: Comparison) -> str:
    """The value of now in three digits, rounded so that the promise holds: ``12.3 1/s``, ``87.4 s``."""
    value = estimate.value
    if value and math.isfinite(value):
        step = 10.0 ** (math.floor(math.log10(abs(value))) + 1 - _DIGITS)
        steps = value / step
        # a value of three digits is itself
        near = abs(steps - round(steps)) < 1e-9 * abs(steps)
        whole = round(steps) if near else math.floor(steps) if comparison == ">=" else math.ceil(steps)
        value = float(f"{whole * step:.{_DIGITS}g}")
    return write(value, DIMENSION_OF_UNIT[estimate.unit])


def promised(design: Design, workload: str, metric: str, unit: str, comparison: Comparison, text: str) -> Edit:
    """The edit that writes a promise into the design, in place of one about the same figure.

    Parameters
    ----------
    unit
        SI unit of the metric.
    text
        The value, with its unit or as a bare number of SI units.

    Raises
    ------
    UnitError
        If it cannot be read as a value of the metric.
    """
    dimension = DIMENSION_OF_UNIT[unit]
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        value = parse(text, dimension)
    added = Assertion(
        id=next_id(design.assertions, "promise1"),
        workload=workload,
        metric=metric,
        comparison=comparison,
        value=write(value, dimension),
    )
    before = tuple(
        a.id
        for a in design.assertions.values()
        if (a.workload, a.metric, a.comparison) == (workload, metric, comparison)
    )
    add = AddAssertions((added,))
    if not before:
        return add
    shown = f"{SIGNS[comparison]} {format_si(value, unit)}"
    return Together((RemoveAssertions(before), add), f"Promise {metric} {shown}")


def formula_of(workload: str, metric: str, comparison: Comparison, text: str) -> str:
    """The promise in the language of design tests."""
    return f'{metric}("{workload}") {comparison} {text}'
