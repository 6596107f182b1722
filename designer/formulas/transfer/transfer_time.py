"""Time of one transfer: latency + size ÷ achieved bandwidth."""

from __future__ import annotations

import math

from designer.formulas.formula import Formula
from designer.formulas.transfer import _constants as c
from designer.formulas.transfer._situation import LinkClass, TransferProtocol, TransferSituation, TransferTime
from designer.formulas.transfer.achievable_fraction import achievable_fraction
from designer.units import BytesPerSecond


def transfer_time(situation: TransferSituation) -> TransferTime:
    """Time and achieved bandwidth of a transfer over one stage, with an 80 % band [s, B/s].

    Notes
    -----
    T = α + S/B (Hockney 1994). A kernel that loads from host memory pays for address translation beyond the reach
    of its cache. Both directions of a coherent link share the host memory at its end.

    Raises
    ------
    AssertionError
        If the raw bandwidth is not positive or the size is negative.
    """
    if not situation.raw_bandwidth > 0 or situation.size < 0:
        raise AssertionError("a transfer needs a positive bandwidth and a size of 0 B or more")
    value, low, high = _rates(situation)
    alpha = c.LATENCY[situation.protocol]
    if math.isinf(situation.size):
        return TransferTime(math.inf, value, low, high, alpha.value, math.inf)
    seconds = situation.size / value
    time = alpha.value + seconds
    longer = math.hypot(alpha.high - alpha.value, situation.size / low - seconds)
    shorter = math.hypot(alpha.value - alpha.low, seconds - situation.size / high)
    return TransferTime(
        time=time,
        bandwidth=situation.size / time,
        bandwidth_low=situation.size / (time + longer),
        bandwidth_high=situation.size / (time - shorter),
        latency_term=alpha.value,
        bandwidth_term=seconds,
    )


def _rates(situation: TransferSituation) -> tuple[float, float, float]:
    memory = situation.link is LinkClass.C2C and situation.host_memory_bandwidth > 0
    share = achievable_fraction(
        situation.link,
        situation.protocol,
        generation=situation.generation,
        placement=situation.placement,
        both_directions=situation.both_directions and not memory,
        raw_bandwidth=BytesPerSecond(situation.raw_bandwidth),
    )
    raw = situation.raw_bandwidth
    rates = (share.value * raw, share.low * raw, share.high * raw)
    if memory:
        end = situation.host_memory_bandwidth / (2 if situation.both_directions else 1)
        host = (c.HOST_MEMORY.value * end, c.HOST_MEMORY.low * end, c.HOST_MEMORY.high * end)
        rates = min(rates, host)
    if situation.link is LinkClass.PCIE and situation.protocol is TransferProtocol.SM_READ:
        return _beyond_reach(situation.size, rates)
    return rates


def _beyond_reach(size: float, rates: tuple[float, float, float]) -> tuple[float, float, float]:
    if size <= c.SM_READ_REACH.value or math.isinf(size):
        return rates
    missed = 1 - c.SM_READ_REACH.value / size
    costs = (c.SM_READ_MISS.value, c.SM_READ_MISS.high, c.SM_READ_MISS.low)
    value, low, high = (1 / (1 / rate + missed * cost) for rate, cost in zip(rates, costs, strict=True))
    return value, low, high


FORMULA = Formula(
    name="transfer-time",
    title="Time of a transfer",
    function=transfer_time,
    sources=("hockney-1994", "transfers-fit", "nvbandwidth-24", "nvbandwidth-42", "gdrcopy", "assumed-transfers"),
    valid_when="one transfer over one stage; sharing is in the raw bandwidth given",
)
