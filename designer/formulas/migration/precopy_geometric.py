"""Pre-copy in closed form: a geometric series, when nothing slows the guest and the working set is large."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.formulas.migration._esxi import SWITCHOVER_GOAL
from designer.formulas.migration._inputs import not_negative, positive
from designer.units import Bytes, BytesPerSecond, Seconds

SOURCES: Final = ("clark-2005", "akoush-2010", "esxi-advanced-settings")


@dataclass(frozen=True, slots=True)
class GeometricPrecopy:
    """Number of passes, their time [s], the data part of the switch-over [s], and bytes sent in the passes [B]."""

    passes: int
    precopy_time: float
    switchover_time: float
    sent: float


def precopy_geometric(
    memory: Bytes,
    bandwidth: BytesPerSecond,
    dirty_rate: BytesPerSecond,
    *,
    switchover_goal: Seconds = Seconds(SWITCHOVER_GOAL.value),
) -> GeometricPrecopy:
    """Passes n = ceil(ln(g·B/V) / ln r) and time (V/B)·(1 − rⁿ)/(1 − r) [s], with r = D/B below 1.

    Parameters
    ----------
    memory, bandwidth, dirty_rate, switchover_goal
        V [B], B [B/s], D [B/s] and g [s].

    Raises
    ------
    AnalysisError
        If the guest dirties as fast as the link sends: the series has no sum.

    Sources
    -------
    Clark 2005; Akoush 2010.
    """
    positive(memory, "memory")
    positive(bandwidth, "bandwidth")
    ratio = not_negative(dirty_rate, "dirty_rate") / bandwidth
    if ratio >= 1:
        raise AnalysisError(
            f"the guest dirties {ratio:.2f} times what the link sends",
            place="dirty_rate",
            remedy="use the pass-by-pass model, which knows throttling",
        )
    first = memory / bandwidth
    passes = 1
    if ratio > 0 and first * ratio > switchover_goal:
        passes = math.ceil(math.log(switchover_goal / first) / math.log(ratio))
    total = first * (1 - ratio**passes) / (1 - ratio)
    return GeometricPrecopy(passes, total, first * ratio**passes, total * bandwidth)


FORMULA: Final = Formula(
    name="precopy-geometric",
    title="Pre-copy as a geometric series",
    function=precopy_geometric,
    sources=SOURCES,
    valid_when="dirty rate below the bandwidth (for vMotion below bandwidth / 1.3), working set larger than each rest",
)
