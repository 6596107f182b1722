"""Checkpoints: how much is written, how long the burst takes, what it costs the run, and how long restoring takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.formulas.layout import Sharding
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, Ratio, Seconds

#: weights in 16 bit, a 32-bit copy and two 32-bit moments
BYTES_PER_PARAMETER: Final = Constant(14.0, 12.0, 16.0, "zero-2020", Status.PRIMARY, "B", "mixed-precision Adam")
#: of these, what the optimizer keeps
OPTIMIZER_BYTES: Final = Constant(12.0, 12.0, 12.0, "zero-2020", Status.PRIMARY, "B", "copy and two moments, 32 bit")


@dataclass(frozen=True, slots=True)
class CheckpointEstimate:
    """One checkpoint.

    Parameters
    ----------
    size
        All that is written [B].
    write, stall
        Time of the burst, and the part training waits for [s].
    restore
        Time to read it back into all ranks [s].
    """

    size: Bytes
    write: Seconds
    stall: Seconds
    restore: Seconds


def checkpoint_size(parameters: float, bytes_per_parameter: Bytes = Bytes(BYTES_PER_PARAMETER.value)) -> Bytes:
    """Bytes of a full training checkpoint [B].

    Raises
    ------
    AnalysisError
        If a count or a share is out of range.
    """
    if parameters <= 0 or bytes_per_parameter <= 0:
        raise AnalysisError(f"a checkpoint of {parameters:g} parameters", remedy="give a model with parameters")
    return Bytes(parameters * bytes_per_parameter)


def copies_read(replicas: float, sharding: Sharding) -> float:
    """How many times the bytes of a checkpoint leave storage when every rank reads what it holds itself [1].

    Notes
    -----
    What the replicas split among them is read once in all, each rank its shard; what each of them keeps whole is read
    by all: with a sharded optimizer the weights, 2 of 14 bytes, and without sharding everything.
    """
    if sharding is Sharding.PARAMETERS:
        return 1.0
    if sharding is Sharding.NONE:
        return replicas
    split = OPTIMIZER_BYTES.value / BYTES_PER_PARAMETER.value
    return split + (1 - split) * replicas


def checkpoint(
    size: Bytes,
    write_rate: BytesPerSecond,
    read_rate: BytesPerSecond,
    *,
    copies: float = 1.0,
    snapshot_rate: BytesPerSecond | None = None,
) -> CheckpointEstimate:
    """Burst, stall and restore of one checkpoint.

    Parameters
    ----------
    write_rate, read_rate
        What storage takes and gives over the drawn path, all writers together [B/s].
    copies
        How many times its bytes are read when restoring; 1 if one replica reads and the others get theirs over the
        network, or if every rank reads a shard of its own.
    snapshot_rate
        Rate of a copy to host memory, after which training goes on while the burst runs; None if it waits [B/s].

    Raises
    ------
    AnalysisError
        If a rate is not positive.
    """
    if size <= 0 or write_rate <= 0 or read_rate <= 0 or copies < 1:
        raise AnalysisError("a checkpoint without size or rate", remedy="give the size and both rates, above 0")
    write = size / write_rate
    stall = write if snapshot_rate is None else min(write, size / snapshot_rate)
    return CheckpointEstimate(size, Seconds(write), Seconds(stall), Seconds(size * copies / read_rate))


def best_interval(stall: Seconds, mean_time_between_failures: Seconds) -> Seconds:
    """Interval between checkpoints that loses the least time, sqrt(2 stall MTBF) [s].

    Sources
    -------
    Young 1974.

    Raises
    ------
    AnalysisError
        If a time is not positive.
    """
    if stall <= 0 or mean_time_between_failures <= 0:
        raise AnalysisError("no stall or no failures", remedy="give both, above 0")
    return Seconds(math.sqrt(2 * stall * mean_time_between_failures))


def lost_share(interval: Seconds, estimate: CheckpointEstimate, mean_time_between_failures: Seconds) -> Ratio:
    """Share of a long run lost to checkpoints, redone work and restores [1].

    Raises
    ------
    AnalysisError
        If the interval is shorter than the burst, or a time is not positive.
    """
    if interval <= 0 or mean_time_between_failures <= 0:
        raise AnalysisError(
            "an interval of no length", remedy="give the interval and the time between failures, above 0"
        )
    if interval < estimate.write:
        raise AnalysisError(
            f"a checkpoint every {interval:g} s, but writing one takes {estimate.write:g} s",
            remedy="write less often, or give the path more bandwidth",
        )
    stalled = estimate.stall / (interval + estimate.stall)
    redone = (0.5 * interval + estimate.restore) / mean_time_between_failures
    return Ratio(min(1.0, stalled + redone))


FORMULA: Final = Formula(
    "checkpoint", "Checkpoint burst and restore", checkpoint, ("zero-2020", "young-1974"), "all ranks write at once"
)
