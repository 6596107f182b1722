"""Placement IDs of mixed-size mode by rule, where no table is published and to test those that are."""

from __future__ import annotations

from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula

SOURCES: Final = ("nvidia-aie-user-guide", "denneman-2026-mixed-size", "migration-calibration")


def framebuffer_slots(regions: int, size: int, *, multiples: bool = False) -> tuple[int, ...]:
    """Starts a profile of `size` may have in a frame buffer of `regions` placement units [units].

    Parameters
    ----------
    regions, size
        Frame buffer and profile [placement units, one per GB of the profile name].
    multiples
        Starts at multiples of the size (RTX PRO 6000 Blackwell) instead of the halving rule.

    Raises
    ------
    AnalysisError
        If the profile is larger than the GPU or a size is not positive.

    Notes
    -----
    The largest power of two of slots that fits; the frame buffer is halved until two slots share a part, and they
    take its two ends.

    Sources
    -------
    Rule found on the tables of 94, 80, 64, 48, 40, 32, 24, 20 and 16 GB, without mismatch.
    """
    if size < 1 or regions < 1:
        raise AnalysisError(f"a profile of {size} on a GPU of {regions}", remedy="give sizes of at least 1")
    if size > regions:
        raise AnalysisError(
            f"a profile of {size} is larger than the GPU of {regions}", remedy="choose a smaller profile"
        )
    if multiples:
        return tuple(range(0, regions - size + 1, size))
    slots = 1
    while slots * 2 <= regions // size:
        slots *= 2
    return (0,) if slots == 1 else tuple(_ends(0, regions, slots // 2, size))


def _ends(low: int, high: int, parts: int, size: int) -> list[int]:
    if parts == 1:
        return [low, high - size]
    middle = low + (high - low) // 2
    return _ends(low, middle, parts // 2, size) + _ends(middle, high, parts // 2, size)


FORMULA: Final = Formula(
    name="framebuffer-slots",
    title="Placement IDs in mixed-size mode",
    function=framebuffer_slots,
    sources=SOURCES,
    valid_when="Ampere to Hopper; Blackwell RTX PRO with multiples",
)
