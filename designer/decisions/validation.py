"""Predictions of drawn designs against measurements: error by group and area, and whether bands hold."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.analysis.study import analyze
from designer.design.document import Design, WorkloadSpec, with_changes
from designer.engine.accelerators import number
from designer.engine.network import build_network
from designer.engine.results import WorkloadResult
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError, DesignerError
from designer.findings import Severity
from designer.formulas.scoring import BandScore, Scored, Sided, band_score, group_medians, macro_mean, point_error
from designer.sources import Constant, Estimate, Status

#: a run that is published fitted; beyond this excess of the estimated memory it is another run that was described
MEMORY_EXCESS: Final = Constant(1.5, 1.2, 2.0, "assumed-training", Status.ASSUMED, "1", "memory estimate over memory")


@dataclass(frozen=True, slots=True)
class Measured:
    """One measurement: which metric of which workload on which design, and what was measured, in SI units.

    Parameters
    ----------
    per_accelerator
        True if the metric is stated for one of the accelerators that take part.
    place
        File and place of the measurement, for messages.
    """

    id: str
    area: str
    group: str
    source: str
    metric: str
    value: float
    sided: Sided
    workload: WorkloadSpec
    per_accelerator: bool = False
    place: str = ""


@dataclass(frozen=True, slots=True)
class Outcome:
    """A measurement next to its prediction; ``problem`` says why there is none, or why it is in doubt."""

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
    """All outcomes, with their scores: errors are |ln(predicted ÷ measured)|, median in a group, mean over groups.

    Parameters
    ----------
    bands
        How well the bands of each area hold; ``coverage`` and ``width`` are those of all points.
    """

    outcomes: tuple[Outcome, ...]
    groups: Mapping[str, float]
    areas: Mapping[str, float]
    error: float
    coverage: float
    width: float
    bands: Mapping[str, BandScore]


def predict(design: Design, measured: Measured) -> Outcome:
    """The prediction for one measurement; whatever goes wrong is its problem alone."""
    try:
        others = {k: w for k, w in design.workloads.items() if k != measured.workload.id}
        asked = with_changes(
            design, workloads=[*others.values(), measured.workload], default_workload="", assertions=[]
        )
        with np.errstate(all="ignore"):
            result = analyze(asked, [measured.workload.id], curves=False).workloads[0]
        found = result.metrics
        _demand_room(asked, result)
        estimate = found.get(measured.metric)
        if estimate is None:
            raise AnalysisError(
                f"the workload has no metric {measured.metric!r} with these settings",
                remedy=f"its metrics: {', '.join(found)}",
            )
        if measured.per_accelerator:
            estimate = estimate.scaled(1 / _taking_part(asked, measured.workload))
    except DesignerError as error:
        return Outcome(measured, None, math.inf, str(error).replace(f"workloads.{measured.workload.id}", "workload", 1))
    except Exception as error:
        # a mistake of the program must not hide the other measurements
        if os.environ.get("DESIGNER_TRACEBACK"):
            raise
        return Outcome(measured, None, math.inf, f"a mistake in the program: {type(error).__name__}: {error}")
    if not (math.isfinite(estimate.value) and estimate.value > 0):
        return Outcome(
            measured,
            None,
            math.inf,
            f"the prediction is {estimate.value:g} {estimate.unit} — check the sizes in the settings",
        )
    doubts = "; ".join(str(f.text) for f in result.findings if f.severity is Severity.ERROR)
    return Outcome(measured, estimate, point_error(_score(measured, estimate)), doubts)


def _demand_room(design: Design, result: WorkloadResult) -> None:
    """Refuse what needs far more memory than there is; a little more may be the fault of the estimate, for it ran."""
    need = result.metrics.get("memory_per_gpu")
    tight = next((f for f in result.findings if f.code == "TRAIN-MEMORY"), None)
    if need is None or tight is None or not tight.where:
        return
    network = build_network(design)
    at = f"workloads.{result.id}"
    room = number(network, int(resolve(network, tight.where[0], at)[0]), "memory_capacity")
    if room and need.value > room * MEMORY_EXCESS.value:
        raise AnalysisError(tight.text, place=at, remedy=tight.remedy)


def _taking_part(design: Design, workload: WorkloadSpec) -> int:
    """Accelerators that a job uses: those of its layout where it states one, else those of its group."""
    degrees = [workload.settings.get(name, 1) for name in ("data", "tensor", "pipeline", "context")]
    if "data" in workload.settings and all(isinstance(d, int) and d > 0 for d in degrees):
        return math.prod(d for d in degrees if isinstance(d, int))
    group = str(workload.settings.get("group", "gpus"))
    return len(resolve(build_network(design), group, f"workloads.{workload.id}.group"))


def _score(measured: Measured, estimate: Estimate) -> Scored:
    return Scored(measured.group, estimate.value, measured.value, estimate.low, estimate.high, measured.sided)


def score(outcomes: Sequence[Outcome]) -> Validation:
    """The scores of outcomes; those without a prediction count in none, but are listed."""
    pairs = [(o.measured, _score(o.measured, o.predicted)) for o in outcomes if o.predicted is not None]
    points = [point for _, point in pairs]
    areas = {
        area: [point for measured, point in pairs if measured.area == area]
        for area in sorted({measured.area for measured, _ in pairs})
    }
    bands = band_score(points)
    return Validation(
        tuple(outcomes),
        group_medians(points),
        {area: macro_mean(of) for area, of in areas.items()},
        macro_mean(points),
        bands.coverage,
        bands.width,
        {area: band_score(of) for area, of in areas.items()},
    )
