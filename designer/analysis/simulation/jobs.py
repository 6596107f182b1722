"""Workloads as jobs of a run over time: which ones, with what runs with them, how they restart and begin again."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from designer.analysis.simulation.rerouting import Failure
from designer.catalog.parttype import Capability
from designer.design.document import Design, WorkloadSpec
from designer.design.ids import find_workload
from designer.engine.clock.jobs import Job, fails, job_of
from designer.engine.machines.guest import Work
from designer.engine.machines.guests import guest_of
from designer.engine.network import Network
from designer.engine.question import Question, ask
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.control.kinds import Forward
from designer.families.serving.tasks import Infer, Serve
from designer.families.training.tasks import TrainStep
from designer.workload.jobs import Job as TrainingJob
from designer.workload.kind import listed, program_of, workload_kinds
from designer.workload.program import Arrivals, Collective, Program

#: a count of steps that is whole but for its last digits is whole
_ROUNDING_TOLERANCE: Final = 1e-9


def named_workloads(design: Design, workloads: Sequence[str] | None, others: bool) -> list[WorkloadSpec]:
    """The workloads of these ids; without any the one the design opens with, or nothing if `others` are run.

    Raises
    ------
    AnalysisError
        If one is unknown, or none runs over time.
    """
    if isinstance(workloads, str):
        workloads = [workloads]
    kinds = workload_kinds()
    able = [w.id for w in design.workloads.values() if w.kind in kinds and kinds[w.kind].program is not None]
    if workloads is None:
        if others:
            return []
        if not able:
            raise AnalysisError(
                f"the design {design.name!r} has no workload that runs over time", remedy="add one, such as training"
            )
        return [design.workloads[design.default_workload if design.default_workload in able else able[0]]]
    found = [find_workload(design, name) for name in workloads]
    return list({spec.id: spec for spec in found}.values())


def with_neighbours(design: Design, specs: Sequence[WorkloadSpec]) -> list[WorkloadSpec]:
    """Workloads with those that they name as running with them.

    Raises
    ------
    AnalysisError
        If one names a workload that the design does not have.
    """
    found = {spec.id: spec for spec in specs}
    for spec in specs:
        named = [(name, key) for key in ("background", "beside") for name in listed(str(spec.settings.get(key, "")))]
        for name, key in named:
            other = design.workloads.get(name)
            if other is None:
                raise AnalysisError(
                    f"there is no workload {name!r}",
                    place=f"workloads.{spec.id}.{key}",
                    remedy=f"workloads: {', '.join(design.workloads)}",
                )
            found.setdefault(name, other)
    return list(found.values())


def job_of_workload(spec: WorkloadSpec, start: float | None = None, program: Program | None = None) -> Job:
    """A workload as a job, or another program in its name.

    Raises
    ------
    AnalysisError
        If nothing runs for it over time.
    """
    place = f"workloads.{spec.id}"
    program = program or program_of(spec.kind, spec.settings, place)
    if program is None:
        raise AnalysisError(
            f"{spec.id!r} is a question, nothing runs for it over time",
            place=place,
            remedy="simulate transfers, collectives, training, loading, checkpoints or migrations",
        )
    if start is not None and not 0 <= start < math.inf:
        raise AnalysisError(f"a start at {start:g} s", place=f"start of {spec.id}", remedy="start at 0 s or later")
    job = job_of(replace(program, name=spec.id), place)
    return job if start is None else replace(job, start=start)


def machines_of(network: Network, jobs: Sequence[Job]) -> frozenset[str]:
    """Machines that jobs run in."""
    if not network.design.vms:
        return frozenset()
    found: set[str] = set()
    for job in jobs:
        for step in job.program.steps if job.program is not None else ():
            if isinstance(step.task, Serve):
                served = step.task.operation.deployment
                parts = resolve(network, served.group, f"{job.place}.group")
                guest, _ = guest_of(network, parts, served.machines, Work.SERVING, job.place)
                found |= set(guest.machines if guest is not None else ())
                continue
            asked: TrainingJob | Collective | None = getattr(step.task, "job", None)
            if isinstance(step.task, Collective):
                asked = step.task
            if asked is not None:
                parts = resolve(network, asked.group, job.place)
                parts = parts[network.has(Capability.ACCELERATE)[parts]] if asked is step.task else parts
                guest, _ = guest_of(network, parts, asked.machines, Work.TRAINING, job.place)
                found |= set(guest.machines if guest is not None else ())
    return frozenset(found)


def parts_in_turns(network: Network, jobs: Sequence[Job]) -> frozenset[int]:
    """Parts on which a served model and something else compute, or streams and a training."""
    served: list[set[int]] = []
    trained: list[set[int]] = []
    streamed: list[set[int]] = []
    for job in jobs:
        for task in [step.task for step in job.program.steps] if job.program is not None else []:
            if isinstance(task, Serve):
                groups = (task.operation.deployment.group, task.operation.deployment.prompts)
                where = [resolve(network, group, f"{job.place}.group") for group in groups if group.strip()]
                served.append({part for parts in where for part in parts.tolist()})
            elif isinstance(task, Infer | Forward):
                streamed.append(set(resolve(network, task.asked.group, f"{job.place}.group").tolist()))
            elif (asked := getattr(task, "job", None)) is not None:
                trained.append(set(resolve(network, asked.group, f"{job.place}.group").tolist()))
    once: set[int] = set()
    twice: set[int] = set()
    for parts in served:
        twice |= parts & once
        once |= parts
    once |= set[int]().union(*streamed)
    return frozenset(twice | (once & set[int]().union(*trained)))


def recovering(network: Network, job: Job, failures: Sequence[Failure]) -> Job:
    """A job that saves its state restarts after failures of its accelerators or servers that are mended."""
    program = job.program
    if program is None or program.recovery is None:
        return job
    asked = next((t.job for t in (s.task for s in program.steps) if isinstance(t, TrainStep)), None)
    if asked is None:
        return job
    net = network.net
    parts = resolve(network, asked.group, job.place)
    mine = set[str]()
    holders = np.unique(parts)
    while len(holders):
        # what holds them takes them with it
        mine |= {net.path(p) for p in holders.tolist()}
        holders = np.unique(net.parent[holders])
        holders = holders[holders >= 0]
    times: list[tuple[float, float]] = []
    for failure in failures:
        if failure.path not in mine or failure.share > 0 or failure.at < job.start:
            continue
        mended = [f.at for f in failures if f.path == failure.path and f.share > 0 and f.at >= failure.at]
        if mended:
            times.append((failure.at - job.start, min(mended) - job.start))
    if not times:
        return job
    # another start is that of the job, not of its program
    recovery = replace(program.recovery, times=tuple(sorted(times)))
    return replace(job_of(replace(program, recovery=recovery), job.place), start=job.start)


def in_its_cadence(network: Network, job: Job, cancelled: Callable[[], bool] | None) -> Job:
    """A training that begins again and again: all steps of one, then none until the next begins.

    One that fails on the clock goes on from its last checkpoint, and is done later for it.
    """
    program, spec = job.program, network.design.workloads.get(job.name)
    if program is None or spec is None or spec.kind != "training":
        return job
    step = program.first(TrainStep)
    if step is None or step.run.retrain_every <= 0:
        return job
    recovery = program.recovery if program.recovery is not None and fails(program.recovery) else None
    question = Question(spec.id, "training", spec.id, job.place, False, None, cancelled, False)
    metrics = ask(network, by_itself(spec), question)[0].metrics
    takes, run = metrics["step_time"].value, step.run
    if run.samples:
        steps = run.samples / (metrics["samples_per_second"].value * takes)
    else:
        steps = run.epochs * metrics["epoch_time"].value / takes
    count = max(1, math.ceil(steps * (1 - _ROUNDING_TOLERANCE)))
    measures = tuple(replace(m, of="pace") if m.of == "period" else m for m in program.measures)
    arrivals = Arrivals("periodic", 1 / run.retrain_every)
    program = replace(program, arrivals=arrivals, batch=count, measures=measures, recovery=recovery)
    return replace(job_of(program, job.place), start=job.start, weight=job.weight, priority=job.priority)


def by_itself(spec: WorkloadSpec) -> WorkloadSpec:
    """A training without what its input shares storage and links with."""
    return spec.model_copy(update={"settings": {**spec.settings, "background": ""}})
