"""vMotion: how many streams a host opens, and what they carry together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.families.machines.formulas._esxi import GIGABIT, MOST_STREAMS, STREAM_PLANNED
from designer.families.machines.formulas._precopy import at_least_one, positive
from designer.formulas._vsphere import Release
from designer.formulas.formula import Formula
from designer.sources import Constant, Estimate, Status
from designer.units import Bytes, BytesPerSecond

SOURCES: Final = (
    "esxi-advanced-settings",
    "broadcom-kb-323379",
    "denneman-2023-vgpu-vmotion",
    "denneman-2025-vgpu-stun",
    "migration-calibration",
    "migration-assumed",
)

LINE_SHARE: Final = Constant(
    0.94, 0.88, 0.99, "migration-calibration", Status.DERIVED, note="payload of line rate, jumbo frames; 0.87–1.01 seen"
)
LINE_SHARE_1500: Final = Constant(
    0.90, 0.85, 0.95, "migration-assumed", Status.UNVERIFIED, note="payload of line rate, MTU 1500"
)
JUMBO_FROM: Final = Constant(9000, 9000, 9000, "vmware-docs-vmotion-network", Status.PRIMARY, "B", "jumbo frame")
#: straight line through 18, 28 and 36 Gb/s for one, two and three adapters on 40 GbE, largest residual 0.7 Gb/s;
#: seven streams come out at 72 Gb/s, where 69 Gb/s was seen later on 100 GbE
FIRST_STREAM: Final = Constant(
    (28 / 3) * GIGABIT, 6 * GIGABIT, 12 * GIGABIT, "broadcom-kb-323379", Status.DERIVED, "B/s", "intercept of the line"
)
EACH_STREAM: Final = Constant(
    9 * GIGABIT, 7.5 * GIGABIT, 12 * GIGABIT, "broadcom-kb-323379", Status.DERIVED, "B/s", "slope of the line"
)
#: no vMotion faster than this was published, on whatever NICs: up to 80 Gb/s, 69 Gb/s seen
FASTEST: Final = Constant(
    80 * GIGABIT, 69 * GIGABIT, 80 * GIGABIT, "denneman-2023-vgpu-vmotion", Status.SECONDARY, "B/s", "since 8.0 U1"
)
#: with seven streams, 72 Gb/s: L40S drained at 8.3 GB/s (8.0 U3), the stunned rest moved at 8.0 GB/s (9.0)
CHECKPOINT_SHARE: Final = Constant(
    0.90, 0.78, 1.0, "denneman-2025-vgpu-stun", Status.DERIVED, note="of what the streams carry, for vGPU checkpoints"
)


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """Streams of a host, the payload they carry together [B/s], for guest memory and for vGPU checkpoints.

    `limited_by` says what limits guest memory.
    """

    streams: int
    bandwidth: Estimate
    checkpoint_bandwidth: Estimate
    limited_by: str


def streams_for(line_rate: BytesPerSecond) -> int:
    """Streams opened for a NIC of `line_rate` [B/s]: one per 15 Gb/s begun, 112 at most."""
    positive(line_rate, "line_rate")
    return min(int(MOST_STREAMS.value), max(1, math.ceil(line_rate / STREAM_PLANNED.value)))


def carried(streams: int, *, corner: str = "value") -> float:
    """Payload `streams` streams can carry on an unlimited link [B/s]; `corner` is value, low or high."""
    first, each = getattr(FIRST_STREAM, corner), getattr(EACH_STREAM, corner)
    return first + each * streams


def vmotion_streams(
    nic_line_rates: Sequence[float],
    *,
    release: Release = Release.V8_0_U3,
    vmknics_per_nic: int = 1,
    mtu: Bytes = Bytes(JUMBO_FROM.value),
    encrypted: bool = False,
) -> StreamPlan:
    """Payload bandwidth a host can give vMotion [B/s], from its vMotion NICs and the streams on them.

    Parameters
    ----------
    nic_line_rates
        Line rate per direction of each physical vMotion NIC [B/s].
    release
        Since 7.0 U2 the number of streams follows the line rate; before, each VMkernel adapter is one stream.
    vmknics_per_nic
        VMkernel adapters configured per NIC.
    mtu
        Frame size of the vMotion network [B].
    encrypted
        Does not change the bandwidth while cores are free; each stream then also needs its crypto helper.

    Raises
    ------
    AnalysisError
        If there is no NIC, or a rate or count is not positive.

    Sources
    -------
    ESXi advanced settings; Broadcom KB 323379.
    """
    if not nic_line_rates:
        raise AnalysisError("the host has no vMotion NIC", remedy="add a VMkernel adapter for vMotion")
    at_least_one(vmknics_per_nic, "vmknics_per_nic")
    positive(mtu, "mtu")
    line = sum(positive(rate, "nic_line_rate") for rate in nic_line_rates)
    automatic = release.since(Release.V7_0_U2)
    streams = sum(
        max(vmknics_per_nic, streams_for(BytesPerSecond(rate)) if automatic else 1) for rate in nic_line_rates
    )
    streams = min(streams, int(MOST_STREAMS.value))
    payload = LINE_SHARE if mtu >= JUMBO_FROM.value else LINE_SHARE_1500
    by_line, by_streams = line * payload.value, carried(streams)
    low_line, high_line = line * payload.low, line * payload.high
    low_streams, high_streams = carried(streams, corner="low"), carried(streams, corner="high")
    most = FASTEST
    bandwidth = Estimate(
        min(by_line, by_streams, most.value),
        min(low_line, low_streams, most.low),
        min(high_line, high_streams, most.high),
        "B/s",
        SOURCES,
    )
    part = CHECKPOINT_SHARE
    checkpoint = Estimate(
        min(by_line, part.value * by_streams, most.value),
        min(low_line, part.low * by_streams, most.low),
        min(high_line, part.high * by_streams, most.high),
        "B/s",
        SOURCES,
    )
    limited_by = "line rate" if by_line <= by_streams else "streams, one core each"
    if most.value < min(by_line, by_streams):
        limited_by = "the fastest vMotion that was published"
    if encrypted and limited_by != "line rate":
        limited_by += ", and encryption on the same cores"
    return StreamPlan(streams, bandwidth, checkpoint, limited_by)


FORMULA: Final = Formula(
    name="vmotion-streams",
    title="vMotion streams and what they carry",
    function=vmotion_streams,
    sources=SOURCES,
    valid_when="10 to 100 Gb/s NICs; beyond 40 Gb/s the line through three measured points is extrapolated",
)
