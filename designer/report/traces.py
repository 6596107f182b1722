"""A run as a file: the trace event format of Chrome and Perfetto, or one task a line."""

from __future__ import annotations

import csv
import io
import itertools
import json
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from designer.engine.clock.interruptions import interruptions
from designer.engine.clock.run import Run
from designer.families.serving.records import ServingRun
from designer.families.serving.request_log import logs_of
from designer.report.run_power import UnitPower

#: seconds in the microseconds of trace events
_MICRO: Final = 1e6
#: loads of so many resources are written as counters, the busiest first
COUNTERS_LIMIT: Final = 24
#: so many requests of each served model are written, the first ones
REQUESTS_LIMIT: Final = 5000
#: the track of what holds a program up
HELD_UP: Final = "held up"
#: what a request is doing between its marks
_SPANS: Final = ("waits", "prompt", "answer")


def chrome_trace(run: Run, power: Sequence[UnitPower] = ()) -> str:
    """Tasks as complete events, a process for each program and a thread for each step; loads and power as counters.

    What held a program up, such as a stun or a failure, is on a track of its own. Requests to served models are
    asynchronous events: waiting, reading the prompt and answering inside each.

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
    for one in interruptions(run):
        # on a track of its own, the last one of its program
        key = (one.program, HELD_UP)
        if key not in threads:
            threads[key] = len(threads) + 1
            named_so = {"name": HELD_UP}
            events.append(
                {"ph": "M", "name": "thread_name", "pid": places[one.program], "tid": threads[key], "args": named_so}
            )
        events.append(
            {
                "ph": "X",
                "name": str(one.cause),
                "cat": one.program,
                "pid": places[one.program],
                "tid": threads[key],
                "ts": one.begin * _MICRO,
                "dur": (one.end - one.begin) * _MICRO,
                "args": {"what": one.text},
            }
        )
    for name, log in logs_of(run).items():
        events += _requests(log.run, name, places[name], run.end)
    named: Counter[str] = Counter()
    for bottleneck, number in run.loaded(COUNTERS_LIMIT):
        times, load = run.pieces(number)
        # counters of one name would be one line
        named[bottleneck.id] += 1
        name = bottleneck.id if named[bottleneck.id] == 1 else f"{bottleneck.id} ({named[bottleneck.id]})"
        events += [
            {"ph": "C", "name": name, "pid": 0, "ts": at * _MICRO, "args": {"load": value}}
            for at, value in zip(times.tolist(), load.tolist(), strict=True)
        ]
    for one in power[:COUNTERS_LIMIT]:
        events += [
            {"ph": "C", "name": f"power of {one.name}", "pid": 0, "ts": at * _MICRO, "args": {"watts": value}}
            for at, value in zip(one.times.tolist(), one.watts[0].tolist(), strict=True)
        ]
    return json.dumps({"displayTimeUnit": "ms", "traceEvents": events}, ensure_ascii=False, allow_nan=False)


def _requests(served: ServingRun, name: str, place: int, end: float) -> list[dict[str, Any]]:
    """Each request as three spans in one, those that are under way until the end of the run."""
    found: list[dict[str, Any]] = []
    columns = (served.sent, served.taken, served.first, served.done)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    for number, (sent, *later) in enumerate(itertools.islice(rows, REQUESTS_LIMIT)):
        marks = [sent, *(end if math.isnan(at) else at for at in later)]
        same = {"cat": f"{name} requests", "id": number + 1, "pid": place, "tid": 0}
        spans = [(what, a, b) for what, (a, b) in zip(_SPANS, itertools.pairwise(marks), strict=True) if b > a]
        # what is inside ends before what it is in
        ends = [("b", "request", sent)]
        ends += [one for what, a, b in spans for one in (("b", what, a), ("e", what, b))]
        ends.append(("e", "request", marks[-1]))
        found += [{"ph": kind, "name": what, **same, "ts": at * _MICRO} for kind, what, at in ends]
    return sorted(found, key=lambda event: event["ts"])


def csv_trace(run: Run) -> str:
    """One task a line: program, step, item, when it could begin, began and ended [s], and what it is a part of.

    At the end what it had to do, all its works together, in bytes or seconds; nothing where others do it for it.
    """
    text = io.StringIO()
    lines = csv.writer(text, lineterminator="\n")
    lines.writerow(["program", "step", "item", "ready_s", "began_s", "ended_s", "part_of", "amount", "unit"])
    for task in run.tasks:
        times = ["" if math.isnan(t) else repr(t) for t in (task.ready, task.began, task.ended)]
        above = run.tasks[task.parent].step if task.parent >= 0 else ""
        works = [run.works[k] for k in task.works if run.works[k].unit]
        amount = sum(work.amount * work.equal for work in works)
        done = (repr(amount), works[0].unit) if works and math.isfinite(amount) else ("", "")
        lines.writerow([task.program, task.step, task.number + 1, *times, above, *done])
    return text.getvalue()
