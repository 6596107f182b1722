"""Defaults of the ESXi advanced settings that decide a vMotion."""

from __future__ import annotations

from typing import Final

from designer.sources import Constant, Status
from designer.units import parse_rate

_KEY: Final = "esxi-advanced-settings"
#: 1 Gb/s in bytes per second
GIGABIT: Final = parse_rate("1 Gb/s")


SWITCHOVER_GOAL: Final = Constant(0.5, 0.5, 0.5, _KEY, Status.PRIMARY, "s", "PreCopySwitchoverTimeGoal 500 ms")
MINIMUM_PROGRESS: Final = Constant(
    1.3, 1.3, 1.3, _KEY, Status.PRIMARY, "1", "PreCopyMinProgressPerc 130 %: sent to dirtied in a pass"
)
SDPS_TARGET: Final = Constant(
    5.0, 5.0, 5.0, _KEY, Status.PRIMARY, "1", "SdpsTargetRate 500 %: transmit rate to dirty rate while slowed"
)
SDPS_DELAY: Final = Constant(30.0, 30.0, 30.0, _KEY, Status.PRIMARY, "s", "SdpsDynamicDelaySec")
STREAM_PLANNED: Final = Constant(
    15 * GIGABIT,
    15 * GIGABIT,
    15 * GIGABIT,
    _KEY,
    Status.PRIMARY,
    "B/s",
    "MigrateStreamHelperBwUtilMax 15000 Mbit/s, sets how many streams",
)
MOST_STREAMS: Final = Constant(112, 112, 112, _KEY, Status.PRIMARY, "1", "VMotionMaxStreamHelpers")
CPU_PER_GIGABIT: Final = Constant(
    0.10, 0.10, 0.10, _KEY, Status.PRIMARY, "1", "MigrateCpuPctPerGb: share of a core per Gbit/s of vMotion NIC"
)
CPU_LEAST: Final = Constant(0.30, 0.30, 0.30, _KEY, Status.PRIMARY, "1", "MigrateCpuMinPctDefault: share of a core")
SOCKET_BUFFER: Final = Constant(562_540, 562_540, 562_540, _KEY, Status.PRIMARY, "B", "SndBufSize")
LATENCY_MODE: Final = Constant(0.004, 0.004, 0.004, _KEY, Status.PRIMARY, "s", "NetLatencyModeThreshold, round trip")

SETUP_TIME: Final = Constant(
    5.0, 2.0, 8.0, "migration-assumed", Status.ASSUMED, "s", "admission, specification, trace installation, clean-up"
)
RESUME_TIME: Final = Constant(
    0.2, 0.1, 0.3, "migration-assumed", Status.UNVERIFIED, "s", "quiesce, restore and announce the address"
)
#: what the network gives against what was planned, 0.94 of the line: never more than the line itself
BANDWIDTH_SPREAD: Final = Constant(
    1.0,
    0.90,
    1 / 0.94,
    "migration-calibration",
    Status.DERIVED,
    "1",
    "0.87–1.01 of line on 1, 10, 40 and 100 Gb/s, 8 points; as wide as publications that were left out scatter",
)
DIRTY_SPREAD: Final = Constant(
    1.0, 0.8, 1.25, "migration-assumed", Status.ASSUMED, note="dirty rates vary by the second"
)
