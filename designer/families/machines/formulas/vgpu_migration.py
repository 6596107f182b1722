"""The whole vMotion of a virtual machine with virtual GPUs: cold vGPU data, guest memory, stun."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from designer.families.machines.formulas._precopy import Outcome, positive
from designer.families.machines.formulas.vgpu_stun import (
    STUN_LIMIT,
    GpuGeneration,
    VgpuLoad,
    VgpuStun,
    vgpu_stun,
)
from designer.families.machines.formulas.vmotion_precopy import vmotion_precopy
from designer.formulas._vsphere import Release
from designer.formulas.formula import Formula
from designer.sources import Estimate
from designer.units import Bytes, BytesPerSecond, Seconds

SOURCES: Final = ("denneman-2025-vgpu-stun", "vmware-docs-vgpu-stun", "esxi-advanced-settings", "migration-assumed")


@dataclass(frozen=True, slots=True)
class VgpuMigration:
    """A vMotion with virtual GPUs.

    Parameters
    ----------
    memory, vgpu
        The two parts.
    total_time, downtime
        From start to running at the destination; pause of the guest, stun included [s].
    transferred
        Guest and vGPU memory put on the link [B].
    arrives
        Whether it arrives: the pre-copy converges and the stun stays within the limit.
    time, remaining
        Curve: memory and vGPU memory not yet in place [B] against time [s].
    """

    memory: Outcome
    vgpu: VgpuStun
    total_time: Estimate
    downtime: Estimate
    transferred: Estimate
    arrives: bool
    reason: str
    time: tuple[float, ...]
    remaining: tuple[float, ...]


def vgpu_migration(
    loads: Sequence[VgpuLoad],
    memory: Bytes,
    source_bandwidth: BytesPerSecond,
    destination_bandwidth: BytesPerSecond,
    dirty_rate: BytesPerSecond = BytesPerSecond(0.0),
    *,
    working_set: Bytes | None = None,
    checkpoint_bandwidth: BytesPerSecond | None = None,
    release: Release = Release.V8_0_U3,
    generation: GpuGeneration | None = None,
    concurrent: int = 1,
    limit: Seconds = Seconds(STUN_LIMIT.value),
) -> VgpuMigration:
    """Times [s] and bytes [B] of a vMotion with virtual GPUs; the lower bandwidth of both hosts rules.

    Parameters
    ----------
    loads, release, generation, concurrent, limit
        See `vgpu_stun`.
    memory, dirty_rate, working_set
        See `vmotion_precopy`; memory is all of it, because it is reserved.
    source_bandwidth, destination_bandwidth
        Payload bandwidth of both hosts [B/s].
    checkpoint_bandwidth
        What a vGPU checkpoint gets of it, if less (`StreamPlan.checkpoint_bandwidth`) [B/s].

    Raises
    ------
    AnalysisError
        As the two parts do.
    """
    ceiling = math.inf if checkpoint_bandwidth is None else positive(checkpoint_bandwidth, "checkpoint_bandwidth")
    vgpu = vgpu_stun(
        loads,
        BytesPerSecond(min(source_bandwidth, ceiling)),
        BytesPerSecond(min(destination_bandwidth, ceiling)),
        release=release,
        generation=generation,
        concurrent=concurrent,
        limit=limit,
    )
    guest = vmotion_precopy(
        memory,
        BytesPerSecond(min(source_bandwidth, destination_bandwidth) / concurrent),
        dirty_rate,
        working_set=working_set,
    )
    precopy = _scale_time(vgpu.precopy_time, vgpu.stun)
    total = Estimate.total([guest.total_time, vgpu.stun, precopy], SOURCES)
    arrives = guest.converged and vgpu.feasible
    reason = vgpu.reason if guest.converged else guest.reason
    vgpu_bytes = vgpu.precopied + vgpu.stunned
    time = [0.0]
    remaining = [guest.remaining[0] + vgpu_bytes]
    if vgpu.precopied:
        time.append(vgpu.precopy_time)
        remaining.append(guest.remaining[0] + vgpu.stunned)
    last = len(guest.time) - 1
    for index, (at, left) in enumerate(zip(guest.time, guest.remaining, strict=True)):
        ends = index == last and guest.converged
        time.append(at + vgpu.precopy_time + (vgpu.stun.value if ends else 0.0))
        remaining.append(0.0 if ends else left + vgpu.stunned)
    return VgpuMigration(
        memory=guest,
        vgpu=vgpu,
        total_time=total,
        downtime=Estimate.total([guest.downtime, vgpu.stun], SOURCES),
        transferred=Estimate.total([guest.transferred, Estimate.exact(vgpu_bytes, "B")], SOURCES),
        arrives=arrives,
        reason=reason,
        time=tuple(time),
        remaining=tuple(remaining),
    )


def _scale_time(value: float, like: Estimate) -> Estimate:
    """A time [s] with the relative band of another one: both run over the same streams."""
    return Estimate(value, value * like.low / like.value, value * like.high / like.value, "s", SOURCES)


FORMULA: Final = Formula(
    name="vgpu-migration",
    title="vMotion of a virtual machine with virtual GPUs",
    function=vgpu_migration,
    sources=SOURCES,
    valid_when="as the pre-copy and the stun models",
)
