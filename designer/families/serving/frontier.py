"""Latency against load: the frontier of a deployment, and its knee, where more load costs more than it brings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.families.serving.answers import Served, path_of, settled
from designer.families.serving.closed_form import LIVES, at_once
from designer.families.serving.deployment import Load
from designer.families.serving.load import Sent, sent_to_one
from designer.families.serving.placement import Placement
from designer.families.serving.readings import quantiles
from designer.families.serving.records import ServingRun
from designer.families.serving.split import run_split
from designer.memo import Interned
from designer.sources import Constant, Status

Float = npt.NDArray[np.float64]

#: loads looked at, in hundredths of what can be answered at all; the knee lies in the upper half
_LOADS_LIMIT: Final = (10, 30, 50, 60, 70, 80, 90, 96)
_HUNDREDTHS_LIMIT: Final = 100
#: requests of a run at one load, and at most as many as the load itself is looked at with
COUNT_LIMIT: Final = 240
#: answers that follow each other at one load: the engine has changed all its requests once
LOOKED_LIVES: Final = Constant(1.0, 0.5, 4.0, "assumed-serving", Status.ASSUMED, "1", "answers looked at")


@dataclass(frozen=True, slots=True)
class Frontier:
    """Latency at loads.

    Parameters
    ----------
    rate : (n,) requests a second over the whole deployment [1/s]
    ttft, latency : (n,) within which the share that limits hold at has its first token, its answer [s]
    tpot : (n,) mean [s]
    answer : (n,) mean time of a whole answer [s]
    """

    rate: Float
    ttft: Float
    latency: Float
    tpot: Float
    answer: Float

    @property
    def knee(self) -> float:
        """The load at which rate over mean latency is largest (Kleinrock's power) [1/s]."""
        power = self.rate / self.answer
        k = int(np.argmax(power))
        if k in (0, len(power) - 1):
            return float(self.rate[k])
        x, y = self.rate[k - 1 : k + 2], power[k - 1 : k + 2]
        # the top of the parabola through the best point and those next to it
        left, right = (x[1] - x[0]) * (y[1] - y[2]), (x[1] - x[2]) * (y[1] - y[0])
        bottom = left - right
        if bottom == 0:
            return float(x[1])
        top = x[1] - ((x[1] - x[0]) * left - (x[1] - x[2]) * right) / (2 * bottom)
        return float(np.clip(top, x[0], x[2]))

    @property
    def around(self) -> tuple[float, float]:
        """The loads looked at on either side of the knee [1/s]."""
        k = int(np.argmax(self.rate / self.answer))
        return float(self.rate[max(0, k - 1)]), float(self.rate[min(len(self.rate) - 1, k + 1)])


def frontier(served: Served, cancelled: Callable[[], bool] | None = None) -> Frontier | None:
    """The frontier of a served deployment; None for a load that has no rate, or one that nothing answers."""
    asked, most = served.serving, served.most[0] * served.equal_replicas
    if asked.load.kind in ("offline", "agents") or not math.isfinite(most) or most <= 0:
        return None
    base = replace(asked.load, kind="rate" if asked.load.kind == "clients" else asked.load.kind)
    placement, cut = served.placement, served.placement.cut
    if base.kind != "rate" or served.prompts is not None or (cut is not None and cut.turns > 1):
        return _frontier(served, base, most, cancelled)
    deployment = placement.deployment
    drafting = deployment.drafts, placement.curve, placement.draft_steps
    engine = placement.scheduling, placement.capacity, path_of(placement), *drafting
    load = replace(base, rate=1.0, clients=0, count=min(base.count, COUNT_LIMIT), profile=())
    key = placement.steps, engine, load, asked.limits.share, most, served.equal_replicas, len(placement.replicas)
    return _KNOWN(key, lambda: _frontier(served, base, most, cancelled))


#: frontiers asked for last: the same at every rate
_KNOWN_LIMIT: Final = 16
_KNOWN: Final = Interned[Frontier](_KNOWN_LIMIT)


def _frontier(served: Served, base: Load, most: float, cancelled: Callable[[], bool] | None) -> Frontier:
    """The frontier, load by load."""
    points: list[tuple[float, ...]] = []
    for hundredths in _LOADS_LIMIT:
        rate = most * hundredths / _HUNDREDTHS_LIMIT
        load = replace(base, rate=rate, count=min(base.count, COUNT_LIMIT), profile=())
        run, first = _run(served, load, cancelled)
        counted = (np.arange(len(run.sent)) >= first)[run.served]
        ttft, latency = run.ttft[counted], run.latency[counted]
        share = (served.serving.limits.share,)
        tpot = float(run.tpot.mean()) if len(run.tpot) else math.nan
        points.append((rate, *quantiles(ttft, share), *quantiles(latency, share), tpot, float(latency.mean())))
    columns = np.array(points).T
    return Frontier(*columns)


def _filling_load(load: Load, placement: Placement, sent: Sent) -> tuple[Load, int]:
    """A load of which enough requests are sent to fill an engine and to look at it, and the first that counts."""
    together = at_once(load, placement, sent.requests, len(placement.replicas))
    filling = math.ceil(LIVES.value * together)
    if load.kind != "rate" or filling <= sent.first:
        return load, sent.first
    count = filling + math.ceil(max(len(sent.requests.prompt) - sent.first, LOOKED_LIVES.value * together))
    return replace(load, count=count), filling


def _run(served: Served, load: Load, cancelled: Callable[[], bool] | None) -> tuple[ServingRun, int]:
    placement = served.placement
    if served.prompts is None:
        sent = sent_to_one(load, len(placement.replicas), placement.place, placement.capacity)
        load, first = _filling_load(load, placement, sent)
        if load.count != len(sent.requests.prompt):
            sent = sent_to_one(load, len(placement.replicas), placement.place, placement.capacity)
        return settled(placement, sent.requests, 1.0, cancelled), first
    return run_split(served, load, cancelled)
