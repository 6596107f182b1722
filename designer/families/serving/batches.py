"""Inference in batches: latency and throughput of a vision, speech, ranking or embedding model, and what binds."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.accelerators import text_of
from designer.engine.account import account
from designer.engine.account.bottlenecks import Resources, arithmetic, described, memory_bandwidth
from designer.engine.account.expression import Longest, Resource, Roofline, Sum, Term, Time, seconds
from designer.engine.network import Network
from designer.engine.network.capacities import band_of
from designer.engine.question import Question
from designer.engine.results import Bottleneck, ChannelLoads, Curve, Rows, Step, WorkloadResult
from designer.engine.routes.selection import resolve
from designer.engine.transfers import TransferAnswer, evaluate_transfer, refuse_lost
from designer.errors import AnalysisError
from designer.families.collective.times import LAUNCH
from designer.families.serving.answers import saturated
from designer.families.serving.batch_work import (
    BatchRun,
    Work,
    batch_compute_time,
    gaps_of,
    has_tokens,
    parts_of,
    run_batches,
    widths_of,
    work_of,
)
from designer.families.serving.devices import Slice, device_of, slice_of
from designer.families.serving.formulas._device import Device
from designer.families.serving.formulas.batch_time import SPREAD
from designer.families.serving.formulas.power import serving_power
from designer.families.serving.formulas.time_slicing import time_slicing
from designer.families.serving.inference import ONE_BY_ONE, Inference
from designer.families.serving.network_leg import Leg, network_leg
from designer.families.serving.readings import SHARES, quantiles
from designer.families.serving.tasks import Infer
from designer.families.serving.unused import unused_in_batches
from designer.families.training.feeding import HAND_OVER_COST, Samples, feed
from designer.families.training.preparation import named_model, samples_of
from designer.findings import Finding, Severity
from designer.sources import Estimate
from designer.units import Ratio, Seconds, format_quantity
from designer.workload.program import Program
from designer.workload.program.tasks import Move

Float = npt.NDArray[np.float64]

SOURCES: Final = ("assumed-serving", "counted-serving", "aic-kernels")
_FULL_TOLERANCE: Final = 0.99
_SETTLING_ROUNDS: Final = 5
_MILLION_LIMIT: Final = 10**6


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A model in instances on a drawing.

    Parameters
    ----------
    path
        What brings samples; None where nothing is sent.
    timed
        Computing time of a batch of so many samples [s].
    leg
        The round trip to clients, samples themselves aside; None where none are named.
    own
        Time of a sample on the way from its own client, the slowest of them: value, low and high [s].
    """

    network: Network
    asked: Inference
    parts: npt.NDArray[np.int64]
    cut: Slice
    work: Work
    path: _Input | None
    timed: Callable[[int], float]
    findings: tuple[Finding, ...]
    leg: Leg | None = None
    own: tuple[float, float, float] = (0.0, 0.0, 0.0)

    def late(self, samples: int, end: int = 0) -> float:
        """Return by how much a batch is answered later since each of its samples has a link of its own to cross [s].

        The links of all clients together bring a batch sooner than one of them brings a sample.
        """
        if self.path is None:
            return 0.0
        return max(0.0, self.own[end] - samples * self.cut.each / self.path.rates[end])

    @property
    def instances(self) -> int:
        """One on each part of a device."""
        return len(self.parts) * self.cut.each

    @property
    def typical(self) -> int:
        """Samples of a typical batch, and of the largest."""
        asked = self.asked
        return {"single-stream": 1, "multi-stream": asked.query}.get(asked.scenario, asked.batch)


def place_instances(network: Network, asked: Inference, place: str) -> Placed:
    """A model on the parts of its group.

    Raises
    ------
    AnalysisError
        If there is no such model, or it does not fit.
    """
    parts = resolve(network, asked.group, f"{place}.group")
    device, stated = device_of(network, parts, f"{place}.group")
    cut = slice_of(network, int(parts[0]), device, asked.part, f"{place}.part")
    card = text_of(network, int(parts[0]), "form").lower().startswith(("card", "pcie"))
    frames = _frames(network, asked, place)
    work = work_of(replace(asked, sample=asked.sample or frames), cut.device, card, place)
    _fits(work, cut.device, asked, place)
    path = _input(network, parts, asked, work, place)
    named = named_model(asked.model, f"{place}.model").findings() if asked.model else ()
    findings = (*stated, *named, *unused_in_batches(asked, tokens=has_tokens(asked, place)))
    # what samples take on the links is in `path`
    leg = network_leg(network, asked.origin, parts, 0.0, asked.reply, place)
    own = leg.brings(path.size) if leg is not None and path is not None else (0.0, 0.0, 0.0)
    return Placed(
        network,
        asked,
        parts,
        cut,
        work,
        path,
        batch_compute_time(cut.device, work, asked.precision),
        findings,
        leg,
        own,
    )


def _frames(network: Network, asked: Inference, place: str) -> float:
    """The largest frame of the sensors that samples come from; 0 where they come from elsewhere [B]."""
    if not asked.origin:
        return 0.0
    parts = resolve(network, asked.origin, f"{place}.origin").tolist()
    bands = [band_of(network.design, network.net.part(part), "frame_size") for part in parts]
    return max((band[0] for band in bands if band is not None), default=0.0)


@dataclass(frozen=True, slots=True, eq=False)
class InBatches:
    """The answer to a model that answers samples in batches.

    Parameters
    ----------
    runs
        Of one instance: as estimated, and at the fast and the slow end; none where more is asked than can be answered.
    pace
        Samples a second of a device [1/s].
    step
        Where the time of a typical batch goes.
    """

    placed: Placed
    runs: tuple[BatchRun, ...]
    pace: float
    metrics: Mapping[str, Estimate]
    binding: tuple[Bottleneck, ...]
    next: tuple[Bottleneck, ...]
    findings: tuple[Finding, ...]
    step: Step


def answered_in_batches(
    network: Network,
    asked: Inference,
    place: str,
    *,
    cancelled: Callable[[], bool] | None = None,
) -> InBatches:
    """Samples of a scenario run through the instances of a model.

    Raises
    ------
    AnalysisError
        As `place_instances`.
    """
    placed = place_instances(network, asked, place)
    cut, work, path, instances, devices = placed.cut, placed.work, placed.path, placed.instances, len(placed.parts)
    timed, widths = placed.timed, widths_of(work)
    rates = path.rates if path is not None else (math.inf, math.inf, math.inf)

    def time(samples: int, end: int) -> float:
        # the next batch is sent while this one is worked on
        return max(widths(samples)[end] * timed(samples), samples * cut.each / rates[end])

    def whole(samples: int, end: int) -> float:
        return widths(samples)[end] * timed(samples) + samples * cut.each / rates[end] + placed.late(samples, end)

    # as estimated, then computing and input both at the fast and at the slow end
    ends = range(len(("value", "low", "high")))
    occupied = whole if asked.scenario in ONE_BY_ONE else time
    most = [_peak_rate(asked, instances, cut, lambda n, end=end: occupied(n, end)) for end in ends]
    found = _exact(instances, devices)
    if placed.leg is not None:
        found["network_time"] = placed.leg.time
    found["memory_per_gpu"] = _memory(work, placed.typical, cut)
    found["most_samples_per_second"] = _estimate(most, "1/s", work.name)
    rate = _asked_rate(asked)
    findings = list(placed.findings)
    binding, after, step = account_of(placed)
    runs: list[BatchRun] = []
    if rate > most[0]:
        findings.append(saturated(rate, most[0], "the instances together", "give it more instances"))
        found["samples_per_second"] = _estimate(most, "1/s", "saturated: what can be answered at all")
    else:
        runs = [
            _run(asked, instances, cut, partial(time, end=end), partial(whole, end=end), cancelled)
            for end, able in zip(ends, most, strict=True)
            if rate <= able
        ]
        found |= _answers(placed, runs, rate)
        found |= _watts(cut, work, runs[0], devices, found["samples_per_second"].value)
        findings += _limit_findings(asked, found)
    if asked.scenario == "video":
        found["streams"] = _estimate([m / asked.frames for m in most], "1", "streams whose frames all get through")
    pace = found["samples_per_second"].value / devices
    if path is not None:
        found |= path.metrics(pace, devices, asked.batch)
        findings += path.answer.findings
    return InBatches(placed, tuple(runs), pace, found, binding, after, tuple(findings), step)


def _fits(work: Work, device: Device, asked: Inference, place: str) -> None:
    needed = work.weights + asked.batch * work.moved / work.passes
    if work.weights > device.memory:
        raise AnalysisError(
            f"{work.name} does not fit: {format_quantity(work.weights, 'size')} of weights in "
            f"{format_quantity(device.memory, 'size')}",
            place=f"{place}.model",
            remedy="use a smaller model, a narrower format or a larger part",
        )
    if needed > device.memory:
        raise AnalysisError(
            f"a batch of {asked.batch} needs {format_quantity(needed, 'size')}, {device.name} has "
            f"{format_quantity(device.memory, 'size')}",
            place=f"{place}.batch",
            remedy="use smaller batches",
        )


@dataclass(frozen=True, eq=False)
class _Input:
    """What the drawn links bring to every device at once.

    Parameters
    ----------
    size
        Bytes of a sample on its first stretch [B].
    time
        Bringing a sample to the slowest device [s].
    """

    answer: TransferAnswer
    size: float
    time: Time

    @cached_property
    def rates(self) -> tuple[float, float, float]:
        """Samples a second of the slowest device: as estimated, and the high and the low end [1/s]."""
        found = account(self.time, self.answer.rates.joint_bands, explained=False)
        return 1 / found.value, 1 / found.low, 1 / found.high

    def loads(self, pace: float) -> ChannelLoads:
        """Of the channels where every device gets so many samples a second [1/s]."""
        return self.answer.loads if pace >= self.rates[0] else self.answer.loaded(pace * self.size)

    def metrics(self, pace: float, devices: int, batch: int) -> dict[str, Estimate]:
        """What links can bring, and the cores that hand batches on at a pace of each device [1/s]."""
        sources = self.answer.sources
        brought = [rate * self.size for rate in self.rates]
        cost = HAND_OVER_COST
        cores = [devices * pace / batch * each for each in (cost.value, cost.low, cost.high)]
        return {
            "data_rate_per_gpu": Estimate.over(brought, "B/s", sources, "what the links bring to the slowest"),
            "input_cores": Estimate.over(cores, "1", (cost.source,), "cores handing batches to accelerators"),
        }


def _input(network: Network, parts: npt.NDArray[np.int64], asked: Inference, work: Work, place: str) -> _Input | None:
    """Samples from where they are read, else out of host memory; None where nothing is sent."""
    if asked.input.source.strip() or asked.input.dataset.strip():
        return _read(network, parts, asked, work, place)
    if work.sample <= 0:
        return None
    if asked.origin:
        found = evaluate_transfer(network, Move(asked.origin, asked.group, pairing="nearest"), place)
        refuse_lost(network, found, "samples", place)
        return _Input(found, work.sample, found.rates.time(work.sample, latency=False))
    try:
        found = evaluate_transfer(network, Move("memory", asked.group, pairing="nearest"), place)
    except AnalysisError:
        # no host memory is drawn, or the devices are processors
        return None
    refuse_lost(network, found, "samples", place)
    return _Input(found, work.sample, found.rates.time(work.sample, latency=False))


def _read(network: Network, parts: npt.NDArray[np.int64], asked: Inference, work: Work, place: str) -> _Input:
    """Samples read as training reads them."""
    path = asked.input if asked.input.source.strip() else replace(asked.input, source="storage")
    if path.dataset.strip():
        samples = samples_of(asked.sequence, has_tokens(asked, place), path, place)[0]
    else:
        samples = Samples(work.sample, work.sample, 1.0, random=path.access == "random")
    if samples.stored <= 0:
        raise AnalysisError(
            "how large a sample is is not known", place=f"{place}.sample", remedy="give sample, or name a dataset"
        )
    fed = feed(network, parts, path, replace(samples, batch=float(asked.batch)), place)
    return _Input(fed.answer, samples.stored, fed.time(samples.stored, overlapped=True))


def _memory(work: Work, size: int, cut: Slice) -> Estimate:
    """What instances hold of a device: weights, and the values of the largest batch."""
    values = size * work.moved / work.passes
    ends = [(work.weights + values * more) * cut.each for more in (1.0, 0.5, 2.0)]
    return Estimate.over(ends, "B", SOURCES, f"weights, and values of a batch of {size}")


def _peak_rate(asked: Inference, instances: int, cut: Slice, time: Callable[[int], float]) -> float:
    """Samples a second that all instances answer at all [1/s]."""
    slowed = time_slicing(cut.turns, Ratio(1.0), Seconds(cut.turn)) if cut.turns > 1 else 1.0
    sizes = {1, asked.batch, *(2**k for k in range(asked.batch.bit_length()))}
    one = max(n / time(n) for n in sizes if n <= asked.batch)
    if asked.scenario == "single-stream":
        one = 1 / time(1)
    if asked.scenario == "multi-stream":
        one = asked.query / time(asked.query)
    return instances * one / slowed


def _asked_rate(asked: Inference) -> float:
    return {"server": asked.rate, "video": asked.streams * asked.frames}.get(asked.scenario, 0.0)


def _run(
    asked: Inference,
    instances: int,
    cut: Slice,
    time: Callable[[int], float],
    whole: Callable[[int], float],
    cancelled: Callable[[], bool] | None,
) -> BatchRun:
    """One instance; those that take turns are as busy as it is.

    Parameters
    ----------
    time, whole
        How long a batch of so many keeps the instance from the next one, and from being sent to its answers [s].
    """
    at = _arrivals(asked, instances)
    largest = asked.query if asked.scenario == "multi-stream" else asked.batch
    factor, busy = 1.0, 0.0
    run: BatchRun | None = None
    for _ in range(_SETTLING_ROUNDS if cut.turns > 1 else 1):
        if cut.turns > 1:
            factor = time_slicing(cut.turns, Ratio(busy), Seconds(cut.turn))
        if asked.scenario in ONE_BY_ONE:
            size = 1 if asked.scenario == "single-stream" else asked.query
            one = factor * whole(size)
            done: Float = one * np.arange(1, asked.count + 1, dtype=np.float64)
            run = BatchRun(done - one, done, np.full(asked.count, size), float(done[-1]))
        else:
            scale = factor
            run = run_batches(at, largest, asked.delay, lambda n, f=scale: f * time(n), cancelled)
            # what of a batch's way does not keep the next one waiting
            sizes, which = np.unique(run.batches, return_inverse=True)
            extra = np.array([factor * (whole(n) - time(n)) for n in sizes.tolist()])
            run = replace(run, done=run.done + np.repeat(extra[which], run.batches))
        busy = (busy + run.use) / 2
    assert run is not None
    return run


def _arrivals(asked: Inference, instances: int) -> Float:
    count = asked.count
    if asked.scenario == "video":
        streams = max(1, math.ceil(asked.streams / instances))
        count = streams * max(2, asked.count // streams)
    return np.fromiter(islice(gaps_of(asked, instances, 0), count), dtype=np.float64)


def _estimate(values: list[float], unit: str, note: str) -> Estimate:
    return Estimate.over(values, unit, SOURCES, note)


def _exact(instances: int, devices: int) -> dict[str, Estimate]:
    return {
        "replicas": Estimate.exact(instances, "1", (), "one instance on each part"),
        "accelerators": Estimate.exact(devices, "1", (), "as placed"),
    }


def _answers(placed: Placed, runs: list[BatchRun], rate: float) -> dict[str, Estimate]:
    asked, instances, leg = placed.asked, placed.instances, placed.leg
    found: dict[str, Estimate] = {}
    each = [quantiles(run.latency, [share.value for share in SHARES.values()]) for run in runs]
    for k, share in enumerate(SHARES):
        name = f"latency_{share}"
        values = [e[k] for e in each]
        if len(runs) < len(("value", "low", "high")):
            values.append(values[0] * math.exp(2 * SPREAD.value))
        found[name] = _estimate(values, "s", f"{asked.scenario}; {asked.precision}")
    sizes = [float(run.batches.mean()) for run in runs]
    found["mean_batch"] = _estimate(sizes, "1", "samples of a batch")
    if rate:
        found["samples_per_second"] = _estimate([rate], "1/s", "as they come")
    else:
        pace = [instances * int(run.batches.sum()) / float(run.done[-1]) for run in runs]
        found["samples_per_second"] = _estimate(pace, "1/s", asked.scenario)
    limit = asked.limit or (1 / asked.frames if asked.scenario == "video" else 0.0)
    if limit:
        if asked.limit:
            left = [limit - leg.time.value if leg is not None else limit] * len(runs)
        else:
            # of video each frame in the time of a frame, once it is there
            left = [limit + own for own in placed.own[: len(runs)]]
        good = [float((run.latency <= most).mean()) for run, most in zip(runs, left, strict=True)]
        pace = found["samples_per_second"].value
        found["goodput"] = _estimate([pace * g for g in good], "1/s", "within the limit")
    return leg.added_to(found) if leg is not None else found


def _limit_findings(asked: Inference, found: Mapping[str, Estimate]) -> list[Finding]:
    limit = asked.limit or (1 / asked.frames if asked.scenario == "video" else 0.0)
    if not limit:
        return []
    pace, good = found["samples_per_second"].value, found["goodput"].value
    if good >= asked.share * pace * _FULL_TOLERANCE:
        return []
    text = f"{good / pace:.0%} of the samples are answered within {format_quantity(limit, 'duration')}"
    text += f", {asked.share:.0%} must be"
    return [Finding("SERVE-LIMIT", Severity.ERROR, text, (), "use more devices, smaller batches or a lower load")]


def _watts(cut: Slice, work: Work, run: BatchRun, devices: int, pace: float) -> dict[str, Estimate]:
    device = cut.device
    if not device.power:
        return {}
    equal = 1 if cut.turns > 1 else cut.each
    busy = min(1.0, run.use * (cut.turns if cut.turns > 1 else 1))
    one = serving_power(device.power, Ratio(busy), Ratio(0.5), Ratio(work.share))
    watts, wide = one * equal * devices, math.exp(SPREAD.value / 2)
    limit = device.power * equal * devices
    found = {"power": Estimate(watts, watts / wide, min(limit, watts * wide), "W", ("mlenergy-h100",), "accelerators")}
    if pace > 0:
        each = _MILLION_LIMIT * watts / pace
        found["energy_per_million_requests"] = Estimate(
            each, each / wide, each * wide, "J", ("mlenergy-h100",), "accelerators alone"
        )
    return found


def computing(placed: Placed, samples: int) -> Time:
    """Computing a batch of so many samples, as an expression."""
    device, work = placed.cut.device, placed.work
    here, equal = placed.network.net.path(int(placed.parts[0])), placed.instances
    launches, flop, moved = parts_of(device, work, placed.asked.precision)(samples)
    both = (
        Term(arithmetic(here, device.name, "", equal), flop),
        Term(memory_bandwidth(here, device.name, "", equal), moved),
    )
    # convolutions and what follows them run one after the other
    meeting = both if work.rates is not None else (Roofline(both, device.kernels.sharpness),)
    return Sum((Term(LAUNCH, launches), *meeting))


def account_of(placed: Placed) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...], Step]:
    """What limits a typical batch, with the gain of twice as much of it, what would next, and where its time goes."""
    size, path = placed.typical, placed.path
    time = computing(placed, size)
    if path is not None:
        sent = Sum((path.time,), size * placed.cut.each)
        # the next batch is sent while this one is worked on, but where a query waits for the answer before it
        time = Sum((time, sent)) if placed.asked.scenario in ONE_BY_ONE else Longest((time, sent))
    what = f"batch of {size} in {format_quantity(float(seconds(time)), 'duration')}"

    def words(resource: Resource) -> Bottleneck:
        plain = path.answer.words(resource) if path is not None else described(Resources(placed.network), resource)
        return replace(plain, why=f"{what}: {plain.why}" if plain.why else what)

    found = account(time, {})
    return *found.bottlenecks(words), Step("batch", found.value, found.parts(words))


_POINTS_LIMIT: Final = 100


def answer(network: Network, program: Program, question: Question) -> tuple[WorkloadResult, ChannelLoads]:
    """A model that answers samples in batches."""
    task = program.first(Infer)
    assert task is not None
    found = answered_in_batches(network, task.asked, question.place, cancelled=question.cancelled)
    path = found.placed.path
    curves: Mapping[str, tuple[Curve, ...]] = {}
    if question.curves and found.runs:
        at = np.linspace(0.0, 1.0, _POINTS_LIMIT + 1)
        spread = np.quantile(found.runs[0].latency, at)
        curves = {"serving-ttft": (Curve("time to the answer", tuple(spread.tolist()), tuple(at.tolist())),)}
    result = question.result(
        found.metrics,
        found.binding,
        found.next,
        path.answer.flows if path is not None else Rows(lambda: ()),
        path.answer.traffic.n_flows if path is not None else 0,
        found.findings,
        curves,
        steps=[found.step],
    )
    return result, path.loads(found.pace) if path is not None else ChannelLoads.none(network.net.n_links)
