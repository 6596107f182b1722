"""Stun of a virtual machine with virtual GPUs: what is drained while it is paused, by vSphere release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from designer.errors import AnalysisError
from designer.families.machines.formulas._precopy import not_negative, positive, share, widened
from designer.formulas._vsphere import Release
from designer.formulas.formula import Formula
from designer.sources import Constant, Estimate, Status
from designer.units import Bytes, BytesPerSecond, Ratio, Seconds, parse_size

SOURCES: Final = (
    "vmware-docs-vgpu-stun",
    "vmware-docs-stun-limit",
    "denneman-2023-vgpu-vmotion",
    "denneman-2025-vgpu-stun",
    "migration-calibration",
)
_TABLES: Final = "vmware-docs-vgpu-stun"
_U3: Final = "denneman-2025-vgpu-stun"
_FIT: Final = Status.DERIVED


class Channel(StrEnum):
    """How vGPU memory travels."""

    TWO_CONNECTIONS = "checkpoint over two connections"
    STREAMS = "checkpoint over the vMotion streams"
    PRECOPY = "pre-copied, the rest over the vMotion streams"


class GpuGeneration(StrEnum):
    """Generation of the board, which sets how fast its driver drains it."""

    PASCAL = "pascal"
    VOLTA = "volta"
    TURING = "turing"
    AMPERE = "ampere"
    ADA = "ada"
    HOPPER = "hopper"
    BLACKWELL = "blackwell"


@dataclass(frozen=True, slots=True)
class VgpuLoad:
    """One virtual GPU of a machine.

    Parameters
    ----------
    framebuffer_used
        Frame buffer in use, at worst all of the profile [B].
    drain_bandwidth
        What the driver reads or writes the buffer with, if known [B/s].
    """

    framebuffer_used: float
    drain_bandwidth: float | None = None


@dataclass(frozen=True, slots=True)
class VgpuStun:
    """Stun [s], part moved before it [B] and in [s], rate [B/s], and whether it stays within the limit.

    Parameters
    ----------
    stun
        Pause of the guest [s], with its 80 % band.
    precopied, precopy_time
        vGPU memory moved while the guest runs [B], and the time of it [s]; zero before 9.0.
    stunned
        vGPU memory moved while the guest is stopped [B].
    bandwidth
        Rate of the stunned part [B/s].
    limit
        Longest stun allowed [s].
    time, remaining
        Curve: vGPU memory not yet moved [B] against time [s].
    """

    channel: Channel
    stun: Estimate
    precopied: float
    precopy_time: float
    stunned: float
    bandwidth: float
    limited_by: str
    limit: float
    feasible: bool
    reason: str
    time: tuple[float, ...]
    remaining: tuple[float, ...]
    sources: tuple[str, ...]


_GIB: Final = parse_size("1 GiB")
STUN_LIMIT: Final = Constant(
    100.0, 100.0, 100.0, "vmware-docs-stun-limit", Status.PRIMARY, "s", "default; per VM since 8.0 U2"
)
#: straight lines through the documented tables, 10 GbE; slopes are seconds per GiB turned into rates
PASCAL_67_START: Final = Constant(
    1.53, 1.4, 1.7, _TABLES, _FIT, "s", "P40 on 6.7 U1, six points, largest residual 0.03 s"
)
PASCAL_67_RATE: Final = widened(
    Constant(_GIB / 7.474, _GIB / 7.8, _GIB / 7.2, _TABLES, _FIT, "B/s", "P40 on 6.7 U1, 7.474 s per GiB")
)
VOLTA_67_START: Final = Constant(
    1.17, 0.5, 2.0, _TABLES, _FIT, "s", "V100 on 6.7 U3, six points, largest residual 1.4 s"
)
VOLTA_67_RATE: Final = widened(
    Constant(_GIB / 1.576, _GIB / 1.8, _GIB / 1.45, _TABLES, _FIT, "B/s", "V100 on 6.7 U3, 1.576 s per GiB")
)
EXPECTED_70_START: Final = Constant(
    1.67, 0.6, 2.0, _TABLES, _FIT, "s", "V100 on 7.0 expected, six points, largest residual 1.3 s"
)
EXPECTED_70_RATE: Final = widened(
    Constant(_GIB / 1.190, _GIB / 1.45, _GIB / 1.13, _TABLES, _FIT, "B/s", "V100 on 7.0 expected, 1.190 s per GiB")
)
WORST_70_START: Final = Constant(0.82, 0.4, 1.3, _TABLES, _FIT, "s", "7.0 worst case, 24 cells, largest residual 0.5 s")
WORST_70_RATE: Final = widened(
    Constant(_GIB / 2.793, _GIB / 2.81, _GIB / 2.77, _TABLES, _FIT, "B/s", "7.0 worst case, 2.793 s per GiB of vGPU")
)
WORST_70_MEMORY: Final = widened(
    Constant(
        _GIB / 0.273, _GIB / 0.29, _GIB / 0.25, _TABLES, _FIT, "B/s", "7.0 worst case, 0.273 s per GiB of guest memory"
    )
)
#: scatter of the rate in the cells of the Llama table that the network bounds; no other publication knows it, and no
#: stream is quicker than was measured over its line
CHECKPOINT_SPREAD: Final = widened(
    Constant(1.0, 0.87, 1.11, _U3, _FIT, "1", "six of the eight cells of the Llama table, 100 GbE"), most=1.11
)
#: 24.5 s for 144 GB, and more than 100 s for 576 GB: 0.6 s + M / 5.75 GB/s
HOPPER_DRAIN: Final = widened(
    Constant(5.75e9, 5.2e9, 6.3e9, _U3, _FIT, "B/s", "H100, 8.0 U3, two cells, residual 4.5 %")
)
STREAM_START: Final = Constant(0.6, 0.2, 1.0, _U3, _FIT, "s", "8.0 U3, L40S: 0.6 s + 0.120 s per GB")
PRECOPY_START: Final = Constant(0.2, 0.1, 0.9, "migration-assumed", Status.ASSUMED, "s", "quiesce and resume, 9.0")
#: share of the vGPU memory left for the stun since 9.0
STUNNED_SHARE: Final = widened(
    Constant(0.30, 0.21, 0.36, _U3, Status.SECONDARY, "1", "about 70 % is pre-copied, four cells"), most=1.0
)
#: a generation whose drain was never published may drain as slowly as Hopper
UNKNOWN_DRAIN: Final = Constant(
    HOPPER_DRAIN.value, HOPPER_DRAIN.value, HOPPER_DRAIN.value, _U3, _FIT, "B/s", "low end for unmeasured boards"
)


def channel_of(release: Release) -> Channel:
    """How vGPU memory travels in a release: two connections, streams since 8.0 U1, pre-copy since 9.0."""
    if release.since(Release.V9_0):
        return Channel.PRECOPY
    return Channel.STREAMS if release.since(Release.V8_0_U1) else Channel.TWO_CONNECTIONS


def vgpu_stun(
    loads: Sequence[VgpuLoad],
    source_bandwidth: BytesPerSecond,
    destination_bandwidth: BytesPerSecond,
    *,
    release: Release = Release.V8_0_U3,
    generation: GpuGeneration | None = None,
    concurrent: int = 1,
    stunned_share: Ratio | None = None,
    limit: Seconds = Seconds(STUN_LIMIT.value),
    worst_case_memory: Bytes | None = None,
) -> VgpuStun:
    """Stun [s] of one virtual machine, summed over its virtual GPUs.

    Parameters
    ----------
    loads
        Its virtual GPUs.
    source_bandwidth, destination_bandwidth
        What each host gives the checkpoint (`StreamPlan.checkpoint_bandwidth`), or what the routed network gives it
        [B/s]; the lower one rules.
    release
        Two connections before 8.0 U1, the vMotion streams since, pre-copy since 9.0.
    generation
        Generation of the boards, for the drain rates that were measured.
    concurrent
        Migrations that share the bandwidth.
    stunned_share
        Share of frame buffer that changes while it is copied, since 9.0 [1].
    limit
        Longest stun allowed [s].
    worst_case_memory
        If given, the vendor's worst case of 7.0 for a guest of that memory [B] instead of the expected stun.

    Raises
    ------
    AnalysisError
        If there is no virtual GPU, or a size, rate or count is not positive.

    Notes
    -----
    stun = start + share · M / min(channel, bandwidth, drain), M summed over the devices.

    Sources
    -------
    VMware documentation tables (6.7, 7.0); post of 2025-06-24 (8.0 U3, 9.0).
    """
    if not loads:
        raise AnalysisError("the virtual machine has no virtual GPU", remedy="give one load per virtual GPU")
    for load in loads:
        positive(load.framebuffer_used, "framebuffer_used")
    positive(limit, "limit")
    routed = min(
        positive(source_bandwidth, "source_bandwidth"), positive(destination_bandwidth, "destination_bandwidth")
    )
    routed /= positive(concurrent, "concurrent")
    memory = sum(load.framebuffer_used for load in loads)
    drains = [load.drain_bandwidth for load in loads if load.drain_bandwidth is not None]
    known = sum(positive(each, "drain_bandwidth") for each in drains) if len(drains) == len(loads) else None
    channel = channel_of(release)
    if channel is Channel.TWO_CONNECTIONS:
        return _two_connections(memory, routed, known, release, generation, limit, worst_case_memory)
    moved = 1.0
    if channel is Channel.PRECOPY:
        moved = STUNNED_SHARE.value if stunned_share is None else share(stunned_share, "stunned_share")
    return _streams(memory, routed, known, channel, generation, moved, limit, typed=stunned_share is not None)


def _two_connections(
    memory: float,
    routed: float,
    drain: float | None,
    release: Release,
    generation: GpuGeneration | None,
    limit: float,
    worst_case_memory: float | None,
) -> VgpuStun:
    start, rate = _checkpoint_of(release, generation)
    if worst_case_memory is not None:
        start, rate = WORST_70_START, WORST_70_RATE
        not_negative(worst_case_memory, "worst_case_memory")
    ceiling = min(routed, drain) if drain is not None else routed

    def stun(start_time: float, channel_rate: float, memory_rate: float) -> float:
        guest = 0.0 if worst_case_memory is None else worst_case_memory / memory_rate
        return start_time + memory / min(channel_rate, ceiling) + guest

    value = stun(start.value, rate.value, WORST_70_MEMORY.value)
    high = stun(start.high, rate.low, WORST_70_MEMORY.low)
    if release is Release.V6_7_U3 and generation is not GpuGeneration.VOLTA and worst_case_memory is None:
        # One board was measured on this release; a slower generation may be as slow as on the release before.
        high = max(high, stun(PASCAL_67_START.value, PASCAL_67_RATE.value, WORST_70_MEMORY.value))
    estimate = Estimate(value, stun(start.low, rate.high, WORST_70_MEMORY.high), high, "s", SOURCES)
    limited_by = "checkpoint channel" if rate.value <= ceiling else "bandwidth of the slower host"
    return _answer(Channel.TWO_CONNECTIONS, estimate, memory, 0.0, 0.0, min(rate.value, ceiling), limited_by, limit)


def _checkpoint_of(release: Release, generation: GpuGeneration | None) -> tuple[Constant, Constant]:
    if release.since(Release.V7_0):
        return EXPECTED_70_START, EXPECTED_70_RATE
    if release is Release.V6_7_U3 and generation is not GpuGeneration.PASCAL:
        return VOLTA_67_START, VOLTA_67_RATE
    return PASCAL_67_START, PASCAL_67_RATE


def _streams(
    memory: float,
    routed: float,
    drain: float | None,
    channel: Channel,
    generation: GpuGeneration | None,
    moved: float,
    limit: float,
    *,
    typed: bool,
) -> VgpuStun:
    precopy = channel is Channel.PRECOPY
    start = PRECOPY_START if precopy else STREAM_START
    drained = drain
    low_drain = drain
    if drain is None and not precopy:
        # Since 9.0 the stunned part left H100 as fast as the streams took it; before, Hopper was the bottleneck.
        drained = HOPPER_DRAIN.value if generation is GpuGeneration.HOPPER else None
        low_drain = HOPPER_DRAIN.low if generation is GpuGeneration.HOPPER else None
        if generation is not GpuGeneration.ADA and generation is not GpuGeneration.HOPPER:
            low_drain = UNKNOWN_DRAIN.value

    def rate(part: float, device: float | None) -> float:
        usable = part * routed
        return usable if device is None else min(usable, device)

    value_rate = rate(CHECKPOINT_SPREAD.value, drained)
    high_drain = HOPPER_DRAIN.high if drained == HOPPER_DRAIN.value and drain is None else drained
    shares = (moved, moved) if typed or not precopy else (STUNNED_SHARE.low, STUNNED_SHARE.high)
    low = start.low + shares[0] * memory / rate(CHECKPOINT_SPREAD.high, high_drain)
    high = start.high + shares[1] * memory / rate(CHECKPOINT_SPREAD.low, low_drain)
    if precopy and not typed:
        # The spread of the share and of the rate are one and the same scatter in the four measured cells.
        low = start.low + shares[0] * memory / value_rate
        high = start.high + shares[1] * memory / value_rate
    estimate = Estimate(start.value + moved * memory / value_rate, low, high, "s", SOURCES)
    precopied = memory * (1 - moved)
    limited_by = (
        "drain of the GPUs" if drained is not None and value_rate == drained else "bandwidth of the slower host"
    )
    return _answer(channel, estimate, moved * memory, precopied, precopied / value_rate, value_rate, limited_by, limit)


def _answer(
    channel: Channel,
    stun: Estimate,
    stunned: float,
    precopied: float,
    precopy_time: float,
    bandwidth: float,
    limited_by: str,
    limit: float,
) -> VgpuStun:
    feasible = stun.value <= limit
    if feasible:
        reason = f"the stun of {stun.value:.3g} s stays within the limit of {limit:g} s"
    else:
        reason = f"the stun of {stun.value:.3g} s exceeds the limit of {limit:g} s; the machine stays where it is"
    time: tuple[float, ...] = (0.0, precopy_time, precopy_time + stun.value) if precopied else (0.0, stun.value)
    remaining: tuple[float, ...] = (precopied + stunned, stunned, 0.0) if precopied else (stunned, 0.0)
    return VgpuStun(
        channel,
        stun,
        precopied,
        precopy_time,
        stunned,
        bandwidth,
        limited_by,
        limit,
        feasible,
        reason,
        time,
        remaining,
        SOURCES,
    )


FORMULA: Final = Formula(
    name="vgpu-stun",
    title="Stun of a virtual machine with virtual GPUs",
    function=vgpu_stun,
    sources=SOURCES,
    valid_when="6.7 and 7.0 on 10 GbE, 8.0 U3 and 9.0 on 100 GbE; C and Q series",
)
