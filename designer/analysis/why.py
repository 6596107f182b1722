"""Why a run takes as long as it does: what holds back the tasks on its critical path, explained by running again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from designer.analysis.account import Account, account
from designer.analysis.bottlenecks import Alike
from designer.analysis.clock.jobs import NO_CHANGES, Changes
from designer.analysis.clock.records import WorkRun
from designer.analysis.clock.run import Run
from designer.analysis.costs.pricing import pace
from designer.analysis.expression import Scenario, Solved, Tie, shares
from designer.analysis.flow_rates import LATENCY

Measured = Callable[[Changes], tuple[Run, float]]


def held(run: Run, begin: float = 0.0, slower: Scenario | None = None) -> dict[Tie, float]:
    """Seconds after `begin` for which each tie holds back the critical path of a run, the longest first [s].

    Parameters
    ----------
    slower
        Times as long by resource and by estimate in this run.
    """
    found: dict[Tie, float] = {}
    for number in leaves(run, run.path()):
        works = [run.works[k] for k in run.tasks[number].works if not math.isnan(run.works[k].ended)]
        if works:
            _add(found, run, max(works, key=lambda w: w.ended), begin, slower)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


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


def _add(found: dict[Tie, float], run: Run, work: WorkRun, begin: float, slower: Scenario | None) -> None:
    def spend(tie: Tie, span: float) -> None:
        if span > 0:
            found[tie] = found.get(tie, 0.0) + span

    own, before = 0.0, work.began - max(work.ready, begin)
    if work.engine >= 0:
        spend((Alike(work.engine),), before)
    elif work.time is not None:
        own += max(0.0, before)
    else:
        spend((LATENCY,), before)
    for k, (at, rate, full) in enumerate(work.log):
        then = work.log[k + 1][0] if k + 1 < len(work.log) else work.ended
        span = max(0.0, then - max(at, begin))
        if full:
            spend(tuple(Alike(r, run.count_alike(r)) for r in full), span)
        elif not rate and work.time is None:
            spend((LATENCY,), span)
        else:
            own += span
    if work.time is None:
        spend((pace(work.group),), own)
        return
    # what goes at its own pace spends its time as it does alone
    parts = shares(work.time, slower)
    whole = sum(parts.values())
    for tie, spent in parts.items():
        spend(tie, own * spent / whole)


def explain(measure: Measured, *, base: tuple[Run, float] | None = None, begin: float = 0.0) -> Account:
    """The account of a time that runs measure, without its band.

    Parameters
    ----------
    measure
        Runs with changes and returns the run and the time [s].
    begin
        Only what happens on the path after this counts: the warm-up is left out [s].
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
        found = held(run, begin, slower)
        # a path may hold several periods, or less than one
        scale = time / sum(found.values()) if found else 1.0
        return {tie: spent * scale for tie, spent in found.items()}

    time = Solved(first[1], (), lambda slower: run_at(slower)[1], (), parts)
    return account(time, {})


def changes_at(slower: Scenario) -> Changes:
    """The changes of a run in which resources and estimates take so many times as long."""
    wider = {int(key): 1 / by for key, by in slower.items() if isinstance(key, int)}
    return Changes(wider=wider, slower=slower)
