"""A served model beside a training that begins again and again: its requests while one runs, and all others.

Both run on the clock. Percentiles are of all requests together, as many of each as the retraining's share of the time
says; a load above what is left meanwhile has no latency.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.analysis.clock.jobs import Job
from designer.analysis.clock.player import play
from designer.analysis.clock.run import Run
from designer.analysis.costs import Prices
from designer.analysis.results import WorkloadResult
from designer.analysis.serving.readings import SHARES, weighted_quantiles, within
from designer.analysis.serving.request_log import RequestLog
from designer.findings import Finding, Severity
from designer.sources import Constant, Estimate, Status
from designer.units import format_quantity
from designer.workload.program.serving import Serve
from designer.workload.serving import Serving

Float = npt.NDArray[np.float64]

#: both run for so long at least, for so many steps of the training and so many answers
_LEAST: Final = Constant(20.0, 5.0, 60.0, "assumed-serving", Status.ASSUMED, "s", "an engine is full long before")
_STEPS_LIMIT: Final = 24
_REQUESTS_LIMIT: Final = 500
_ANSWERS_LIMIT: Final = 10
#: and no longer than this takes
_MOST_REQUESTS_LIMIT: Final = 20_000
_EVENTS_LIMIT: Final = 400_000
#: what is slower by less is as quick
_SAME_TOLERANCE: Final = 1e-6
_TIMED: Final = ("ttft", "tpot", "itl", "latency")
_RATES: Final = ("requests_per_second", "tokens_per_second")
_MOST: Final = ("most_requests_per_second", "knee_requests_per_second")


@dataclass(frozen=True, slots=True)
class Beside:
    """A served model in the mean over when a retraining runs and when not.

    Parameters
    ----------
    slower
        How many times as long steps take while it runs [1].
    """

    slower: Estimate
    metrics: Mapping[str, Estimate]
    findings: tuple[Finding, ...]


def served_beside(
    prices: Prices,
    mine: Job,
    its: Job,
    alone: WorkloadResult,
    training: Mapping[str, Estimate],
    cancelled: Callable[[], bool] | None,
) -> Beside:
    """The metrics of a served model with a retraining beside it for its share of the time.

    Parameters
    ----------
    alone, training
        What each of them comes to by itself.
    """
    duty, step = training["retraining_share"], training["step_time"]
    share = min(1.0, duty.value)
    asked = _operation(mine)
    until = _until(asked, alone, step.value)
    both = play(prices, [mine, its], until=until, cancelled=cancelled, most_events=_EVENTS_LIMIT)
    times = _slower(both, mine)
    # how often both want a part at once is as unsure as how long each of them takes
    unsure = _unsure(alone.metrics.get("tpot"), step)
    sources = tuple(dict.fromkeys((*duty.sources, *step.sources)))
    slower = Estimate(times, 1 + (times - 1) / unsure, 1 + (times - 1) * unsure, "1", sources, "played on the clock")
    told = f"{its.name} runs beside {mine.name} for {share:.1%} of the time"
    metrics = dict(alone.metrics)
    left = {end: 1 - d + d / s for end, d, s in _ends(duty, slower)}
    for name in _MOST:
        if name in metrics:
            m = metrics[name]
            metrics[name] = replace(
                m, value=m.value * left["value"], low=m.low * left["high"], high=m.high * left["low"]
            )
    if not any(name.split("_")[0] in _TIMED for name in alone.metrics):
        # saturated by itself
        return Beside(slower, metrics, (Finding("TRAIN-BESIDE", Severity.INFO, told),))
    arriving = metrics["requests_per_second"].value if asked.load.kind not in ("clients", "offline") else 0.0
    able = alone.metrics["most_requests_per_second"].value / times
    if arriving > able:
        return Beside(slower, _without_times(metrics), (_grows(told, arriving, able, metrics, training),))
    one = play(prices, [mine], until=until, cancelled=cancelled, most_events=_EVENTS_LIMIT)
    log, other = both.requests.get(mine.name), one.requests.get(mine.name)
    during = _requests(log) if log is not None else None
    before = _requests(other) if other is not None else None
    if log is None or other is None or during is None or before is None or times <= 1 + _SAME_TOLERANCE:
        return Beside(slower, metrics, (Finding("TRAIN-BESIDE", Severity.INFO, f"{told} and takes nothing from it"),))
    whole, usual, beside = (_values(before, during, part) for part in (share, 0.0, 1.0))
    for name in [name for name in metrics if name in whole and usual[name] > 0]:
        m, ratio = metrics[name], max(1.0, whole[name] / usual[name])
        low, high = 1 + (ratio - 1) / unsure, 1 + (ratio - 1) * unsure
        metrics[name] = replace(
            m, value=m.value * ratio, low=m.low * low, high=m.high * high, sources=(*m.sources, *sources)
        )
    if asked.load.kind in ("clients", "offline"):
        for name in [name for name in _RATES if name in metrics]:
            ratio = 1 - share + share * min(1.0, log.readings.values[name] / other.readings.values[name])
            m = metrics[name]
            metrics[name] = replace(m, value=m.value * ratio, low=m.low * ratio, high=m.high)
    if "goodput" in metrics and (kept := within(other.run, other.first, asked.limits)) > 0:
        ratio = 1 - share + share * min(1.0, within(log.run, log.first, asked.limits) / kept)
        m = metrics["goodput"]
        metrics["goodput"] = replace(m, value=m.value * ratio, low=m.low * ratio, high=m.high)
    names = [name for name in ("ttft_p95", "itl_p95") if usual.get(name)]
    felt = ", ".join(
        f"{name} {beside[name] / usual[name]:.2f} times as long, {whole[name] / usual[name]:.2f} in the mean"
        for name in names
    )
    text = f"{told}: steps take {times:.2f} times as long meanwhile; {felt}"
    return Beside(slower, metrics, (Finding("TRAIN-BESIDE", Severity.INFO, text),))


def _operation(job: Job) -> Serving:
    assert job.program is not None
    task = job.program.steps[0].task
    assert isinstance(task, Serve)
    return task.operation


def _until(asked: Serving, alone: WorkloadResult, step: float) -> float:
    """How long both run [s]."""
    rate = alone.metrics["requests_per_second"].value
    latency = alone.metrics["latency_p95"].value if "latency_p95" in alone.metrics else 0.0
    long = max(_LEAST.value, _STEPS_LIMIT * step, _ANSWERS_LIMIT * latency, _REQUESTS_LIMIT / rate)
    return max(min(long, _MOST_REQUESTS_LIMIT / rate), 2 * step)


def _slower(run: Run, job: Job) -> float:
    """How many times as long the windows of its engines took as they do alone [1]."""
    took = alone = 0.0
    for task in run.tasks:
        if task.program != job.name or not task.done:
            continue
        works = [run.works[k] for k in task.works]
        if not works or works[0].unit != "s" or not task.step.endswith((" computes", " joins")):
            continue
        took += task.time
        alone += max(work.amount for work in works)
    return max(1.0, took / alone) if alone > 0 else 1.0


def _unsure(mine: Estimate | None, step: Estimate) -> float:
    bands = [m for m in (mine, step) if m is not None and m.low > 0]
    return math.exp(math.hypot(*(math.log(m.high / m.low) / 2 for m in bands)))


def _ends(duty: Estimate, slower: Estimate) -> list[tuple[str, float, float]]:
    return [(end, min(1.0, getattr(duty, end)), getattr(slower, end)) for end in ("value", "low", "high")]


def _without_times(metrics: Mapping[str, Estimate]) -> dict[str, Estimate]:
    """No latency is given for queues that grow."""
    return {name: m for name, m in metrics.items() if name != "goodput" and name.split("_")[0] not in _TIMED}


def _grows(
    told: str, arriving: float, able: float, metrics: Mapping[str, Estimate], training: Mapping[str, Estimate]
) -> Finding:
    lasts = training["time_to_train"].value
    asked, most = format_quantity(arriving, "frequency"), format_quantity(able, "frequency")
    text = f"{told}: meanwhile {asked} of requests arrive and {most} can be answered, so "
    if arriving > metrics["most_requests_per_second"].value:
        text += "queues never empty: no latency is told"
    else:
        text += (
            f"{(arriving - able) * lasts:,.0f} wait after its {format_quantity(lasts, 'duration')}: no latency is told"
        )
    remedy = f"ask for less than {able:.3g} requests a second meanwhile, or retrain elsewhere"
    return Finding("SERVE-SATURATED", Severity.ERROR, text, (), remedy)


@dataclass(frozen=True, slots=True)
class _Requests:
    """Times of counted requests [s], and gaps between tokens with how many there were of each."""

    times: Mapping[str, Float]
    gaps: Float
    weights: Float


def _requests(log: RequestLog) -> _Requests | None:
    """What is counted of a run; None where nothing was answered."""
    run = log.run
    counted = np.arange(len(run.sent)) >= log.first
    if not (run.served & counted).any():
        return None
    times = {
        "ttft": run.ttft[counted[run.served]],
        "latency": run.latency[counted[run.served]],
        "tpot": run.tpot[counted[run.served & (run.output > 1)]],
    }
    return _Requests({name: found for name, found in times.items() if len(found)}, *run.gaps())


def _values(before: _Requests, during: _Requests, share: float) -> dict[str, float]:
    """Means and percentiles of a mixture of two runs, the second one with a share [1] of all [s]."""
    found: dict[str, float] = {}
    shares = [one.value for one in SHARES.values()]
    series = {name: (before.times[name], during.times[name]) for name in before.times if name in during.times}
    for name, (a, b) in series.items():
        found[name] = (1 - share) * float(a.mean()) + share * float(b.mean())
    mixed = {
        name: (np.concatenate(pair), np.concatenate([np.full(len(x), 1 / len(x)) for x in pair]), len(pair[0]))
        for name, pair in series.items()
        if name != "tpot"
    }
    if len(before.gaps) and len(during.gaps):
        weights = [one.weights / one.weights.sum() for one in (before, during)]
        mixed["itl"] = np.concatenate([before.gaps, during.gaps]), np.concatenate(weights), len(before.gaps)
    for name, (values, weights, first) in mixed.items():
        weights = weights * np.where(np.arange(len(values)) < first, 1 - share, share)
        for end, value in zip(SHARES, weighted_quantiles(values, weights, shares), strict=True):
            found[f"{name}_{end}"] = value
    return found
