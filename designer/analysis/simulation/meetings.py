"""What jobs that run together lose to each other: who, by whom, how much and for how long."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Final

import numpy as np

from designer.engine.account import named
from designer.engine.account.bottlenecks import sort_of
from designer.engine.account.expression import Tie
from designer.engine.clock.jobs import Job
from designer.engine.clock.measures import main_metric, periodic_step, values_of
from designer.engine.clock.run import Run
from designer.engine.clock.settled import settle
from designer.engine.clock.why import Span, spans
from designer.engine.costs import Prices
from designer.engine.results import Bottleneck
from designer.families.serving.request_log import logs_of
from designer.families.serving.user_impact import ANSWERS, STATED, Felt, felt
from designer.findings import Finding, Severity
from designer.sources import Constant, Status

#: of more jobs it is not asked which of the others slows each: each question is a run
MEETING_LIMIT: Final = 8
#: what is compared of served models, in words
_WORDS: Final = {**STATED, **ANSWERS}


@dataclass(frozen=True, slots=True)
class Meeting:
    """What a job loses to another: `by` is what causes it.

    Parameters
    ----------
    times
        Its step while `by` runs, or its main time, ÷ the same without `by`, all others there [1].
    begin, seconds
        When they meet, and for how long [s].
    repeats
        True if its steps are compared.
    metric
        What is compared of a served model; empty for steps and main times.
    """

    workload: str
    by: str
    times: float
    begin: float
    seconds: float
    repeats: bool = True
    metric: str = ""


def meetings_of(
    run: Run, jobs: Sequence[Job], without: Callable[[str], Run | None]
) -> tuple[tuple[Meeting, ...], tuple[Felt, ...]]:
    """What jobs lose to each of the others: the same time again without that one, all else equal.

    Steps of jobs that repeat are compared in the time in which the other runs, and so are requests of served models;
    of what is done once, its main time.
    """
    spans: dict[str, tuple[float, float]] = {}
    for job in jobs:
        mine = [t for t in run.tasks if t.program == job.name and t.parent < 0 and not math.isnan(t.began)]
        if mine:
            ends = [run.end if math.isnan(t.ended) else t.ended for t in mine]
            spans[job.name] = (min(t.began for t in mine), max(ends))
    found: list[Meeting] = []
    feelings: list[Felt] = []
    logs = logs_of(run)
    for name, (begin, end) in spans.items():
        other = without(name)
        for job in jobs if other is not None else ():
            assert other is not None
            if job.name == name or job.name not in spans:
                continue
            first, last = max(begin, spans[job.name][0]), min(end, spans[job.name][1])
            if job.name in logs:
                one = felt(logs[job.name], logs_of(other)[job.name], job.name, name, first, last)
                if one is not None:
                    feelings.append(one)
                    found += _of_requests(one)
                continue
            times = times_as_long(run, other, job, begin, end)
            if times is not None and last > first:
                found.append(Meeting(job.name, name, times, first, last - first, bool(periodic_step(job))))
    return tuple(found), tuple(feelings)


def _of_requests(one: Felt) -> list[Meeting]:
    """What is compared of a served model: its 95th percentiles."""
    pairs = [(metric, one.times(metric)) for metric in ("itl_p95", "ttft_p95", "latency_p95")]
    return [
        Meeting(one.workload, one.by, times, one.begin, one.seconds, repeats=False, metric=metric)
        for metric, times in pairs
        if times is not None
    ]


def times_as_long(run: Run, other: Run, job: Job, begin: float, end: float) -> float | None:
    """A job's steps between two times, or its main time, against those of another run [1]."""
    step = periodic_step(job)
    if step:
        pairs = [list(pairwise(each.ends(job.name, step))) for each in (run, other)]
        inside = [[after - before for before, after in each if before >= begin and after <= end] for each in pairs]
        inside[1] = inside[1] or [after - before for before, after in pairs[1]]
        if not all(inside):
            return None
        took, usual = (sum(each) / len(each) for each in inside)
        return took / usual if usual > 0 else None
    name = main_metric(job)
    took, usual = (values_of(each, job).get(name, 0.0) for each in (run, other))
    return took / usual if took > 0 and usual > 0 else None


def met(meetings: Sequence[Meeting]) -> list[Finding]:
    """Meetings that make a job slower, as findings."""
    return [
        Finding(
            "CLOCK-MET",
            Severity.INFO,
            f"{m.by} makes {_metric_text(m)}{m.workload} {m.times:.2f} times as long for {m.seconds:.3g} s",
        )
        for m in meetings
        if m.times > WORTH_TOLERANCE
    ]


def _metric_text(m: Meeting) -> str:
    return f"{_WORDS[m.metric]} of " if m.metric else "a step of " * m.repeats


# Later starts that keep periodic jobs out of each other's way.

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


#: of the time of what holds a program back longest, this much or more binds as well
_TIED: Final = Constant(0.5, 0.3, 0.9, "assumed-training", Status.ASSUMED, "1", "as gains: at least half of the best")
#: phases shorter than this share of a run are part of the one before [1]
_LEAST: Final = Constant(0.01, 0.001, 0.05, "assumed-training", Status.ASSUMED, "1", "too short to see")

Bound = tuple[Bottleneck, ...]


@dataclass(frozen=True, slots=True)
class Phase:
    """From when to when the same things bind a program [s]; each has its share of that time."""

    begin: float
    end: float
    binding: Bound


@dataclass(frozen=True, slots=True)
class Binding:
    """What binds a program.

    Parameters
    ----------
    alone, alone_next
        Without the other programs, and what comes next, as ``analyze`` answers; empty where that was not worked out.
    together, together_next
        The same with the others.
    phases
        In order of time, with the others: a phase ends where another program begins or ends.
    """

    alone: Bound = ()
    alone_next: Bound = ()
    together: Bound = ()
    together_next: Bound = ()
    phases: tuple[Phase, ...] = ()


def phases_of(run: Run, jobs: Sequence[Job], job: Job) -> tuple[Phase, ...]:
    """What holds back the critical path of a program, between the times at which other programs begin or end."""
    found: list[Phase] = []
    held = spans(run, program=job.name)
    for begin, end in pairwise(_edges(run, jobs)):
        binding = _phase_between(run, held, begin, end)
        if not binding:
            continue
        last = found[-1] if found else None
        if last is not None and last.end == begin and {b.id for b in last.binding} == {b.id for b in binding}:
            found.pop()
            begin = last.begin
            binding = _phase_between(run, held, begin, end)
        found.append(Phase(begin, end, binding))
    return tuple(found)


def _edges(run: Run, jobs: Sequence[Job]) -> list[float]:
    """When programs begin and end, the beginning and the end of the run among them; those close together as one."""
    edges = {run.end}
    for other in jobs:
        mine = [t for t in run.tasks if t.program == other.name and t.parent < 0 and not math.isnan(t.began)]
        if mine:
            edges.add(min(t.began for t in mine))
            edges.add(max(run.end if math.isnan(t.ended) else t.ended for t in mine))
    found = [0.0]
    for edge in sorted(edge for edge in edges if edge <= run.end):
        if edge - found[-1] > _LEAST.value * run.end:
            found.append(edge)
    return [*found[:-1], run.end] if len(found) > 1 else [0.0, run.end]


def _phase_between(run: Run, held: Sequence[Span], begin: float, end: float) -> Bound:
    """What holds a program back for most of the time between two."""
    spent: dict[Tie, float] = {}
    for span in held:
        inside = min(end, span.end) - max(begin, span.begin)
        if inside > 0:
            share = inside / (span.end - span.begin)
            spent[span.tie] = spent.get(span.tie, 0.0) + share * span.seconds
    whole = sum(spent.values())
    worst = max(spent.values(), default=0.0)
    ties = {tie: s / whole for tie, s in spent.items() if s >= worst * _TIED.value}
    network = run.table.network
    return named(ties, run.table.words, lambda resource: sort_of(network, resource))
