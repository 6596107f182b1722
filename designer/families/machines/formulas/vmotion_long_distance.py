"""vMotion over distance: what the round trip leaves of the bandwidth, and whether it is supported."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from designer.families.machines.formulas._esxi import LATENCY_MODE, SOCKET_BUFFER
from designer.families.machines.formulas._precopy import at_least_one, not_negative, positive
from designer.families.machines.formulas.vmotion_admission import LEAST_PER_MIGRATION
from designer.formulas.formula import Formula
from designer.sources import Constant, Estimate, Status
from designer.units import BytesPerSecond, Seconds

SOURCES: Final = ("broadcom-kb-336244", "esxi-advanced-settings", "vmware-docs-vmotion-network", "migration-assumed")

LONGEST_ROUND_TRIP: Final = Constant(0.150, 0.150, 0.150, "broadcom-kb-336244", Status.PRIMARY, "s", "since 6.0")
WINDOW: Final = Constant(
    2.0**24,
    2.0**22,
    2.0**26,
    "migration-assumed",
    Status.ASSUMED,
    "B",
    "socket buffer a stream grows to on a long link",
)


@dataclass(frozen=True, slots=True)
class LongDistance:
    """Bandwidth left for vMotion [B/s], whether it is supported, and why not if it is not."""

    bandwidth: Estimate
    supported: bool
    reasons: tuple[str, ...]
    latency_mode: bool


def vmotion_long_distance(
    bandwidth: BytesPerSecond, round_trip: Seconds, streams: int, *, concurrent: int = 1
) -> LongDistance:
    """Bandwidth of a vMotion over a long link [B/s]: at most one window per round trip and stream.

    Parameters
    ----------
    bandwidth
        What the routed network gives [B/s].
    round_trip
        Round-trip time [s].
    streams
        Streams used, see `vmotion_streams`.
    concurrent
        vMotions sharing the link.

    Raises
    ------
    AnalysisError
        If the bandwidth is not positive, the round trip is negative or there is no stream.

    Sources
    -------
    KB 336244; ESXi advanced settings; the window on long links is assumed.
    """
    positive(bandwidth, "bandwidth")
    not_negative(round_trip, "round_trip")
    at_least_one(streams, "streams")
    at_least_one(concurrent, "concurrent")

    def limited(window: float) -> float:
        return bandwidth if round_trip == 0 else min(bandwidth, streams * window / round_trip)

    long = round_trip > LATENCY_MODE.value
    low = limited(WINDOW.low if long else max(SOCKET_BUFFER.value, WINDOW.low))
    estimate = Estimate(limited(WINDOW.value), low, limited(WINDOW.high), "B/s", SOURCES)
    reasons: list[str] = []
    if round_trip > LONGEST_ROUND_TRIP.value:
        reasons.append("the round trip is longer than 150 ms")
    if estimate.value < concurrent * LEAST_PER_MIGRATION.value:
        reasons.append("less than 250 Mbit/s for each concurrent vMotion")
    return LongDistance(estimate, not reasons, tuple(reasons), long)


FORMULA: Final = Formula(
    name="vmotion-long-distance",
    title="vMotion over distance",
    function=vmotion_long_distance,
    sources=SOURCES,
    valid_when="vSphere 6.0 and newer; the window per stream is an assumption",
)
