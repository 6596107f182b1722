"""How far predictions lie from measurements: the same score everywhere. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from statistics import mean, median


class Sided(StrEnum):
    """What a published number says about the truth."""

    BOTH = "both"  #: it was measured
    LOWER = "lower"  #: the truth is at least this
    UPPER = "upper"  #: the truth is at most this


@dataclass(frozen=True, slots=True)
class Scored:
    """One prediction against one published number, same unit.

    Parameters
    ----------
    group
        Points of one publication or machine; the median inside a group counts.
    low, high
        80 % band of the prediction; NaN when it has none.
    slack
        A one-sided bound allows predictions up to this factor beyond it; infinite by default.
    """

    group: str
    predicted: float
    measured: float
    low: float = math.nan
    high: float = math.nan
    sided: Sided = Sided.BOTH
    slack: float = math.inf


@dataclass(frozen=True, slots=True)
class BandScore:
    """How well bands hold.

    Parameters
    ----------
    coverage
        Share of two-sided points inside their band [1].
    width
        Median of ln(high/low) ÷ 2 [1]: 0.1 is about ±10 %.
    points
        Number of points with a band.
    """

    coverage: float
    width: float
    points: int


def log_error(predicted: float, measured: float) -> float:
    """|ln(predicted/measured)| [1]; infinite when either is not positive."""
    if predicted <= 0 or measured <= 0:
        return math.inf
    return abs(math.log(predicted / measured))


def one_sided_error(predicted: float, bound: float, sided: Sided, slack: float = math.inf) -> float:
    """0 where the bound is kept and passed by no more than the slack factor, else the shortfall as a log error [1]."""
    if predicted <= 0 or bound <= 0:
        return math.inf
    excess = math.log(predicted / bound) * (-1 if sided is Sided.UPPER else 1)
    return max(0.0, -excess, excess - math.log(slack))


def point_error(point: Scored) -> float:
    """Error of one point, one-sided or not [1]."""
    if point.sided is Sided.BOTH:
        return log_error(point.predicted, point.measured)
    return one_sided_error(point.predicted, point.measured, point.sided, point.slack)


def group_medians(points: Iterable[Scored]) -> Mapping[str, float]:
    """Median error of each group [1], groups in order of name."""
    groups: dict[str, list[float]] = {}
    for point in points:
        groups.setdefault(point.group, []).append(point_error(point))
    return {name: median(errors) for name, errors in sorted(groups.items())}


def macro_mean(points: Iterable[Scored]) -> float:
    """Mean over groups of the median error inside each [1]; NaN without points."""
    medians = group_medians(points).values()
    return mean(medians) if medians else math.nan


def band_score(points: Iterable[Scored]) -> BandScore:
    """Coverage and width of the bands of the two-sided points."""
    banded = [point for point in points if point.sided is Sided.BOTH and point.low <= point.high and point.low > 0]
    if not banded:
        return BandScore(math.nan, math.nan, 0)
    held = sum(point.low <= point.measured <= point.high for point in banded)
    widths = [math.log(point.high / point.low) / 2 for point in banded]
    return BandScore(held / len(banded), median(widths), len(banded))
