"""Workloads with neighbours: trainings with a cadence, and served models on the same GPUs.

A workload and its neighbours run on one clock. A training with a cadence keeps hardware busy for a share of the time,
its duty, so it slows a workload down for that share of the time only; a served model runs all the time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.simulation.jobs import by_itself, job_of_workload, machines_of, parts_in_turns
from designer.design.document import WorkloadSpec
from designer.engine.clock.jobs import Job
from designer.engine.clock.measures import answer
from designer.engine.clock.player import play
from designer.engine.clock.run import Run
from designer.engine.clock.settled import SAME
from designer.engine.costs import Prices
from designer.engine.network import Network
from designer.engine.question import Question, ask
from designer.engine.results import ChannelLoads, WorkloadResult
from designer.errors import AnalysisError
from designer.families.serving.readings import SHARES, weighted_quantiles, within
from designer.families.serving.request_log import RequestLog, logs_of
from designer.families.serving.tasks import Serve
from designer.families.training.tasks import TrainStep
from designer.findings import Finding, Severity
from designer.sources import Constant, Estimate, Status
from designer.units import Ratio, Seconds, format_quantity
from designer.workload.kind import listed, program_of, task_of

#: settings that name what runs with a workload
_SETTINGS: Final = ("background", "beside")
#: kinds that go on, as fast as they get on
_PACED: Final = ("training", "transfer", "collective")
#: kinds that are done once, by the metric that is their time
_ONCE: Final = {"vmotion": "migration_time", "evacuation": "evacuation_time", "kvm_migration": "migration_time"}
_SERVING: Final = "serving"
#: metrics that grow, and that shrink, as a workload is slowed down
_LONGER: Final = ("step_time", "communication_time", "transfer_time", "epoch_time", "time_to_train")
_LESS: Final = (
    "samples_per_second",
    "tokens_per_second",
    "rate",
    "data_rate_per_gpu",
    "bus_bandwidth",
    "algorithm_bandwidth",
    "gpu_utilization",
    "mfu",
)
_MOST: Final = ("most_requests_per_second", "knee_requests_per_second")
_RATES: Final = ("requests_per_second", "tokens_per_second")
_TIMED: Final = ("ttft", "tpot", "itl", "latency")
#: known only where queues do not grow
_BUSY: Final = (
    "requests_running",
    "requests_waiting",
    "kv_use",
    "power",
    "energy_per_token",
    "energy_per_million_requests",
    "knee_requests_per_second",
)
#: a served model is run for so long at least, for so many steps of the training, requests and answers
_LEAST: Final = Constant(20.0, 5.0, 60.0, "assumed-serving", Status.ASSUMED, "s", "an engine is full long before")
_STEPS_LIMIT: Final = 24
_REQUESTS_LIMIT: Final = 500
_ANSWERS_LIMIT: Final = 10
#: what is slower by less is as quick
_SAME_TOLERANCE: Final = 1e-6
_APART: Final = "MIG instances keep models out of each other's way"
_ALWAYS: Final = Estimate.exact(1.0, "1", (), "all the time")
#: and for no more than these
_MOST_REQUESTS_LIMIT: Final = 20_000
_EVENTS_LIMIT: Final = 400_000
#: periods that a migration ends in after the one it begins in, edges included
_TURNS_LIMIT: Final = 3


@dataclass(frozen=True, slots=True)
class _Neighbour:
    """What runs with a workload.

    Parameters
    ----------
    every
        Time from one training to the next; inf for what runs all the time [s].
    metrics, loads
        By itself, and what it puts on channels while it runs.
    """

    name: str
    every: float = math.inf
    metrics: Mapping[str, Estimate] = field(default_factory=dict[str, Estimate])
    loads: ChannelLoads | None = None

    @property
    def duty(self) -> Estimate:
        """Share of the time in which it runs [1]; above 1 where trainings pile up."""
        return self.metrics.get("retraining_share", _ALWAYS)

    def share(self, end: str = "value") -> float:
        """Share of the time in which it runs, at an end of its band [1]."""
        return min(1.0, getattr(self.duty, end))


@dataclass(frozen=True, slots=True)
class _Disturbance:
    """A workload with a neighbour.

    Parameters
    ----------
    slower
        How many times as long it takes while the neighbour runs; None where it takes no time at all [1].
    metrics
        In the mean over time.
    finding
        None where there is nothing to say.
    """

    slower: Estimate | None
    metrics: Mapping[str, Estimate]
    finding: Finding | None


def retraining_names(network: Network, spec: WorkloadSpec) -> list[str]:
    """Trainings with a cadence that a workload names as running with it.

    Raises
    ------
    AnalysisError
        If a workload that takes nothing else next to it names something else.
    """
    found: list[str] = []
    for key in _SETTINGS:
        for name in listed(str(spec.settings.get(key, ""))):
            if _cadence(network, name) > 0:
                if spec.kind not in (*_PACED, *_ONCE, _SERVING):
                    raise AnalysisError(
                        f"what the retraining {name!r} takes of this is not known",
                        place=f"workloads.{spec.id}.{key}",
                        remedy="simulate both, or ask for training, a transfer, a collective, serving or a migration",
                    )
                found.append(name)
            elif spec.kind in _PACED and key == "beside":
                raise AnalysisError(
                    f"{name!r} is no training with a cadence",
                    place=f"workloads.{spec.id}.{key}",
                    remedy="name trainings that have retrain_every; simulate runs all else together",
                )
    return found


def undisturbed(spec: WorkloadSpec, names: Sequence[str]) -> WorkloadSpec:
    """A workload without some of the retrainings that it names as running with it."""
    if not names:
        return spec
    settings = dict(spec.settings)
    for key in _SETTINGS:
        if key in settings:
            settings[key] = ", ".join(name for name in listed(str(settings[key])) if name not in names)
    return spec.model_copy(update={"settings": settings})


def _cadence(network: Network, name: str) -> float:
    """Time from one training of a workload of the design to its next [s]; 0 where it has no cadence."""
    spec = network.design.workloads.get(name)
    if spec is None or spec.kind != "training":
        return 0.0
    step = task_of(spec.kind, spec.settings, f"workloads.{name}", TrainStep)
    return step.run.retrain_every if step is not None else 0.0


def with_neighbours(
    network: Network,
    spec: WorkloadSpec,
    names: Sequence[str],
    answered: tuple[WorkloadResult, ChannelLoads | None],
    again: Callable[[WorkloadSpec], WorkloadResult],
    cancelled: Callable[[], bool] | None = None,
) -> tuple[WorkloadResult, ChannelLoads | None]:
    """The answer of a workload with its neighbours, in the mean over time; findings say what it is while they run.

    Parameters
    ----------
    names
        Trainings with a cadence among the neighbours.
    answered
        The answer of the workload as `undisturbed`.
    again
        Answers it as if some of what it names ran all the time.

    Raises
    ------
    AnalysisError
        If one of them cannot be run on this drawing.
    """
    result, loads = answered
    alone, metrics = result.metrics, dict(result.metrics)
    found: list[_Neighbour] = []
    each: list[_Disturbance] = []
    always: list[Job] = []
    if spec.kind == _SERVING:
        others = listed(str(undisturbed(spec, names).settings.get("beside", "")))
        always = [job_of_workload(network.design.workloads[name], 0.0) for name in others]

    def served(
        metrics: Mapping[str, Estimate], one: _Neighbour, steady: Sequence[Job], more: Sequence[Job]
    ) -> _Disturbance:
        mine = job_of_workload(undisturbed(spec, names), 0.0)
        jobs = [mine, *steady, *more]
        prices = Prices(network, machines_of(network, jobs), parts_in_turns(network, jobs))
        return _blend_served(prices, [mine, *steady], more, one, metrics, cancelled)

    if always:
        each.append(served(metrics, _Neighbour(" and ".join(job.name for job in always)), (), always))
        metrics = dict(each[-1].metrics)
    for name in names:
        other = network.design.workloads[name]
        question = Question(name, "training", name, f"workloads.{name}", False, None, cancelled, False)
        its, loaded = ask(network, by_itself(other), question)
        one = _Neighbour(name, _cadence(network, name), its.metrics, loaded)
        if spec.kind in _ONCE:
            during = again(undisturbed(spec, [other for other in names if other != name])).metrics
            disturbance = _migrate_any_time(spec, one, alone, during, metrics)
        elif spec.kind == _SERVING:
            disturbance = served(metrics, one, always, [job_of_workload(other, 0.0)])
        else:
            disturbance = _slow_down(network, spec, job_of_workload(other, 0.0), one, alone, metrics, cancelled)
        metrics = dict(disturbance.metrics)
        found.append(one)
        each.append(disturbance)
    if found:
        sources = tuple(dict.fromkeys(key for one in found for key in one.duty.sources))
        ends = [1 - math.prod(1 - one.share(end) for one in found) for end in ("value", "low", "high")]
        metrics["share_beside_retraining"] = Estimate(ends[0], ends[1], ends[2], "1", sources, ", ".join(names))
        times = [one.slower for one in each[len(each) - len(found) :] if one.slower is not None]
        slower = max(times, key=lambda s: s.value, default=None)
        if slower is not None and math.isfinite(slower.value):
            metrics["slow_down_while_retraining"] = slower
    findings = (*result.findings, *(one.finding for one in each if one.finding is not None))
    return replace(result, metrics=metrics, findings=findings), _with_neighbour_loads(
        network, loads, found, spec.kind not in _ONCE
    )


def _with_neighbour_loads(
    network: Network, loads: ChannelLoads | None, found: Sequence[_Neighbour], carried: bool
) -> ChannelLoads | None:
    """Loads with those of neighbours in the mean; where `carried` is false they count in the utilization only."""
    if not found:
        return loads

    def made() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        n = 2 * network.net.n_links
        load, busy = (loads.load, loads.utilization) if loads is not None else (np.zeros(n), np.zeros(n))
        for one in found:
            if one.loads is None:
                continue
            if carried:
                load = np.maximum(load, np.minimum(load + one.share() * one.loads.load, np.repeat(network.rate, 2)))
            busy = np.minimum(1.0, busy + one.share() * one.loads.utilization)
        return load, busy

    return ChannelLoads.made(made)


def _times(times: float, metrics: Sequence[Estimate | None], note: str = "run on one clock") -> Estimate:
    """How many times as long something takes [1]: as unsure as how long each of two takes is known."""
    known = [m for m in metrics if m is not None and m.low > 0]
    unsure = math.exp(math.hypot(*(math.log(m.high / m.low) / 2 for m in known)))
    sources = tuple(dict.fromkeys(key for m in known for key in m.sources))
    return Estimate(times, 1 + (times - 1) / unsure, 1 + (times - 1) * unsure, "1", sources, note)


def _remaining_pace(one: _Neighbour, slower: Estimate) -> tuple[float, float, float]:
    """Share of its pace that a workload keeps in the mean: value, low and high [1]."""
    value, least, most = (1 - one.share(e) + one.share(e) / getattr(slower, e) for e in ("value", "high", "low"))
    return value, least, most


def _scale_estimate(m: Estimate, by: tuple[float, float, float], sources: Sequence[str]) -> Estimate:
    value, low, high = (end * times for end, times in zip((m.value, m.low, m.high), by, strict=True))
    return replace(m, value=value, low=min(low, value), high=max(high, value), sources=(*m.sources, *sources))


def _finding(workload: str, one: _Neighbour, then: str, remedy: str = "") -> Finding:
    if math.isinf(one.every):
        text = f"its GPUs compute for {one.name} as well{then}"
        return Finding("SERVE-TURNS", Severity.INFO, text, (), remedy or _APART)
    text = f"{one.name} runs together with {workload} for {one.share():.1%} of the time{then}"
    return Finding("TRAIN-BESIDE", Severity.INFO, text, (), remedy)


def _slow_down(
    network: Network,
    spec: WorkloadSpec,
    its: Job,
    one: _Neighbour,
    alone: Mapping[str, Estimate],
    metrics: Mapping[str, Estimate],
    cancelled: Callable[[], bool] | None,
) -> _Disturbance:
    """What goes on keeps a share of its pace while a retraining runs; what is done once, as if it were repeated."""
    program = program_of(spec.kind, spec.settings, f"workloads.{spec.id}")
    assert program is not None
    measures = tuple(replace(m, of="period") if m.of == "end" else m for m in program.measures)
    program = replace(program, times=math.inf, recovery=None, measures=measures)
    mine = job_of_workload(spec, 0.0, program)
    prices = Prices(network, machines_of(network, [mine, its]), parts_in_turns(network, [mine, its]))
    before, during = (
        answer(prices, mine, neighbours=others, bands=False, explained=False, cancelled=cancelled).metrics
        for others in ((), (its,))
    )
    time = next((m.name for m in measures if m.of in ("period", "pace")), "")
    rate = next((m.name for m in measures if m.of == "throughput"), "")
    more, less = (during[time], before[time]) if time else (before[rate], during[rate])
    times = max(1.0, more.value / less.value) if less.value > 0 else math.inf
    # how often both want a link at once is as unsure as how long each of them takes
    pace = next((alone[n] for n in (*_LONGER, *_LESS) if n in alone and alone[n].low > 0), None)
    slower = _times(times, [pace, one.metrics["step_time"]])
    left = _remaining_pace(one, slower)
    longer = 1 / left[0], 1 / left[2], 1 / left[1]
    found = {
        name: _scale_estimate(m, left if name in _LESS else longer, one.duty.sources)
        if name in (*_LESS, *_LONGER)
        else m
        for name, m in metrics.items()
    }
    if times <= 1 + SAME:
        return _Disturbance(slower, found, _finding(spec.id, one, " and takes nothing from it"))
    shown = ""
    name = next((n for n in (*_LONGER, *_LESS) if n in alone), "")
    if name:
        value = alone[name].value * (times if name in _LONGER else 1 / times)
        dimension = "duration" if name in _LONGER else "rate" if alone[name].unit == "B/s" else "frequency"
        shown = f" ({name} {format_quantity(value, dimension)})"
    text = f": it takes {times:.2f} times as long meanwhile{shown}, {longer[0]:.2f} times in the mean"
    return _Disturbance(slower, found, _finding(spec.id, one, text))


def _migrate_any_time(
    spec: WorkloadSpec,
    one: _Neighbour,
    alone: Mapping[str, Estimate],
    during: Mapping[str, Estimate],
    metrics: Mapping[str, Estimate],
) -> _Disturbance:
    """A migration that begins at any moment, from its metrics without a retraining and all the time next to it.

    One far shorter than a retraining meets all of one or none; a longer one keeps a share of its pace while one runs.
    """
    main = _ONCE[spec.kind]
    if main not in alone or alone[main].value <= 0:
        return _Disturbance(None, metrics, _finding(spec.id, one, ""))
    if main not in during:
        never = Estimate(math.inf, math.inf, math.inf, "1", one.duty.sources)
        return _Disturbance(never, metrics, _finding(spec.id, one, ": nothing moves meanwhile", "move between them"))
    work = alone[main].value
    slower = max(1.0, during[main].value / work)
    found = dict(metrics)
    mean = 1.0
    for name, m in alone.items():
        if name not in during or m.value <= 0 or m.unit == "1":
            continue
        times = [
            mean_time(Seconds(work), Ratio(slower), Seconds(share * one.every), Seconds(one.every)) / work
            if name == main
            else 1 + share * (during[name].value / m.value - 1)
            for share in (one.share(), one.share("low"), one.share("high"))
        ]
        mean = times[0] if name == main else mean
        found[name] = _scale_estimate(found[name], (times[0], min(times), max(times)), one.duty.sources)
    text = " and takes nothing from it"
    if slower > 1 + SAME:
        takes = format_quantity(during[main].value, "duration")
        text = f": it takes {slower:.2f} times as long meanwhile ({main} {takes}), {mean:.2f} times in the mean"
    exact = Estimate.exact(slower, "1", one.duty.sources, "worked out with it and without")
    return _Disturbance(exact, found, _finding(spec.id, one, text))


def mean_time(work: Seconds, slower: Ratio, busy: Seconds, every: Seconds) -> Seconds:
    """Mean time of something that begins at any moment and goes on at 1/`slower` of its pace while others are busy.

    Others are busy for the first `busy` of `every` seconds. Between the moments at which its beginning or its end
    passes a change of pace, its time is a straight line of when it begins, so the mean over all is exact.

    Examples
    --------
    Half of the time at half pace, a second of work, and far longer spans of either: 1 s or 2 s.

    >>> round(mean_time(Seconds(1.0), Ratio(2.0), Seconds(5e6), Seconds(1e7)), 3)
    1.5

    Work of 750 s: each period of 1,000 s does 500 + 500/2, so it takes a period, whenever it begins.

    >>> mean_time(Seconds(750.0), Ratio(2.0), Seconds(500.0), Seconds(1000.0))
    1000.0
    """
    if busy <= 0 or slower <= 1:
        return work
    if busy >= every:
        return Seconds(work * slower)
    period = busy / slower + (every - busy)
    # (time, work done) where the pace changes, from the begin of a period on
    turns = np.arange(math.floor(work / period) + _TURNS_LIMIT)
    times = np.ravel([turns * every, turns * every + busy], order="F")
    done = np.ravel([turns * period, turns * period + busy / slower], order="F")
    # beginnings in the first period, those whose end falls on a change of pace among them
    begins = np.concatenate([[0.0, busy, every], np.interp(done - work, done, times)])
    begins = np.unique(begins[(begins >= 0) & (begins <= every)])
    takes = np.interp(np.interp(begins, times, done) + work, done, times) - begins
    return Seconds(float(np.sum(np.diff(begins) * (takes[1:] + takes[:-1]) / 2)) / every)


def _blend_served(  # noqa: PLR0915
    prices: Prices,
    steady: Sequence[Job],
    more: Sequence[Job],
    one: _Neighbour,
    metrics: Mapping[str, Estimate],
    cancelled: Callable[[], bool] | None,
) -> _Disturbance:
    """A served model: percentiles are of all requests, as many of them while a neighbour runs as its duty says.

    Parameters
    ----------
    steady, more
        The model with what runs with it all the time, and the jobs of the neighbour.
    metrics
        Those with what runs all the time.
    """
    mine = steady[0]
    assert mine.program is not None
    task = mine.program.first(Serve)
    assert task is not None
    asked, load, step = task.operation, task.operation.load.kind, one.metrics.get("step_time")
    rate, late = metrics["requests_per_second"].value, metrics.get("latency_p95")
    answers = _ANSWERS_LIMIT * late.value if late is not None else 0.0
    item = step.value if step is not None else 0.0
    until = max(_LEAST.value, _STEPS_LIMIT * item, answers, _REQUESTS_LIMIT / rate)
    until = max(min(until, _MOST_REQUESTS_LIMIT / rate), 2 * item)
    usual, both = (
        play(prices, [*steady, *others], until=until, cancelled=cancelled, most_events=_EVENTS_LIMIT)
        for others in ((), more)
    )
    times, found = _engines_slower(both, mine.name) / _engines_slower(usual, mine.name), dict(metrics)
    slower = _times(times, [metrics.get("tpot"), step])
    sources, share = (*one.duty.sources, *slower.sources), one.share()
    found |= {
        name: _scale_estimate(metrics[name], _remaining_pace(one, slower), ()) for name in _MOST if name in metrics
    }
    if not any(name.split("_")[0] in _TIMED for name in metrics):
        # saturated by itself
        return _Disturbance(slower, found, _finding(mine.name, one, ""))
    arriving = rate if load not in ("clients", "offline") else 0.0
    able = metrics["most_requests_per_second"].value / times
    if arriving > able:
        timed = {name for name in found if name == "goodput" or name.split("_")[0] in _TIMED}
        kept = {name: m for name, m in found.items() if name not in timed}
        most = found["most_requests_per_second"]
        if arriving > most.value:
            kept = {name: m for name, m in kept.items() if name not in _BUSY}
            less = most.value / arriving, most.low / arriving, most.high / arriving
            kept |= {
                name: _scale_estimate(Estimate.exact(kept[name].value, "1/s"), less, most.sources) for name in _RATES
            }
        return _Disturbance(slower, kept, _piled_up(mine.name, one, arriving, able, found))
    log, other = logs_of(both).get(mine.name), logs_of(usual).get(mine.name)
    if log is None or other is None or times <= 1 + _SAME_TOLERANCE or not log.readings.values:
        # accelerators of their own are a finding already
        nothing = _finding(mine.name, one, " and takes nothing from it") if math.isfinite(one.every) else None
        return _Disturbance(slower, found, nothing)
    alone, mean, during = (_blend_requests(other, log, part) for part in (0.0, share, 1.0))
    for name in found.keys() & mean.keys():
        if name.split("_")[0] in _TIMED and alone[name] > 0:
            ends = _times(max(1.0, mean[name] / alone[name]), [metrics.get("tpot"), step])
            found[name] = _scale_estimate(metrics[name], (ends.value, ends.low, ends.high), sources)
        elif not arriving and alone[name] > 0:
            ratio = min(1.0, mean[name] / alone[name])
            found[name] = _scale_estimate(metrics[name], (ratio, ratio, 1.0), ())
    peaks = [one.run.counts.kv_peak for one in (other, log)]
    if min(peaks) > 0:
        most = max(1.0, peaks[1] / peaks[0])
        found["kv_use"] = _scale_estimate(metrics["kv_use"], (most, most, most), ())
    if arriving:
        # as many requests are under way as arrive while one is answered
        longer = mean["latency"] / alone["latency"]
        found["requests_running"] = _scale_estimate(metrics["requests_running"], (longer, longer, longer), ())
    shown = [name for name in ("ttft_p95", "itl_p95") if alone.get(name)]
    words = [f"{name} {during[name] / alone[name]:.2f} times as long" for name in shown]
    then = f": steps take {times:.2f} times as long"
    if math.isfinite(one.every):
        then += " meanwhile"
        words = [f"{text}, {mean[name] / alone[name]:.2f} in the mean" for name, text in zip(shown, words, strict=True)]
    if "goodput" in found and (kept := within(other.run, other.first, asked.limits)) > 0:
        ratio = 1 - share + share * min(1.0, within(log.run, log.first, asked.limits) / kept)
        found["goodput"] = _scale_estimate(metrics["goodput"], (ratio, ratio, 1.0), ())
    return _Disturbance(slower, found, _finding(mine.name, one, f"{then}; {', '.join(words)}"))


def _engines_slower(run: Run, program: str) -> float:
    """How many times as long engines take to compute and to join devices in a run as they do alone [1]."""
    took = alone = 0.0
    for task in run.tasks:
        if task.program == program and task.done and task.works and task.step.endswith((" computes", " joins")):
            took += task.time
            alone += max(run.works[k].amount for k in task.works)
    return max(1.0, took / alone) if alone > 0 else 1.0


def _blend_requests(alone: RequestLog, during: RequestLog, share: float) -> Mapping[str, float]:
    """Means, percentiles and rates of the requests of two runs together, the second with a share [1] of all."""
    one, other = alone.readings.values, during.readings.values
    found = {name: (1 - share) * one[name] + share * other[name] for name in one.keys() & other.keys()}
    for what in ("ttft", "latency", "itl"):
        pairs = [_series(log, what) for log in (alone, during)]
        if not all(len(values) for values, _ in pairs):
            continue
        weights = [each / each.sum() * part for (_, each), part in zip(pairs, (1 - share, share), strict=True)]
        values = np.concatenate([values for values, _ in pairs])
        found |= {
            f"{what}_{end}": value
            for end, value in zip(
                SHARES,
                weighted_quantiles(values, np.concatenate(weights), [one.value for one in SHARES.values()]),
                strict=True,
            )
        }
    return found


def _series(log: RequestLog, what: str) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Times of one sort of all that counts [s], and how many there were of each."""
    run = log.run
    if what == "itl":
        return run.gaps()
    counted = np.arange(len(run.sent)) >= log.first
    values = (run.ttft if what == "ttft" else run.latency)[counted[run.served]]
    return values, np.ones(len(values))


def _piled_up(workload: str, one: _Neighbour, arriving: float, able: float, metrics: Mapping[str, Estimate]) -> Finding:
    asked, most = format_quantity(arriving, "frequency"), format_quantity(able, "frequency")
    meanwhile = "meanwhile " * math.isfinite(one.every)
    text = f": {meanwhile}{asked} of requests arrive and {most} can be answered, so "
    if arriving > metrics["most_requests_per_second"].value:
        text += "queues never empty: no latency is given"
    else:
        lasts = one.metrics["time_to_train"].value
        waiting = (arriving - able) * lasts
        text += f"{waiting:,.0f} wait after its {format_quantity(lasts, 'duration')}: no latency is given"
    remedy = f"ask for less than {able:.3g} requests a second meanwhile, or retrain elsewhere"
    return replace(_finding(workload, one, text, remedy), code="SERVE-SATURATED", severity=Severity.ERROR)
