"""Where runs are worked out: here, or in processes of this machine."""

from __future__ import annotations

import concurrent.futures
import math
import multiprocessing
import multiprocessing.connection
import os
import pickle
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from multiprocessing.synchronize import Event
from typing import Final

from designer.decisions.answers import Row, Task, answer
from designer.decisions.runs import Run
from designer.errors import AnalysisError, Cancelled

#: starting a process takes about this long; less work than that is done here [s]
_START: Final = 1.5
#: how often a stop is looked for [s]
_LOOK: Final = 0.1
#: a process takes so many runs at once that they take about this long [s]
_CHUNK: Final = 0.5
#: so often processes may die (memory that ran out, a kill) before that is told
_DEATHS: Final = 3

Stop = Callable[[], bool]
#: what a process of ours works on
_task: Task | None = None
_stop: Stop | None = None


def here(task: Task, runs: Sequence[Run], cancelled: Stop) -> Iterator[Row]:
    """One after the other in this process.

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    """
    for run in runs:
        if cancelled():
            raise Cancelled("stopped")
        yield answer(task, run, cancelled)


def local(task: Task, runs: Sequence[Run], cancelled: Stop, jobs: int | None = None) -> Iterator[Row]:
    """On this machine: here while it is little, in processes once that is quicker; `jobs` says how many.

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    AnalysisError
        If processes keep dying.
    """
    if jobs == 1:
        yield from here(task, runs, cancelled)
        return
    # the first run loads what all need, the second tells how long one takes
    begin, spent = time.perf_counter(), 0.0
    tried = 0 if jobs else min(2, len(runs))
    for row in here(task, runs[:tried], cancelled):
        spent = time.perf_counter() - begin
        begin = time.perf_counter()
        yield row
    rest = runs[tried:]
    count = jobs or min(_processors(), math.ceil(spent * len(rest) / _START))
    if count < 2 or len(rest) < 2:
        yield from here(task, rest, cancelled)
    else:
        size = max(1, min(math.ceil(len(rest) / count / 4), math.floor(_CHUNK / spent) if spent else 1))
        yield from _in_processes(task, rest, cancelled, min(count, len(rest)), size)


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _in_processes(task: Task, runs: Sequence[Run], cancelled: Stop, count: int, size: int) -> Iterator[Row]:
    left = {run.number: run for run in runs}
    for _ in range(_DEATHS):
        try:
            for row in _one_pool(task, tuple(left.values()), cancelled, count, size):
                del left[row.number]
                yield row
        except BrokenProcessPool:
            # one was killed: what it had is done again, one run at a time
            size = 1
            continue
        return
    raise AnalysisError(
        f"processes keep dying; {len(left)} runs are left",
        place="--jobs",
        remedy="most likely memory runs out: use --jobs 1; what is done is kept",
    )


def _one_pool(task: Task, runs: Sequence[Run], cancelled: Stop, count: int, size: int) -> Iterator[Row]:
    # a fork would copy threads of the window halfway through what they do
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = concurrent.futures.ProcessPoolExecutor(count, context, _begin, (pickle.dumps(task), stop))
    try:
        waiting = {pool.submit(_several, runs[k : k + size]) for k in range(0, len(runs), size)}
        while waiting:
            done, waiting = concurrent.futures.wait(waiting, _LOOK, return_when=concurrent.futures.FIRST_COMPLETED)
            for future in done:
                yield from future.result()
            if cancelled():
                raise Cancelled("stopped")
    finally:
        stop.set()
        pool.shutdown(wait=False, cancel_futures=True)


def _begin(task: bytes, stop: Event) -> None:
    global _task, _stop
    _task, _stop = pickle.loads(task), stop.is_set
    # Ctrl-C is for the process that asked; this one is then told to stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Who asked was killed: nobody waits for more rows."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _several(runs: Sequence[Run]) -> list[Row]:
    assert _task is not None
    return [answer(_task, run, _stop) for run in runs]
