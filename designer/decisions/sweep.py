"""A sweep: one row per run, from this machine or a cluster, with what was done before left as it is."""

from __future__ import annotations

import asyncio
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
from importlib import import_module
from multiprocessing.synchronize import Event
from pathlib import Path
from typing import Any, Final

from designer.decisions.answers import Row, Task, answer, check_paths
from designer.decisions.row_files import RowFile
from designer.decisions.runs import Run
from designer.errors import AnalysisError, Cancelled
from designer.progress import Cancel, Progress

#: starting a process takes about this long; less work than that is done here [s]
_START: Final = 1.5
#: how often a stop is looked for [s]
_LOOK: Final = 0.1
#: a process takes so many runs at once that they take about this long [s]
_CHUNK: Final = 0.5
#: so often processes may die (memory that ran out, a kill) before that is stated
_DEATHS: Final = 3

#: what a process of ours works on
_task: Task | None = None
_stop: Cancel | None = None


def rows_of(
    task: Task,
    runs: Sequence[Run],
    *,
    jobs: int | None = None,
    scheduler: str = "",
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
) -> Iterator[Row]:
    """The rows of runs as they come; not in order where several are worked out at once.

    Parameters
    ----------
    jobs
        Processes; None: as many as make it quicker, 1: this one alone.
    scheduler
        Address of a Dask scheduler whose workers do it.

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    DesignerError
        If no run can be: a path that names nothing, a cluster that is not there.
    """
    if runs:
        check_paths(task, runs)
    stop = cancelled or _not_cancelled
    if scheduler:
        found = on_cluster(task, runs, stop, scheduler)
    else:
        found = local(task, runs, stop, jobs)
    for done, row in enumerate(found, start=1):
        if progress is not None:
            progress(done / len(runs), f"{done:,} of {len(runs):,} runs")
        yield row


def _not_cancelled() -> bool:
    return False


def sweep(
    task: Task,
    runs: Sequence[Run],
    file: Path | None = None,
    *,
    jobs: int | None = None,
    scheduler: str = "",
    progress: Progress | None = None,
    cancelled: Cancel | None = None,
) -> tuple[Row, ...]:
    """All rows in order; with a file, those that it has are taken from there and the others put in.

    Raises
    ------
    Cancelled
        If `cancelled` says so; what is done is in the file.
    DesignerError
        If no run can be, or the file holds something else.
    """
    kept = RowFile(file, task) if file is not None else None
    known = {row.settings: row for row in kept.done} if kept is not None else {}
    rows = [_with_number(known[run.settings], run) for run in runs if run.settings in known]
    left = [run for run in runs if run.settings not in known]
    try:
        for row in rows_of(task, left, jobs=jobs, scheduler=scheduler, progress=progress, cancelled=cancelled):
            rows.append(row)
            if kept is not None:
                kept.add(row)
    finally:
        if kept is not None:
            kept.close()
    rows.sort(key=lambda row: row.number)
    if kept is not None:
        kept.close(rows)
    return tuple(rows)


def _with_number(row: Row, run: Run) -> Row:
    return Row(run.number, row.settings, row.metrics, row.binding, row.error)


def here(task: Task, runs: Sequence[Run], cancelled: Cancel) -> Iterator[Row]:
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


def local(task: Task, runs: Sequence[Run], cancelled: Cancel, jobs: int | None = None) -> Iterator[Row]:
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
    # the first run loads what all need, the second states how long one takes
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


def _in_processes(task: Task, runs: Sequence[Run], cancelled: Cancel, count: int, size: int) -> Iterator[Row]:
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


def _one_pool(task: Task, runs: Sequence[Run], cancelled: Cancel, count: int, size: int) -> Iterator[Row]:
    # a fork would copy threads of the window halfway through what they do
    context = multiprocessing.get_context("spawn")
    stop = context.Event()
    pool = concurrent.futures.ProcessPoolExecutor(count, context, _begin, (pickle.dumps(task), stop))
    try:
        waiting = {pool.submit(_answer_runs, runs[k : k + size]) for k in range(0, len(runs), size)}
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
    # Ctrl-C is for the process that asked; this one is then asked to stop
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """Who asked was killed: nobody waits for more rows."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        multiprocessing.connection.wait([parent.sentinel])
        os._exit(1)


def _answer_runs(runs: Sequence[Run]) -> list[Row]:
    assert _task is not None
    return [answer(_task, run, _stop) for run in runs]


#: how long a scheduler is waited for [s]
_PATIENCE: Final = 10
#: how often a stop is looked for [s]
_CLUSTER_LOOK: Final = 0.2
#: so often a run is tried again where a worker dies or an error passes
_RETRIES: Final = 5
_PLACE: Final = "--scheduler"


def on_cluster(task: Task, runs: Sequence[Run], cancelled: Callable[[], bool], address: str) -> Iterator[Row]:
    """On the workers of a scheduler.

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    AnalysisError
        If ``distributed`` is missing, nobody answers at the address, or workers cannot do it.
    """
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise AnalysisError(
            "a cluster needs Dask", place=_PLACE, remedy="install designer with the extra [cluster]"
        ) from None
    _demand_scheduler(distributed, address)
    try:
        client = distributed.Client(address, timeout=_PATIENCE, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise _no_scheduler(address, str(error)) from None
    try:
        if not client.scheduler_info()["workers"]:
            remedy = f"start some: dask worker {address}"
            raise AnalysisError("the scheduler has no workers", place=_PLACE, remedy=remedy)
        yield from _run_on(client, distributed, task, runs, cancelled)
    finally:
        client.close()


def _demand_scheduler(distributed: Any, address: str) -> None:
    """Refuse an address where no scheduler answers; a client would wait for it twice as long, or for ever.

    Raises
    ------
    AnalysisError
        If something else answers there, or nothing in time.
    """

    async def identity() -> dict[str, Any]:
        security: Any = distributed.Security()
        arguments = security.get_connection_args("client")
        rpc: Any = import_module("distributed.core").rpc
        async with rpc(address, timeout=_PATIENCE, connection_args=arguments) as other:
            return await other.identity()

    async def in_time() -> dict[str, Any]:
        return await asyncio.wait_for(identity(), _PATIENCE)

    try:
        found = asyncio.run(in_time())
    except TimeoutError:
        raise _no_scheduler(address, f"nothing in {_PATIENCE} s") from None
    except MemoryError:
        # the first bytes of another protocol, read as a length
        raise _no_scheduler(address, "something else listens there") from None
    except Exception as error:  # addresses, protocols and whatever else listens there fail in many ways
        raise _no_scheduler(address, str(error) or type(error).__name__) from None
    if found.get("type") != "Scheduler":
        raise _no_scheduler(address, f"this is a {str(found.get('type'))[:40]}")


def _no_scheduler(address: str, why: str) -> AnalysisError:
    text = f"no scheduler answers at {address}: {why[:120]}"
    return AnalysisError(text, place=_PLACE, remedy="start one with: dask scheduler")


def _run_on(
    client: Any, distributed: Any, task: Task, runs: Sequence[Run], cancelled: Callable[[], bool]
) -> Iterator[Row]:
    # to all workers at once: what one alone holds is lost with it
    sent = client.scatter(pickle.dumps(task), broadcast=True)
    waiting = {client.submit(one, sent, run, retries=_RETRIES, pure=False) for run in runs}
    try:
        while waiting:
            try:
                with client.as_current():
                    done, waiting = distributed.wait(waiting, _CLUSTER_LOOK, return_when="FIRST_COMPLETED")
            except TimeoutError:
                done = set[Any]()
            for future in done:
                try:
                    row = future.result()
                except Exception as error:  # whatever another machine raises
                    remedy = "see that every worker has this program in this version, and memory enough"
                    text = f"a worker cannot do it: {type(error).__name__}: {str(error)[:200]}"
                    raise AnalysisError(text, place=_PLACE, remedy=remedy) from None
                yield row
            if cancelled():
                raise Cancelled("stopped")
    finally:
        if waiting:
            client.cancel(list(waiting))


def one(task: bytes, run: Run) -> Row:
    """A run, on a worker."""
    found: Task = pickle.loads(task)
    return answer(found, run)
