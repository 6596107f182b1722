"""What is left to see of traffic that runs behind computing."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.units import Ratio, Seconds


def exposed_time(traffic: Seconds, window: Seconds, overlap: Ratio) -> Seconds:
    """Traffic time that computing does not hide [s].

    Parameters
    ----------
    traffic
        Time of the traffic alone [s].
    window
        Computing it may run behind [s].
    overlap
        Share that software starts early enough to hide [1].

    Notes
    -----
    max(traffic - window, (1 - overlap) traffic), never below 0: never less than what is started too late.
    """
    return Seconds(max(traffic - window, (1 - overlap) * traffic, 0.0))


FORMULA: Final = Formula(
    "exposed-traffic", "Exposed traffic", exposed_time, ("megatron-2021",), "traffic in many small buckets"
)
