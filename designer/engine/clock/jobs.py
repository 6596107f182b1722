"""What is played: programs as jobs, and what is changed against the drawing meanwhile."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from designer.engine.account.expression import Scenario
from designer.workload.program import Process, Program, Recovery, Restarting, Script


@dataclass(frozen=True, slots=True)
class Change:
    """From a time on a resource has another share of its capacity; 0 for failed."""

    at: float
    resource: int
    share: float


@dataclass(frozen=True, slots=True)
class PartChange:
    """From a time on a part computes at another share of its speed; 0 for failed."""

    at: float
    part: int
    share: float


@dataclass(frozen=True, slots=True, eq=False)
class Job:
    """A process to play: under which name, from when on, with which weight on links and priority on engines."""

    name: str
    process: Callable[[], Process]
    start: float = 0.0
    weight: float = 1.0
    priority: int = 0
    place: str = ""
    program: Program | None = None


def fails(recovery: Recovery) -> bool:
    """True if failures are given or drawn."""
    return bool(recovery.times) or math.isfinite(recovery.between)


def job_of(program: Program, place: str = "") -> Job:
    """A program as a job."""
    recovers = program.recovery is not None and fails(program.recovery)
    return Job(
        program.name,
        lambda: Restarting(program) if recovers else Script(program),
        program.start,
        program.weight,
        program.priority,
        place or program.name,
        program,
    )


def goes_on(program: Program) -> bool:
    """True if a program has items, or answers requests, without end."""
    times = program.arrivals is not None and program.arrivals.shape != "trace"
    if any(step.task.goes_on for step in program.steps):
        return True
    return math.isinf(program.times) or (times and math.isinf(program.times))


@dataclass(frozen=True, slots=True)
class Changes:
    """What is different from the drawing in a run that asks "what if".

    Parameters
    ----------
    wider
        Times the capacity of resources; all equal, or `apart` from those like them.
    slower
        Times as long by resource and by group of costs, for tasks that go at their own pace.
    """

    wider: Mapping[int, float] = field(default_factory=dict[int, float])
    slower: Scenario = field(default_factory=dict[Any, float])
    events: tuple[Change, ...] = ()
    apart: frozenset[int] = frozenset()
    parts: tuple[PartChange, ...] = ()


NO_CHANGES: Final = Changes()
