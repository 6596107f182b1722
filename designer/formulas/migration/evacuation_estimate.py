"""Emptying a host in closed form: bytes over the link, plus the fixed part of every batch."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.formulas.migration._esxi import BANDWIDTH_SPREAD, SETUP_TIME
from designer.formulas.migration._inputs import at_least_one, positive
from designer.sources import Estimate
from designer.units import BytesPerSecond

SOURCES: Final = ("vmware-docs-limits", "migration-assumed", "migration-calibration")


def evacuation_estimate(sizes: Sequence[float], bandwidth: BytesPerSecond, concurrency: int = 1) -> Estimate:
    """Time to move all virtual machines off one host [s].

    Parameters
    ----------
    sizes
        Bytes each moves: memory with its resent pages, plus vGPU memory [B].
    bandwidth
        The lesser of what the source sends and the destinations take together [B/s].
    concurrency
        Migrations at once; 1 for virtual machines with virtual GPUs, whose stun it would multiply.

    Raises
    ------
    AnalysisError
        If there is nothing to move, or a size, rate or count is not positive.

    Notes
    -----
    T = max(Σ bytes / B, longest / B) + ceil(N / c) · fixed. Concurrency hides only the fixed part.
    """
    if not sizes:
        raise AnalysisError("there is no virtual machine to move", remedy="give at least one")
    positive(bandwidth, "bandwidth")
    at_least_one(concurrency, "concurrency")
    moved = sum(positive(size, "size") for size in sizes)
    batches = math.ceil(len(sizes) / concurrency)
    return Estimate(
        moved / bandwidth + batches * SETUP_TIME.value,
        moved / (bandwidth * BANDWIDTH_SPREAD.high) + batches * SETUP_TIME.low,
        moved / (bandwidth * BANDWIDTH_SPREAD.low) + batches * SETUP_TIME.high,
        "s",
        SOURCES,
    )


FORMULA: Final = Formula(
    name="evacuation-estimate",
    title="Time to empty a host, closed form",
    function=evacuation_estimate,
    sources=SOURCES,
    valid_when="one host, link-bound; see the schedule for several hosts",
)
