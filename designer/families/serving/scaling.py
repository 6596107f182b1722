"""Replicas that follow the load: started when more comes, stopped when less does, ready after their cold start."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.families.serving.answers import Served, settled
from designer.families.serving.deployment import Load, Serving
from designer.families.serving.engine_state import Requests
from designer.families.serving.limits import largest_load
from designer.families.serving.load import sent_to_one
from designer.families.serving.placement import Placement
from designer.families.serving.request_log import RequestLog
from designer.findings import Finding, Severity
from designer.sources import Constant, Estimate, Status
from designer.units import format_quantity

Float = npt.NDArray[np.float64]


def _policy(value: float, low: float, high: float, unit: str, note: str) -> Constant:
    return Constant(value, low, high, "kubernetes-hpa", Status.SECONDARY, unit, note)


#: how often the load is looked at, and for how long more replicas than it needs are kept
INTERVAL: Final = _policy(15.0, 15.0, 30.0, "s", "horizontal-pod-autoscaler-sync-period")
KEPT: Final = _policy(300.0, 60.0, 600.0, "s", "scaleDown.stabilizationWindowSeconds")
#: share of what a replica answers within the limits at which another one is started
TARGET: Final = Constant(0.8, 0.6, 0.9, "assumed-serving", Status.ASSUMED, "1", "room for arrivals by chance")
#: requests are counted over so long
COUNTED: Final = Constant(60.0, 15.0, 120.0, "assumed-serving", Status.ASSUMED, "s", "a mean of a minute")
_HOUR: Final = Constant(3600.0, 3600.0, 3600.0, "counted-serving", Status.PRIMARY, "s")
_DAY: Final = Constant(86400.0, 86400.0, 86400.0, "counted-serving", Status.PRIMARY, "s")


@dataclass(frozen=True, slots=True)
class Fleet:
    """When each replica was started, was ready, and was stopped [s]; a stopped one answers what it has."""

    started: tuple[float, ...]
    ready: tuple[float, ...]
    stopped: tuple[float, ...]

    def seconds(self, end: float) -> float:
        """Time that replicas were paid for until a time, all together [s]."""
        pairs = zip(self.started, self.stopped, strict=True)
        return sum(max(0.0, min(stop, end) - start) for start, stop in pairs)

    def most(self) -> int:
        """Replicas at once, at the most."""
        return max(sum(a <= at < b for a, b in zip(self.started, self.stopped, strict=True)) for at in self.started)


def follows_load(asked: Serving) -> bool:
    """True if replicas are started and stopped: not of split deployments, nor where clients or agents send."""
    return asked.scaling and asked.load.kind in ("rate", "trace") and not asked.deployment.prompts


def follow(at: Sequence[float], able: float, start: float, least: int, most: int) -> Fleet:
    """Replicas that follow arrivals.

    Parameters
    ----------
    at
        Arrivals in order [s]. Replicas that the first minute needs are ready at its begin.
    able
        Requests a second that a replica takes [1/s].
    start
        Time from starting a replica until it is ready [s].
    least, most
        Replicas at any time.
    """
    times = np.asarray(at, dtype=np.float64)
    end = float(times[-1])

    def wanted(begin: float, until: float) -> int:
        count = int(np.searchsorted(times, until) - np.searchsorted(times, begin))
        return min(most, max(least, math.ceil(count / max(until - begin, INTERVAL.value) / (TARGET.value * able))))

    first = wanted(0.0, min(COUNTED.value, max(end, INTERVAL.value)))
    started, ready, stopped = [0.0] * first, [0.0] * first, [math.inf] * first
    lately = [(0.0, first)]
    for step in range(1, math.ceil(end / INTERVAL.value) + 1):
        now = step * INTERVAL.value
        lately = [(then, count) for then, count in lately if then > now - KEPT.value]
        lately.append((now, wanted(max(0.0, now - COUNTED.value), now)))
        running = [k for k, until in enumerate(stopped) if math.isinf(until)]
        more = lately[-1][1] - len(running)
        if more > 0:
            started += [now] * more
            ready += [now + start] * more
            stopped += [math.inf] * more
        # the last that were started go first, and none before the load was low for long
        for k in running[max(count for _, count in lately) :]:
            stopped[k] = now
    return Fleet(tuple(started), tuple(ready), tuple(stopped))


def sent_among(at: Sequence[float], fleet: Fleet) -> list[int]:
    """The replica of each request: those that are ready take turns."""
    chosen: list[int] = []
    edges = sorted({*fleet.ready, *(stop for stop in fleet.stopped if math.isfinite(stop))})
    known: list[int] = []
    edge = 0
    for turn, now in enumerate(at):
        while edge < len(edges) and edges[edge] <= now:
            edge += 1
            known = []
        if not known:
            pairs = zip(fleet.ready, fleet.stopped, strict=True)
            known = [k for k, (ready, stop) in enumerate(pairs) if ready <= now < stop]
        chosen.append(known[turn % len(known)])
    return chosen


@dataclass(eq=False)
class Following:
    """Where requests go as they come, on drawn replicas that are started and stopped by load.

    Parameters
    ----------
    able, start
        Requests a second that a replica takes [1/s], and its cold start [s].
    most
        Drawn replicas.
    """

    able: float
    start: float
    most: int
    _at: list[float] = field(default_factory=list[float])

    def sent(self, at: Sequence[float]) -> list[int]:
        """The drawn replica of each of some more requests, which arrive in order [s]."""
        known = len(self._at)
        self._at.extend(at)
        fleet = follow(self._at, self.able, self.start, 1, self.most)
        places = places_of(fleet)
        return [places[k] for k in sent_among(self._at, fleet)[known:]]


def places_of(fleet: Fleet) -> list[int]:
    """The drawn replica that each of a fleet is: the first that was stopped before it was started."""
    free: list[float] = []
    found: list[int] = []
    for start, stop in zip(fleet.started, fleet.stopped, strict=True):
        place = next((k for k, until in enumerate(free) if until <= start), len(free))
        free[place : place + 1] = [stop]
        found.append(place)
    return found


def able_of(placement: Placement, asked: Serving, most: float, cancelled: Callable[[], bool] | None = None) -> float:
    """Requests a second that one replica answers within the limits; `most` where it keeps them at no rate [1/s]."""
    one = replace(placement, replicas=placement.replicas[:1])
    able = largest_load(one, replace(asked, load=replace(asked.load, profile=())), cancelled)
    return able or most


def scaled(
    served: Served, start: float, cancelled: Callable[[], bool] | None = None
) -> tuple[Served, Mapping[str, Estimate], tuple[Finding, ...]]:
    """The same load on replicas that follow it, what that costs, and what a reader should know of it.

    Parameters
    ----------
    start
        Cold start of a replica [s].
    """
    asked, placement = served.serving, served.placement
    drawn = len(placement.replicas)
    one = replace(placement, replicas=placement.replicas[:1])
    able = able_of(placement, asked, served.most[0], cancelled)
    load = of_all(asked.load, drawn)
    sent = sent_to_one(load, 1, placement.place, placement.capacity)
    requests = sent.requests
    fleet = follow(requests.at, able, start, 1, drawn)
    which = sent_among(requests.at, fleet)

    def run(factor: float) -> RequestLog:
        log = RequestLog()
        for k in range(len(fleet.started)):
            mine = of_replica(requests, which, k)
            if mine.prompt:
                log.parts.append((settled(one, mine, factor, cancelled), 0))
        return log

    factors = (1.0, math.exp(-served.spread), math.exp(served.spread))[: len(served.runs)]
    runs = tuple(run(factor).run for factor in factors)
    end = float(requests.at[-1])
    paid = fleet.seconds(end)
    hours = paid * placement.split.devices / end * _DAY.value / _HOUR.value
    whole = drawn * placement.split.devices * _DAY.value / _HOUR.value
    found = {
        "replicas_most": Estimate.exact(fleet.most(), "1", (), "at once, starting ones with them"),
        "replicas_mean": Estimate.exact(paid / end, "1", (), "starting ones with them"),
        "accelerator_hours": Estimate.exact(hours, "1", (), "of a day like the load"),
    }
    text = (
        f"{fleet.most()} replicas at most and {paid / end:.3g} in the mean follow the load: {hours:,.0f} accelerator "
        f"hours a day instead of {whole:,.0f}; a replica is ready {format_quantity(start, 'duration')} after its start"
    )
    finding = Finding("SERVE-SCALED", Severity.INFO, text, (), "set scaling off to run all replicas all the time")
    most = tuple(x * drawn for x in served.most)
    served = replace(
        served,
        serving=replace(asked, load=load),
        sent=replace(sent, first=0),
        runs=runs,
        most=(most[0], most[1], most[2]),
        stands=1,
    )
    return served, found, (finding,)


def of_all(load: Load, drawn: int) -> Load:
    """A load of which the requests of so many replicas are looked at together."""
    return replace(load, count=load.count * drawn) if load.kind == "rate" else load


def of_replica(requests: Requests, which: Sequence[int], replica: int) -> Requests:
    """Those of some requests that go to a replica, by the replica of each."""
    mine = [i for i, to in enumerate(which) if to == replica]

    def own(values: Sequence[int]) -> list[int]:
        return [values[i] for i in mine]

    cached = own(requests.cached) if requests.cached else ()
    return Requests(own(requests.prompt), own(requests.output), [requests.at[i] for i in mine], cached=cached)
