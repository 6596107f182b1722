"""Metrics of a training step with their bands and sources."""

from __future__ import annotations

import math
from collections.abc import Mapping

from designer.analysis.network import Network
from designer.analysis.training.checkpoints import drawn_checkpoint
from designer.analysis.training.curves import scaling_points
from designer.analysis.training.step import DrawnStep
from designer.errors import AnalysisError
from designer.formulas.pipeline.step_composition import COMMUNICATION_BAND
from designer.formulas.pipeline.time_to_train import NO_TIME, TimeToTrain, Validation, time_to_train
from designer.sources import Estimate
from designer.units import Seconds
from designer.workload.jobs import Training


def metrics(network: Network, drawn: DrawnStep, training: Training) -> Mapping[str, Estimate]:
    """All metrics of a training workload."""
    step, plan = drawn.step, drawn.plan
    sources = _sources(drawn)
    shorter, longer = drawn.low / step.step_time, drawn.high / step.step_time

    def timed(value: float, note: str = "") -> Estimate:
        return Estimate(value, value * shorter, value * longer, "s", sources, note)

    def per_time(value: float, unit: str = "1/s", note: str = "", cap: float = math.inf) -> Estimate:
        return Estimate(value, value / longer, min(cap, value / shorter), unit, sources, note)

    computing = step.compute + step.recompute + step.optimizer
    visible, band = step.communication, COMMUNICATION_BAND.value
    layout = plan.layout.describe()
    found = {
        "step_time": timed(step.step_time, f"{layout}, batch {plan.global_batch}"),
        "compute_time": Estimate(
            computing, computing * step.low / step.step_time, computing * step.high / step.step_time, "s", sources
        ),
        "communication_time": Estimate(visible, visible * (1 - band), visible * (1 + band), "s", sources, "not hidden"),
    }
    rate = step.samples_per_second
    if training.run.online:
        rate = _arriving(training, rate)
    found["samples_per_second"] = per_time(rate)
    if plan.is_transformer:
        found["tokens_per_second"] = per_time(step.tokens_per_second)
    if drawn.feed is not None:
        found |= _of_input(drawn, sources)
    point = scaling_points(network, drawn, training, every=False)[-1]
    unit = plan.unit
    cause = point.main_cause.replace("_", " ")
    note = f"against {unit} accelerator{'s' * (unit > 1)}; the most is lost to {cause}"
    efficiency = point.efficiency
    spread = math.exp(min(1.0, 1 - min(1.0, efficiency)) * band)
    found["speedup"] = Estimate(point.speedup, point.speedup / spread, point.speedup * spread, "1", sources, note)
    found["scaling_efficiency"] = Estimate(
        # more memory in all can spare recomputing, so the efficiency may pass 1
        efficiency,
        efficiency / spread,
        max(efficiency, min(1.0, efficiency * spread)),
        "1",
        sources,
        note,
    )
    busy = min(1.0, computing / step.step_time)
    found["gpu_utilization"] = per_time(busy * rate / step.samples_per_second, "1", "computing share of a step", 1.0)
    memory = step.memory
    found["memory_per_gpu"] = Estimate(
        memory.total,
        memory.total - memory.reserve / 2,
        memory.total + memory.reserve / 2,
        "B",
        sources,
        f"of {memory.capacity:.4g} B",
    )
    found["mfu"] = per_time(step.mfu, "1", plan.precision.name, 1.0)
    return found | _of_run(network, drawn, training, rate, shorter, longer, sources)


def _sources(drawn: DrawnStep) -> tuple[str, ...]:
    keys = set(drawn.busy.sources)
    if drawn.routed.used:
        keys |= {"nccl-tuning", "collectives-fit"}
    if drawn.feed is not None:
        keys |= {*drawn.feed.answer.sources, "fit-storage"}
    return tuple(sorted(keys))


def _arriving(training: Training, rate: float) -> float:
    arriving = training.run.arrival_rate
    if arriving <= 0:
        raise AnalysisError(
            "online learning without samples arriving", place="arrival_rate", remedy="give how many arrive a second"
        )
    return min(rate, arriving)


def _of_input(drawn: DrawnStep, sources: tuple[str, ...]) -> dict[str, Estimate]:
    fed = drawn.feed
    assert fed is not None
    slowest = min(fed.stages, key=lambda name: fed.stages[name])
    need = drawn.training_rate
    verdict = "enough" if fed.rate >= need else "too little"
    busy = drawn.busy
    return {
        "input_time": Estimate(drawn.input[0], drawn.input[1], drawn.input[2], "s", sources, f"slowest: {slowest}"),
        "input_stall": Estimate(drawn.step.input_stall, 0.0, max(drawn.step.input_stall, drawn.input[2]), "s", sources),
        "data_rate_per_gpu": Estimate(
            fed.rate, fed.low, fed.high, "B/s", sources, f"loading, {verdict} for the {need:.3g} B/s of training"
        ),
        "training_rate_per_gpu": Estimate(
            need, need * busy.step_time / busy.high, need * busy.step_time / busy.low, "B/s", sources,
            "what training uses up when it never waits",
        ),
        "input_cores": Estimate(fed.cores, fed.cores / 2, fed.cores * 2, "1", sources, "cores receiving at full rate"),
    }  # fmt: skip


def _of_run(
    network: Network, drawn: DrawnStep, training: Training, rate: float, shorter: float, longer: float,
    sources: tuple[str, ...],
) -> dict[str, Estimate]:  # fmt: skip
    run, plan = training.run, drawn.plan
    found: dict[str, Estimate] = {}

    def timed(value: float, note: str = "") -> Estimate:
        return Estimate(value, value * shorter, value * longer, "s", sources, note)

    step = Seconds(plan.global_batch / rate)
    epoch = drawn.samples.epoch if drawn.samples is not None else 0.0
    if epoch:
        found["epoch_time"] = timed(
            math.ceil(epoch / plan.global_batch) * step, f"{math.ceil(epoch / plan.global_batch):,} steps"
        )
    samples = run.samples or run.epochs * epoch
    stall = NO_TIME
    if run.checkpoint_every:
        one = drawn_checkpoint(network, plan, run.checkpoint_to, snapshot=run.snapshot, from_one=True, place=plan.place)
        stall = one.estimate.stall
        found["checkpoint_time"] = Estimate(
            one.estimate.write, one.estimate.write / 2, one.estimate.write * 2, "s", sources
        )
    if not samples:
        return found
    validation = None
    data = drawn.data
    if run.validate_every > 0 and data is not None and data.validation_samples:
        validation = Validation(data.validation_samples, round(run.validate_every * epoch))
    whole: TimeToTrain = time_to_train(
        step, plan.global_batch, samples, validation=validation, checkpoint_stall=stall,
        checkpoint_every=run.checkpoint_every,
    )  # fmt: skip
    parts = f"{whole.steps:,} steps"
    if whole.phases:
        parts += f", {whole.phases} validations take {whole.validation / whole.total:.0%}"
    found["time_to_train"] = timed(whole.total, parts)
    if run.retrain_every > 0:
        share = whole.total / run.retrain_every
        found["retraining_share"] = Estimate(
            share, share * shorter, share * longer, "1", sources, "of this group, kept busy by retraining"
        )
    return found
