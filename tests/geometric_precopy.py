"""Pre-copy in closed form, to check the model of every round: a geometric series, while nothing slows the guest."""

from __future__ import annotations

import math
from dataclasses import dataclass

from designer.families.machines.formulas._esxi import SWITCHOVER_GOAL
from designer.units import Bytes, BytesPerSecond, Seconds


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

    Sources
    -------
    Clark 2005; Akoush 2010.
    """
    ratio = dirty_rate / bandwidth
    assert ratio < 1, "the series has no sum"
    first = memory / bandwidth
    passes = 1
    if ratio > 0 and first * ratio > switchover_goal:
        passes = math.ceil(math.log(switchover_goal / first) / math.log(ratio))
    total = first * (1 - ratio**passes) / (1 - ratio)
    return GeometricPrecopy(passes, total, first * ratio**passes, total * bandwidth)
