"""Later starts that keep periodic jobs out of each other's way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from designer.engine.clock.jobs import Job
from designer.engine.clock.measures import periodic_step
from designer.engine.clock.steady import settle
from designer.engine.costs import Prices
from designer.findings import Finding, Severity

#: items of a job that are looked at to judge a shift
_ITEMS_LIMIT: Final = 12
#: shifts of a periodic job that are tried, as parts of its period
SHIFTS_LIMIT: Final = 12
#: a shift is proposed if it makes the jobs this much faster together
WORTH_TOLERANCE: Final = 1.005


@dataclass(frozen=True, slots=True)
class Shift:
    """A later start that keeps a periodic job out of the way of the others.

    Parameters
    ----------
    seconds
        How much later [s].
    before, after
        Its period and that of the others, relative to each alone and added up, without and with the shift [1].
    """

    workload: str
    seconds: float
    before: float
    after: float


def _periods(prices: Prices, jobs: Sequence[Job], cancelled: Callable[[], bool] | None) -> dict[str, float]:
    """Periods of the periodic jobs among some, over a dozen items each at least [s]."""
    watched = {job.name: step for job in jobs if (step := periodic_step(job))}
    found = settle(prices, jobs, watched, cancelled=cancelled, least=_ITEMS_LIMIT)[1]
    return {name: period.time for name, period in found.items()}


def shifts_of(prices: Prices, jobs: Sequence[Job], cancelled: Callable[[], bool] | None) -> tuple[Shift, ...]:
    """One job after the other, the later start with which all periodic jobs together are fastest."""
    periodic = [job for job in jobs if periodic_step(job)]
    if len(periodic) < 2:
        return ()
    alone = {job.name: _periods(prices, [job], cancelled)[job.name] for job in periodic}

    def cost(some: Sequence[Job]) -> float:
        return sum(time / alone[name] for name, time in _periods(prices, some, cancelled).items())

    kept, found = list(periodic), list[Shift]()
    now = cost(kept)
    for k in range(1, len(kept)):
        job = kept[k]
        tried = [alone[job.name] * part / SHIFTS_LIMIT for part in range(1, SHIFTS_LIMIT)]
        costs = [cost([*kept[:k], replace(job, start=job.start + s), *kept[k + 1 :]]) for s in tried]
        best = int(np.argmin(costs))
        if costs[best] * WORTH_TOLERANCE < now:
            found.append(Shift(job.name, tried[best], now, costs[best]))
            kept[k], now = replace(job, start=job.start + tried[best]), costs[best]
    return tuple(found)


def proposed(shifts: Sequence[Shift]) -> list[Finding]:
    """Later starts as findings."""
    return [
        Finding(
            "CLOCK-SHIFT",
            Severity.INFO,
            f"{shift.workload} meets others on shared links: started {shift.seconds:.3g} s later, all together are "
            f"{shift.before / shift.after:.2f} times as fast",
            (),
            f"start {shift.workload} {shift.seconds:.3g} s later",
        )
        for shift in shifts
    ]
