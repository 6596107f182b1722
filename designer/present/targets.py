"""Targets: a value that was asked for, compared with an estimate by its band."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from designer.errors import UnitError
from designer.present.blocks import Tone
from designer.sources import Estimate
from designer.units import DIMENSION_OF_UNIT, parse

if TYPE_CHECKING:
    from designer.design.document import Design


class Verdict(StrEnum):
    """What a band says about a target, best first."""

    MET = "met"  #: the whole band is good
    LIKELY = "likely"  #: the value is good, the band crosses the target
    UNLIKELY = "unlikely"  #: the value is bad, the band crosses the target
    NOT_MET = "not met"  #: the whole band is bad

    @property
    def good(self) -> bool:
        """True if the value itself is on the good side."""
        return self in (Verdict.MET, Verdict.LIKELY)

    @property
    def tone(self) -> Tone:
        """Colour of the verdict."""
        return {"met": Tone.GOOD, "likely": Tone.GOOD, "unlikely": Tone.WARNING}.get(self.value, Tone.BAD)


@dataclass(frozen=True, slots=True)
class Target:
    """A value asked of a metric: ``asked``, ``limit`` or ``target``, the comparison and the value in SI units."""

    metric: str
    word: str
    comparison: str
    value: float


def judge(found: Estimate, comparison: str, target: float) -> Verdict:
    """The verdict on ``found comparison target``."""
    good = [_holds(v, comparison, target) for v in (found.low, found.value, found.high)]
    if comparison == "==":
        # a band that holds the target may meet it; only a band of nothing but the target does for sure
        inside = found.low <= target <= found.high
        return (
            Verdict.MET if all(good) else Verdict.LIKELY if good[1] else Verdict.UNLIKELY if inside else Verdict.NOT_MET
        )
    if all(good):
        return Verdict.MET
    if not any(good):
        return Verdict.NOT_MET
    return Verdict.LIKELY if good[1] else Verdict.UNLIKELY


def _holds(value: float, comparison: str, target: float) -> bool:
    if comparison == "==":
        return abs(value - target) <= 1e-9 * max(abs(value), abs(target))
    above = value > target if comparison in (">", ">=") else value < target
    return above or ("=" in comparison and value == target)


def parsed(value: str, unit: str) -> float | None:
    """A target as it was written, in the SI unit of its metric; None where it cannot be read."""
    try:
        return parse(value, DIMENSION_OF_UNIT[unit])
    except (UnitError, KeyError):
        try:
            return float(value.split()[0].replace(",", ""))
        except (ValueError, IndexError):
            return None


def targets_of(design: Design, workload: str, units: dict[str, str]) -> dict[str, Target]:
    """Targets of a workload by metric: what its settings ask for, and the promises of the design.

    Parameters
    ----------
    units
        SI units of its metrics.
    """
    found: dict[str, Target] = {}
    spec = design.workloads.get(workload)
    settings = spec.settings if spec is not None else {}
    at = str(settings.get("limit_at", "p95"))
    for setting, metrics, word, comparison in (
        ("rate", ("most_requests_per_second", "most_samples_per_second"), "asked", ">="),
        ("ttft_limit", (f"ttft_{at}", "ttft_p95"), "limit", "<="),
        ("tpot_limit", ("tpot",), "limit", "<="),
        ("latency_limit", (f"latency_{at}", "latency_p95"), "limit", "<="),
    ):
        metric = next((name for name in metrics if name in units), None)
        written = settings.get(setting)
        if metric is None or not isinstance(written, str):
            continue
        value = parsed(written, units[metric])
        if value is not None and value > 0:
            found[metric] = Target(metric, word, comparison, value)
    for promise in design.assertions.values():
        if promise.workload != workload or promise.metric not in units:
            continue
        value = parsed(promise.value, units[promise.metric])
        if value is not None:
            found[promise.metric] = Target(promise.metric, "target", promise.comparison, value)
    return found
