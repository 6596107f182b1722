"""How fast one reader gets samples out of storage: the medium, the number of requests at once, and the client."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Bytes, BytesPerSecond, PerSecond, Ratio, Seconds

#: whole-file and small random reads through a file system, of what the data sheet says
FILE_SHARE: Final = Constant(
    0.70,
    0.60,
    0.85,
    "fit-storage",
    Status.DERIVED,
    "1",
    "4 KiB reads 707k of 1M per second; images 17,000/s off one drive",
)
UNKNOWN_RATE: Final = PerSecond(0.0)
NO_TIME: Final = Seconds(0.0)
WHOLE: Final = Bytes(0.0)
NONE_CACHED: Final = Ratio(0.0)


class Access(StrEnum):
    """How samples lie in files."""

    RANDOM = "random"  #: one sample a file, visited in random order
    SEQUENTIAL = "sequential"  #: shards read from end to end


@dataclass(frozen=True, slots=True)
class Medium:
    """What storage can do for one reader.

    Parameters
    ----------
    bandwidth
        Sequential read, of the data sheet or mount [B/s].
    operations
        Random reads per second; 0 where only the bandwidth is known [1/s].
    latency
        Time one request takes when nothing waits [s].
    request
        Size of one request; 0 for the whole sample [B].
    """

    bandwidth: BytesPerSecond
    operations: PerSecond = UNKNOWN_RATE
    latency: Seconds = NO_TIME
    request: Bytes = WHOLE


def read_rate(
    medium: Medium, sample: Bytes, access: Access, in_flight: int = 1, cached: Ratio = NONE_CACHED
) -> BytesPerSecond:
    """Rate at which samples come from storage [B/s].

    Parameters
    ----------
    sample
        Bytes of a sample as stored [B].
    in_flight
        Requests waiting at once: workers times prefetched samples.
    cached
        Share of the reads served by the page cache, whose time is left out [1].

    Notes
    -----
    Sequential: the bandwidth. Random: min(bandwidth, operations x request, in flight x request ÷ latency), times the
    share a file system leaves of it.

    Raises
    ------
    AnalysisError
        If the sample is empty, the cached share is not one, or nothing is in flight.
    """
    if sample <= 0:
        raise AnalysisError("a sample of no bytes", remedy="give the size of a stored sample")
    if not 0 <= cached <= 1:
        raise AnalysisError(f"a cached share of {cached}", remedy="give a share from 0 to 1")
    if in_flight < 1:
        raise AnalysisError(f"{in_flight} requests in flight", remedy="use at least one worker and one sample ahead")
    if medium.bandwidth <= 0:
        raise AnalysisError("storage without bandwidth", remedy="give the medium a positive bandwidth")
    rate: float = medium.bandwidth
    if access is Access.RANDOM:
        size = min(sample, medium.request) if medium.request > 0 else sample
        if medium.operations > 0:
            rate = min(rate, medium.operations * size)
        rate *= FILE_SHARE.value
        if medium.latency > 0:
            rate = min(rate, in_flight * size / medium.latency)
    missed = 1 - cached
    return BytesPerSecond(rate / missed) if missed > 0 else BytesPerSecond(float("inf"))


FORMULA: Final = Formula(
    "read-rate",
    "Reading samples",
    read_rate,
    ("fit-storage",),
    "one reader process on one medium; a shared path needs the flow engine",
)
