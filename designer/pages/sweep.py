"""The page of a sweep: how far the answer moves, which run is best, and where the bottleneck changes."""

from __future__ import annotations

from collections.abc import Sequence

from designer.decisions.answers import Row, Task
from designer.decisions.frontier import Turn
from designer.design.document import WorkloadSpec
from designer.engine.account.worth import WORTH
from designer.engine.results import Bottleneck
from designer.present import numbers
from designer.present.answer import figure_text
from designer.present.blocks import Change, Column, Page, State, Table, Tone
from designer.present.limits import short_of
from designer.present.words import counted_by, metric_title
from designer.workload.metrics import LESS, better

#: metrics with a column of their own
_SHOWN = 3


def page_of_sweep(task: Task, rows: Sequence[Row], found: Sequence[Turn], file: str = "DESIGN") -> Page:
    """The page of the rows of a sweep.

    Parameters
    ----------
    found
        Where the bottleneck changes.
    """
    spec = task.design.workloads[task.workload]
    kind = spec.kind
    had = [name for name in task.metrics if any(name in row.metrics for row in rows)]
    # what is answered of the load that comes says less than how long it takes
    every = [name for name in (*WORTH[:1], "ttft_p95", *WORTH[1:], *had) if name in had]
    # a figure that stays the same in all runs answers nothing
    moves = (name for name in every if len({_text(row, name, spec) for row in rows if name in row.metrics}) > 1)
    main = next(moves, every[0] if every else "")
    shown = list(dict.fromkeys([main, *had]))[:_SHOWN] if main else []
    ordered = sorted((row for row in rows if main in row.metrics), key=lambda row: row.metrics[main].value)
    # no load that comes is the best of all
    load = all(path.endswith(".rate") for path in task.paths)
    if not ordered:
        head, state = f"None of {numbers.counted(len(rows), 'run')} has an answer.", State.REFUSED
    else:
        least, most = ordered[0], ordered[-1]
        best = least if better(main, kind) is LESS else most
        low, high = (_text(row, main, spec) for row in (least, most))
        what, at_low, at_high = (
            ", ".join(f"{_short_name(p)} {_set(p, s)}" for p, s in zip(task.paths, row.settings, strict=True))
            for row in (best, least, most)
        )
        title = metric_title(main, kind)
        if low == high:
            head = f"{title}: {low} in all {len(rows):,} runs."
        elif load:
            head = f"{title}: {low} at {at_low}, {high} at {at_high}."
        else:
            head = f"{title}: from {low} to {high}; best at {what}."
        state = State.ANSWERED
    columns = (
        *(Column(_short_name(path), True) for path in task.paths),
        *(Column(metric_title(name, kind), True) for name in shown),
        Column("Limits"),
    )
    table = tuple(
        (
            *(_set(path, value) for path, value in zip(task.paths, row.settings, strict=True)),
            *(_text(row, name, spec) if name in row.metrics else "–" for name in shown),
            row.error or short_of([Bottleneck(b.what, b.id, b.label, "") for b in row.binding], task.design),
        )
        for row in rows
    )
    turns = tuple(
        f"From {_short_name(turn.path)} {_set(turn.path, turn.before.settings[at])} to "
        f"{_set(turn.path, turn.after.settings[at])} the bottleneck changes."
        for turn in found[:2]
        for at in (task.paths.index(turn.path),)
    )
    command = ("analyze", file, "--workload", task.workload)
    changes: tuple[Change, ...] = ()
    if ordered and not load and _text(ordered[0], main, spec) != _text(ordered[-1], main, spec):
        best = ordered[0] if better(main, kind) is LESS else ordered[-1]
        sets = [f"{p}={s}" for p, s in zip(task.paths, best.settings, strict=True)]
        more = [word for one in sets for word in ("--set", one)]
        changes = (Change("The best of them", command=(*command, *more), tone=Tone.PLAIN),)
    return Page(
        f"{task.title}, {numbers.counted(len(rows), 'run')}",
        state,
        head,
        table=Table("", columns, table),
        changes=changes,
        remarks=turns,
        more=f"All {numbers.counted(len(had), 'figure')} with bands",
        key=task.workload,
    )


def _short_name(path: str) -> str:
    """The last word of a path: ``workloads.x.micro_batch`` is ``micro-batch``."""
    return path.rpartition(".")[2].replace("_", "-")


def _set(path: str, value: str) -> str:
    """A value that was set, in the words of people: ``2 1/s`` of a rate is ``2 requests/s``."""
    number, found, _ = value.partition(" 1/s")
    if not found:
        return value
    return f"{number} requests/s" if path.endswith(".rate") else f"{number}/s"


def _text(row: Row, name: str, spec: WorkloadSpec) -> str:
    found = row.metrics[name]
    return figure_text(name, found.value, found.unit, counted_by(name, spec))
