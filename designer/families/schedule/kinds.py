"""Schedule: machines and workloads with hours of the day share hardware, such as desktops by day, training by night."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from designer.workload.kind import Setting, WorkloadKind
from designer.workload.metrics import LESS, MORE, NEITHER, Metric
from designer.workload.program import Measure, Program, Step
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


_UNITS = {"hours": "1", "tokens": "1/s", "samples": "1/s", "switch": "s", "mean": "W", "peak": "W", "energy": "J"}


def program(settings: Mapping[str, Any]) -> Program:
    """A day or a week, once."""
    measures = [Measure(name, _UNITS[name.split("_")[0]], "requests", "day") for name in WORKLOAD.metrics]
    follow = FollowTimetable(settings["timetable"], settings["store"])
    return Program("schedule", (Step("day", follow),), measures=tuple(measures))


WORKLOAD = WorkloadKind(
    name="schedule",
    title="Schedule",
    reports="schedule",
    metrics=(
        "hours_computing",
        "hours_held",
        "hours_unused",
        "tokens_per_second",
        "samples_per_second",
        "switch_time",
        "mean_power",
        "peak_power",
        "energy_per_day",
    ),
    own={
        "hours_computing": Metric("1", MORE, "of the accelerator hours, in which workloads of the timetable run"),
        "hours_held": Metric("1", NEITHER, "of the accelerator hours, held by virtual machines"),
        "hours_unused": Metric("1", LESS, "of the accelerator hours, used by nobody"),
        "switch_time": Metric("s", LESS, "longest change of machines: suspended to the store, or resumed from it"),
        "mean_power": Metric("W", LESS, "mean of all hours, servers at the wall"),
        "peak_power": Metric("W", LESS, "most of any hour, servers at the wall"),
        "energy_per_day": Metric("J", LESS, "servers at the wall, mean of the days"),
    },
    program=program,
    answer="designer.decisions.schedule",
    help="What machines and workloads that take turns by the clock get of the accelerators in a day or a week: "
    "capacity, work done, changes and power.",
    settings=(
        Setting(
            "timetable",
            "Timetable",
            "text",
            help="such as lab* = mon-fri 08:00-18:00; train = rest; machines that are not named always run",
        ),
        Setting("store", "Machines suspended to", "selector", "storage", help="empty: they are shut down at no cost"),
    ),
)
