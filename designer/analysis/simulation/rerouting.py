"""What a program does after a failure: how long it waits, and on what is left it goes on.

The times are those of ``designer.formulas.failures``; what is left is what ``designer survive`` reports.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Capability
from designer.design.channels import link_number
from designer.design.document import WorkloadSpec
from designer.engine.account.worth import share_of_work
from designer.engine.clock.jobs import Change, Job, PartChange, job_of
from designer.engine.clock.run import Run
from designer.engine.costs import Cost, Expansion, Prices, every_work
from designer.engine.network import Network
from designer.engine.question import Question, ask
from designer.engine.results import WorkloadResult
from designer.engine.routes.damage import Damage, best_way, contents_of, damage
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError, DocumentError
from designer.families.training.tasks import (
    CopyCheckpoint,
    LoadBatch,
    ReadCheckpoint,
    TrainStep,
    TrainSteps,
    WriteCheckpoint,
)
from designer.findings import Finding, Severity
from designer.formulas.failures import RECONNECT, REROUTE, TRANSPORT_TIMEOUT
from designer.units import format_quantity
from designer.workload.kind import kind_of, task_of, workload_kinds
from designer.workload.program import Collective, Compute, Delay, Mark, Move, Program, Recovery, Step, Task
from designer.workload.program.restarting import FAILURE, RESTORE
from designer.workload.program.tasks import Rerouted

Int = npt.NDArray[np.int64]

#: ranks of these wait for each other over connections that they keep
_COLLECTIVE: Final = (Collective, TrainStep, TrainSteps)
#: what may be done again from its beginning elsewhere; served requests and moving machines keep their state
_REPEATED: Final = (
    *_COLLECTIVE,
    *(Compute, CopyCheckpoint, Delay, LoadBatch, Mark, Move, ReadCheckpoint, WriteCheckpoint),
)
_RESUMED: Final = Mark("resumed")


def rerouted(prices: Prices, job: Job, failures: Sequence[Failure], cancelled: Callable[[], bool] | None) -> Job:
    """A job that goes on after failures on what they leave; the same job where none hits it, or nothing is left."""
    program = job.program
    if program is None or program.arrivals is not None:
        return job
    tasks = [step.task for step in program.steps]
    known = {at for at, _ in program.recovery.times} if program.recovery is not None else set[float]()
    if not all(isinstance(task, _REPEATED) for task in tasks) or known:
        return job
    together = any(isinstance(task, _COLLECTIVE) for task in tasks)
    patience = (TRANSPORT_TIMEOUT if together else REROUTE).value
    lasting = [f for f in failures if f.share <= 0 and f.at >= job.start and not _back(f, failures) <= f.at + patience]
    used = _used_resources(prices, tasks, job.place) if lasting else frozenset[int]()
    hit = [f for f in lasting if _hits(prices, f, used)]
    times: list[tuple[float, float]] = []
    reroutes: list[tuple[float, tuple[Step, ...], Task]] = []
    read = program.recovery.read if program.recovery is not None else _RESUMED
    for failure in sorted(hit, key=lambda f: f.at):
        down = [f for f in lasting if f.at <= failure.at and not _back(f, failures) <= failure.at]
        gone = _path_after(prices.network, job, down, cancelled)
        if gone is None:
            break
        parts, links = tuple(gone.parts.tolist()), gone.links

        def elsewhere(task: Task, parts: tuple[int, ...] = parts, links: tuple[int, ...] = links) -> Task:
            return task if isinstance(task, Mark | Delay) else Rerouted(task, parts, links)

        steps = tuple(replace(step, task=elsewhere(step.task)) for step in program.steps)
        if not _can_be_done(prices, [*(step.task for step in steps), elsewhere(read)], job.place):
            break
        begun = failure.at - job.start
        times.append((begun, begun + patience))
        reroutes.append((begun, steps, elsewhere(read)))
    if not times:
        return job
    own = program.recovery or _recovery(prices.network, job, program, together)
    recovery = replace(own, times=tuple(times), reroutes=tuple(reroutes))
    # items that are done again would be counted twice
    measures = tuple(replace(m, of="pace") if m.of == "period" else m for m in program.measures)
    return replace(job_of(replace(program, recovery=recovery, measures=measures), job.place), start=job.start)


def _can_be_done(prices: Prices, tasks: Sequence[Task], place: str) -> bool:
    """Whether tasks have a price on what is left."""
    try:
        for task in tasks:
            prices.price(prices.unit(task)[0], place)
    except AnalysisError:
        return False
    return True


def still_down(jobs: Sequence[Job], run: Run, failures: Sequence[Failure]) -> list[Finding]:
    """Programs that a failure stopped and that had not gone on when the run ended."""
    found: list[Finding] = []
    for job in jobs:
        own = job.program.recovery if job.program is not None else None
        if own is None or not own.reroutes:
            continue
        at = own.reroutes[-1][0] + job.start
        back = [t.ended for t in run.tasks if t.program == job.name and t.step == RESTORE and t.done and t.ended >= at]
        hit = [f.path for f in failures if f.at == at and f.share <= 0]
        failed = any(t.step == FAILURE and t.done and t.ended >= at for t in run.tasks if t.program == job.name)
        if back or not failed:
            continue
        ready = format_quantity(max(again for _, again in own.times) + job.start + own.cold_start, "duration")
        text = f"{job.name} did not go on after {', '.join(hit)} failed: it restarts on what is left at {ready}"
        found.append(Finding("CLOCK-STUCK", Severity.ERROR, text, tuple(hit), "simulate a longer time, or mend it"))
    return found


def _recovery(network: Network, job: Job, program: Program, together: bool) -> Recovery:
    """How a program that says nothing of failures recovers from one."""
    spec = network.design.workloads.get(job.name)
    if any(isinstance(step.task, TrainStep | TrainSteps) for step in program.steps):
        # without checkpoints nothing is safe
        step = program.first(TrainStep)
        cold = step.run.cold_start if step is not None and spec is not None else RECONNECT.value
        return Recovery("", _RESUMED, cold)
    return Recovery(program.steps[-1].name, _RESUMED, RECONNECT.value if together else 0.0)


def _back(failure: Failure, failures: Sequence[Failure]) -> float:
    """When what failed works again, inf if never [s]."""
    return min(
        (f.at for f in failures if f.path == failure.path and f.share > 0 and f.at >= failure.at), default=math.inf
    )


def _used_resources(prices: Prices, tasks: Sequence[Task], place: str) -> frozenset[int]:
    """All resources and engines that tasks use."""
    found: set[int] = set()
    for task in tasks:
        cost = prices.price(prices.unit(task)[0], place)
        if isinstance(cost, Expansion):
            found |= _used_resources(prices, cost.tasks, place)
            continue
        each: Cost = every_work(cost)
        found |= set(np.unique(each.resource).tolist()) | set(np.unique(each.engine[each.engine >= 0]).tolist())
    return frozenset(found)


def _hits(prices: Prices, failure: Failure, used: frozenset[int]) -> bool:
    """Whether what fails is used."""
    if any(change.resource in used for change in changes_of_links(prices.network, failure)):
        return True
    gone = {change.part for change in changes_of_parts(prices.network, failure)}
    return any(gone & set(prices.table.parts_of(engine)) for engine in prices.table.slots if engine in used)


def _failed_resources(network: Network, failures: Sequence[Failure]) -> tuple[Int, list[int]]:
    """Parts and links that failures take away."""
    parts: list[int] = []
    links: list[int] = []
    for failure in failures:
        name = failure.path[:-3] if failure.path[-3:] in (":ab", ":ba") else failure.path
        link = link_number(network.net, name)
        if link is not None:
            links += [link] * int(network.net.link(link).count)
            continue
        try:
            parts += contents_of(network, [network.net.index_of(name)]).tolist()
        except DocumentError:
            continue
    return np.unique(np.array(parts, dtype=np.int64)), links


def _path_after(
    network: Network, job: Job, failures: Sequence[Failure], cancelled: Callable[[], bool] | None
) -> Damage | None:
    """What a job does without after failures: what failed, and what is better left out; None if it cannot go on."""
    parts, links = _failed_resources(network, failures)
    spec = network.design.workloads.get(job.name)
    if spec is None:
        return damage(network, parts, links)
    judge = _Judge(network, spec, job.place, cancelled)
    share, found, _ = best_way(network, parts, links, judge.share, {})
    if share > 0:
        return judge.without_stranded(found)
    return None


def where_its_data_is(network: Network, spec: WorkloadSpec) -> WorkloadSpec:
    """The workload with its data where the whole design holds it.

    ``storage`` represents drives where there are no storage systems; drives do not hold what a lost system held.
    A model that is served has been loaded before anything fails.
    """
    if spec.kind == "serving":
        return spec.model_copy(update={"settings": {**spec.settings, "storage": "", "cold": False}})
    if not network.parts_of_kind("storage").size:
        return spec
    held = dict(spec.settings)
    for setting in workload_kinds()[spec.kind].settings:
        value = held.get(setting.name, setting.default)
        if setting.dimension == "selector" and isinstance(value, str):
            pieces = [piece.strip() for piece in value.split(",")]
            if "storage" in pieces:
                held[setting.name] = ", ".join("storage_systems" if p == "storage" else p for p in pieces)
    return spec.model_copy(update={"settings": held})


class _Judge:
    """How much of a workload is left on what a failure leaves."""

    def __init__(self, network: Network, spec: WorkloadSpec, place: str, cancelled: Callable[[], bool] | None) -> None:
        self.network, self.spec, self.place, self.cancelled = network, spec, place, cancelled
        self.asked = where_its_data_is(network, spec)
        self.group = task_of(spec.kind, spec.settings, place, Collective)
        self.whole = self._result(network)
        self.ranks = self._ranks(network)

    def share(self, found: Damage) -> float:
        """What is left of the throughput; 0 where nothing goes on."""
        if found.after is None:
            return 1.0
        for left in (found, self.without_stranded(found)):
            assert left.after is not None
            try:
                return share_of_work(self.whole, self._result(left.after), self.ranks, self._ranks(left.after))
            except AnalysisError:
                continue
        return 0.0

    def without_stranded(self, found: Damage) -> Damage:
        """The damage with accelerators gone that work and are cut off, where those stop the workload."""
        cut = np.setdiff1d(found.stranded, found.parts)
        if not len(cut) or found.after is None:
            return found
        try:
            self._result(found.after)
        except AnalysisError:
            return damage(self.network, np.union1d(found.parts, cut), found.links)
        return found

    def _result(self, network: Network) -> WorkloadResult:
        kind = kind_of(self.spec.kind, self.place)
        question = Question(self.spec.id, kind.reports, self.spec.id, self.place, False, None, self.cancelled, False)
        return ask(network, self.asked, question)[0]

    def _ranks(self, network: Network) -> int:
        if self.group is None:
            return 0
        parts = resolve(network, self.group.group, self.place)
        return int(network.has(Capability.ACCELERATE)[parts].sum())


# A link or part that fails at a time: what changes on the clock for it, and for all that is in it.


@dataclass(frozen=True, slots=True)
class Failure:
    """A link, or all links of a part, by path: from a time on it has a share of its capacity, 0 for failed."""

    path: str
    at: float
    share: float = 0.0


def changes_of_parts(network: Network, failure: Failure) -> list[PartChange]:
    """A failure as changes of what computes; nothing where it is that of a link."""
    net = network.net
    part = next((k for k in range(net.n_parts) if net.path(k) == failure.path), None)
    near = inside(network, part).tolist() if part is not None else []
    return [PartChange(failure.at, k, min(1.0, failure.share)) for k in near]


def inside(network: Network, part: int) -> npt.NDArray[np.int64]:
    """A part and all that is in it: a server that fails takes what it holds with it."""
    found = np.array([part])
    while True:
        more = np.flatnonzero(np.isin(network.net.parent, found))
        more = more[~np.isin(more, found)]
        if not len(more):
            return found
        found = np.concatenate([found, more])


def changes_of_links(network: Network, failure: Failure) -> list[Change]:
    """A failure as changes of the resources of its links.

    Raises
    ------
    AnalysisError
        If there is no such link or part.
    """
    net, path = network.net, failure.path
    if not 0 <= failure.at < math.inf or not 0 <= failure.share < math.inf:
        raise AnalysisError(f"{path} fails at {failure.at:g} s", place="fail", remedy="give a time of 0 s or later")
    sides = {":ab": (0,), ":ba": (1,)}.get(path[-3:], (0, 1))
    name = path[:-3] if len(sides) == 1 else path
    link = link_number(net, name)
    links = [link] if link is not None else []
    resources: list[int] = []
    if not links:
        try:
            part = net.index_of(path)
        except DocumentError:
            part = -1
        if part < 0 or net.path(part) != path:
            raise AnalysisError(
                f"there is no link or part {path!r}", place="fail", remedy="name one as `designer analyze --json` does"
            )
        near = inside(network, part)
        links = np.flatnonzero(np.isin(net.link_a, near) | np.isin(net.link_b, near)).tolist()
        resources += [int(r) for r in network.part_resource[near] if r >= 0]
    for link in links:
        cables, first = int(network.cables[link]), int(network.first_resource[link])
        for side in sides if network.full[link] else (0,):
            resources += range(first + side * cables, first + (side + 1) * cables)
    return [Change(failure.at, resource, failure.share) for resource in resources]
