"""What programs come to when they go on: the period of a step, by running until it repeats, or by its cycles alone."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from designer.engine.clock.engine import BATCH
from designer.engine.clock.jobs import NO_CHANGES, Changes, Job
from designer.engine.clock.player import play
from designer.engine.clock.records import TaskRun
from designer.engine.clock.run import Run
from designer.engine.costs import Prices
from designer.errors import AnalysisError
from designer.sources import Constant, Status
from designer.workload.program import Program

#: periods this near are one, relative
SAME: Final = Constant(1e-9, 1e-12, 1e-6, "flows-numerics", Status.ASSUMED, "1", "rounding of a period").value
#: a run that has not settled after so many periods is stated by the mean of its second half
PERIODS_LIMIT: Final = 64
#: items that a repeating pattern may have
PATTERN_LIMIT: Final = 8
#: times that a pattern has to repeat
_REPEATS: Final = 2


@dataclass(frozen=True, slots=True)
class Period:
    """How often a step ends.

    Parameters
    ----------
    time
        From one end to the next, in the mean [s].
    items
        After how many items it repeats.
    settled
        True if it does; else `time` is a mean.
    warm_up
        Before it settled [s].
    """

    time: float
    items: int
    settled: bool
    warm_up: float


def period_of(ends: Sequence[float], every: int = 1) -> Period | None:
    """The period of some ends [s]; None where there are not two.

    Parameters
    ----------
    every
        Items after which something is done that is not done each time: the pattern has a multiple of them.
    """
    n = len(ends) - 1
    if n < 1:
        return None
    for items in range(every, every * PATTERN_LIMIT + 1, every):
        if n < items * (_REPEATS + 1):
            break
        span = ends[-1] - ends[-1 - items]
        # a rounding of the time itself is no difference
        near = SAME * span + BATCH * abs(ends[-1])
        if all(abs(ends[-1 - k] - ends[-1 - k - items] - span) <= near for k in range(items * _REPEATS)):
            first = n
            while first > items and abs(ends[first] - ends[first - items] - span) <= near:
                first -= 1
            return Period(span / items, items, settled=True, warm_up=ends[max(0, first - items)])
    half = n // 2
    return Period((ends[-1] - ends[half]) / (n - half) if n > half else ends[-1] - ends[0], 1, False, ends[half])


def settle(
    prices: Prices,
    jobs: Sequence[Job],
    watched: Mapping[str, str],
    *,
    changes: Changes = NO_CHANGES,
    cancelled: Callable[[], bool] | None = None,
    until: float = math.inf,
    least: int = 0,
) -> tuple[Run, dict[str, Period]]:
    """Run jobs until the steps that are watched repeat, or 64 periods have passed.

    Parameters
    ----------
    watched
        A step of each job, by the name of the job.
    least
        Items of each that are run at least.

    Raises
    ------
    AnalysisError
        If one of them never ends twice.
    """
    ends: dict[str, list[float]] = {name: [] for name in watched}
    every = {job.name: _repeat_period(job.program) for job in jobs}
    settled: dict[str, bool] = dict.fromkeys(watched, False)

    def stop(task: TaskRun) -> bool:
        if watched.get(task.program) != task.step:
            return False
        mine = ends[task.program]
        mine.append(task.ended)
        found = period_of(mine, every[task.program]) if len(mine) % every[task.program] == 0 or len(mine) < 8 else None
        over = len(mine) > PERIODS_LIMIT * every[task.program]
        settled[task.program] = over or (len(mine) > least and found is not None and found.settled)
        return all(settled.values())

    run = play(prices, jobs, until=until, changes=changes, stop=stop, cancelled=cancelled)
    found: dict[str, Period] = {}
    for name, mine in ends.items():
        period = period_of(mine, every[name])
        if period is None:
            stuck = next((f.text for f in run.findings if f.code == "CLOCK-STUCK"), "")
            stated = stuck or f"{watched[name]} does not end twice"
            raise AnalysisError(stated, place=name, remedy="let it run for more items, or for a longer time")
        found[name] = period
    return run, found


def _repeat_period(program: Program | None) -> int:
    return math.lcm(*(step.every for step in program.steps)) if program is not None else 1
