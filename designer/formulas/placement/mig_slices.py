"""MIG: start positions, slices, and what a plan strands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.formulas.placement._shapes import GpuLike, MigLike, Resident, find

SOURCES: Final = ("nvidia-mig-parted", "nvidia-vgpu-device-manager", "denneman-2026-mixed-size")


@dataclass(frozen=True, slots=True)
class MigFreeCapacity:
    """Free starts [memory slices], the one taken next, and why there is none."""

    free: tuple[int, ...]
    best: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class MigStranded:
    """Slices no further instance can use, when the rest is filled as well as possible."""

    compute: int
    memory: int


def mig_slices(gpu: GpuLike, residents: Sequence[Resident], profile: str) -> MigFreeCapacity:
    """Starts a MIG instance may take next to those on a GPU [memory slices].

    Parameters
    ----------
    gpu, residents, profile
        The GPU, its instances with their starts, and the MIG-backed profile asked for.

    Raises
    ------
    CatalogError
        If the GPU has no MIG or does not offer a profile.
    AnalysisError
        If a resident sits at a start it cannot have, or two overlap.

    Notes
    -----
    Instances never move. Hopper puts an instance that takes half of the memory at the upper half first, so that the 4g,
    which starts at 0 only, stays possible.

    Sources
    -------
    mig-parted and go-nvml tables.
    """
    asked = find(profile, gpu.mig, gpu.id)
    present = _present(gpu, residents)
    if asked.media and any(each.media for each, _ in present):
        return MigFreeCapacity((), None, "only one instance of a GPU holds the media engines")
    if sum(each.name == asked.name for each, _ in present) >= asked.most:
        return MigFreeCapacity((), None, f"at most {asked.most} of {asked.name}")
    left = gpu.compute_slices - sum(each.compute for each, _ in present)
    if asked.compute > left:
        return MigFreeCapacity((), None, f"{left} compute slices are left, {asked.name} takes {asked.compute}")
    free = tuple(start for start in asked.starts if _clear(asked, start, present))
    if not free:
        starts = ", ".join(map(str, asked.starts))
        return MigFreeCapacity((), None, f"{asked.name} starts at {starts} only, and something is there")
    high = gpu.large_instances_high and asked.memory * 2 == gpu.memory_slices
    return MigFreeCapacity(free, max(free) if high else min(free), "a start is free")


def mig_stranded(gpu: GpuLike, residents: Sequence[Resident]) -> MigStranded:
    """Compute and memory slices that stay unused however the GPU is filled further [slices].

    Raises
    ------
    CatalogError, AnalysisError
        As `mig_slices`.
    """
    _present(gpu, residents)
    compute, memory = _best_fill(gpu, tuple(residents), after=-1)
    return MigStranded(gpu.compute_slices - compute, gpu.memory_slices - memory)


def _best_fill(gpu: GpuLike, residents: tuple[Resident, ...], after: int) -> tuple[int, int]:
    """Most slices, compute and memory together, in use after adding instances that start behind `after`.

    Ascending starts are enough: the order of creation does not change what is used in the end.
    """
    present = [find(each.profile, gpu.mig, gpu.id) for each in residents]
    best = (sum(each.compute for each in present), sum(each.memory for each in present))
    for profile in gpu.mig:
        for start in mig_slices(gpu, residents, profile.name).free:
            if start > after:
                best = max(best, _best_fill(gpu, (*residents, Resident(profile.name, start)), start), key=sum)
    return best


def _clear(asked: MigLike, start: int, present: Sequence[tuple[MigLike, int]]) -> bool:
    return all(start + asked.memory <= at or at + each.memory <= start for each, at in present)


def _present(gpu: GpuLike, residents: Sequence[Resident]) -> list[tuple[MigLike, int]]:
    present: list[tuple[MigLike, int]] = []
    for resident in residents:
        profile = find(resident.profile, gpu.mig, gpu.id)
        if resident.start not in profile.starts:
            starts = ", ".join(map(str, profile.starts))
            raise AnalysisError(
                f"{profile.name} cannot start at {resident.start}", place=gpu.id, remedy=f"it starts at {starts}"
            )
        if not _clear(profile, resident.start, present):
            raise AnalysisError(f"two instances overlap at {resident.start}", place=gpu.id, remedy="move one of them")
        present.append((profile, resident.start))
    return present


FORMULA: Final = Formula(
    name="mig-slices",
    title="MIG start positions and slices",
    function=mig_slices,
    sources=SOURCES,
    valid_when="A30, A100, H100, H200, B200 and their siblings",
)
