"""What programs of a run come to: the metrics they ask for, with bands, and what binds the first of them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Final

import numpy as np

from designer.engine.account import Account, Ends, account
from designer.engine.account.bottlenecks import sort_of
from designer.engine.account.expression import Resource, Time
from designer.engine.clock.jobs import NO_CHANGES, Changes, Job, goes_on
from designer.engine.clock.player import play
from designer.engine.clock.records import Readings, TaskRun
from designer.engine.clock.run import Run
from designer.engine.clock.settled import PATTERN_LIMIT, PERIODS_LIMIT, period_of, settle, settled
from designer.engine.clock.why import changes_at, explain
from designer.engine.costs import Cost, Expansion, Prices
from designer.engine.costs.pricing import Settling
from designer.engine.costs.resources import ResourceTable
from designer.engine.results import Bottleneck
from designer.engine.transfers.flow_rates import FlowRates
from designer.errors import AnalysisError
from designer.findings import Finding
from designer.sources import EIGHTY, Constant, Estimate, Status
from designer.workload.program import Measure, Program, Task

#: groups of costs for which bands are worked out; more would be many runs
GROUPS_LIMIT: Final = 12
#: simulated where something goes on for ever and nobody says until when [s]
UNTIL: Final = Constant(60.0, 1.0, 3600.0, "assumed-training", Status.ASSUMED, "s", "enough to see most cycles")


@dataclass(frozen=True, slots=True, eq=False)
class Answer:
    """A program alone: its metrics and what binds it.

    Parameters
    ----------
    words
        Names and describes a resource of the account.
    played
        Its run; not made before it is needed where the program was settled in closed form.
    """

    metrics: Mapping[str, Estimate]
    why: Account
    played: Callable[[], Run]
    table: ResourceTable
    words: Callable[[Resource], Bottleneck]
    findings: tuple[Finding, ...] = ()
    #: what binds and what comes next, where a task settles that itself
    stated: tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]] | None = None

    @property
    def run(self) -> Run:
        """Its run."""
        return self.played()

    def bottlenecks(self, program: Program) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
        """What binds the program, and what comes next."""
        return self.stated if self.stated is not None else described(self.why, self.table, program, self.words)


#: periodic arrivals that are seen of a program that runs alone
ARRIVALS_LIMIT: Final = 50


def described(
    why: Account, table: ResourceTable, program: Program, words: Callable[[Resource], Bottleneck] | None = None
) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
    """What binds a program, and what comes next, in words.

    Of a program that only moves data every channel is listed, for the drawing; of others, links of a tie that are as
    wide are listed once.

    Parameters
    ----------
    words
        Names and describes a resource; by default those of the table.
    """
    if all(step.task.moves_data for step in program.steps):
        return why.bottlenecks(words or table.words)
    return why.bottlenecks(words or table.words, lambda resource: sort_of(table.network, resource))


def values_of(run: Run, job: Job) -> dict[str, float]:
    """The metrics a program asks for, read from a run; those that cannot be read yet are left out."""
    program = job.program
    found: dict[str, float] = {}
    for measure in program.measures if program is not None else ():
        value = _value(run, job, measure)
        if value is not None and math.isfinite(value):
            found[measure.name] = value
    return found


def _value(run: Run, job: Job, measure: Measure) -> float | None:
    program = job.program
    assert program is not None
    name, step = job.name, measure.step
    if measure.of == "requests":
        return answered(run, name).values.get(measure.name)
    if measure.of == "throughput":
        amount, time = run.moved(name, step)
        if time > 0:
            return amount / time
        # a run of streams alone is over as soon as their rates are known
        return run.rate_now(name, step) if endless(program, step) else None
    if measure.of in ("time", "share", "latency"):
        times = run.times(name, step) if measure.of != "latency" else run.latencies(name, step)
        mean = sum(times) / len(times) if times else None
        return mean / measure.amount if mean is not None and measure.of == "share" else mean
    ends = run.ends(name, step)
    if measure.of == "end":
        return ends[-1] - job.start if ends else None
    if measure.of in ("pace", "progress"):
        pace = _pace(run, job, step)
        if measure.of == "pace" or pace is None or program.recovery is None or run.end <= job.start:
            return pace if measure.of == "pace" else None
        if program.arrivals is None:
            return min(1.0, run.kept(name, step, program.recovery.safe) * pace / (run.end - job.start))
        busy = run.under_way(name)
        kept = run.kept(name, step, program.recovery.safe, program.batch)
        return min(1.0, kept * pace / busy) if busy > 0 else None
    every = math.lcm(*(s.every for s in program.steps))
    period = period_of(ends, every)
    time = period.time if period is not None else (ends[0] - job.start if ends else None)
    late = period is not None and (not period.settled or period.warm_up > (ends[0] + ends[-1]) / 2)
    if late and len(run.programs) > 1:
        # with others, what the last items repeat may be a moment of what the others do
        begin, end = run.whole_items(name, ends[(len(ends) - 1) // 2], ends[-1])
        first, last = np.interp([begin, end], ends, np.arange(len(ends)))
        time = (end - begin) / float(last - first)
    if time is None:
        return None
    return time if measure.of == "period" else (measure.amount / time if time > 0 else None)


def answered(run: Run, program: str) -> Readings:
    """What a served model was like in a run; nothing where no request was answered, or more asked than can be."""
    log = run.requests.get(program)
    return Readings({}, {}) if log is None or log.saturated else log.readings


def _pace(run: Run, job: Job, name: str) -> float | None:
    """The time from one end of a step to the next that half of them take at most, other steps it waits for aside [s].

    Those are steps of items before it that are done now and then, such as checkpoints, with what they wait for in turn.
    """
    program = job.program
    ends = sorted(run.ends(job.name, name))
    if program is None or len(ends) < 2:
        return None
    others = [step for step in program.step(name).lags if step != name]
    mine = [task for task in run.tasks if task.program == job.name and task.parent < 0 and task.done]
    spent = np.zeros(len(ends))
    for task in mine:
        if task.step in others:
            k = int(np.searchsorted(ends, task.ready, side="right")) % len(ends)
            spent[k] += task.time + (task.ready - ends[k - 1] if k else 0.0)
    return float(np.median(np.diff(ends) - spent[1:]))


def endless(program: Program, step: str) -> bool:
    """True if a step is a stream that never ends."""
    return getattr(program.step(step).task, "size", 0.0) == math.inf


def answer(
    prices: Prices,
    job: Job,
    *,
    neighbours: Sequence[Job] = (),
    bands: bool = True,
    explained: bool = True,
    cancelled: Callable[[], bool] | None = None,
) -> Answer:
    """What a program comes to when it runs alone, or next to others until it is done.

    Raises
    ------
    AnalysisError
        If it cannot be run on this drawing.
    """
    program = job.program
    assert program is not None
    job = replace(job, start=0.0)

    def run_with(changes: Changes) -> Run:
        if math.isinf(program.times) or _streams(job):
            return _steady(prices, [job, *neighbours], changes, cancelled)
        left = {step.name for step in program.steps}

        def done(task: TaskRun) -> bool:
            if task.program == job.name and task.number == program.times - 1:
                left.discard(task.step)
            return not left

        stop, until = done if neighbours else None, UNTIL.value if goes_on(program) else math.inf
        return play(prices, [job, *neighbours], until=until, changes=changes, stop=stop, cancelled=cancelled)

    itself = settling(prices, job) if not neighbours else None
    if itself is not None:
        found = itself(explained, cancelled)
        main = next((found.metrics[m.name].value for m in program.measures if m.name in found.metrics), 0.0)
        # what goes on for ever is shown until the clock would end by itself
        played = cache(lambda: play(prices, [job], until=UNTIL.value, cancelled=cancelled))
        why, stated = Account(main, main, main), (found.binding, found.next)
        return Answer(found.metrics, why, played, prices.table, prices.table.words, found.findings, stated)
    known = prices.lighter([step.task for step in program.steps])
    times = settled(known, program, job.place) if not neighbours else None
    if times and _one_by_one(known, program, times):
        played = cache(lambda: run_with(NO_CHANGES))
        return _settled_answer(known, program, times, played, bands, explained)
    run = run_with(NO_CHANGES)
    stuck = next((f for f in run.findings if f.code == "CLOCK-STUCK"), None)
    if stuck is not None:
        raise AnalysisError(stuck.text, place=job.place, remedy=stuck.remedy)
    return answer_of(prices, job, run, run_with, bands=bands, explained=explained)


def answer_of(
    prices: Prices, job: Job, run: Run, run_with: Callable[[Changes], Run], *, bands: bool, explained: bool
) -> Answer:
    """What a program comes to in a run, alone or with others.

    Parameters
    ----------
    run_with
        The same run with changes.
    """
    program = job.program
    assert program is not None
    values = values_of(run, job)
    groups = bands_of(prices, [step.task for step in program.steps], run) if bands else {}
    metrics = banded(job, values, groups, run_with, run)
    why = explained_by_runs(job, run, values, run_with) if explained else Account(0.0, 0.0, 0.0)
    return Answer(metrics, why, lambda: run, run.table, run.table.words, run.findings)


def _one_by_one(prices: Prices, program: Program, times: Mapping[str, Time]) -> bool:
    """Whether each item is done before the next arrives, at the slow end of the band as well."""
    if program.arrivals is None:
        return True
    ends = {name: (band.low, band.high) for name, band in bands_of(prices, [s.task for s in program.steps]).items()}
    latest = max(account(times[m.name], ends, explained=False).high for m in program.measures if m.of == "latency")
    return latest <= 1 / program.arrivals.rate


def _steady(prices: Prices, jobs: Sequence[Job], changes: Changes, cancelled: Callable[[], bool] | None) -> Run:
    """A run of what goes on, until every step that repeats has settled; streams alone are known at once."""
    watched: dict[str, str] = {}
    for job in jobs:
        program = job.program
        if program is None or math.isfinite(program.times) or program.arrivals is not None:
            continue
        step = next((m.step for m in program.measures if m.of != "throughput"), program.steps[-1].name)
        if not endless(program, step):
            watched[job.name] = step
    if not watched:
        return play(prices, jobs, changes=changes, until=_observation_end(jobs), cancelled=cancelled)
    # what others do is seen over several items, what they do at random over many
    random = any(job.program is None or job.name not in watched for job in jobs if not _streams(job))
    least = (PERIODS_LIMIT if random else PATTERN_LIMIT) if len(jobs) > 1 else 0
    return settle(prices, jobs, watched, changes=changes, cancelled=cancelled, least=least)[0]


def _observation_end(jobs: Sequence[Job]) -> float:
    """When a run in which nothing settles is seen for long enough; all items that arrive periodically are equivalent
    [s]."""
    found = 0.0
    for job in jobs:
        arrivals = job.program.arrivals if job.program is not None else None
        periodic = arrivals is not None and arrivals.shape == "periodic"
        found = max(found, ARRIVALS_LIMIT / arrivals.rate if arrivals is not None and periodic else UNTIL.value)
    return min(found, UNTIL.value)


def _streams(job: Job) -> bool:
    """True if a job is streams that never end, and nothing else."""
    program = job.program
    return program is not None and all(endless(program, step.name) for step in program.steps)


def explained_by_runs(job: Job, run: Run, values: Mapping[str, float], run_with: Callable[[Changes], Run]) -> Account:
    """What holds back the first time that a program measures, by running again; nothing where it measures none.

    Parameters
    ----------
    run, values
        A run of the program, alone or with others, and the metrics read from it.
    run_with
        The same run with changes.
    """
    program = job.program
    assert program is not None
    main = next((m for m in program.measures if m.unit == "s" and m.name in values), None)
    if main is None:
        return Account(0.0, 0.0, 0.0)

    def measure(changes: Changes) -> tuple[Run, float]:
        again = run_with(changes)
        return again, values_of(again, job).get(main.name, math.nan)

    begin = 0.0
    if main.of == "period":
        ends = run.ends(job.name, main.step)
        found = period_of(ends)
        begin = found.warm_up if found is not None else 0.0
    elif main.of == "latency":
        # what was before the last item began is waiting for it to come
        begin = run.ends(job.name, main.step)[-1] - run.latencies(job.name, main.step)[-1]
    # many machines move next to each other, over links of their own
    sort = run.table.sort if any(step.task.side_by_side for step in program.steps) else None
    return explain(measure, base=(run, values[main.name]), begin=begin, program=job.name, sort=sort)


def settling(prices: Prices, job: Job) -> Settling | None:
    """How a program whose one task settles itself comes to its metrics alone; None for all others."""
    program = job.program
    if program is None or len(program.steps) != 1 or program.times != 1 or program.arrivals is not None:
        return None
    price = prices.price(prices.unit(program.steps[0].task)[0], job.place)
    return price.settle if isinstance(price, Expansion) else None


def _settled_answer(
    prices: Prices, program: Program, times: Mapping[str, Time], played: Callable[[], Run], bands: bool, explained: bool
) -> Answer:
    """The answer of a program from the expressions of what it measures."""
    groups = bands_of(prices, [step.task for step in program.steps]) if bands else {}
    ends = {name: (band.low, band.high) for name, band in groups.items()}
    sources = tuple(sorted({key for band in groups.values() for key in band.sources}))
    metrics: dict[str, Estimate] = {}
    why = Account(0.0, 0.0, 0.0)
    main = next((measure.name for measure in program.measures if measure.of != "throughput"), "")
    if not main and explained:
        why = account(times[""], ends)
    for measure in program.measures:
        first = measure.name == main
        found = account(times[measure.name], ends, explained=explained and first)
        why = found if first else why
        spread = (found.value, found.low, found.high)
        if measure.of in ("throughput", "rate"):
            spread = (1 / found.value, 1 / found.high, 1 / found.low)
        metrics[measure.name] = Estimate(*spread, measure.unit, sources)
    tasks = costs_of(prices, [step.task for step in program.steps])
    words = _words(prices.table, [cost.rates for cost in tasks if cost.rates is not None])
    findings = tuple(dict.fromkeys(finding for cost in tasks for finding in cost.findings))
    return Answer(metrics, why, played, prices.table, words, findings)


def _words(table: ResourceTable, rates: Sequence[FlowRates]) -> Callable[[Resource], Bottleneck]:
    """What names resources: those of flows with how many share them and what can be achieved of them."""

    def words(resource: Resource) -> Bottleneck:
        return next((found for one in rates if (found := one.words(resource)) is not None), table.words(resource))

    return words


@dataclass(frozen=True, slots=True)
class Band:
    """How far the times of a group of costs may be off, relative [1], and the keys of what they rest on."""

    low: float
    high: float
    sources: tuple[str, ...]


def bands_of(prices: Prices, tasks: Sequence[Task], run: Run | None = None) -> dict[str, Band]:
    """Bands of all costs of some tasks, by estimate.

    Parameters
    ----------
    run
        A run of them next to others. Of what flows rest on only that counts which changes their rates alone, or which
        is
        met where a resource was full in that run.
    """
    found: dict[str, Band] = {}
    full = run.full if run is not None else frozenset[int]()
    for cost in costs_of(prices, tasks):
        rates, ends = cost.rates, dict[str, Ends]()
        if rates is not None:
            # stage after stage, what changes no rate may change a time
            moved = rates.joint_bands if run is None else rates.bands
            ends = dict(moved if cost.time is None else rates.all_bands)
            if cost.after is None:
                ends.pop(rates.latencies, None)
            for name in cost.rests.met_on(cost.resource, full) if cost.rests is not None else ():
                ends[name] = rates.all_bands[name]
        if cost.group and cost.low < cost.high:
            ends[cost.group] = cost.low, cost.high
        for name, (low, high) in ends.items():
            known = found.get(name, Band(1.0, 1.0, ()))
            sources = tuple(sorted({*known.sources, *cost.sources}))
            found[name] = Band(min(known.low, low), max(known.high, high), sources)
    return found


def costs_of(prices: Prices, tasks: Sequence[Task]) -> list[Cost]:
    """The primitive costs of some tasks that have been priced."""
    found: list[Cost] = []
    for task in tasks:
        price = prices.price(prices.unit(task)[0], "")
        found += costs_of(prices, price.tasks) if isinstance(price, Expansion) else [price]
    return found


def banded(
    job: Job,
    values: Mapping[str, float],
    groups: Mapping[str, Band],
    run_with: Callable[[Changes], Run],
    run: Run | None = None,
) -> dict[str, Estimate]:
    """Each group at its low and its high end, one at a time; deviations added in squares.

    Parameters
    ----------
    run
        The run the values were read from, for the errors of what it samples.
    """
    program = job.program
    assert program is not None
    below = dict.fromkeys(values, 0.0)
    above = dict.fromkeys(values, 0.0)
    #: with all groups at their quick ends, where each divides it
    least = dict(values)
    if run is not None and groups and job.name in run.requests:
        log, errors = run.requests[job.name], answered(run, job.name).errors
        for metric, value in values.items():
            leg = log.seen_later_by(metric)
            value, extra = value - leg.value, log.extra
            first = extra if metric.startswith("ttft") else 0.0
            error = EIGHTY.value * errors.get(metric, 0.0)
            # no time falls to nothing because few were seen
            less = value * (1 - math.exp(-error / value)) if value > 0 else 0.0
            below[metric] = (value * (1 - math.exp(-first))) ** 2 + less**2 + (leg.value - leg.low) ** 2
            above[metric] = (value * (math.exp(first) - 1)) ** 2 + error**2 + (leg.high - leg.value) ** 2
    for name, band in list(groups.items())[:GROUPS_LIMIT]:
        for end in {band.low, band.high} - {1.0}:
            moved = values_of(run_with(changes_at({name: end})), job)
            for metric, value in values.items():
                off = moved.get(metric, value) - value
                target = below if off < 0 else above
                target[metric] += off * off
                if off < 0 < value:
                    least[metric] *= max(0.0, 1 + off / value)
    sources = tuple(sorted({key for band in groups.values() for key in band.sources}))
    return {
        name: Estimate(
            value,
            _low_end(value, math.sqrt(below[name]), least[name], measured(program, name)),
            value + math.sqrt(above[name]),
            measured(program, name).unit,
            sources,
        )
        for name, value in values.items()
    }


def _low_end(value: float, below: float, least: float, measure: Measure) -> float:
    """The low end of a band, not below `least`; waiting times never fall to 0."""
    if measure.of == "requests" and value > 0:
        return value * math.exp(-below / value)
    return max(min(least, value), value - below)


def measured(program: Program, name: str) -> Measure:
    """A measure of a program by name."""
    return next(measure for measure in program.measures if measure.name == name)


def main_metric(job: Job) -> str:
    """The metric by which jobs are compared: the first time it measures."""
    program = job.program
    return next((m.name for m in program.measures if m.unit == "s"), "") if program is not None else ""


def periodic_step(job: Job) -> str:
    """The step whose period a job repeats for ever; empty where it does not."""
    program = job.program
    if program is None or not math.isinf(program.times) or program.arrivals is not None:
        return ""
    return next((m.step for m in program.measures if m.of == "period"), "")
