"""What held programs up in a run: machines that were paused, failures and restarts, links gone or narrower."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from itertools import takewhile
from typing import Final

import numpy as np

from designer.engine.clock.records import WorkRun
from designer.engine.clock.run import Run
from designer.engine.costs.resources import ResourceTable
from designer.units import format_quantity
from designer.workload.program.restarting import FAILURE, RESTORE

#: capacities this near are the same, relative
_SAME_TOLERANCE: Final = 1e-9


class Cause(StrEnum):
    """What held a program up."""

    STUN = "stun"
    FAILURE = "failure"
    CUT = "cut off"
    NARROWED = "narrowed"


@dataclass(frozen=True, slots=True)
class Interruption:
    """Something that hit a program.

    Parameters
    ----------
    begin, end
        From when to when it was held up; the end of the run where it did not go on [s].
    what
        What did it: a machine, parts or links.
    ended
        False if the run was over first.
    left
        Share of its rate that what was hit had meanwhile, the least of all that was [1].
    """

    program: str
    cause: Cause
    begin: float
    end: float
    what: str
    ended: bool = True
    left: float = 0.0

    @property
    def text(self) -> str:
        """What happened, in words."""
        lasts = f"for {format_quantity(self.end - self.begin, 'duration')}"
        if not self.ended:
            lasts = f"{lasts}, to the end of the run" if self.end > self.begin else "from the end of the run on"
        stated = {
            Cause.STUN: f"{self.what} pauses",
            Cause.FAILURE: "it fails and is down",
            Cause.CUT: f"{self.what} is gone",
            Cause.NARROWED: f"{self.what} has {self.left:.0%} of its rate",
        }
        return f"{stated[self.cause]} {lasts}"


def interruptions(run: Run) -> tuple[Interruption, ...]:
    """All that hit programs of a run, in order of time; nothing for programs that did not use what was hit."""
    hit = [*_stuns(run), *_failures(run)]
    down = {(one.program, one.begin) for one in hit}
    # a program that starts again is not informed that its parts are gone as well
    hit += [one for one in _reduced_resources(run) if (one.program, one.begin) not in down]
    return tuple(sorted(hit, key=lambda one: (one.begin, one.program)))


def _stuns(run: Run) -> Iterator[Interruption]:
    """Machines that were paused while something ran in them."""
    of = {number: name for name, numbers in run.table.machines.items() for number in numbers}
    speeds = {number for _, number, _ in run.changes} & set(of)
    if not speeds:
        return
    lived: dict[str, dict[int, tuple[float, float]]] = {}
    for work in run.works:
        for number in {resource for resource, _ in work.uses} & speeds:
            spans = lived.setdefault(run.tasks[work.task].program, {})
            begin, end = _span(run, work)
            known = spans.get(number, (begin, end))
            spans[number] = (min(known[0], begin), max(known[1], end))
    for program, spans in lived.items():
        first, last = min(begin for begin, _ in spans.values()), max(end for _, end in spans.values())
        for begin, end in was_paused(run.changes, list(spans)):
            if end <= first or begin > last:
                continue
            names = {of[n] for at, n, share in run.changes if at == begin and share <= 0 and n in spans}
            ended = end <= run.end
            yield Interruption(program, Cause.STUN, begin, min(end, run.end), ", ".join(sorted(names)), ended)


def _failures(run: Run) -> Iterator[Interruption]:
    """Failures after which a program starts again, each until it goes on or fails again."""
    times: dict[str, tuple[list[float], list[float]]] = {}
    for task in run.tasks:
        if task.step in (FAILURE, RESTORE) and task.parent < 0 and task.done:
            times.setdefault(task.program, ([], []))[task.step == RESTORE].append(task.ended)
    for program, (failed, back) in times.items():
        failed.sort()
        back.sort()
        for k, begin in enumerate(failed):
            then = next((at for at in back if at >= begin), math.inf)
            next_failure = failed[k + 1] if k + 1 < len(failed) else math.inf
            end = min(then, next_failure)
            gone = {number for at, number, capacity in run.changes if at == begin and capacity <= 0}
            what = _name_reduced(run.table, sorted(gone)) if gone else ""
            yield Interruption(program, Cause.FAILURE, begin, min(end, run.end), what, end <= run.end)


def _reduced_resources(run: Run) -> Iterator[Interruption]:
    """Links and parts that had less than drawn while a program used them; those hit at one time listed once."""
    table = run.table
    speeds = {number for numbers in table.machines.values() for number in numbers}
    spans: dict[int, list[tuple[float, float, Cause]]] = {}
    least: dict[tuple[float, Cause], float] = {}
    changed = sorted({number for _, number, _ in run.changes} - speeds)
    for number in changed:
        drawn = table.capacity[number]
        own = [(at, capacity) for at, resource, capacity in run.changes if resource == number and at <= run.end]
        for k, (at, capacity) in enumerate(own):
            if capacity >= drawn * (1 - _SAME_TOLERANCE):
                continue
            until = own[k + 1][0] if k + 1 < len(own) else math.inf
            cause = Cause.CUT if capacity <= 0 else Cause.NARROWED
            if until > at:
                least[at, cause] = min(least.get((at, cause), 1.0), capacity / drawn)
                spans.setdefault(number, []).append((at, until, cause))
    if not spans:
        return
    found: dict[tuple[str, float, Cause], Interruption] = {}
    for work in run.works:
        for number in [resource for resource, _ in work.uses if resource in spans]:
            began, ended = _span(run, work)
            for at, until, cause in spans[number]:
                begin, end = max(at, began), min(until, ended)
                if end <= begin or begin > run.end:
                    continue
                program = run.tasks[work.task].program
                key = (program, at, cause)
                over = min(until, ended) <= run.end
                known = found.get(key)
                if known is None:
                    known = Interruption(program, cause, begin, min(end, run.end), "", over)
                found[key] = replace(
                    known,
                    begin=min(known.begin, begin),
                    end=max(known.end, min(end, run.end)),
                    ended=known.ended and over,
                )
    for (_, at, cause), one in found.items():
        hit = [n for n, times in spans.items() if any((t, c) == (at, cause) for t, _, c in times)]
        yield replace(one, what=_name_reduced(table, hit), left=least[at, cause])


def _name_reduced(table: ResourceTable, numbers: Sequence[int]) -> str:
    """What was hit, by all its resources: the part whose links they are, one link, or the place that holds all."""
    network = table.network
    net = network.net
    links = [n for n in numbers if n < network.n_link_resources]
    ends: set[int] | None = None
    for link in network.links_of(np.array(links, dtype=np.int64)).tolist():
        both = {int(net.link_a[link]), int(net.link_b[link])}
        ends = both if ends is None else ends & both
    if ends is not None and len(ends) == 1:
        return net.path(ends.pop())
    names = list(dict.fromkeys(table.id(number) for number in numbers))
    if len(names) == 1:
        return names[0]
    if ends:
        # one link, both ways
        return net.link_path(int(network.links_of(np.array(links[:1], dtype=np.int64))[0]))
    steps = zip(*(name.split("/")[:-1] for name in names), strict=False)
    place = "/".join(one[0] for one in takewhile(lambda each: len(set(each)) == 1, steps))
    return place or f"{names[0]} with {len(names) - 1} more"


def _span(run: Run, work: WorkRun) -> tuple[float, float]:
    """From when to when a work wanted what it uses, inf where it still does [s]."""
    begin = work.ready if math.isnan(work.began) else work.began
    task = run.tasks[work.task]
    end = work.ended if not math.isnan(work.ended) else task.ended
    return begin, math.inf if math.isnan(end) else end


def is_paused(events: Sequence[tuple[float, int, float]], resources: Sequence[int]) -> bool:
    """True if any of some machines is paused now, by what was set."""
    return bool(resources and events) and any(math.isinf(end) for _, end in was_paused(events, resources))


def was_paused(events: Sequence[tuple[float, int, float]], resources: Sequence[int]) -> list[tuple[float, float]]:
    """From when to when any of some machines were paused, by what was set: (time, resource, share) [s]."""
    found: list[tuple[float, float]] = []
    still: set[int] = set()
    begin = math.nan
    for at, resource, share in events:
        if resource not in resources:
            continue
        if share > 0:
            still.discard(resource)
            if not still and not math.isnan(begin):
                found.append((begin, at))
                begin = math.nan
        elif not still:
            begin = at
            still.add(resource)
        else:
            still.add(resource)
    return found if math.isnan(begin) else [*found, (begin, math.inf)]
