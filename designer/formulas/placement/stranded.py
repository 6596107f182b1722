"""Stranded frame buffer: what no further profile of the catalogue can use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula

SOURCES: Final = ("nvidia-aie-user-guide", "denneman-2026-mixed-size")

#: size of a profile → starts it may have [placement units]
Starts = Mapping[int, Sequence[int]]


def _intervals(regions: int, starts: Starts) -> list[tuple[int, int]]:
    if not starts:
        raise AnalysisError("the catalogue has no profile", remedy="choose at least one")
    found = sorted((start, start + size) for size, places in starts.items() for start in places)
    if found[0][0] < 0 or any(end > regions for _, end in found):
        raise AnalysisError("a placement lies outside the frame buffer", remedy="check sizes and starts")
    return found


def stranded_now(regions: int, taken: Sequence[tuple[int, int]], starts: Starts) -> int:
    """Frame buffer that stays unused even if the rest is filled as well as possible [placement units].

    Parameters
    ----------
    regions
        Frame buffer of the GPU.
    taken
        Intervals already in use.
    starts
        Profiles of the catalogue.

    Raises
    ------
    AnalysisError
        If the catalogue is empty or a placement lies outside the frame buffer.
    """
    free = [
        (start, end)
        for start, end in _intervals(regions, starts)
        if all(end <= begin or stop <= start for begin, stop in taken)
    ]
    best = [0] * (regions + 1)
    for position in range(1, regions + 1):
        best[position] = max(
            [best[position - 1], *(best[start] + end - start for start, end in free if end == position)]
        )
    return regions - sum(end - start for start, end in taken) - best[regions]


def stranded_worst(regions: int, starts: Starts) -> int:
    """Most frame buffer an unlucky order of power-ons strands [placement units].

    Parameters
    ----------
    regions, starts
        As in `stranded_now`, for an empty GPU.

    Raises
    ------
    AnalysisError
        If the catalogue is empty or a placement lies outside the frame buffer.

    Notes
    -----
    The smallest filling to which nothing can be added: over all gaps in which no placement lies.

    Sources
    -------
    Placement tables of the NVIDIA user guide.
    """
    intervals = _intervals(regions, starts)

    def gap_is_dead(low: int, high: int) -> bool:
        return not any(low <= start and end <= high for start, end in intervals)

    @cache
    def least_used(position: int) -> int:
        """Fewest units used from `position` on."""
        options = [
            end - start + least_used(end)
            for start, end in intervals
            if start >= position and gap_is_dead(position, start)
        ]
        if gap_is_dead(position, regions):
            options.append(0)
        return min(options)

    return regions - least_used(0)


FORMULA: Final = Formula(
    name="stranded",
    title="Stranded frame buffer in mixed-size mode",
    function=stranded_worst,
    sources=SOURCES,
    valid_when="time-sliced profiles in mixed-size mode",
)
