"""Metrics of a training step with their bands and sources."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from designer.engine.account import banded
from designer.engine.network import Network
from designer.errors import AnalysisError
from designer.families.training.checkpoints import RoutedCheckpoint, route_checkpoint
from designer.families.training.curves import scaling_points
from designer.families.training.formulas.convolutional_memory import FORMULA as CONVOLUTION_MEMORY
from designer.families.training.formulas.overlap import FORMULA as OVERLAP
from designer.families.training.formulas.scaling import ScalingPoint
from designer.families.training.formulas.step_composition import COMMUNICATION_BAND, StepEstimate
from designer.families.training.formulas.time_to_train import NO_TIME, TimeToTrain, Validation, time_to_train
from designer.families.training.formulas.transformer_memory import FORMULA as TRANSFORMER_MEMORY
from designer.families.training.preparation import ALONE
from designer.families.training.step import RoutedStep
from designer.families.training.tasks import TrainStep
from designer.formulas.compute.convolutional_forward import FORMULA as FORWARD
from designer.formulas.compute.convolutional_step import FORMULA as CONVOLUTION
from designer.formulas.compute.gemm import FORMULA as GEMM
from designer.formulas.compute.roofline import FORMULA as ROOFLINE
from designer.formulas.compute.transformer_layer import FORMULA as LAYER
from designer.formulas.storage.checkpoint import CheckpointEstimate
from designer.formulas.storage.goodput import Interruptions, effective_time
from designer.sources import Estimate
from designer.units import Ratio, Seconds, format_quantity, format_si


def metrics(network: Network, routed_step: RoutedStep, training: TrainStep) -> Mapping[str, Estimate]:
    """All metrics of a training workload."""
    step, plan = routed_step.step, routed_step.plan
    rests = _rests(routed_step)
    sources = rests.all
    shorter, longer = routed_step.low / step.step_time, routed_step.high / step.step_time

    def timed(value: float, note: str = "") -> Estimate:
        return Estimate.relative(value, shorter, longer, "s", sources, note)

    def per_time(value: float, unit: str = "1/s", note: str = "", cap: float = math.inf) -> Estimate:
        return Estimate(value, value / longer, min(cap, value / shorter), unit, sources, note)

    computing = step.compute + step.recompute + step.optimizer
    # of computing alone: what waits for input does not narrow it
    busy = routed_step.busy
    visible, band = step.communication, COMMUNICATION_BAND.value
    layout = plan.layout.describe()
    found = {
        "step_time": timed(step.step_time, f"{layout}, batch {plan.global_batch}"),
        "compute_time": Estimate(
            computing, computing * busy.low / busy.step_time, computing * busy.high / busy.step_time, "s", rests.compute
        ),
        "communication_time": Estimate(
            visible, visible * (1 - band), visible * (1 + band), "s", rests.communication, "not hidden"
        ),
    }
    rate = step.samples_per_second
    if training.run.online:
        rate = _arrival_rate(training, rate, plan.place)
    found["samples_per_second"] = per_time(rate)
    if plan.is_transformer:
        found["tokens_per_second"] = per_time(step.tokens_per_second)
    if routed_step.feed is not None:
        found |= _input_estimates(routed_step, rests)
    point = scaling_points(network, routed_step, training, every=False)[-1]
    unit = plan.unit
    holds = plan.without_releases().with_data(1).estimate(ALONE).memory.fits
    beyond = "" if holds else ", too few to hold the model"
    main = point.main_cause
    cause = main.replace("_", " ") + (f", {_CAUSES[main]}" if main in _CAUSES else "")
    note = f"against {unit} accelerator{'s' * (unit > 1)}{beyond}; the most is lost to {cause}"
    found |= _scaling_estimates(point, band, sources, note)
    found["gpu_utilization"] = _utilization(routed_step, computing, rate / step.samples_per_second, sources)
    memory = step.memory
    found["memory_per_gpu"] = memory_of(step, rests.memory, f"of {format_si(memory.capacity, 'B')}", memory.capacity)
    found["mfu"] = per_time(step.mfu, "1", plan.precision.name, 1.0)
    if plan.guest is not None:
        found |= plan.guest.metrics()
    return found | _run_estimates(network, routed_step, training, rate, shorter, longer, sources)


def _utilization(routed_step: RoutedStep, computing: float, taken: float, sources: tuple[str, ...]) -> Estimate:
    """The share of the time in which accelerators compute [1].

    Computing, what it does not hide and the input are as unsure as each is by itself: longer computing takes more of a
    step that waits for its input, and of all others as well, while longer traffic leaves less.

    Parameters
    ----------
    computing
        Of a step [s].
    taken
        Steps that are made for each that could be: samples may arrive more slowly [1].
    """
    step, busy = routed_step.step, routed_step.busy
    rest = busy.step_time - computing
    given = step.step_time if routed_step.overlapped and step.input_stall > 0 else 0.0
    after = 0.0 if routed_step.overlapped else step.step_time - busy.step_time
    value, low, high = routed_step.input

    def share(compute: float = 1.0, traffic: float = 1.0, fed: float = 1.0) -> float:
        whole = max(given * fed, compute * computing + traffic * rest + fed * after)
        return min(1.0, taken * compute * computing / whole)

    ends = [share(compute=end / busy.step_time) for end in (busy.low, busy.high)]
    ends += [share(traffic=1 + end) for end in (-COMMUNICATION_BAND.value, COMMUNICATION_BAND.value)]
    ends += [share(fed=end / value) for end in (low, high) if value > 0]
    least, most = banded(share(), np.array(ends))
    return Estimate(share(), least, min(1.0, most), "1", sources, "computing share of a step")


def memory_of(step: StepEstimate, sources: tuple[str, ...], note: str, capacity: float = 0.0) -> Estimate:
    """Memory that a rank needs: what the allocator sets aside may be half as much again, or half of it.

    Parameters
    ----------
    capacity
        Memory that it has, ``details["capacity"]`` of the estimate; 0 where that is not known [B].
    """
    memory, half = step.memory, step.memory.reserve / 2
    has = {"capacity": float(capacity)} if capacity else {}
    return Estimate(memory.total, memory.total - half, memory.total + half, "B", sources, note, has)


@dataclass(frozen=True, slots=True)
class _Rests:
    """Source keys that the groups of metrics rest on."""

    compute: tuple[str, ...]
    communication: tuple[str, ...]
    memory: tuple[str, ...]
    input: tuple[str, ...]
    all: tuple[str, ...]


def _rests(routed_step: RoutedStep) -> _Rests:
    transformer = routed_step.plan.is_transformer
    convolution = FORWARD if routed_step.plan.job.forward_only else CONVOLUTION
    arithmetic = (GEMM, LAYER, ROOFLINE) if transformer else (convolution, ROOFLINE)
    compute = {key for formula in arithmetic for key in formula.sources}
    memory = TRANSFORMER_MEMORY if transformer else CONVOLUTION_MEMORY
    communication = {COMMUNICATION_BAND.source, *OVERLAP.sources} if routed_step.routed.used else set[str]()
    if routed_step.routed.used:
        communication |= {"nccl-tuning", "collectives-fit"}
    fed = {*routed_step.feed.answer.sources, "fit-storage"} if routed_step.feed is not None else set[str]()
    every = {*routed_step.busy.sources, *compute, *communication, *fed}
    return _Rests(
        _keys(compute),
        _keys(communication or compute),
        _keys({*memory.sources}),
        _keys(fed),
        _keys(every),
    )


def _effective(training: TrainStep, one: RoutedCheckpoint, interval: float, spread: float) -> Estimate:
    """Share of the time that brings the run forward, failures and checkpoints seen, by Daly's complete model."""
    run, found = training.run, one.estimate

    def ratio(slower: float) -> float:
        restart = Seconds(run.cold_start + found.restore * slower)
        stall = _checkpoint_wait(found, interval, slower)
        behind = Seconds(max(0.0, found.write * slower - stall))
        failing = Interruptions(Seconds(run.time_between_failures), restart, stall, behind)
        return float(effective_time(Seconds(interval), failing))

    ends = [ratio(end) for end in (math.sqrt(spread), 1.0, 1 / math.sqrt(spread))]
    note = f"a failure every {format_quantity(run.time_between_failures, 'duration')}, in the long run"
    sources = ("daly-2006", "kokolis-2025", *one.write.answer.sources)
    return Estimate(ends[1], min(ends), max(ends), "1", sources, note)


def _checkpoint_wait(found: CheckpointEstimate, interval: float, slower: float = 1.0) -> Seconds:
    """How long training waits for a checkpoint: a copy waits until the one before it is written [s]."""
    stall, write = found.stall * slower, found.write * slower
    return Seconds(stall + max(0.0, write - interval) if stall < write else stall)


#: what takes from perfect scaling, in words
_CAUSES: Final = {
    "input_stall": "computing waits for samples",
    "waiting": "all wait for the slowest rank",
    "bubble": "stages idle",
    "data_communication": "traffic between replicas",
    "tensor_communication": "traffic between the ranks of a layer",
    "context_communication": "traffic between the parts of a sequence",
    "expert_communication": "traffic to experts and back",
    "pipeline_communication": "traffic between stages",
}


def _scaling_estimates(point: ScalingPoint, band: float, sources: tuple[str, ...], note: str) -> dict[str, Estimate]:
    """Speed-up and its share of perfect scaling, as unsure as what changed against the base: losses and gains."""
    low, high = point.spread(Ratio(band))
    return {
        name: Estimate.relative(value, low, high, "1", sources, note)
        for name, value in (("speedup", point.speedup), ("scaling_efficiency", point.efficiency))
    }


def _keys(keys: set[str]) -> tuple[str, ...]:
    return tuple(sorted(keys))


def _arrival_rate(training: TrainStep, rate: float, place: str) -> float:
    arriving = training.run.arrival_rate
    if arriving <= 0:
        raise AnalysisError(
            "online learning without samples arriving",
            place=f"{place}.arrival_rate",
            remedy="give how many arrive a second",
        )
    return min(rate, arriving)


def _input_estimates(routed_step: RoutedStep, rests: _Rests) -> dict[str, Estimate]:
    fed = routed_step.feed
    assert fed is not None
    need = routed_step.training_rate
    verdict = "enough" if fed.rate >= need else "too little"
    busy, loading = routed_step.busy, fed.account(1.0, True, explained=False)
    # training takes its samples no faster than its steps follow each other
    taken = min(1.0, need * busy.step_time / routed_step.step.step_time / fed.rate)
    return {
        "input_time": Estimate(
            routed_step.input[0],
            routed_step.input[1],
            routed_step.input[2],
            "s",
            rests.input,
            f"slowest: {fed.slowest(routed_step.path)}",
        ),
        "input_stall": _stall(routed_step, rests),
        "data_rate_per_gpu": Estimate(
            1 / loading.value,
            1 / loading.high,
            1 / loading.low,
            "B/s",
            rests.input,
            f"loading, {verdict} for the {format_si(need, 'B/s')} of training",
        ),
        "training_rate_per_gpu": Estimate(
            need,
            need * busy.step_time / busy.high,
            need * busy.step_time / busy.low,
            "B/s",
            rests.all,
            "what training uses up when it never waits",
        ),
        "input_cores": fed.receiving(
            rests.input, "cores receiving and handing batches on as training takes them", taken
        ),
    }


def _stall(routed_step: RoutedStep, rests: _Rests) -> Estimate:
    """What input takes beyond computing, both as unsure as they are and independent of each other."""
    stall, busy = routed_step.step.input_stall, routed_step.busy
    value, low, high = routed_step.input
    if not routed_step.overlapped:
        return Estimate(stall, min(low, stall), max(high, stall), "s", rests.all)
    beyond = value - busy.step_time
    least = beyond - math.hypot(value - low, busy.high - busy.step_time)
    most = beyond + math.hypot(high - value, busy.step_time - busy.low)
    return Estimate(stall, min(stall, max(0.0, least)), max(stall, most), "s", rests.all)


def _run_estimates(
    network: Network,
    routed_step: RoutedStep,
    training: TrainStep,
    rate: float,
    shorter: float,
    longer: float,
    sources: tuple[str, ...],
) -> dict[str, Estimate]:
    run, plan = training.run, routed_step.plan
    found: dict[str, Estimate] = {}

    def timed(value: float, note: str = "") -> Estimate:
        return Estimate.relative(value, shorter, longer, "s", sources, note)

    step = Seconds(plan.global_batch / rate)
    epoch = routed_step.samples.epoch if routed_step.samples is not None else 0.0
    if epoch:
        found["epoch_time"] = timed(
            math.ceil(epoch / plan.global_batch) * step, f"{math.ceil(epoch / plan.global_batch):,} steps"
        )
    samples = run.samples or run.epochs * epoch
    stall = NO_TIME
    if run.checkpoint_every:
        one = route_checkpoint(network, plan, run.checkpoint_to, snapshot=run.snapshot, from_one=True, place=plan.place)
        stall = _checkpoint_wait(one.estimate, run.checkpoint_every * step)
        if run.time_between_failures > 0:
            found["ettr"] = _effective(training, one, run.checkpoint_every * step, longer / shorter)
        found["checkpoint_time"] = one.write.estimate("burst of all ranks")
    if not samples:
        if run.retrain_every > 0:
            raise AnalysisError(
                "how long a retraining takes is not known",
                place=f"{plan.place}.retrain_every",
                remedy="give a dataset, or samples to converge",
            )
        return found
    validation = None
    data = routed_step.data
    if run.validate_every > 0 and data is not None and data.validation_samples:
        validation = Validation(data.validation_samples, round(run.validate_every * epoch))
    whole: TimeToTrain = time_to_train(
        step,
        plan.global_batch,
        samples,
        validation=validation,
        checkpoint_stall=stall,
        checkpoint_every=run.checkpoint_every,
    )
    parts = f"{whole.steps:,} steps"
    if whole.phases:
        parts += f", {whole.phases} validations take {whole.validation / whole.total:.0%}"
    total = timed(whole.total, parts)
    if not run.samples and (run.epochs_least or run.epochs_most):
        fewest, most = run.epochs_least or run.epochs, run.epochs_most or run.epochs
        parts += f", {fewest:g} to {most:g} epochs"
        # how long a step takes and how many there are do not depend on each other
        total = Estimate.relative(
            whole.total,
            math.exp(-math.hypot(math.log(shorter), math.log(run.epochs / fewest))),
            math.exp(math.hypot(math.log(longer), math.log(most / run.epochs))),
            "s",
            sources,
            parts,
        )
    found["time_to_train"] = total
    if run.retrain_every > 0:
        share = whole.total / run.retrain_every
        found["retraining_share"] = Estimate.relative(
            share, shorter, longer, "1", sources, "of this group, kept busy by retraining"
        )
    return found
