"""Why a run takes as long as it does: what holds back the tasks on its critical path, explained by running again."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from designer.engine.account import Account, account
from designer.engine.account.bottlenecks import ResourceClass
from designer.engine.account.expression import Resource, Scenario, Solved, Tie, shares
from designer.engine.clock.jobs import NO_CHANGES, Changes
from designer.engine.clock.records import WorkRun
from designer.engine.clock.run import Run
from designer.engine.costs.pricing import pace
from designer.engine.results import Bottleneck
from designer.engine.transfers.flow_rates import LATENCY
from designer.workload.program.process import ARRIVAL

#: resources of a sort that hold back for this share of the time of the most are tried with it
_EQUAL_TOLERANCE: Final = 0.5

#: time that goes by until something begins by itself
BY_THE_CLOCK: Final = Bottleneck("limit", "clock", "waiting for its time", "")

Measured = Callable[[Changes], tuple[Run, float]]


@dataclass(frozen=True, slots=True)
class Span:
    """A tie that holds back a critical path.

    Parameters
    ----------
    begin, end
        From when to when [s].
    seconds
        For how long of it; less than all where several things hold it back there in turn [s].
    """

    tie: Tie
    begin: float
    end: float
    seconds: float


def spans(run: Run, begin: float = 0.0, slower: Scenario | None = None, program: str = "") -> list[Span]:
    """What holds back the critical path of a run, or of one of its programs, after `begin`, in order of time.

    Parameters
    ----------
    begin
        [s]
    slower
        Times as long by resource and by estimate in this run.
    """
    found: list[Span] = []
    known: dict[int, Mapping[Tie, float]] = {}
    for number in leaves(run, run.path(_last_task(run, program))):
        works = [run.works[k] for k in run.tasks[number].works if not math.isnan(run.works[k].ended)]
        if works:
            found += _of_work(run, max(works, key=lambda w: w.ended), begin, slower, known)
    return found or _of_streams(run, begin, program)


def held(run: Run, begin: float = 0.0, slower: Scenario | None = None, program: str = "") -> dict[Tie, float]:
    """Seconds for which each tie holds back a critical path, as `spans`, the longest first [s]."""
    found: dict[Tie, float] = {}
    for span in spans(run, begin, slower, program):
        found[span.tie] = found.get(span.tie, 0.0) + span.seconds
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _last_task(run: Run, program: str) -> int | None:
    """The task of a program that ended last; None for all programs, -1 where none of it ended.

    Arrivals end when they come, whatever is done about them: they count only where nothing else has ended.
    """
    if not program:
        return None
    done = [k for k, t in enumerate(run.tasks) if t.program == program and t.parent < 0 and t.done]
    done = [k for k in done if run.tasks[k].step != ARRIVAL] or done
    return max(done, key=lambda k: (run.tasks[k].ended, k), default=-1)


def _of_streams(run: Run, begin: float, program: str) -> list[Span]:
    """What holds back streams, which never end: the resources that bind the slowest of them."""
    works = [w for w in run.works if w.log and math.isnan(w.ended) and program in ("", run.tasks[w.task].program)]
    if not works:
        return []
    slowest = min(works, key=lambda w: w.log[-1][1])
    found: list[Span] = []
    for k, (at, _, full) in enumerate(slowest.log):
        then = slowest.log[k + 1][0] if k + 1 < len(slowest.log) else run.end
        if full and then > max(at, begin):
            tie = tuple(ResourceClass(r, run.count_equal(r)) for r in full)
            found.append(Span(tie, max(at, begin), then, then - max(at, begin)))
    return found


def leaves(run: Run, path: Sequence[int]) -> list[int]:
    """The primitive tasks of a critical path: tasks made of others by the path through those."""
    found: list[int] = []
    for task in path:
        inner = [k for k in run.inner(task) if not math.isnan(run.tasks[k].ended)]
        if not inner:
            found.append(task)
            continue
        last = max(inner, key=lambda k: run.tasks[k].ended)
        found += leaves(run, run.path(last))
    return found


def _of_work(
    run: Run, work: WorkRun, begin: float, slower: Scenario | None, known: dict[int, Mapping[Tie, float]]
) -> list[Span]:
    # what goes at its own pace spends its time as it does alone
    own: Mapping[Tie, float] = {(pace(work.group),): 1.0}
    if work.time is not None:
        own = known.get(id(work.time)) or known.setdefault(id(work.time), shares(work.time, slower))
    whole = sum(own.values())
    found: list[Span] = []

    def spend(ties: Mapping[Tie, float], first: float, last: float) -> None:
        first = max(first, begin)
        if last > first:
            total = sum(ties.values())
            found.extend(Span(tie, first, last, (last - first) * part / total) for tie, part in ties.items())

    waits: Mapping[Tie, float] = {(LATENCY,): 1.0} if work.time is None or whole <= 0 else own
    if not work.amount and not work.unit:
        # an arrival, or what begins by the clock
        waits = {(BY_THE_CLOCK,): 1.0}
    spend({(ResourceClass(work.engine),): 1.0} if work.engine >= 0 else waits, work.ready, work.began)
    for k, (at, rate, full) in enumerate(work.log):
        then = work.log[k + 1][0] if k + 1 < len(work.log) else work.ended
        # what has been sent is on its way
        free = own if rate > 0 else waits
        ties: Mapping[Tie, float] = {tuple(ResourceClass(r, run.count_equal(r)) for r in full): 1.0} if full else free
        spend(ties, at, then)
    return found


def _with_equals(
    run: Run, program: str, found: Mapping[Tie, float], sort: Callable[[Resource], Hashable]
) -> dict[Tie, float]:
    """Ties of the same sorts as one, with the resources of those sorts that hold back other tasks of the program.

    Where many tasks run next to each other, faster resources of one path leave the others as long as they are.
    """
    full: dict[Hashable, dict[ResourceClass, float]] = {}
    for work in run.works:
        if program and run.tasks[work.task].program != program:
            continue
        for k, (at, _, holding) in enumerate(work.log):
            end = run.end if math.isnan(work.ended) else work.ended
            then = work.log[k + 1][0] if k + 1 < len(work.log) else end
            for number in holding:
                resource = ResourceClass(number, run.count_equal(number))
                spent = full.setdefault(sort(resource), {})
                spent[resource] = spent.get(resource, 0.0) + then - at
    merged: dict[frozenset[Hashable], tuple[dict[Resource, None], float]] = {}
    for tie, seconds in found.items():
        sorts = frozenset(sort(resource) for resource in tie)
        members, before = merged.get(sorts, (dict[Resource, None](), 0.0))
        merged[sorts] = members | dict.fromkeys(tie), before + seconds
    ties: dict[Tie, float] = {}
    for sorts, (members, seconds) in merged.items():
        for spent in (full.get(one, {}) for one in sorts):
            least = _EQUAL_TOLERANCE * max(spent.values(), default=0.0)
            members |= dict.fromkeys(resource for resource, time in spent.items() if time >= least)
        ties[tuple(members)] = seconds
    return dict(sorted(ties.items(), key=lambda item: -item[1]))


def explain(
    measure: Measured,
    *,
    base: tuple[Run, float] | None = None,
    begin: float = 0.0,
    program: str = "",
    sort: Callable[[Resource], Hashable] | None = None,
) -> Account:
    """The account of a time that runs measure, without its band.

    Parameters
    ----------
    measure
        Runs with changes and returns the run and the time [s].
    begin
        Only what happens on the path after this counts: the warm-up is left out [s].
    program
        Whose critical path counts; empty for that of the run.
    sort
        Resources of one sort are tried together, wherever they hold back the program; None for those of the path alone.
    """
    first = base if base is not None else measure(NO_CHANGES)
    known: dict[frozenset[tuple[object, float]], tuple[Run, float]] = {frozenset(): first}

    def run_at(slower: Scenario) -> tuple[Run, float]:
        key = frozenset(slower.items())
        if key not in known:
            known[key] = measure(changes_at(slower))
        return known[key]

    def parts(slower: Scenario) -> dict[Tie, float]:
        run, time = run_at(slower)
        found = held(run, begin, slower, program)
        if sort is not None:
            found = _with_equals(run, program, found, sort)
        # a path may hold several periods, or less than one
        scale = time / sum(found.values()) if found else 1.0
        return {tie: spent * scale for tie, spent in found.items()}

    time = Solved(first[1], (), lambda slower: run_at(slower)[1], (), parts)
    return account(time, {})


def changes_at(slower: Scenario) -> Changes:
    """The changes of a run in which resources and estimates take so many times as long."""
    wider = {int(key): 1 / by for key, by in slower.items() if isinstance(key, int)}
    return Changes(wider=wider, slower=slower)
