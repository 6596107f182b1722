"""Same-size mode: which profile may join a GPU, by release, and how many more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from designer.formulas._vsphere import Release
from designer.formulas.formula import Formula
from designer.formulas.placement._shapes import GpuLike, find

SOURCES: Final = ("denneman-2023-vgpu-vmotion", "nvidia-aie-user-guide", "nvidia-vgpu-device-manager")


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


FORMULA: Final = Formula(
    name="same-size",
    title="Same-size mode: equal frame buffer on a GPU",
    function=same_size,
    sources=SOURCES,
    valid_when="time-sliced profiles",
)
