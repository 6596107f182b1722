"""Why a run takes as long as it does: its critical path, what holds that back, what doubling gains, and how sure it is.

One account for all programs: nothing here knows what kind of workload it is asked about. Gains and bands are found by
running again with the change (bands by ``measures``), so what binds next is part of the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from designer.analysis.bottlenecks import gains_alone, tied
from designer.analysis.clock.jobs import NO_CHANGES, Changes
from designer.analysis.clock.run import Run
from designer.analysis.results import Bottleneck
from designer.units import format_quantity

#: what has less than this share of the path is not told
_TOLD_TOLERANCE: Final = 1e-3


@dataclass(frozen=True, slots=True)
class Share:
    """Time of the critical path that one thing takes.

    Parameters
    ----------
    resources
        Those that are full for the task on the path; empty where it goes at its own pace.
    group
        The estimate that pace rests on, else empty.
    seconds
        [s]
    """

    resources: tuple[int, ...]
    group: str
    seconds: float


@dataclass(frozen=True, slots=True)
class Why:
    """What a time is made of."""

    value: float
    shares: tuple[Share, ...]
    binding: tuple[Bottleneck, ...]
    next: tuple[Bottleneck, ...]


Measured = Callable[[Changes], tuple[Run, float]]


def shares_of(run: Run, begin: float = 0.0, task: int | None = None) -> tuple[Share, ...]:
    """What holds back the tasks on the critical path after a time, longest first."""
    found: dict[tuple[tuple[int, ...], str], float] = {}
    for on_path in leaves(run, run.path(task)):
        _add(found, run, on_path, begin)
    rows = [Share(resources, group, seconds) for (resources, group), seconds in found.items() if seconds > 0]
    return tuple(sorted(rows, key=lambda share: -share.seconds))


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


def _add(found: dict[tuple[tuple[int, ...], str], float], run: Run, number: int, begin: float) -> None:
    task = run.tasks[number]
    works = [run.works[k] for k in task.works if not math.isnan(run.works[k].ended)]
    if not works:
        return
    work = max(works, key=lambda w: w.ended)
    if work.engine >= 0 and work.began > max(work.ready, begin):
        key = ((work.engine,), "")
        found[key] = found.get(key, 0.0) + work.began - max(work.ready, begin)
    elif work.began > max(work.ready, begin):
        key = ((), "latency")
        found[key] = found.get(key, 0.0) + work.began - max(work.ready, begin)
    for k, (at, _, held) in enumerate(work.log):
        then = work.log[k + 1][0] if k + 1 < len(work.log) else work.ended
        key = (held, "" if held else work.group)
        found[key] = found.get(key, 0.0) + max(0.0, then - max(at, begin))


def explain(measure: Measured, *, base: tuple[Run, float] | None = None, begin: float = 0.0) -> Why:
    """What binds a measured time, what doubling one of it and all of it gains, and what comes next.

    Parameters
    ----------
    measure
        Runs with changes and says the time [s].
    begin
        Only what happens on the path after this counts: the warm-up is left out [s].
    """
    run, value = base if base is not None else measure(NO_CHANGES)
    shares = shares_of(run, begin)
    if not shares:
        return Why(value, (), (), ())
    whole = sum(share.seconds for share in shares)
    worst = tied({share: share.seconds for share in shares})
    together = value / measure(_doubled(worst))[1]
    binding: list[Bottleneck] = []
    for share in worst:
        singles = [replace(share, resources=(r,)) for r in share.resources] or [share]
        gains = gains_alone(singles, together, lambda one: value / measure(_doubled([one]))[1], only=len(worst) == 1)
        binding += [
            _bottleneck(run, one, share.seconds / whole, alone, together)
            for one, alone in zip(singles, gains, strict=True)
        ]
    then = [
        _bottleneck(run, replace(share, resources=share.resources[:1]), share.seconds / whole, None, None)
        for share in shares[len(worst) :][:3]
        if share.seconds > whole * _TOLD_TOLERANCE
    ]
    return Why(value, shares, tuple(binding), tuple(then))


def _doubled(shares: Sequence[Share]) -> Changes:
    wider = {r: 2.0 for share in shares for r in share.resources}
    longer = {share.group: 0.5 for share in shares if share.group}
    return Changes(wider=wider, longer=longer)


def _bottleneck(run: Run, share: Share, part: float, alone: float | None, together: float | None) -> Bottleneck:
    if share.resources:
        number = share.resources[0]
        alike = run.count_alike(number)
        plain = run.table.bottleneck(number)
        why = f"full for {part:.0%} of the time on the critical path"
        return replace(plain, why=why, gain_if_doubled=alone, gain_together=together, alike=alike)
    name = share.group or "pace"
    why = f"{format_quantity(share.seconds, 'duration')}, {part:.0%} of the critical path, goes by at its own pace"
    return Bottleneck("limit", name, name.replace(":", " on "), why, alone, together)
