"""How many more virtual machines of a shape fit on hosts, and where each goes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

from designer.errors import AnalysisError
from designer.formulas._vsphere import Release
from designer.formulas.formula import Formula
from designer.formulas.placement._shapes import AssignmentPolicy, BoardLike, GpuLike, Mode, Named, Resident, find
from designer.formulas.placement.mig_slices import mig_slices
from designer.formulas.placement.mixed_size import mixed_size
from designer.formulas.placement.nvlink_groups import nvlink_groups
from designer.formulas.placement.same_size import same_size

SOURCES: Final = (
    "nvidia-aie-user-guide",
    "nvidia-vgpu-device-manager",
    "nvidia-mig-parted",
    "nvidia-fabric-manager",
    "denneman-2026-mixed-size",
)


@dataclass(frozen=True, slots=True)
class GpuState:
    """A GPU in a host: its type, how it is shared, what is on it, and its module on the board if any."""

    name: str
    type: GpuLike
    mode: Mode
    residents: tuple[Resident, ...] = ()
    module: int | None = None


@dataclass(frozen=True, slots=True)
class HostState:
    """A host: its GPUs, and the NVLink board they sit on if any."""

    name: str
    gpus: tuple[GpuState, ...]
    board: BoardLike | None = None
    policy: AssignmentPolicy = AssignmentPolicy.SPREAD


@dataclass(frozen=True, slots=True)
class VmShape:
    """What a machine asks for: one profile per virtual GPU, or a device group of full GPUs with one profile."""

    profiles: tuple[str, ...]
    group: int = 0


@dataclass(frozen=True, slots=True)
class VmPlace:
    """Where one machine goes: host, and for each virtual GPU the GPU, profile and start."""

    host: str
    gpus: tuple[tuple[str, Resident], ...]


@dataclass(frozen=True, slots=True)
class Fit:
    """How many more machines fit, where each goes, and why the next one does not."""

    count: int
    places: tuple[VmPlace, ...]
    reason: str


def remaining_fit(
    hosts: Sequence[HostState], shape: VmShape, *, release: Release = Release.V8_0_U3, at_most: int | None = None
) -> Fit:
    """How many more machines of `shape` can be powered on, one after the other, and where.

    Parameters
    ----------
    hosts
        With their GPUs as they are now.
    shape
        Profiles of one machine; virtual GPUs of a machine stay on one host.
    at_most
        Stop after so many.

    Raises
    ------
    CatalogError
        If no host offers a profile.
    AnalysisError
        If the machine would not even fit on an empty host, or asks for no or a nonsensical group.

    Notes
    -----
    Same-size mode follows the host's policy; mixed-size and MIG fill one GPU before the next.
    Greedy; exact for shapes of one virtual GPU.

    Sources
    -------
    NVIDIA user guide and tables; posts of 2026-02 and 2026-03.
    """
    _check(hosts, shape)
    if not any(_place(_emptied(host), shape, release) for host in hosts):
        raise AnalysisError(
            f"a machine with {_words(shape)} does not fit on any host, even an empty one",
            remedy="choose smaller or fewer profiles, another mode or release, or a larger host",
        )
    places: list[VmPlace] = []
    now = list(hosts)
    for at, host in enumerate(now):
        current = host
        while at_most is None or len(places) < at_most:
            chosen = _place(current, shape, release)
            if chosen is None:
                break
            current = _with(current, chosen)
            places.append(VmPlace(host.name, chosen))
        now[at] = current
    return Fit(len(places), tuple(places), f"no host has room for another machine with {_words(shape)}")


def _words(shape: VmShape) -> str:
    names = ", ".join(shape.profiles)
    return f"a group of {shape.group} × {names}" if shape.group else names


def _check(hosts: Sequence[HostState], shape: VmShape) -> None:
    if not hosts or not any(host.gpus for host in hosts):
        raise AnalysisError("there is no host with a GPU", remedy="give at least one")
    if not shape.profiles:
        raise AnalysisError("the machine asks for no virtual GPU", remedy="give at least one profile")
    if shape.group and len(set(shape.profiles)) != 1:
        raise AnalysisError("a device group has one profile on all its GPUs", remedy="give one profile")
    for name in shape.profiles:
        offered = [gpu for host in hosts for gpu in host.gpus if _offers(gpu, name)]
        if not offered:
            first = next(gpu for host in hosts for gpu in host.gpus)
            find(name, _all_profiles(first), f"{first.type.id} in mode {first.mode}")


def _all_profiles(gpu: GpuState) -> Sequence[Named]:
    return gpu.type.mig if gpu.mode is Mode.MIG else gpu.type.profiles


def _offers(gpu: GpuState, name: str) -> bool:
    return any(each.name.lower() == name.lower() for each in _all_profiles(gpu))


def _emptied(host: HostState) -> HostState:
    return replace(host, gpus=tuple(replace(gpu, residents=()) for gpu in host.gpus))


def _with(host: HostState, chosen: Sequence[tuple[str, Resident]]) -> HostState:
    gpus = list(host.gpus)
    for name, resident in chosen:
        at = next(index for index, gpu in enumerate(gpus) if gpu.name == name)
        gpus[at] = replace(gpus[at], residents=(*gpus[at].residents, resident))
    return replace(host, gpus=tuple(gpus))


def _place(host: HostState, shape: VmShape, release: Release) -> tuple[tuple[str, Resident], ...] | None:
    if shape.group:
        return _place_group(host, shape)
    chosen: list[tuple[str, Resident]] = []
    current = host
    for profile in shape.profiles:
        one = _place_one(current, profile, release)
        if one is None:
            return None
        chosen.append(one)
        current = _with(current, [one])
    return tuple(chosen)


def _place_one(host: HostState, profile: str, release: Release) -> tuple[str, Resident] | None:
    for gpu in sorted(host.gpus, key=lambda each: _order(host, each)):
        start = _start(gpu, profile, release) if _offers(gpu, profile) else None
        if start is not None:
            return gpu.name, Resident(profile, start)
    return None


def _order(host: HostState, gpu: GpuState) -> int:
    """Fewest virtual GPUs first when spreading in same-size mode, else the fullest first; then as in the host."""
    spread = gpu.mode is Mode.SAME_SIZE and host.policy is AssignmentPolicy.SPREAD
    return len(gpu.residents) if spread else -len(gpu.residents)


def _start(gpu: GpuState, profile: str, release: Release) -> int | None:
    if gpu.mode is Mode.MIG:
        return mig_slices(gpu.type, gpu.residents, profile).best
    if gpu.mode is Mode.MIXED_SIZE:
        return mixed_size(gpu.type, gpu.residents, profile, release=release).best
    names = [resident.profile for resident in gpu.residents]
    if same_size(gpu.type, names, profile, release=release).more == 0:
        return None
    used = {resident.start for resident in gpu.residents}
    return next(slot for slot in range(len(used) + 1) if slot not in used)


def _place_group(host: HostState, shape: VmShape) -> tuple[tuple[str, Resident], ...] | None:
    profile = shape.profiles[0]
    if host.board is None:
        return None
    by_module = {gpu.module: gpu for gpu in host.gpus if gpu.module is not None}
    full = {
        gpu.module
        for gpu in by_module.values()
        if gpu.mode is not Mode.MIG and _offers(gpu, profile) and _is_full(gpu.type, profile) and not gpu.residents
    }
    taken = [module for module in host.board.modules if module not in full]
    group = nvlink_groups(host.board, [shape.group], taken=taken).groups[0]
    if group is None:
        return None
    return tuple((by_module[module].name, Resident(profile, 0)) for module in group.modules)


def _is_full(gpu: GpuLike, profile: str) -> bool:
    found = find(profile, gpu.profiles, gpu.id)
    return found.series == "C" and found.most == 1


FORMULA: Final = Formula(
    name="remaining-fit",
    title="How many more machines of a shape fit, and where",
    function=remaining_fit,
    sources=SOURCES,
    valid_when="GPUs only: memory and CPUs of the hosts are checked elsewhere",
)
