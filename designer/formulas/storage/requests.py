"""How fast requests of one size move data: those in flight over the time of one, and the operations of a medium."""

from __future__ import annotations

import math
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.formulas.storage.read_rate import FILE_SHARE
from designer.units import Bytes, BytesPerSecond, PerSecond, Seconds


def request_rate(
    size: Bytes, in_flight: int, latency: Seconds, medium: BytesPerSecond = BytesPerSecond(0.0)
) -> BytesPerSecond:
    """Rate of requests that follow each other, so many at once [B/s].

    Parameters
    ----------
    size
        Of a request [B].
    in_flight
        Requests at once: threads times the queue depth of each.
    latency
        Time of a request of no bytes on an idle medium [s].
    medium
        Rate of the medium, at which the bytes of a request follow its latency; 0 where it is not known [B/s].

    Notes
    -----
    in flight × size ÷ (latency + size ÷ medium), by Little's law; at most the rate of the medium.

    Sources
    -------
    Little 1961.

    Raises
    ------
    AnalysisError
        If nothing is in flight, or a size or a latency is not above 0.
    """
    if size <= 0 or latency <= 0 or in_flight < 1 or medium < 0:
        raise AnalysisError(
            f"{in_flight} requests of {size:g} B in {latency:g} s",
            remedy="give one request or more, above 0 bytes and 0 s",
        )
    if medium == 0:
        return BytesPerSecond(in_flight * size / latency)
    return BytesPerSecond(min(medium, in_flight * size / (latency + size / medium)))


def operations_rate(operations: PerSecond, size: Bytes) -> BytesPerSecond:
    """What a medium moves in operations of one size through a file system [B/s].

    Raises
    ------
    AnalysisError
        If there are no operations, or a size is not above 0.
    """
    if operations <= 0 or size <= 0:
        raise AnalysisError(f"{operations:g} operations of {size:g} B", remedy="give figures above 0")
    return BytesPerSecond(operations * size * FILE_SHARE.value)


def cached_write_rate(amount: Bytes, cache: Bytes, burst: BytesPerSecond, steady: BytesPerSecond) -> BytesPerSecond:
    """Mean rate of a drive that takes `cache` at one rate and the rest at another [B/s]; a stream is all rest.

    Raises
    ------
    AnalysisError
        If nothing is written, or a rate is not above 0.
    """
    if amount <= 0 or cache < 0 or min(burst, steady) <= 0:
        raise AnalysisError(f"{amount:g} B written at {burst:g} and {steady:g} B/s", remedy="give figures above 0")
    if math.isinf(amount):
        return steady
    at_once = min(amount, cache)
    return BytesPerSecond(amount / (at_once / burst + (amount - at_once) / steady))


FORMULA: Final = Formula(
    "requests",
    "Requests of one size",
    request_rate,
    ("little-1961", "fit-storage"),
    "a closed loop: each request that ends starts the next one",
)
