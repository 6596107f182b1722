"""How often parts fail, and how long a failure holds work up."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

from designer.formulas.formula import Formula
from designer.sources import Constant, Estimate, Status
from designer.units import Seconds, parse_duration

_HOUR: Final = float(parse_duration("1 h"))


_DAY: Final = float(parse_duration("1 d"))


#: a run of 54 days on 16,384 accelerators in 2,048 servers: time of all accelerators, and of all servers
_GPU_TIME: Final = Constant(
    16_384 * 54 * _DAY, 16_384 * 54 * _DAY, 16_384 * 54 * _DAY, "llama-3-2024", Status.PRIMARY, "s"
).value


_SERVER_TIME: Final = _GPU_TIME / Constant(8.0, 8.0, 8.0, "llama-3-2024", Status.PRIMARY).value


#: of a job, per accelerator: all 419 interruptions, servers, network and software among them. The band is 6.5 and 2.34
#: failures of servers of eight in 1,000 days, as two research clusters saw (kokolis-2025).
JOB: Final = Constant(
    _GPU_TIME / 419, 8e3 * _DAY / 6.5, 8e3 * _DAY / 2.34, "llama-3-2024", Status.PRIMARY, "s", "per GPU"
)


def _from_count(interruptions: int, time: float, note: str) -> Constant:
    """Time between failures from a count of one run; other sites may see half or twice as many."""
    value = time / interruptions
    return Constant(value, value / 2, value * 2, "llama-3-2024", Status.PRIMARY, "s", note)


def _assumed_hours(hours: float, note: str) -> Constant:
    value = hours * _HOUR
    return Constant(value, value / 4, value * 4, "assumed-failures", Status.ASSUMED, "s", note)


#: of one part of each kind that ``survive`` takes away [s]
PARTS: Final[Mapping[str, Constant]] = {
    "gpu": _from_count(148 + 72 + 19 + 17 + 6 + 6, _GPU_TIME, "faulty, HBM3, SRAM, processor, silent errors, heat"),
    "nic": _from_count(7, _GPU_TIME, "one NIC for each GPU"),
    "dpu": _assumed_hours(1e6, "as a NIC with more in it"),
    "server": _from_count(
        32 + 3 + 2 + 2 + 2 + 3 + 2, _SERVER_TIME, "maintenance, power, chassis, CPU, memory, SSD, boards"
    ),
    "link": _from_count(35, 3 * _GPU_TIME, "switch or cable; three tiers of links for each GPU"),
    "switch": _assumed_hours(3e5, "data sheets of fixed switches state 200,000 to 400,000 h"),
    "nvswitch": _assumed_hours(1e6, "one chip on a board"),
    "pcie_switch": _assumed_hours(1e6, "one chip on a board"),
    "storage": _assumed_hours(5e4, "a system with redundant parts, as a whole"),
    "drive": _assumed_hours(1e6, "0.9 % fail in a year"),
    "feed": _assumed_hours(1e5, "of two that supply a rack"),
}


def time_between_failures(counts: Mapping[str, int]) -> Estimate:
    """Mean time until any of so many parts of each kind fails; inf without parts [s].

    Notes
    -----
    Failures come at random and independently, so that rates add up: 1 ÷ Σ nᵢ ÷ Mᵢ. Kinds in which nothing is known to
    fail count as nothing.
    """
    known = {kind: n for kind, n in counts.items() if kind in PARTS and n > 0}
    if not known:
        return Estimate.exact(math.inf, "s")
    ends = [
        1 / sum(n / float(getattr(PARTS[kind], end)) for kind, n in known.items()) for end in ("value", "low", "high")
    ]
    return Estimate(ends[0], ends[1], ends[2], "s", tuple(sorted({PARTS[kind].source for kind in known})))


def job_time_between_failures(accelerators: int) -> Estimate:
    """Mean time between failures of a job of so many accelerators; inf without any [s].

    Notes
    -----
    By hand: 16,384 GPUs, 54 × 24 h ÷ 419 = 3.09 h; 1,024 GPUs, 16 times as long, 49.5 h.
    """
    if accelerators <= 0:
        return Estimate.exact(math.inf, "s")
    value, low, high = (end / accelerators for end in (JOB.value, JOB.low, JOB.high))
    return Estimate(value, low, high, "s", ("kokolis-2025", "llama-3-2024"), f"of {accelerators:,} accelerators")


#: the timeout of InfiniBand is this, doubled as often as NCCL_IB_TIMEOUT says [s]
_TICK: Final = Constant(4.096e-6, 4.096e-6, 4.096e-6, "nccl-environment", Status.PRIMARY, "s").value


#: repeats before a connection is given up
_REPEATS: Final = Constant(7.0, 7.0, 7.0, "nccl-environment", Status.PRIMARY).value


#: 4.096 µs × 2^20 × 7; 18 was the default before release 2.23, many sites set 22
TRANSPORT_TIMEOUT: Final = Constant(
    _TICK * 2**20 * _REPEATS,
    _TICK * 2**18 * _REPEATS,
    _TICK * 2**22 * _REPEATS,
    "nccl-environment",
    Status.PRIMARY,
    "s",
    "NCCL_IB_TIMEOUT=20, NCCL_IB_RETRY_CNT=7",
)


REROUTE: Final = Constant(
    1.0,
    0.05,
    10.0,
    "assumed-failures",
    Status.ASSUMED,
    "s",
    "ECMP drops a next hop in tens of ms, a subnet manager sweeps",
)


RECONNECT: Final = Constant(
    10.0, 2.0, 60.0, "assumed-failures", Status.ASSUMED, "s", "processes end, start and make their communicators"
)


REPAIR: Final = Constant(
    24 * _HOUR,
    4 * _HOUR,
    72 * _HOUR,
    "assumed-failures",
    Status.ASSUMED,
    "s",
    "a spare is on site, or comes the next day",
)


def outage(collective: bool, restart: Seconds = Seconds(0.0)) -> Estimate:
    """From a failure until work goes on: rerouted, or aborted and made again after `restart` [s].

    Parameters
    ----------
    collective
        Whether ranks wait for each other over connections of their own, as in training.
    restart
        From the abort until work goes on; 0 for :data:`RECONNECT` [s].

    Notes
    -----
    By hand: a flow, 1 s; a collective, 30.06 + 10 = 40.06 s; a training that starts in 10 min, 630.06 s.
    """
    if not collective:
        return Estimate(REROUTE.value, REROUTE.low, REROUTE.high, "s", (REROUTE.source,))
    first, again = TRANSPORT_TIMEOUT, RECONNECT
    sources = tuple(sorted({first.source, again.source}))
    if restart > 0:
        return Estimate(first.value + restart, first.low + restart, first.high + restart, "s", sources)
    return Estimate(first.value + again.value, first.low + again.low, first.high + again.high, "s", sources)


FORMULAS: Final = (
    Formula(
        name="time-between-failures",
        title="Mean time between failures of many parts",
        function=job_time_between_failures,
        sources=("llama-3-2024", "kokolis-2025", "assumed-failures"),
        valid_when="parts past their first weeks; failures that a common cause brings together are not in it",
    ),
    Formula(
        name="outage",
        title="How long a failure holds work up",
        function=outage,
        sources=("nccl-environment", "assumed-failures"),
        valid_when="collectives over InfiniBand or RoCE that do not change NICs while they run",
    ),
)
