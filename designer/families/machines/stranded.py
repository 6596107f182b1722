"""Frame buffer that no further virtual GPU can use, GPU by GPU, as it is filled now and should the order be unlucky."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from designer.catalog.vgpu import VgpuType
from designer.engine.machines.free_capacity import GpuFreeCapacity
from designer.formulas.placement import Mode
from designer.formulas.placement.mig_slices import mig_stranded
from designer.formulas.placement.stranded import Starts, stranded_now, stranded_worst


@dataclass(frozen=True, slots=True)
class StrandedMemory:
    """What of one GPU its machines use, and what nothing can use any more.

    Parameters
    ----------
    used, stranded
        Frame buffer given to machines, and that which stays unused however the rest is filled [B].
    worst
        Most that an unlucky order of power-ons strands on an empty GPU [B]; None where sizes are not mixed.
    compute
        Share of the compute slices that stays unused however the rest is filled; 0 without MIG [1].
    """

    used: float
    stranded: float
    worst: float | None
    compute: float


def stranded_memory(gpus: Sequence[GpuFreeCapacity]) -> Mapping[str, StrandedMemory]:
    """Stranded memory of every GPU that machines share, by its path.

    Parameters
    ----------
    gpus
        With what is on them; those without a machine, with one that owns them, or without profiles are left out.
    """
    worst: dict[str, float] = {}
    found: dict[str, StrandedMemory] = {}
    for each in gpus:
        kind = each.gpu.type
        if kind is None or each.mode is None or not each.residents or each.gpu.memory <= 0:
            continue
        if each.mode is Mode.MIXED_SIZE and kind.id not in worst:
            worst[kind.id] = stranded_worst(kind.regions, _starts(kind)) / kind.regions
        found[each.gpu.path] = _of(each, kind, worst.get(kind.id) if each.mode is Mode.MIXED_SIZE else None)
    return found


def _of(gpu: GpuFreeCapacity, kind: VgpuType, worst: float | None) -> StrandedMemory:
    memory = gpu.gpu.memory
    if gpu.mode is Mode.MIG:
        lost = mig_stranded(kind, gpu.residents)
        slices = sum(each.memory for r in gpu.residents for each in kind.mig if each.name.lower() == r.profile.lower())
        per_slice = memory / kind.memory_slices
        return StrandedMemory(slices * per_slice, lost.memory * per_slice, None, lost.compute / kind.compute_slices)
    profiles = [kind.profile(resident.profile) for resident in gpu.residents]
    used = sum(profile.size for profile in profiles)
    if gpu.mode is Mode.SAME_SIZE:
        # all have one size: what is left when as many as may share the GPU do
        most = min(profile.most for profile in profiles)
        lost_units = kind.regions - most * profiles[0].size
    else:
        taken = [(r.start, r.start + p.size) for r, p in zip(gpu.residents, profiles, strict=True)]
        lost_units = stranded_now(kind.regions, taken, _starts(kind))
    unit = memory / kind.regions
    return StrandedMemory(used * unit, max(0, lost_units) * unit, None if worst is None else worst * memory, 0.0)


def _starts(kind: VgpuType) -> Starts:
    """Sizes a GPU offers, and the starts each may have."""
    return {profile.size: profile.starts for profile in kind.profiles if profile.starts}
