"""Going along the answers of a sweep: run by run or along the frontier, and where the bottleneck changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from designer.decisions.answers import Row, Task
from designer.decisions.frontier import binding_text, breaks, frontier
from designer.present.answer import figure_text
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


def run_text(task: Task, row: Row, titles: Sequence[str]) -> str:
    """A run in words: what varies, the answers, and what limits."""
    said = [f"{title} {value}" for title, value in zip(titles, row.settings, strict=True)]
    answers = [
        f"{metric_title(name)} {figure_text(name, row.metrics[name].value, row.metrics[name].unit)}"
        for name in task.metrics
        if name in row.metrics
    ]
    limited = f"\nLimited by {binding_text(row.binding)}" if row.binding else ""
    return f"{', '.join(said)}: {' · '.join(answers)}{limited}"
