"""A run as a file: the trace event format of Chrome and Perfetto, or one task a line."""

from __future__ import annotations

import csv
import io
import json
import math
from typing import Any, Final

from designer.analysis.clock.run import Run

#: seconds in the microseconds of trace events
_MICRO: Final = 1e6
#: loads of so many resources are written as counters, the busiest first
COUNTERS_LIMIT: Final = 24


def chrome_trace(run: Run) -> str:
    """Tasks as complete events, a process for each program and a thread for each step; loads as counters.

    Sources
    -------
    Trace Event Format, Google, 2016.
    """
    events: list[dict[str, Any]] = []
    threads: dict[tuple[str, str], int] = {}
    places = {name: k + 1 for k, name in enumerate(run.programs)}
    for name, place in places.items():
        events.append({"ph": "M", "name": "process_name", "pid": place, "tid": 0, "args": {"name": name}})
    critical = set(run.path())
    for number, task in enumerate(run.tasks):
        if math.isnan(task.began):
            continue
        key = (task.program, task.step)
        if key not in threads:
            threads[key] = len(threads) + 1
            events.append(
                {
                    "ph": "M",
                    "name": "thread_name",
                    "pid": places[task.program],
                    "tid": threads[key],
                    "args": {"name": task.step},
                }
            )
        end = run.end if math.isnan(task.ended) else task.ended
        events.append(
            {
                "ph": "X",
                "name": f"{task.step} {task.number + 1}",
                "cat": task.program,
                "pid": places[task.program],
                "tid": threads[key],
                "ts": task.began * _MICRO,
                "dur": max(0.0, end - task.began) * _MICRO,
                "args": {"waited_s": max(0.0, task.began - task.ready), "critical": number in critical},
            }
        )
    for bottleneck, number in run.loaded(COUNTERS_LIMIT):
        times, load = run.pieces(number)
        events += [
            {"ph": "C", "name": bottleneck.id, "pid": 0, "ts": at * _MICRO, "args": {"load": value}}
            for at, value in zip(times.tolist(), load.tolist(), strict=True)
        ]
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, ensure_ascii=False, allow_nan=False)


def csv_trace(run: Run) -> str:
    """One task a line: program, step, item, when it could begin, began and ended [s], and what it is a part of."""
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["program", "step", "item", "ready_s", "began_s", "ended_s", "part_of"])
    for task in run.tasks:
        times = ["" if math.isnan(t) else repr(t) for t in (task.ready, task.began, task.ended)]
        above = run.tasks[task.parent].step if task.parent >= 0 else ""
        lines.writerow([task.program, task.step, task.number + 1, *times, above])
    return text.getvalue()
