"""Trainings that begin again and again beside a workload: what they take of it while they run, and in the mean.

A training with a cadence keeps the hardware busy for a share of the time, its duty. While it runs both are played on
the clock, which tells how much longer the workload takes; the rest of the time it has everything to itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.clock.jobs import Job
from designer.analysis.clock.player import play
from designer.analysis.clock.records import TaskRun
from designer.analysis.clock.run import Run
from designer.analysis.clock.steady import SAME
from designer.analysis.costs import Prices
from designer.analysis.families import Question, ask
from designer.analysis.network import Network
from designer.analysis.results import ChannelLoads, WorkloadResult
from designer.analysis.simulation.jobs import by_itself, job_of_workload, machines_of, parts_in_turns
from designer.analysis.study.retraining_moves import Mean, mean_of_moves
from designer.analysis.study.retraining_served import served_beside
from designer.design.document import WorkloadSpec
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.sources import Estimate
from designer.units import format_quantity
from designer.workload.kind import listed, task_of
from designer.workload.program.training import TrainStep

#: settings that name what runs beside a workload
_SETTINGS: Final = ("background", "beside")
#: kinds of workloads that retrainings slow down, by the step that tells how fast they are
_WATCHED: Final = {"training": "step", "transfer": "move", "collective": "collective"}
#: kinds of migrations by what is told of them; they are worked out with it and without, not on the clock
_MOVES: Final = {"vmotion": "migration_time", "evacuation": "evacuation_time", "kvm_migration": "migration_time"}
_SERVING: Final = "serving"
#: steps that both have to end in a run, and those at its beginning that are left out
_ENDS_LIMIT: Final = 24
_WARM_UP_LIMIT: Final = 8
#: a run beside another is over by then at the latest
_EVENTS_LIMIT: Final = 200_000
#: metrics that are longer, and that are less, the more a workload is held up
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


@dataclass(frozen=True, slots=True)
class Retraining:
    """A training that begins again and again beside a workload.

    Parameters
    ----------
    duty
        Share of the time in which it runs [1].
    slower
        How many times as long the workload takes meanwhile; None where it is not given [1].
    loads
        What it puts on channels while it runs.
    """

    name: str
    duty: Estimate
    slower: Estimate | None
    loads: ChannelLoads | None = None

    def left(self, end: str = "value") -> float:
        """Share of its pace that the workload keeps in the mean, by an end of the band of the duty [1]."""
        duty = min(1.0, getattr(self.duty, end))
        assert self.slower is not None
        return 1 - duty + duty / getattr(self.slower, end)


def retraining_names(network: Network, spec: WorkloadSpec) -> list[str]:
    """Trainings with a cadence that a workload names as running beside it.

    Raises
    ------
    AnalysisError
        If a workload that takes nothing else beside it names something else.
    """
    found: list[str] = []
    for key in _SETTINGS:
        for name in listed(str(spec.settings.get(key, ""))):
            if is_retraining(network, name):
                if spec.kind not in (*_WATCHED, *_MOVES, _SERVING):
                    raise AnalysisError(
                        f"what the retraining {name!r} takes of this is not told",
                        place=f"workloads.{spec.id}.{key}",
                        remedy="simulate both, or ask for training, a transfer, a collective, serving or a migration",
                    )
                found.append(name)
            elif spec.kind in _WATCHED and key == "beside":
                raise AnalysisError(
                    f"{name!r} is no training with a cadence",
                    place=f"workloads.{spec.id}.{key}",
                    remedy="name trainings that have retrain_every; simulate runs all else together",
                )
    return found


def undisturbed(spec: WorkloadSpec, names: Sequence[str]) -> WorkloadSpec:
    """A workload as it is while none of some retrainings runs, where what it names runs all the time."""
    if not names or spec.kind in _WATCHED:
        return spec
    settings = dict(spec.settings)
    for key in _SETTINGS:
        if key in settings:
            settings[key] = ", ".join(name for name in listed(str(settings[key])) if name not in names)
    return spec.model_copy(update={"settings": settings})


def is_retraining(network: Network, name: str) -> bool:
    """True of a training workload of the design that begins again and again."""
    spec = network.design.workloads.get(name)
    if spec is None or spec.kind != "training":
        return False
    step = task_of(spec.kind, spec.settings, f"workloads.{name}", TrainStep)
    return step is not None and step.run.retrain_every > 0


def with_retrainings(
    network: Network,
    spec: WorkloadSpec,
    names: Sequence[str],
    answer: tuple[WorkloadResult, ChannelLoads | None],
    again: Callable[[WorkloadSpec], WorkloadResult],
    cancelled: Callable[[], bool] | None = None,
) -> tuple[WorkloadResult, ChannelLoads | None]:
    """The answer of a workload with what retrainings beside it take, in the mean; a finding says what it is meanwhile.

    Parameters
    ----------
    answer
        Of the workload as `undisturbed`.
    again
        Answers it as if some of what it names ran all the time.

    Raises
    ------
    AnalysisError
        If one of them cannot be run on this drawing.
    """
    result, loads = answer
    if not names:
        return result, loads
    if spec.kind in _MOVES:
        found, result = _moved(network, spec, names, result, again, cancelled)
    elif spec.kind == _SERVING:
        found, result = _served(network, spec, names, result, cancelled)
    else:
        found = [_beside(network, spec, network.design.workloads[name], result.metrics, cancelled) for name in names]
        result = _in_the_mean(spec, found, result)
    metrics = dict(result.metrics)
    sources = tuple(dict.fromkeys(key for one in found for key in one.duty.sources))
    ends = [1 - math.prod(1 - min(1.0, getattr(one.duty, end)) for one in found) for end in ("value", "low", "high")]
    metrics["share_beside_retraining"] = Estimate(ends[0], ends[1], ends[2], "1", sources, ", ".join(names))
    slower = max((one.slower for one in found if one.slower is not None), key=lambda s: s.value, default=None)
    if slower is not None and math.isfinite(slower.value):
        metrics["slow_down_while_retraining"] = slower
    return replace(result, metrics=metrics), _loaded(network, loads, found, spec.kind not in _MOVES)


def _loaded(
    network: Network, loads: ChannelLoads | None, found: Sequence[Retraining], carried: bool
) -> ChannelLoads | None:
    """Loads with those of retrainings in the mean; where `carried` is false they count in the utilization only."""

    def made() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        n = 2 * network.net.n_links
        load, busy = (loads.load, loads.utilization) if loads is not None else (np.zeros(n), np.zeros(n))
        for one in found:
            if one.loads is None:
                continue
            duty = min(1.0, one.duty.value)
            if carried:
                load = np.maximum(load, np.minimum(load + duty * one.loads.load, np.repeat(network.rate, 2)))
            busy = np.minimum(1.0, busy + duty * one.loads.utilization)
        return load, busy

    return ChannelLoads.made(made)


def _in_the_mean(spec: WorkloadSpec, found: Sequence[Retraining], result: WorkloadResult) -> WorkloadResult:
    """Times longer, and rates less, by what is left of the pace in the mean."""
    # several run when they run: at one time or not, as it comes
    left = {end: math.prod(one.left(end) for one in found) for end in ("value", "low", "high")}
    sources = tuple(dict.fromkeys(key for one in found for key in one.duty.sources))
    metrics: dict[str, Estimate] = {}
    for name, m in result.metrics.items():
        by = (left["value"], left["high"], left["low"]) if name in _LESS else tuple(1 / left[e] for e in left)
        if name in (*_LESS, *_LONGER):
            m = replace(
                m, value=m.value * by[0], low=m.low * by[1], high=m.high * by[2], sources=(*m.sources, *sources)
            )
        metrics[name] = m
    told = tuple(_finding(spec, one, result.metrics) for one in found)
    return replace(result, metrics=metrics, findings=(*result.findings, *told))


def _asked(
    network: Network, other: WorkloadSpec, cancelled: Callable[[], bool] | None
) -> tuple[Mapping[str, Estimate], ChannelLoads | None, float]:
    """A retraining by itself: its metrics and loads, and how often it begins [s]."""
    place = f"workloads.{other.id}"
    step = task_of(other.kind, other.settings, place, TrainStep)
    assert step is not None
    question = Question(other.id, "training", other.id, place, False, None, cancelled, False)
    result, loads = ask(network, by_itself(other), question)
    return result.metrics, loads, step.run.retrain_every


def _moved(
    network: Network,
    spec: WorkloadSpec,
    names: Sequence[str],
    alone: WorkloadResult,
    again: Callable[[WorkloadSpec], WorkloadResult],
    cancelled: Callable[[], bool] | None,
) -> tuple[list[Retraining], WorkloadResult]:
    """A migration that begins at any moment."""
    main = _MOVES[spec.kind]
    found: list[Retraining] = []
    means: list[Mean] = []
    told: list[Finding] = []
    for name in names:
        metrics, loads, every = _asked(network, network.design.workloads[name], cancelled)
        duty = metrics["retraining_share"]
        during = again(undisturbed(spec, [other for other in names if other != name])).metrics
        mean = mean_of_moves(alone.metrics, during, main, duty, every)
        means.append(mean)
        # a part of what runs all the time is what a migration meets without it
        found.append(Retraining(name, duty, mean.slower, loads))
        share = f"{name} runs beside {spec.id} for {min(1.0, duty.value):.1%} of the time"
        if mean.slower is None:
            told.append(Finding("TRAIN-BESIDE", Severity.INFO, share))
        elif not math.isfinite(mean.slower.value):
            told.append(
                Finding("TRAIN-BESIDE", Severity.INFO, f"{share}: nothing moves meanwhile", (), "move between them")
            )
        elif mean.slower.value <= 1 + SAME:
            told.append(Finding("TRAIN-BESIDE", Severity.INFO, f"{share} and takes nothing from it"))
        else:
            takes = format_quantity(during[main].value, "duration")
            text = f"{share}: it takes {mean.slower.value:.2f} times as long meanwhile ({main} {takes}), "
            text += f"{mean.times[main].value:.2f} times in the mean"
            told.append(Finding("TRAIN-BESIDE", Severity.INFO, text))
    result = dict(alone.metrics)
    for mean in means:
        for name, times in mean.times.items():
            m = result[name]
            low, high = m.low * times.low, m.high * times.high
            value = m.value * times.value
            result[name] = replace(
                m, value=value, low=min(low, value), high=max(high, value), sources=(*m.sources, *times.sources)
            )
    return found, replace(alone, metrics=result, findings=(*alone.findings, *told))


def _served(
    network: Network,
    spec: WorkloadSpec,
    names: Sequence[str],
    alone: WorkloadResult,
    cancelled: Callable[[], bool] | None,
) -> tuple[list[Retraining], WorkloadResult]:
    """A served model: its requests while a retraining runs, and all others."""
    found: list[Retraining] = []
    result = alone
    for name in names:
        other = network.design.workloads[name]
        metrics, loads, _ = _asked(network, other, cancelled)
        duty = metrics["retraining_share"]
        mine, its = job_of_workload(undisturbed(spec, names), 0.0), job_of_workload(other, 0.0)
        prices = Prices(network, machines_of(network, [mine, its]), parts_in_turns(network, [mine, its]))
        one = served_beside(prices, mine, its, result, metrics, cancelled)
        found.append(Retraining(name, duty, one.slower, loads))
        result = replace(result, metrics=one.metrics, findings=(*result.findings, *one.findings))
    return found, result


def _finding(spec: WorkloadSpec, one: Retraining, alone: Mapping[str, Estimate]) -> Finding:
    share = f"{one.name} runs beside {spec.id} for {min(1.0, one.duty.value):.1%} of the time"
    slower = one.slower.value if one.slower is not None else 1.0
    if slower <= 1 + SAME:
        return Finding("TRAIN-BESIDE", Severity.INFO, f"{share} and takes nothing from it")
    name = next((n for n in (*_LONGER, *_LESS) if n in alone), "")
    during = ""
    if name:
        value = alone[name].value * (slower if name in _LONGER else 1 / slower)
        dimension = "duration" if name in _LONGER else "rate" if alone[name].unit == "B/s" else "frequency"
        during = f" ({name} {format_quantity(value, dimension)})"
    mean = 1 / one.left()
    text = f"{share}: it takes {slower:.2f} times as long meanwhile{during}, {mean:.2f} times in the mean"
    return Finding("TRAIN-BESIDE", Severity.INFO, text)


def _beside(
    network: Network,
    spec: WorkloadSpec,
    other: WorkloadSpec,
    alone: Mapping[str, Estimate],
    cancelled: Callable[[], bool] | None,
) -> Retraining:
    metrics, loads, _ = _asked(network, other, cancelled)
    mine, its = (job_of_workload(one, 0.0) for one in (spec, other))
    assert mine.program is not None
    # done once, it is asked how it would go on
    program = replace(mine.program, times=math.inf, recovery=None)
    mine = replace(job_of_workload(spec, 0.0, program), weight=mine.weight)
    jobs = [mine, its]
    prices = Prices(network, machines_of(network, jobs), parts_in_turns(network, jobs))
    times = _slower(prices, mine, its, _WATCHED[spec.kind], cancelled)
    # how often both want a link at once is as unsure as how long each of them takes
    pace = next((alone[n] for n in (*_LONGER, *_LESS) if n in alone and alone[n].low > 0), metrics["step_time"])
    unsure = math.exp(math.hypot(*(math.log(m.high / m.low) / 2 for m in (pace, metrics["step_time"]))))
    sources = tuple(dict.fromkeys((*pace.sources, *metrics["step_time"].sources)))
    ends = (times, 1 + (times - 1) / unsure, 1 + (times - 1) * unsure)
    slower = Estimate(*ends, "1", sources, "played on the clock")
    return Retraining(other.id, metrics["retraining_share"], slower, loads)


def _slower(prices: Prices, mine: Job, its: Job, step: str, cancelled: Callable[[], bool] | None) -> float:
    """How many times as long a job takes beside another one [1]."""
    together = _run(prices, {mine: step, its: "step"}, cancelled)
    times = [t for t in (_ends(together, mine, step), _ends(together, its, "step")) if len(t) > 2]
    if not times:
        return 1.0
    # whole steps of the slower one, the first ones left out
    slow = min(times, key=len)
    window = (slow[min(_WARM_UP_LIMIT, len(slow) // 2)], slow[-1])
    alone = _run(prices, {mine: step}, cancelled, None if _ends(together, mine, step) else window[1])
    ends = _ends(alone, mine, step)
    first = ends[min(_WARM_UP_LIMIT, len(ends) // 2)] if len(ends) > 2 else window[0]
    before = _pace(alone, mine, step, (first, ends[-1] if len(ends) > 2 else window[1]))
    during = _pace(together, mine, step, window)
    if before <= 0:
        return 1.0
    return max(1.0, before / during) if during > 0 else math.inf


def _run(
    prices: Prices, watched: Mapping[Job, str], cancelled: Callable[[], bool] | None, until: float | None = None
) -> Run:
    many = dict.fromkeys([(job.name, step) for job, step in watched.items() if not _streams(job, step)], 0)

    def stop(task: TaskRun) -> bool:
        key = (task.program, task.step)
        if key in many:
            many[key] += 1
        return min(many.values()) >= _ENDS_LIMIT

    end = math.inf if until is None else until
    return play(prices, list(watched), until=end, stop=stop, cancelled=cancelled, most_events=_EVENTS_LIMIT)


def _streams(job: Job, step: str) -> bool:
    assert job.program is not None
    return getattr(job.program.step(step).task, "size", 0.0) == math.inf


def _ends(run: Run, job: Job, step: str) -> list[float]:
    return run.ends(job.name, step)


def _pace(run: Run, job: Job, step: str, window: tuple[float, float]) -> float:
    """Items, or units of streams, done per second in a window, parts of items in proportion."""
    begin, end = window
    if end <= begin:
        return 0.0
    if not _streams(job, step):
        ends = np.array([0.0, *_ends(run, job, step)])
        low, high = np.interp([begin, end], ends, np.arange(len(ends)))
        return float(high - low) / (end - begin)
    moved = 0.0
    for task in run.tasks:
        if task.program != job.name or task.step != step:
            continue
        for number in task.works:
            work = run.works[number]
            times = [*(entry[0] for entry in work.log), max(end, run.end)]
            for k, (_, rate, _) in enumerate(work.log):
                moved += rate * work.alike * max(0.0, min(end, times[k + 1]) - max(begin, times[k]))
    return moved / (end - begin)
