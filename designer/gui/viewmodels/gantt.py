"""The tasks of a run as rows of bars, the critical path among them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from designer.present.numbers import counted, shown
from designer.present.words import opened
from designer.units import format_quantity

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from designer.engine.clock.interruptions import Interruption
    from designer.engine.clock.run import Run

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: names of steps
_STEPS: Final = {"load": "Data loading", "step": "Steps"}
#: rows of a run; what comes after is stated by a number
ROWS_LIMIT: Final = 400


@dataclass(frozen=True, slots=True, eq=False)
class GanttRow:
    """The tasks of one step, in order of time.

    Parameters
    ----------
    begin, end, ready : (n,) when each began, ended, and could have begun [s]
    task : (n,) their place in ``Run.tasks``
    critical : (n,) whether each is on the critical path
    """

    program: str
    step: str
    depth: int
    begin: Float
    end: Float
    ready: Float
    task: Int
    critical: npt.NDArray[np.bool_]
    title: str = ""
    note: str = ""

    @property
    def is_head(self) -> bool:
        """True for the row that names a workload."""
        return not self.step


def rows_of(run: Run, titles: Mapping[str, str] | None = None) -> tuple[GanttRow, ...]:
    """A head for each workload, then one row for each of its steps in the order in which they first began.

    What a step is made of is below it.
    """
    critical = _critical(run)
    found: dict[tuple[str, int, str], list[int]] = {}
    for number, task in enumerate(run.tasks):
        if not math.isnan(task.began):
            found.setdefault((task.program, _depth(run, number), _name(run, number)), []).append(number)
    order = {name: k for k, name in enumerate(run.programs)}
    keys = sorted(found, key=lambda key: (order[key[0]], found[key][0]))
    rows: list[GanttRow] = []
    for key in keys[:ROWS_LIMIT]:
        tasks = [run.tasks[k] for k in found[key]]
        if not rows or rows[-1].program != key[0]:
            rows.append(_head(run, key[0], (titles or {}).get(key[0]) or key[0]))
        rows.append(
            GanttRow(
                key[0],
                key[2],
                key[1],
                np.array([t.began for t in tasks]),
                np.array([run.end if math.isnan(t.ended) else t.ended for t in tasks]),
                np.array([t.ready for t in tasks]),
                np.array(found[key], dtype=np.int64),
                np.array([k in critical for k in found[key]]),
                _title(key[2]),
            )
        )
    return tuple(rows)


def _head(run: Run, program: str, title: str) -> GanttRow:
    """The row that names a workload, with how many steps it has done and how long one takes."""
    none, whole = np.empty(0), np.empty(0, dtype=np.int64)
    done = [t for t in run.tasks if t.program == program and t.parent < 0 and t.step == "step" and t.done]
    note = ""
    if len(done) > 1:
        pace = (done[-1].ended - done[0].ended) / (len(done) - 1)
        note = f"{counted(len(done), 'step')} done, {shown(pace, 's')} each"
    return GanttRow(program, "", 0, none, none, none, whole, np.empty(0, dtype=bool), title, note)


def _title(step: str) -> str:
    """Name of a step, of its last part where it is one of a larger one."""
    last = step.rpartition("› ")[2]
    return _STEPS.get(last) or opened(last)


def interruptions_at(
    found: Sequence[Interruption], program: str, time: float, slack: float = 0.0
) -> list[Interruption]:
    """What held a program up at a time, or began so near to it [s]."""
    return [one for one in found if one.program == program and one.begin - slack <= time <= one.end + slack]


def _critical(run: Run) -> set[int]:
    """The path of the last task of each program, with what its tasks are made of."""
    last: dict[str, int] = {}
    for number, task in enumerate(run.tasks):
        if task.parent < 0 and not math.isnan(task.ended):
            best = last.get(task.program)
            if best is None or task.ended >= run.tasks[best].ended:
                last[task.program] = number
    found: set[int] = set()
    pending = list(last.values())
    while pending:
        path = run.path(pending.pop())
        for number in path:
            if number in found:
                continue
            found.add(number)
            inner = [k for k in run.inner(number) if not math.isnan(run.tasks[k].ended)]
            if inner:
                pending.append(max(inner, key=lambda k: run.tasks[k].ended))
    return found


def _depth(run: Run, number: int) -> int:
    depth, above = 0, run.tasks[number].parent
    while above >= 0:
        depth, above = depth + 1, run.tasks[above].parent
    return depth


def _name(run: Run, number: int) -> str:
    names, at = list[str](), number
    while at >= 0:
        names.append(run.tasks[at].step)
        at = run.tasks[at].parent
    return " › ".join(reversed(names))


def visible(row: GanttRow, begin: float, end: float, width: float) -> tuple[Float, Float, Int]:
    """Bars of a row in a time, those that fall on the same pixels as one: from, to [px], and the first task of each."""
    first = int(np.searchsorted(row.end, begin, side="left")) if _ordered(row.end) else 0
    last = int(np.searchsorted(row.begin, end, side="right"))
    if last <= first:
        return np.empty(0), np.empty(0), np.empty(0, dtype=np.int64)
    scale = width / max(end - begin, 1e-300)
    left = np.clip((row.begin[first:last] - begin) * scale, -1.0, width + 1.0)
    right = np.clip((row.end[first:last] - begin) * scale, -1.0, width + 1.0)
    right = np.maximum(right, left + 1.0)
    # a bar that begins where the last one reaches, on the pixel, goes on with it
    reached = np.maximum.accumulate(right)
    new = np.ones(len(left), dtype=bool)
    new[1:] = np.floor(left[1:]) > np.floor(reached[:-1])
    narrow = right - left < 2.0
    # wide bars are distinguished even where they touch
    new[1:] |= ~narrow[1:] | ~narrow[:-1]
    start = np.flatnonzero(new)
    return left[start], np.maximum.reduceat(right, start), np.arange(first, last)[start]


def _ordered(values: Float) -> bool:
    return bool(len(values) < 2 or (np.diff(values) >= 0).all())


def task_text(run: Run, number: int) -> str:
    """A task in words: which, how long, what it waited for."""

    task = run.tasks[number]
    end = run.end if math.isnan(task.ended) else task.ended
    text = f"{task.program}: {task.step} {task.number + 1}, {format_quantity(end - task.began, 'duration')}"
    waited = task.began - task.ready
    if waited > 1e-9:
        text += f", after waiting {format_quantity(waited, 'duration')}"
    if task.by >= 0:
        before = run.tasks[task.by]
        text += f"; began after {before.step} {before.number + 1}"
    return text


def channels_of(run: Run, number: int, most: int = 512) -> tuple[str, ...]:
    """Ids of the channels that a task and what it is made of use, as many as can be shown."""
    table = run.table
    heads: set[int] = set()
    pending = [number]
    while pending:
        at = pending.pop()
        pending += run.inner(at)
        for work in run.tasks[at].works:
            heads |= {resource for resource, _ in run.works[work].uses}
    n = table.network.n_resources
    known = [h for h in heads if h < n]
    same = np.flatnonzero(np.isin(run.represents[:n], known))[:most]
    found = [table.bottleneck(int(k)) for k in same.tolist()]
    return tuple(dict.fromkeys(b.id for b in found if b.what == "channel"))
