"""Mixed-size mode: free placement IDs of a profile, and the one that keeps most room for larger profiles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from designer.errors import AnalysisError
from designer.formulas._vsphere import Release
from designer.formulas.formula import Formula
from designer.formulas.placement._shapes import GpuLike, ProfileLike, Resident, find

SOURCES: Final = ("nvidia-aie-user-guide", "denneman-2026-mixed-size")


@dataclass(frozen=True, slots=True)
class MixedSizeFreeCapacity:
    """Free starts of the profile [placement units], the one to take, and why there is none."""

    free: tuple[int, ...]
    best: int | None
    reason: str


def mixed_size(
    gpu: GpuLike, residents: Sequence[Resident], profile: str, *, release: Release = Release.V8_0_U3
) -> MixedSizeFreeCapacity:
    """Starts a time-sliced profile may take next to those on a GPU in mixed-size mode [placement units].

    Parameters
    ----------
    gpu, residents, profile
        The GPU, what is on it and where, and what is asked for.
    release
        Sizes mix since 8.0 U3, on Ampere and newer.

    Raises
    ------
    CatalogError
        If the GPU does not offer a profile.
    AnalysisError
        If a resident sits at a start its profile cannot have, or two residents overlap.

    Notes
    -----
    The best start destroys the least larger placement; the lowest one on a tie.

    Sources
    -------
    Placement tables of the NVIDIA user guide.
    """
    asked = find(profile, gpu.profiles, gpu.id)
    taken = occupied(gpu, residents)
    if not release.since(Release.V8_0_U3):
        return MixedSizeFreeCapacity((), None, "frame buffers of different size mix since 8.0 U3")
    if not gpu.mixed_size:
        return MixedSizeFreeCapacity((), None, f"a {gpu.id} has no mixed-size mode")
    free = free_starts(asked, taken)
    if not free:
        left = gpu.regions - sum(end - start for start, end in taken)
        return MixedSizeFreeCapacity((), None, f"{left} of {gpu.regions} are free, but no start of {asked.name} is")
    larger = [each for each in gpu.profiles if each.size > asked.size]

    def destroyed(start: int) -> int:
        after = [*taken, (start, start + asked.size)]
        return sum(
            each.size * (len(free_starts(each, taken)) - len(free_starts(each, after))) for each in _by_size(larger)
        )

    return MixedSizeFreeCapacity(free, min(free, key=lambda start: (destroyed(start), start)), "a start is free")


def _by_size(profiles: Sequence[ProfileLike]) -> list[ProfileLike]:
    """One profile per size: series share their starts."""
    return list({each.size: each for each in profiles}.values())


def free_starts(profile: ProfileLike, taken: Sequence[tuple[int, int]]) -> tuple[int, ...]:
    """Starts of a profile that touch no taken interval [placement units]."""
    return tuple(
        start for start in profile.starts if all(start + profile.size <= begin or end <= start for begin, end in taken)
    )


def occupied(gpu: GpuLike, residents: Sequence[Resident]) -> list[tuple[int, int]]:
    """Intervals taken by the residents, ascending [placement units].

    Raises
    ------
    AnalysisError
        If a start is not one of the profile's, or two residents overlap.
    """
    taken: list[tuple[int, int]] = []
    for each in residents:
        profile = find(each.profile, gpu.profiles, gpu.id)
        if each.start not in profile.starts:
            raise AnalysisError(
                f"{profile.name} cannot start at {each.start}",
                place=gpu.id,
                remedy=f"its placement IDs are {', '.join(map(str, profile.starts))}",
            )
        taken.append((each.start, each.start + profile.size))
    taken.sort()
    for (_, end), (start, _) in pairwise(taken):
        if start < end:
            raise AnalysisError(f"two virtual GPUs overlap at {start}", place=gpu.id, remedy="move one of them")
    return taken


FORMULA: Final = Formula(
    name="mixed-size",
    title="Mixed-size mode: free placement IDs",
    function=mixed_size,
    sources=SOURCES,
    valid_when="vSphere 8.0 U3 and newer, Ampere and newer, time-sliced profiles",
)
