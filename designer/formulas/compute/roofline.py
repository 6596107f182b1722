"""Roofline: an operation takes the longer of its arithmetic and its memory traffic."""

from __future__ import annotations

from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Flop, FlopPerSecond, Seconds

#: memory-bound kernels reach 0.8 to 0.9 of the nominal memory bandwidth
MEMORY_SHARE: Final = Constant(0.85, 0.80, 0.90, "memory-share", Status.SECONDARY, "1", "STREAM-like kernels")


def roofline_time(
    work: Flop, traffic: Bytes, rate: FlopPerSecond, memory_bandwidth: BytesPerSecond, launch: Seconds
) -> Seconds:
    """Time of one kernel [s].

    Parameters
    ----------
    work, traffic
        Arithmetic [FLOP] and bytes moved to and from memory [B].
    rate
        Achievable arithmetic rate [FLOP/s].
    memory_bandwidth
        Nominal; the achievable share is applied here [B/s].
    launch
        Added to every kernel [s].

    Sources
    -------
    Williams, Waterman, Patterson 2009.
    """
    return Seconds(max(work / rate, traffic / (memory_bandwidth * MEMORY_SHARE.value)) + launch)


FORMULA: Final = Formula(
    "roofline",
    "Roofline",
    roofline_time,
    ("roofline-2009", "memory-share"),
    "kernels large enough to fill the accelerator",
)
