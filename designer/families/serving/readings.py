"""What is read from a run of a serving engine: means and quantiles with the error of a finite sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.clock.records import Readings
from designer.families.serving.deployment import Limits
from designer.families.serving.records import ServingRun
from designer.memo import memo
from designer.sources import Constant, Status

Float = npt.NDArray[np.float64]
#: parts of a run whose percentiles are compared for their sampling error
_PARTS_LIMIT: Final = 8


def _quantile_bands(values: Float, shares: Sequence[float]) -> tuple[list[float], list[float]]:
    """Several percentiles of the same values, with their standard errors, by the parts of a run in their order.

    Requests near each other wait for the same queue, so a run is worth as many draws as it has parts that differ.
    """
    found = quantiles(values, shares)
    length = len(values) // _PARTS_LIMIT
    if length < 2:
        return found, [0.0] * len(shares)
    parts = np.sort(values[: length * _PARTS_LIMIT].reshape(_PARTS_LIMIT, length), axis=1)
    errors: list[float] = []
    for share in shares:
        place = share * (length - 1)
        low = int(place)
        high = min(low + 1, length - 1)
        each = parts[:, low] + (parts[:, high] - parts[:, low]) * (place - low)
        errors.append(float(each.std(ddof=1)) / math.sqrt(_PARTS_LIMIT))
    return found, errors


def quantiles(values: Float, shares: Sequence[float]) -> list[float]:
    """Percentiles, straight lines between the values in order."""
    places = np.array(shares) * (len(values) - 1)
    return np.interp(places, np.arange(len(values)), np.sort(values)).tolist()


def weighted_quantiles(values: Float, weights: Float, shares: Sequence[float]) -> list[float]:
    """Percentiles of values that each represent several."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return values[order][np.searchsorted(total, np.array(shares) * total[-1])].tolist()


def mean_error(values: Float) -> float:
    """Standard error of a mean, by the parts of a run in their order."""
    parts = np.array_split(values, _PARTS_LIMIT)
    if min(len(p) for p in parts) < 1:
        return 0.0
    return float(np.array([p.mean() for p in parts]).std(ddof=1) / math.sqrt(_PARTS_LIMIT))


#: runs whose values are kept: those of one answer, asked for its metrics and again for its tables
_READ_LIMIT: Final = 3


SHARES: Final = {
    "p50": Constant(0.5, 0.5, 0.5, "counted-serving", Status.PRIMARY),
    "p90": Constant(0.9, 0.9, 0.9, "counted-serving", Status.PRIMARY),
    "p95": Constant(0.95, 0.95, 0.95, "counted-serving", Status.PRIMARY),
    "p99": Constant(0.99, 0.99, 0.99, "counted-serving", Status.PRIMARY),
}


@memo(most=_READ_LIMIT)
def read(run: ServingRun, first: int) -> Readings:
    """Means and percentiles of what came after the warm-up [s]."""
    counted = np.arange(len(run.sent)) >= first
    ttft = run.ttft[counted[run.served]]
    latency = run.latency[counted[run.served]]
    tpot = run.tpot[counted[run.served & (run.output > 1)]]
    values: dict[str, float] = {"ttft": float(ttft.mean()), "latency": float(latency.mean())}
    errors: dict[str, float] = {"ttft": mean_error(ttft), "latency": mean_error(latency)}
    if len(tpot):
        values["tpot"], errors["tpot"] = float(tpot.mean()), mean_error(tpot)
    shares = [share.value for share in SHARES.values()]
    for what, series in (("ttft", ttft), ("latency", latency)):
        for name, value, error in zip(SHARES, *_quantile_bands(series, shares), strict=True):
            values[f"{what}_{name}"], errors[f"{what}_{name}"] = value, error
    gaps, weights = run.gaps()
    if len(gaps):
        for name, value in zip(SHARES, weighted_quantiles(gaps, weights, shares), strict=True):
            values[f"itl_{name}"], errors[f"itl_{name}"] = value, 0.0
    return Readings(values, errors)


def window(run: ServingRun, first: int) -> tuple[float, float]:
    """From when the first counted request is sent until the last is [s]; of a run that drains, until it has."""
    begin = float(run.sent[first])
    end = float(run.sent[-1])
    return (begin, end) if end > begin else (0.0, run.end)


def throughput(run: ServingRun, first: int, *, arriving: bool = True) -> tuple[float, float]:
    """Requests and output tokens a second while the load lasts [1/s].

    Parameters
    ----------
    arriving
        Requests have times of their own: what they add is read a mean answer later than they came. Else clients send
        one when another has been answered: requests at once over the mean time of an answer (Little), since counts of
        answers that end together depend on where the window begins.
    """
    begin, end = window(run, first)
    counted = run.served & (np.arange(len(run.sent)) >= first)
    if not arriving and end < run.end and counted.any():
        inside = np.minimum(run.done, end) - np.maximum(run.sent, begin)
        together = float(np.maximum(inside[run.served], 0.0).sum()) / (end - begin)
        rate = together / float((run.done - run.sent)[counted].mean())
        return rate, rate * float(run.output[counted].mean())
    if arriving and end < run.end:
        late = float((run.done - run.sent)[first:][run.served[first:]].mean()) if run.served[first:].any() else 0.0
        begin, end = begin + late, min(end + late, run.end)
    inside = run.served & (run.done > begin) & (run.done <= end)
    if not inside.any():
        begin, end, inside = 0.0, run.end, run.served
    return float(inside.sum() / (end - begin)), float(run.output[inside].sum() / (end - begin))


def within(run: ServingRun, first: int, limits: Limits) -> float:
    """Share of requests that keep all limits [1]; refused ones do not."""
    counted = np.arange(len(run.sent)) >= first
    good = run.served.copy()
    with np.errstate(invalid="ignore"):
        if limits.ttft:
            good &= run.first - run.sent <= limits.ttft
        if limits.tpot:
            good &= (run.done - run.first) / np.maximum(1, run.output - 1) <= limits.tpot
        if limits.latency:
            good &= run.done - run.sent <= limits.latency
    return float(good[counted].mean())


def percentiles(run: ServingRun, first: int, *, arriving: bool = True) -> Readings:
    """As `read`, with rates while the load lasts; nothing where no request that counts was answered."""
    if not (run.served & (np.arange(len(run.sent)) >= first)).any():
        return Readings({}, {})
    found = read(run, first)
    requests, tokens = throughput(run, first, arriving=arriving)
    rates = {"requests_per_second": requests, "tokens_per_second": tokens}
    return Readings({**found.values, **rates}, found.errors)
