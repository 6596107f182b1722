"""Checkpoints: burst, stall, restore, the share of a long run they cost, and the interval that costs least."""

from __future__ import annotations

import math

from designer.engine.account import Account, account
from designer.engine.network import Network
from designer.engine.question import Question
from designer.engine.results import ChannelLoads, WorkloadResult
from designer.families.training.checkpoints import STATE, STATE_BAND, WRITE_OUT, route_checkpoint
from designer.families.training.preparation import TrainingPlan, prepare
from designer.families.training.step import unfit
from designer.families.training.tasks import CopyCheckpoint, ReadCheckpoint, WriteCheckpoint
from designer.findings import Finding, Severity
from designer.formulas.failures import job_time_between_failures
from designer.formulas.layout import Layout, Sharding
from designer.formulas.storage.checkpoint import CheckpointEstimate, best_interval, lost_share
from designer.formulas.storage.goodput import (
    RUNS_LIMIT,
    Interruptions,
    effective_time,
    most_effective_interval,
    simulated,
    spares,
)
from designer.sources import Estimate
from designer.units import Seconds
from designer.workload.jobs import Saving
from designer.workload.program import Program


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A checkpoint of a job."""
    saved, restored = program.first(WriteCheckpoint), program.first(ReadCheckpoint)
    assert saved is not None
    assert restored is not None
    saving = saved.saving
    plan = prepare(network, saved.job, question.place)
    routed_step = route_checkpoint(
        network,
        plan,
        saved.target,
        snapshot=program.first(CopyCheckpoint) is not None,
        from_one=restored.from_one,
        place=question.place,
        requests=saved.requests,
    )
    found, moved = routed_step.estimate, routed_step.write.answer
    write = routed_step.write.account(explained=question.explained)
    stall, restore = routed_step.copy.account(), routed_step.read.account()
    sources = tuple(sorted({"zero-2020", "young-1974", *moved.sources}))

    def timed(one: Account, note: str = "") -> Estimate:
        return Estimate(one.value, one.low, one.high, "s", sources, note)

    less, more = STATE_BAND
    # a rate does not depend on how much state a parameter has, but on how files are written
    files = {STATE: (WRITE_OUT.low, WRITE_OUT.high)}
    timed_files = moved.rates.time(routed_step.write.each, size=STATE)
    moving = account(timed_files, {**moved.rates.joint_bands, **files}, explained=False)
    metrics = {
        "checkpoint_time": timed(write, "burst of all ranks"),
        "checkpoint_stall": timed(stall, "training waits"),
        "restore_time": timed(restore, _readers(plan.layout, restored.from_one)),
        "checkpoint_size": Estimate.relative(found.size, less, more, "B", sources),
        "rate": Estimate(found.size / moving.value, found.size / moving.high, found.size / moving.low, "B/s", sources),
    }
    findings = [*plan.findings, *unfit(plan), *moved.findings]
    between = _time_between_failures(saving, plan)
    metrics["mean_time_between_failures"] = between
    failures = Seconds(between.value)
    best = best_interval(found.stall, failures)
    out, back = ((one.low / one.value, one.high / one.value) for one in (write, restore))
    # it grows as the root of the time between failures
    rarely = tuple(math.sqrt(end / between.value) for end in (between.low, between.high))
    metrics["best_interval"] = Estimate(
        best, best * out[0] * rarely[0], best * out[1] * rarely[1], "s", sources, "Young's rule"
    )
    if saving.every >= found.write:
        share, most, least = (
            float(lost_share(Seconds(saving.every), found, Seconds(m)))
            for m in (between.value, between.low, between.high)
        )
        metrics["lost_share"] = Estimate(share, least * less, min(1.0, most * more), "1", sources)
        metrics |= _goodput(saving, found, between, out, back)
    if 0 < saving.every < found.write:
        findings.append(
            Finding(
                "CKPT-TOO-OFTEN",
                Severity.ERROR,
                f"a checkpoint every {saving.every:g} s, but writing one takes {found.write:.3g} s",
                (),
                "write less often, or give the path more bandwidth",
            )
        )
    bottlenecks = write.bottlenecks(moved.words)
    result = question.result(metrics, *bottlenecks, moved.flows, moved.traffic.n_flows, tuple(findings))
    return result, moved.loads


def _time_between_failures(saving: Saving, plan: TrainingPlan) -> Estimate:
    """Mean time between failures of the job: what is given, else by its accelerators [s]."""
    if saving.mean_time_between_failures > 0:
        return Estimate.exact(saving.mean_time_between_failures, "s", (), "as given")
    return job_time_between_failures(plan.layout.ranks)


def _goodput(
    saving: Saving,
    found: CheckpointEstimate,
    between: Estimate,
    out: tuple[float, float],
    back: tuple[float, float],
) -> dict[str, Estimate]:
    """What a long run gets done with failures: closed form next to a simulation, the best interval, and spares."""
    sources = tuple(sorted({"daly-2006", "kokolis-2025", "zero-2020", *between.sources}))

    def failing(write: float, read: float, mean: float = between.value) -> Interruptions:
        return Interruptions(
            Seconds(mean),
            Seconds(saving.cold_start + found.restore * read),
            Seconds(found.stall * write),
            Seconds(max(0.0, found.write - found.stall) * write),
        )

    interval, failures = Seconds(saving.every), failing(1.0, 1.0)
    value = float(effective_time(interval, failures))
    often = (between.high, between.low)
    worst, best = (float(effective_time(interval, failing(out[k], back[k], often[k]))) for k in (1, 0))
    exact = float(most_effective_interval(failures, found.write))
    ends = [
        float(most_effective_interval(failing(out[k], back[k], mean), Seconds(found.write * out[k])))
        for k, mean in ((0, between.low), (1, between.high))
    ]
    metrics = {
        "ettr": Estimate(value, worst, best, "1", sources, "in the long run"),
        "exact_interval": Estimate(exact, min(exact, *ends), max(exact, *ends), "s", sources, "Daly's complete model"),
    }
    if saving.length > 0:
        mean, low, high = simulated(interval, failures, Seconds(saving.length), saving.seed)
        stated = f"{RUNS_LIMIT} runs drawn with seed {saving.seed}; 80 % of single runs lie in the band"
        metrics["ettr_simulated"] = Estimate(
            float(mean), min(float(low), float(mean)), max(float(high), float(mean)), "1", sources, stated
        )
    if saving.repair > 0:
        count = float(spares(failures.between, Seconds(saving.repair)))
        metrics["spares"] = Estimate.exact(count, "1", ("assumed-training",), "failures at random, M/G/∞")
    return metrics


def _readers(layout: Layout, from_one: bool) -> str:
    """Who reads what when a job is restored."""
    if from_one:
        return "one replica reads"
    if layout.replicas == 1:
        return "every rank reads its part"
    if layout.sharding is Sharding.PARAMETERS:
        return "every rank reads its shard"
    if layout.sharding is Sharding.NONE:
        return f"{layout.replicas} replicas read"
    return f"every rank reads its shard of the optimizer, {layout.replicas} replicas the weights"
