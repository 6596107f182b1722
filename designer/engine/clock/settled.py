"""Programs settled in closed form: what they come to as expressions, where nothing is random and nothing is shared.

Items that arrive periodically, each done before the next comes, are all like the first: `answer` checks that they are.
The period of a program that goes on is the mean of its slowest cycle: over all cycles of steps that wait for each
other, the time of the steps divided by the items they reach back. The end of a program that is done once is its
longest path. Both are expressions over the times of its tasks. All else is known only by running.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from designer.engine.account.expression import Longest, Sum, Term, Time
from designer.engine.clock.engine import BATCH
from designer.engine.clock.jobs import NO_CHANGES, Changes, Job
from designer.engine.clock.player import play
from designer.engine.clock.records import TaskRun
from designer.engine.clock.run import Run
from designer.engine.costs import Cost, Price, Prices
from designer.engine.results import Bottleneck
from designer.errors import AnalysisError
from designer.sources import Constant, Status
from designer.workload.program import Measure, Program, Script, Task
from designer.workload.program.process import lags_of

#: steps of a program beyond which its paths are too many to write down
_STEPS_LIMIT: Final = 12
#: what the rate of items that arrive is limited by
ARRIVALS: Final = Bottleneck("limit", "arrivals", "the rate that is asked for", "")
#: resources and engines that a task takes
_Taken = frozenset[int]


def settled(prices: Prices, program: Program, place: str) -> Mapping[str, Time] | None:
    """The times of a program that runs alone by the names of its measures; None where only a run shows it.

    Of a throughput it is the time of a unit. Where nothing else is measured, the time in which the slowest flow moves
    a unit has the name "".

    Raises
    ------
    AnalysisError
        If a task cannot be done on the drawing.
    """
    if program.recovery is not None or len(program.steps) > _STEPS_LIMIT:
        return None
    if program.arrivals is not None and not _is_periodic_chain(program):
        return None
    if any(step.every > 1 or step.draw != "fixed" for step in program.steps):
        return None
    times: dict[str, Time] = {}
    each: dict[str, Time | None] = {}
    taken: list[_Taken] = []
    for step in program.steps:
        found = _task(prices, step.task, place)
        if found is None:
            return None
        times[step.name] = found[0]
        taken.append(found[1])
        if any(measure.of == "throughput" and measure.step == step.name for measure in program.measures):
            each[step.name] = _per_unit(prices, step.task, place)
    if not _in_turn(program) and sum(len(each) for each in taken) > len(frozenset[int]().union(*taken)):
        return None
    answers: dict[str, Time] = {}
    for measure in program.measures:
        time = each[measure.step] if measure.of == "throughput" else _measure_time(program, measure, times)
        if time is None:
            return None
        answers[measure.name] = time
    if answers and all(measure.of == "throughput" for measure in program.measures):
        answers[""] = times[program.measures[0].step]
    return answers


def _per_unit(prices: Prices, task: Task, place: str) -> Time | None:
    """The time of a unit of all works of a task, while they move; None where that is not known."""
    unit, times = prices.unit(task)
    price = prices.price(unit, place)
    if not isinstance(price, Cost) or price.rates is None or not price.n_works:
        return None
    if math.isinf(price.amount[0]):
        return Sum((price.rates.together(),), estimate=price.group)
    moving = price.alone(times, latency=False)
    many = price.rates.many if price.folded is not None else 1
    return Sum((moving,), 1 / float((price.amount * many).sum() * times)) if moving is not None else None


def _task(prices: Prices, task: Task, place: str) -> tuple[Time, _Taken] | None:
    """The time of a task alone, and what it takes."""
    unit, times = prices.unit(task)
    price = prices.price(unit, place)
    taken = _resource_use(prices, price, place)
    if isinstance(price, Cost):
        time = price.alone(times)
    else:
        time = price.time if price.time is None or times == 1.0 else Sum((price.time,), times)
    return (time, taken) if time is not None and taken is not None else None


def _resource_use(prices: Prices, price: Price, place: str) -> _Taken | None:
    """What a task takes of resources and engines; None where parts of it share some, so that only a run shows it."""
    if prices.times_alone:
        return frozenset()
    if isinstance(price, Cost):
        engines = price.engine[price.engine >= 0]
        return None if price.speeds else frozenset({*price.resource.tolist(), *engines.tolist()})
    process = price.make()
    if not isinstance(process, Script) or process.program.times != 1 or process.program.arrivals is not None:
        return None
    program = process.program
    found: dict[str, _Taken] = {}
    before: dict[str, frozenset[str]] = {}
    for step in program.steps:
        mine = _resource_use(prices, prices.price(prices.unit(step.task)[0], place), place)
        if mine is None or any(name not in found for name in step.after):
            return None
        before[step.name] = frozenset(step.after).union(*(before[name] for name in step.after))
        if any(mine & other for name, other in found.items() if name not in before[step.name]):
            return None
        found[step.name] = mine
    return frozenset[int]().union(*found.values())


def _is_chain(program: Program) -> bool:
    """True if the steps of an item are done one after the other."""
    names = [step.name for step in program.steps]
    return all(step.after == ((names[k - 1],) if k else ()) for k, step in enumerate(program.steps))


def _is_periodic_chain(program: Program) -> bool:
    """True if items arrive periodically and their steps are a chain whose latency is measured."""
    periodic = program.arrivals is not None and program.arrivals.shape == "periodic" and program.batch == 1
    last = program.steps[-1].name
    return (
        periodic
        and _is_chain(program)
        and not any(step.lags for step in program.steps)
        and any(measure.of == "latency" and measure.step == last for measure in program.measures)
    )


def _in_turn(program: Program) -> bool:
    """True if no two tasks ever run at the same time: steps one after the other, and items as well."""
    if program.arrivals is not None:
        return _is_periodic_chain(program)
    last = program.steps[-1].name
    return _is_chain(program) and (program.times == 1 or lags_of(program)[0].get(last) == 1)


def _measure_time(program: Program, measure: Measure, times: Mapping[str, Time]) -> Time | None:
    if measure.of == "time" and not _waits_inside(program, measure.step):
        return times[measure.step]
    if measure.of == "latency" and program.arrivals is not None:
        return _path(program, measure.step, times)
    if measure.of == "rate" and program.arrivals is not None:
        return Term(ARRIVALS, 1 / (program.arrivals.rate * measure.amount))
    if measure.of == "end" and program.times == 1:
        return _path(program, measure.step, times)
    if measure.of == "period" and math.isinf(program.times):
        cycles = [Sum(tuple(times[name] for name in names), 1 / lag) for names, lag in _cycles(program, measure.step)]
        return _longest(cycles) if cycles else None
    return None


def _waits_inside(program: Program, name: str) -> bool:
    """True if a step may be ready before what it needs is free, so that its time holds waiting.

    Steps share nothing, so one that waits for the item before it never does.
    """
    lags = next(lags for step, lags in zip(program.steps, lags_of(program), strict=True) if step.name == name)
    return len(program.steps) > 1 and not _in_turn(program) and lags.get(name) != 1


def _path(program: Program, name: str, times: Mapping[str, Time]) -> Time:
    """From the start to the end of a step of the first item."""
    before = [_path(program, each, times) for each in dict.fromkeys(program.step(name).after)]
    return Sum((_longest(before), times[name])) if before else times[name]


def _longest(parts: Sequence[Time]) -> Time:
    return parts[0] if len(parts) == 1 else Longest(tuple(parts))


def _cycles(program: Program, step: str) -> Iterator[tuple[tuple[str, ...], int]]:
    """Simple cycles among the steps that a step waits for, itself included, and how many items each reaches back."""
    waits: dict[str, list[tuple[str, int]]] = {}
    for one, lags in zip(program.steps, lags_of(program), strict=True):
        waits[one.name] = [*((name, 0) for name in dict.fromkeys(one.after)), *lags.items()]
    before, todo = {step: 0}, [step]
    while todo:
        new = [name for name, _ in waits[todo.pop()] if name not in before]
        todo += new
        before |= {name: len(before) + k for k, name in enumerate(dict.fromkeys(new))}

    def grown(first: str, trail: tuple[str, ...], lag: int) -> Iterator[tuple[tuple[str, ...], int]]:
        for name, more in waits[trail[-1]]:
            if name == first:
                yield trail, lag + more
            elif before[name] > before[first] and name not in trail:
                yield from grown(first, (*trail, name), lag + more)

    for name in before:
        yield from grown(name, (name,), 0)


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
