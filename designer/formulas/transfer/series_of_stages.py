"""Stages one after the other that do not overlap."""

from __future__ import annotations

from collections.abc import Sequence

from designer.formulas.formula import Formula


def series_of_stages(bandwidths: Sequence[float]) -> float:
    """Bandwidth of stages that each wait for the one before: 1 ÷ Σ(1/Bᵢ) [B/s].

    A pipeline whose stages overlap runs at min(Bᵢ) instead. No stage at all is no limit.

    Raises
    ------
    AssertionError
        If a bandwidth is negative.
    """
    if any(bandwidth < 0 for bandwidth in bandwidths):
        raise AssertionError("a bandwidth cannot be negative")
    if any(bandwidth == 0 for bandwidth in bandwidths):
        return 0.0
    seconds = sum(1 / bandwidth for bandwidth in bandwidths)
    return 1 / seconds if seconds else float("inf")


FORMULA = Formula(
    name="series-of-stages",
    title="Stages that do not overlap",
    function=series_of_stages,
    sources=("hockney-1994",),
    valid_when="each stage starts when the one before has finished, e.g. one bounce buffer",
)
