"""Whether a load keeps the limits on a placed deployment, and the largest one that does."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from designer.families.serving.answers import most_of, settled
from designer.families.serving.closed_form import filled, operated
from designer.families.serving.deployment import Limits, Serving
from designer.families.serving.load import sent_to_one
from designer.families.serving.placement import Placement
from designer.families.serving.readings import read, within
from designer.families.serving.records import ServingRun
from designer.families.serving.spreads import step_spread

#: a load within limits is found this closely
_LOAD_TOLERANCE: Final = 0.01


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a run says of limits.

    Parameters
    ----------
    holds
        True if enough requests keep them.
    ttft, latency
        At the share of requests that the limits hold for [s].
    tpot
        Mean [s].
    kept
        Share of the requests within all limits [1]; refused requests keep none.
    """

    holds: bool
    ttft: float
    tpot: float
    latency: float
    kept: float


def outcome(run: ServingRun, first: int, limits: Limits) -> Outcome:
    """What a run says of limits, from its first request that counts."""
    values, kept = read(run, first).values, within(run, first, limits)
    at = limits.percentile
    times = (values[f"ttft_{at}"], values.get("tpot", 0.0), values[f"latency_{at}"])
    return Outcome(bool(kept >= limits.share), *times, kept)


def outcome_of(
    placement: Placement, asked: Serving, replicas: int, cancelled: Callable[[], bool] | None = None
) -> Outcome:
    """The same of so many replicas that share the load."""
    sent = sent_to_one(asked.load, replicas, placement.place, placement.capacity)
    load = filled(asked.load, placement, sent.requests, replicas)
    sent = sent_to_one(load, replicas, placement.place, placement.capacity)
    return outcome(settled(placement, sent.requests, 1.0, cancelled), sent.first, asked.limits)


def largest_load(placement: Placement, asked: Serving, cancelled: Callable[[], bool] | None = None) -> float:
    """The most requests a second that the placed replicas answer within the limits [1/s]; 0 where none."""
    replicas = len(placement.replicas)
    requests = sent_to_one(asked.load, replicas, placement.place, placement.capacity).requests
    prompt, output = (sum(side) / len(side) for side in (requests.prompt, requests.output))
    crowd = replace(asked, load=replace(asked.load, kind="rate", rate=math.inf))
    placement = operated(placement, crowd, prompt, output, lambda one: True)[0]
    most = most_of(placement, requests, step_spread(placement), cancelled)[0] * replicas

    def holds(rate: float) -> bool:
        return outcome_of(placement, replace(asked, load=replace(asked.load, rate=rate)), replicas, cancelled).holds

    return largest_rate(most, holds)


def largest_rate(most: float, holds: Callable[[float], bool]) -> float:
    """The largest rate that holds, up to what can be answered at all [1/s]."""
    low, high = 0.0, most
    if holds(most):
        return most
    while high - low > _LOAD_TOLERANCE * most:
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low
