"""A sweep: one row per run, from this machine or a cluster, with what was done before left as it is."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from designer.decisions.answers import Row, Task, check_paths
from designer.decisions.row_files import RowFile
from designer.decisions.runs import Run
from designer.decisions.workers import local
from designer.progress import Cancel, Progress


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
    stop = cancelled or _never
    if scheduler:
        from designer.decisions.dask_cluster import on_cluster

        found = on_cluster(task, runs, stop, scheduler)
    else:
        found = local(task, runs, stop, jobs)
    for done, row in enumerate(found, start=1):
        if progress is not None:
            progress(done / len(runs), f"{done:,} of {len(runs):,} runs")
        yield row


def _never() -> bool:
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
    """All rows in order; with a file, those that stand in it are taken from there and the others put in.

    Raises
    ------
    Cancelled
        If `cancelled` says so; what is done stands in the file.
    DesignerError
        If no run can be, or the file holds something else.
    """
    kept = RowFile(file, task) if file is not None else None
    known = {row.settings: row for row in kept.done} if kept is not None else {}
    rows = [_numbered(known[run.settings], run) for run in runs if run.settings in known]
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


def _numbered(row: Row, run: Run) -> Row:
    return Row(run.number, row.settings, row.metrics, row.binding, row.error)
