"""Job lists of clusters replayed on a drawn one: first come, first served, each job all at once on its servers."""

from __future__ import annotations

import heapq
import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Final

import numpy as np

from designer.design.document import Design
from designer.engine.machines.guest_network import partitioned_network
from designer.engine.network import build_network
from designer.engine.results import Column, Table
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError, Cancelled
from designer.findings import Finding, Severity
from designer.sources import Estimate
from designer.workload.job_lists import JobList, ListedJob

#: events between two looks at whether someone cancelled
_LOOK_LIMIT: Final = 1024
#: the percentile of waits that is stated
_TAIL_LIMIT: Final = 0.95
_SOURCES: Final = {"Philly": "philly-traces", "Helios": "helios-traces", "Acme": "acme-traces"}


@dataclass(frozen=True, slots=True)
class JobRun:
    """When a job started, and on which servers how many of its accelerators were."""

    job: ListedJob
    start: float
    on: tuple[tuple[int, int], ...]

    @property
    def wait(self) -> float:
        """From submitted to started [s]."""
        return self.start - self.job.at


@dataclass(frozen=True, slots=True, eq=False)
class Replay:
    """A job list on a design.

    Parameters
    ----------
    runs
        Jobs that started, in that order.
    waiting
        Jobs that had not started at the end.
    gpus, servers
        Of the design.
    """

    design: str
    file: str | None
    listed: JobList
    runs: tuple[JobRun, ...]
    waiting: int
    gpus: int
    servers: int
    end: float
    metrics: Mapping[str, Estimate]
    table: Table
    findings: tuple[Finding, ...]


class _Servers:
    """Free accelerators of servers, by how many each has free."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.sizes = sizes
        self.free = list(sizes)
        self.most = max(sizes)
        self.total = sum(sizes)
        self._by_free: list[dict[int, None]] = [{} for _ in range(self.most + 1)]
        for server, size in enumerate(sizes):
            self._by_free[size][server] = None

    def parts(self, job: ListedJob) -> list[int]:
        """How many accelerators on each of its servers, as it had them; on as few as can be where these are smaller."""
        each = -(-job.gpus // job.servers)
        each = min(each, self.most)
        whole, rest = divmod(job.gpus, each)
        return [each] * whole + [rest] * (rest > 0)

    def place(self, parts: Sequence[int]) -> tuple[tuple[int, int], ...] | None:
        """Each part on a server of its own, the fullest that has room; None where one has no place."""
        found: list[tuple[int, int]] = []
        for count in parts:
            server = self._fullest(count)
            if server is None:
                for taken, _ in found:
                    self._move(taken, self.free[taken])
                return None
            # out of sight of its other parts
            del self._by_free[self.free[server]][server]
            found.append((server, count))
        for server, count in found:
            self._move(server, self.free[server] - count)
        self.total -= sum(parts)
        return tuple(found)

    def give_back(self, on: Sequence[tuple[int, int]]) -> None:
        """What a job had is free again."""
        for server, count in on:
            del self._by_free[self.free[server]][server]
            self._move(server, self.free[server] + count)
            self.total += count

    def _fullest(self, count: int) -> int | None:
        for free in range(count, self.most + 1):
            for server in self._by_free[free]:
                return server
        return None

    def _move(self, server: int, free: int) -> None:
        self.free[server] = free
        self._by_free[free][server] = None


def replay(
    design: Design,
    listed: JobList,
    *,
    group: str = "gpus",
    until: float = math.inf,
    file: str | None = None,
    progress: Callable[[float, str], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> Replay:
    """Run the jobs of a list on the accelerators of a design.

    Notes
    -----
    Jobs are placed in the order in which they were submitted, and none passes another. A job starts when all its
    accelerators are free at once: on as many servers as it had, each part on the fullest server with room for it. It
    runs for as long as it did where it was recorded.

    Raises
    ------
    AnalysisError
        If the design has no accelerators.
    Cancelled
        If `cancelled` says so.
    """
    network = partitioned_network(build_network(design))
    island = network.island[resolve(network, group, "jobs")]
    servers = _Servers(np.unique(island, return_counts=True)[1].tolist())
    gpus = servers.total
    shapes = {(job.gpus, job.servers): job for job in listed.jobs}
    room = {shape: job.gpus <= gpus and _has_place(servers, job) for shape, job in shapes.items()}
    asked = [job for job in listed.jobs if job.at <= until]
    fitting = [job for job in asked if room[job.gpus, job.servers]]
    queue: deque[ListedJob] = deque()
    running: list[tuple[float, int, tuple[tuple[int, int], ...]]] = []
    runs: list[JobRun] = []
    now, busy, apart, idle, at, steps = 0.0, 0.0, 0.0, 0.0, 0, 0
    while at < len(fitting) or running:
        steps += 1
        if steps % _LOOK_LIMIT == 0:
            if cancelled is not None and cancelled():
                raise Cancelled("stopped")
            if progress is not None:
                progress(at / len(fitting), "replaying")
        after = min(fitting[at].at if at < len(fitting) else math.inf, running[0][0] if running else math.inf)
        then = min(after, until)
        busy += (gpus - servers.total) * (then - now)
        if queue:
            idle += servers.total * (then - now)
            apart += servers.total * (then - now) if servers.total >= queue[0].gpus else 0.0
        now = then
        if after > until:
            break
        while running and running[0][0] <= now:
            servers.give_back(heapq.heappop(running)[2])
        while at < len(fitting) and fitting[at].at <= now:
            queue.append(fitting[at])
            at += 1
        while queue:
            on = servers.place(servers.parts(queue[0]))
            if on is None:
                break
            job = queue.popleft()
            runs.append(JobRun(job, now, on))
            heapq.heappush(running, (now + job.seconds, len(runs), on))
    if not runs:
        raise AnalysisError(
            f"none of {len(listed.jobs)} jobs has room on {gpus} accelerators", place="jobs", remedy="draw more of them"
        )
    waiting = len(queue)
    refused = len(asked) - len(fitting)
    metrics = _metrics(listed, runs, gpus, now, busy, idle, apart)
    findings = tuple(_findings(listed, refused, waiting, gpus))
    return Replay(
        design.name, file, listed, tuple(runs), waiting, gpus, len(servers.sizes), now, metrics, _table(runs), findings
    )


def _has_place(empty: _Servers, job: ListedJob) -> bool:
    """Whether a job has room where nothing else runs."""
    parts = empty.parts(job)
    return all(
        sum(1 for size in empty.sizes if size >= count) >= sum(1 for other in parts if other >= count)
        for count in set(parts)
    )


def _metrics(
    listed: JobList, runs: Sequence[JobRun], gpus: int, end: float, busy: float, idle: float, apart: float
) -> dict[str, Estimate]:
    sources = (_SOURCES[listed.format],)

    def exact(value: float, unit: str, note: str = "") -> Estimate:
        return Estimate.exact(value, unit, sources, note)

    waits = np.array([run.wait for run in runs])
    whole = gpus * end
    found = {
        "wait_mean": exact(float(waits.mean()), "s"),
        "wait_p50": exact(median(waits.tolist()), "s"),
        "wait_p95": exact(float(np.quantile(waits, _TAIL_LIMIT)), "s"),
        "wait_longest": exact(float(waits.max()), "s"),
        "share_waiting": exact(float((waits > 0).mean()), "1", "of the jobs that started"),
        "utilization": exact(busy / whole if whole else 0.0, "1", "of all accelerators over the whole time"),
        "idle_while_waiting": exact(idle / whole if whole else 0.0, "1", "accelerators free while a job waits"),
        "fragmentation": exact(
            apart / whole if whole else 0.0, "1", "of these, where the first in line needs no more, but not so apart"
        ),
    }
    recorded = [run.job.waited for run in runs if run.job.waited is not None]
    if recorded:
        found["wait_recorded"] = exact(fmean(recorded), "s", "mean, on the cluster the list comes from")
    return found


def _table(runs: Sequence[JobRun]) -> Table:
    """Waits by size of job."""
    by_size: dict[int, list[float]] = {}
    for run in runs:
        size = 1
        while size < run.job.gpus:
            size *= 2
        by_size.setdefault(size, []).append(run.wait)
    rows: list[tuple[str | float | None, ...]] = []
    for size in sorted(by_size):
        waits = np.array(by_size[size])
        low = size // 2 + 1
        name = str(size) if low >= size else f"{low}–{size}"
        row = (name, float(len(waits)), float(waits.mean()), float(np.quantile(waits, _TAIL_LIMIT)), float(waits.max()))
        rows.append(row)
    columns = (
        Column("accelerators"),
        Column("jobs", "1"),
        Column("mean wait", "s"),
        Column("95 % wait less than", "s"),
        Column("longest", "s"),
    )
    return Table("Waits by size of job", columns, tuple(rows))


def _findings(listed: JobList, refused: int, waiting: int, gpus: int) -> list[Finding]:
    found: list[Finding] = []
    if refused:
        text = f"{refused} of {len(listed.jobs)} jobs have no room on {gpus} accelerators, even with nothing else there"
        remedy = "draw more servers, or servers with more accelerators"
        found.append(Finding("JOBS-NO-ROOM", Severity.WARNING, text, (), remedy))
    if waiting:
        text = f"{waiting} jobs still wait at the end"
        found.append(Finding("JOBS-WAITING", Severity.WARNING, text, (), "replay a longer time, or draw more servers"))
    for why, count in listed.left_out.items():
        found.append(Finding("JOBS-LEFT-OUT", Severity.INFO, f"{count} jobs of the list are left out: they {why}"))
    text = f"run times are those {listed.format} recorded, whatever accelerators are drawn"
    found.append(Finding("JOBS-AS-RECORDED", Severity.INFO, text))
    return found
