"""Predictions of drawn designs against measurements: error by group and area, and whether bands hold."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from designer.analysis.study import analyze
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.errors import AnalysisError, DesignerError
from designer.findings import Severity
from designer.formulas.scoring import Scored, Sided, band_score, group_medians, macro_mean, point_error
from designer.sources import Estimate


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement: which metric of which workload on which design, and what was measured, in SI units."""

    id: str
    area: str
    group: str
    source: str
    metric: str
    value: float
    sided: Sided
    workload: WorkloadSpec


@dataclass(frozen=True, slots=True)
class Outcome:
    """A measurement beside its prediction; ``problem`` says why there is none, or why it could not run as told."""

    measured: Measured
    predicted: Estimate | None
    error: float
    problem: str = ""

    @property
    def inside(self) -> bool | None:
        """Whether the measurement lies in the band; None for one-sided ones and where nothing is predicted."""
        if self.predicted is None or self.measured.sided is not Sided.BOTH:
            return None
        return self.predicted.low <= self.measured.value <= self.predicted.high


@dataclass(frozen=True, slots=True)
class Validation:
    """All outcomes, with their scores: errors are |ln(predicted ÷ measured)|, median in a group, mean over groups."""

    outcomes: tuple[Outcome, ...]
    groups: Mapping[str, float]
    areas: Mapping[str, float]
    error: float
    coverage: float
    width: float


def predict(design: Design, measured: Measured) -> Outcome:
    """The prediction for one measurement."""
    try:
        asked = with_changes(design, workloads=[measured.workload], default_workload="", assertions=[])
        result = analyze(asked, [measured.workload.id], curves=False).workloads[0]
        found = result.metrics
        estimate = found.get(measured.metric)
        if estimate is None:
            raise AnalysisError(
                f"the workload has no metric {measured.metric!r}", remedy=f"its metrics: {', '.join(found)}"
            )
    except DesignerError as error:
        return Outcome(measured, None, math.inf, str(error).replace(f"workloads.{measured.workload.id}", "workload"))
    doubts = "; ".join(str(f.text) for f in result.findings if f.severity is Severity.ERROR)
    return Outcome(measured, estimate, point_error(_scored(measured, estimate)), doubts)


def _scored(measured: Measured, estimate: Estimate) -> Scored:
    return Scored(
        measured.group, estimate.value, measured.value, estimate.low, estimate.high, measured.sided
    )  # fmt: skip


def score(outcomes: Sequence[Outcome]) -> Validation:
    """The scores of outcomes; those without a prediction count in none, but are listed."""
    pairs = [(o.measured, _scored(o.measured, o.predicted)) for o in outcomes if o.predicted is not None]
    points = [point for _, point in pairs]
    areas = sorted({measured.area for measured, _ in pairs})
    bands = band_score(points)
    return Validation(
        tuple(outcomes),
        group_medians(points),
        {area: macro_mean(point for measured, point in pairs if measured.area == area) for area in areas},
        macro_mean(points),
        bands.coverage,
        bands.width,
    )
