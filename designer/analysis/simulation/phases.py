"""What binds each program of a run: alone, with the others, and from when to when."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from designer.engine.account import named
from designer.engine.account.bottlenecks import sort_of
from designer.engine.account.expression import Tie
from designer.engine.clock.jobs import Job
from designer.engine.clock.run import Run
from designer.engine.clock.why import Span, spans
from designer.engine.results import Bottleneck
from designer.sources import Constant, Status

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
