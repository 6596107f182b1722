"""Virtual GPUs on a board: profiles of one size, of several, and the memory that they strand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Final

from designer.errors import AnalysisError
from designer.formulas._vsphere import Release
from designer.formulas.formula import Formula
from designer.formulas.placement._shapes import GpuLike, ProfileLike, Resident, find


@dataclass(frozen=True, slots=True)
class SameSizeFreeCapacity:
    """How many more virtual GPUs of the profile fit, and the rule that refuses or limits them."""

    more: int
    reason: str


def same_size(
    gpu: GpuLike, residents: Sequence[str], profile: str, *, release: Release = Release.V8_0_U3
) -> SameSizeFreeCapacity:
    """How many more of a time-sliced profile a GPU takes in same-size mode.

    Parameters
    ----------
    gpu
        With its profiles.
    residents
        Names of the profiles already on it.
    profile
        Name of the profile asked for.
    release
        Before 8.0 U1 all must be the same profile; since then series may mix if their frame buffer is equal.

    Raises
    ------
    CatalogError
        If the GPU does not offer a profile.

    Sources
    -------
    Post of 2023-04-26; NVIDIA user guide; vGPU device manager (instances per GPU).
    """
    asked = find(profile, gpu.profiles, gpu.id)
    present = [find(name, gpu.profiles, gpu.id) for name in residents]
    if any(each.size != asked.size for each in present):
        other = next(each for each in present if each.size != asked.size)
        return SameSizeFreeCapacity(0, f"{other.name} fixed the frame buffer of this GPU, {asked.name} has another")
    if not release.since(Release.V8_0_U1) and any(each.name != asked.name for each in present):
        return SameSizeFreeCapacity(
            0, f"before 8.0 U1 all virtual GPUs of a GPU have one profile, here {present[0].name}"
        )
    room = min([asked.most, *(each.most for each in present)]) - len(present)
    if room <= 0:
        return SameSizeFreeCapacity(0, "all virtual GPUs of this size are taken")
    return SameSizeFreeCapacity(room, f"at most {asked.most} of {asked.name} on a {gpu.id}")


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


FORMULAS: Final = (
    Formula(
        name="same-size",
        title="Same-size mode: equal frame buffer on a GPU",
        function=same_size,
        sources=("denneman-2023-vgpu-vmotion", "nvidia-aie-user-guide", "nvidia-vgpu-device-manager"),
        valid_when="time-sliced profiles",
    ),
    Formula(
        name="mixed-size",
        title="Mixed-size mode: free placement IDs",
        function=mixed_size,
        sources=("nvidia-aie-user-guide", "denneman-2026-mixed-size"),
        valid_when="vSphere 8.0 U3 and newer, Ampere and newer, time-sliced profiles",
    ),
    Formula(
        name="stranded",
        title="Stranded frame buffer in mixed-size mode",
        function=stranded_worst,
        sources=("nvidia-aie-user-guide", "denneman-2026-mixed-size"),
        valid_when="time-sliced profiles in mixed-size mode",
    ),
)
