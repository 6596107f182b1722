"""Going along the answers of a sweep: run by run or along the frontier, and where the bottleneck changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from designer.decisions.answers import Row, Task
from designer.decisions.frontier import binding_text, breaks, frontier
from designer.design.document import Design
from designer.design.edit import DesignEdit
from designer.present import numbers
from designer.present.answer import figure_text
from designer.present.blocks import Change
from designer.present.words import metric_title

_TWO = 2


@dataclass(frozen=True, slots=True)
class Along:
    """The way a slider takes.

    Parameters
    ----------
    rows
        In the order of the slider.
    breaks
        Numbers of the rows at which the bottleneck is another than before.
    """

    rows: tuple[Row, ...] = ()
    breaks: tuple[int, ...] = ()


@dataclass(frozen=True)
class TakeValues(DesignEdit):
    """Set the values of a run of a sweep, by their paths."""

    paths: tuple[str, ...]
    values: tuple[str, ...]

    @property
    def label(self) -> str:
        return f"Take {', '.join(self.values)} from the sweep"

    def apply(self, design: Design) -> Design:
        from designer.interchange.overrides import overridden

        return overridden(design, [f"{path}={value}" for path, value in zip(self.paths, self.values, strict=True)])


def has_frontier(task: Task) -> bool:
    """True if there are two answers to weigh against each other."""
    return len(task.metrics) >= _TWO


def along(task: Task, rows: Sequence[Row], only_frontier: bool) -> Along:
    """The way along all answered runs in the order asked, or along the frontier of the first two answers, from the
    best of the first to the best of the second.
    """
    known = sorted((row for row in rows if row.metrics), key=lambda row: row.number)
    if only_frontier and has_frontier(task):
        first, second = task.metrics[:_TWO]
        known = list(frontier(known, first, second, task.design.workloads[task.workload].kind))
    return Along(tuple(known), breaks(known))


def run_change(task: Task, row: Row, titles: Sequence[str]) -> Change:
    """A run as a change: the values that vary, the answers with their bands, and what limits; its edit takes them."""
    rows: list[tuple[str, str]] = []
    for name in task.metrics:
        if name in row.metrics:
            found = row.metrics[name]
            band = numbers.band(found)
            text = figure_text(name, found.value, found.unit)
            rows.append((metric_title(name), f"{text} ({band})" if band else text))
    values = ", ".join(f"{title} {value}" for title, value in zip(titles, row.settings, strict=True))
    limited = f"Limited by {binding_text(row.binding)}" if row.binding else ""
    return Change(values, limited, rows=tuple(rows), edit=TakeValues(task.paths, row.settings))
