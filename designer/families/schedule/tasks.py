"""The task of a timetable: a day or a week of machines and workloads that take turns on hardware."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from designer.workload.program.tasks import Task


@dataclass(frozen=True, slots=True)
class FollowTimetable(Task):
    """Machines and workloads by the clock, from Monday 00:00 on.

    Parameters
    ----------
    timetable
        Who runs when, as ``read_timetable`` reads it.
    store
        Selector of what machines are suspended to; empty: they are shut down at no cost.
    """

    priced_by: ClassVar[str] = "designer.decisions.schedule_clock"
    timetable: str
    store: str
