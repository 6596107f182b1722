"""Dedicated against shared accelerators: utilisation and waiting, as queues with k servers."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from designer.errors import AnalysisError
from designer.families.machines.formulas._precopy import at_least_one, not_negative, positive
from designer.formulas.formula import Formula
from designer.sources import EIGHTY, Constant, Status
from designer.units import PerSecond, Ratio, Seconds

SOURCES: Final = ("allen-cunneen", "migration-assumed")

MOST_SERVERS: Final = Constant(
    100_000, 100_000, 100_000, "migration-assumed", Status.ASSUMED, note="bound of the search for a pool size"
)
#: how far mean waits lie from those of simulated queues, either way; exact for one accelerator and exponential jobs
WAIT_ERROR: Final = Constant(0.10, 0.05, 0.15, "allen-cunneen", Status.SECONDARY, "1", "variation below 4")
#: over so long what is counted is compared with these means
MONTH: Final = Constant(30 * 86400.0, 7 * 86400.0, 90 * 86400.0, "migration-assumed", Status.ASSUMED, "s")
#: standard deviations either way of an 80 % band of a normal distribution
TAIL: Final = Constant(0.05, 0.05, 0.05, "migration-assumed", Status.ASSUMED, note="95th percentile")


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue with k accelerators: utilisation, chance to wait [1], mean and 95th-percentile wait [s].

    Waits are infinite when more work arrives than can be done.
    """

    accelerators: int
    utilisation: float
    waits: float
    mean_wait: float
    wait_p95: float


@dataclass(frozen=True, slots=True)
class Pooling:
    """Each owner with their own accelerators, all sharing as many, and the smallest pool that waits no longer [s]."""

    dedicated: Queue
    shared: Queue
    smallest: Queue
    saved: int


def erlang_c(servers: int, offered: Ratio) -> float:
    """Chance that a job must wait [1] in M/M/k with `offered` = arrival rate × service time, below `servers`."""
    blocked = 1.0
    for count in range(1, servers + 1):
        blocked = offered * blocked / (count + offered * blocked)
    load = offered / servers
    return blocked / (1 - load * (1 - blocked))


def queue(accelerators: int, arrival_rate: PerSecond, job_time: Seconds, variation: Ratio) -> Queue:
    """Waits in an M/G/k queue, by the approximation of Allen and Cunneen [s].

    Parameters
    ----------
    arrival_rate, job_time
        Jobs per second [1/s] and mean time of one [s], one accelerator each.
    variation
        Squared coefficient of variation of the job time [1]; 1 for exponential, 0 for equal jobs.
    """
    offered = arrival_rate * job_time
    load = offered / accelerators
    if load >= 1:
        return Queue(accelerators, 1.0, 1.0, math.inf, math.inf)
    waits = erlang_c(accelerators, Ratio(offered))
    factor = (1 + variation) / 2
    scale = factor * job_time / (accelerators * (1 - load))
    tail = scale * math.log(waits / TAIL.value) if waits > TAIL.value else 0.0
    return Queue(accelerators, load, waits, waits * scale, tail)


def pooling(
    owners: int,
    accelerators_per_owner: int,
    jobs_per_second: PerSecond,
    job_time: Seconds,
    *,
    variation: Ratio = Ratio(1.0),
) -> Pooling:
    """Utilisation [1] and waiting [s] of dedicated against shared accelerators.

    Parameters
    ----------
    owners, accelerators_per_owner
        Teams, and what each would own.
    jobs_per_second
        Jobs each owner starts [1/s], at random times.
    job_time, variation
        Mean job time [s] and its squared coefficient of variation [1].

    Raises
    ------
    AnalysisError
        If a count, rate or time is not positive.

    Notes
    -----
    The smallest pool keeps the mean wait no longer than that of the dedicated accelerators.

    Sources
    -------
    Allen and Cunneen's approximation; exact for k = 1 and for exponential jobs.
    """
    at_least_one(owners, "owners")
    at_least_one(accelerators_per_owner, "accelerators_per_owner")
    positive(jobs_per_second, "jobs_per_second")
    positive(job_time, "job_time")
    not_negative(variation, "variation")
    total_rate = owners * jobs_per_second
    dedicated = queue(accelerators_per_owner, jobs_per_second, job_time, variation)
    full = owners * accelerators_per_owner
    shared = queue(full, PerSecond(total_rate), job_time, variation)
    needed = math.floor(total_rate * job_time) + 1
    if needed > MOST_SERVERS.value:
        raise AnalysisError(f"{needed} accelerators would be needed", remedy="check jobs_per_second and job_time")
    smallest = queue(needed, PerSecond(total_rate), job_time, variation)
    while smallest.mean_wait > dedicated.mean_wait and smallest.accelerators < full:
        smallest = queue(smallest.accelerators + 1, PerSecond(total_rate), job_time, variation)
    return Pooling(dedicated, shared, smallest, full - smallest.accelerators)


def busy_error(jobs_per_second: PerSecond, variation: Ratio) -> Ratio:
    """How far the work of a month of jobs at random lies from its mean, relative, 80 % band [1].

    Notes
    -----
    Work of N jobs on average, Poisson: variance over square of the mean is (1 + variation) / N.
    """
    jobs = jobs_per_second * MONTH.value
    return Ratio(EIGHTY.value * math.sqrt((1 + variation) / jobs))


def pooling_ends(
    owners: int,
    accelerators_per_owner: int,
    jobs_per_second: PerSecond,
    job_time: Seconds,
    *,
    variation: Ratio = Ratio(1.0),
) -> tuple[Pooling, Pooling]:
    """The same in a month of fewer jobs and of more than the mean, and waits at the ends of what formulas miss.

    Raises
    ------
    AnalysisError
        As :func:`pooling`.
    """
    error = busy_error(PerSecond(owners * jobs_per_second), variation)
    found: list[Pooling] = []
    for factor, miss in ((math.exp(-error), 1 - WAIT_ERROR.value), (math.exp(error), 1 + WAIT_ERROR.value)):
        jobs = PerSecond(jobs_per_second * factor)
        one = pooling(owners, accelerators_per_owner, jobs, job_time, variation=variation)
        queues = (_approximation_error(queued, miss, variation) for queued in (one.dedicated, one.shared, one.smallest))
        found.append(Pooling(next(queues), next(queues), next(queues), one.saved))
    return found[0], found[1]


def _approximation_error(queued: Queue, factor: float, variation: Ratio) -> Queue:
    """A queue with waits that the approximation misses by a factor; one accelerator and exponential jobs are exact."""
    if queued.accelerators == 1 or variation == 1:
        return queued
    return replace(queued, mean_wait=queued.mean_wait * factor, wait_p95=queued.wait_p95 * factor)


FORMULA: Final = Formula(
    name="pooling",
    title="Dedicated against shared accelerators",
    function=pooling,
    sources=SOURCES,
    valid_when="jobs of one accelerator arriving independently; mean waits within about 10 % for variation below 4",
)
