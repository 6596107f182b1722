"""A served model with the devices to itself: its metrics, and what holds prompts and decoding back."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np

from designer.engine.network import Network
from designer.engine.results import Bottleneck, Curve, Step
from designer.engine.routes.selection import resolve
from designer.families.serving.answers import (
    SOURCES,
    Served,
    asked_rate,
    factors_of_runs,
    joined,
    serve,
    settled,
)
from designer.families.serving.benchmarks import counted
from designer.families.serving.bottlenecks import bottlenecks, phases
from designer.families.serving.deployment import Limits, Load, Serving
from designer.families.serving.drafting import Drafted, gain, pays_until
from designer.families.serving.engine_state import Requests
from designer.families.serving.formulas.layers import prefill_area
from designer.families.serving.frontier import Frontier, frontier
from designer.families.serving.limits import largest_load
from designer.families.serving.load import Sent, route, sent_to_one
from designer.families.serving.metrics import metrics, money
from designer.families.serving.network_leg import Leg, network_leg
from designer.families.serving.placement import Placement
from designer.families.serving.request_log import RequestLog
from designer.families.serving.sharing import sharing
from designer.families.serving.split import serve_split
from designer.families.serving.starting import engine_start, start_engines, update_engines
from designer.families.serving.unused import unused
from designer.families.serving.widths import placed
from designer.findings import Finding, Severity
from designer.present import numbers
from designer.sources import Constant, Estimate, Status
from designer.units import format_quantity

#: fixed part and descriptors of a hand-over were measured on one set-up [logarithm of the factor either way]
HAND_OVER_SPREAD: Final = Constant(0.35, 0.25, 0.6, "assumed-serving", Status.ASSUMED, "1")


@dataclass(frozen=True, slots=True, eq=False)
class Answered:
    """The answer to a served model.

    Parameters
    ----------
    front
        Latency against load; None where it was not asked for, or where nothing is answered.
    steps
        Where the time of typical steps of prompts and of decoding goes.
    leg
        The round trip to the clients; None where none are named.
    """

    served: Served
    metrics: Mapping[str, Estimate]
    binding: tuple[Bottleneck, ...]
    next: tuple[Bottleneck, ...]
    findings: tuple[Finding, ...]
    front: Frontier | None
    steps: tuple[Step, ...]
    leg: Leg | None = None


def answered(
    network: Network,
    asked: Serving,
    place: str,
    *,
    explained: bool = True,
    banded: bool = True,
    cancelled: Callable[[], bool] | None = None,
) -> Answered:
    """Requests of a load run through the engines of a deployment.

    Parameters
    ----------
    explained
        False to leave out the frontier.
    banded
        False to leave out the runs at the ends of bands, and the frontier.

    Raises
    ------
    AnalysisError
        If the model does not fit the drawing, or a load cannot be read.
    """
    stated: tuple[Finding, ...] = ()
    limits, leg = asked.limits, leg_of(network, asked, place)
    if leg is not None:
        asked = replace(asked, limits=leg.within(limits))
    if asked.deployment.prompts:
        served = serve_split(network, asked, place, cancelled, banded=banded)
    else:
        placement = placed(network, asked, place)
        if asked.beside:
            placement, stated = sharing(network, placement, asked, place)
        served = serve(placement, asked, cancelled, banded=banded)
    placement = served.placement
    engines = [placement, *([served.prompts] if served.prompts is not None else [])]
    start = start_engines(engines, asked.storage, asked.readers, place, peers=asked.peers) if asked.storage else None
    paid: Mapping[str, Estimate] = {}
    if follows_load(asked) and served.runs:
        began = start.time.value if start is not None else engine_start(asked.deployment)
        served, paid, why = scaled(served, began, cancelled)
        stated = (*stated, *why)
    found = {**metrics(served), **paid}
    if placement.guest is not None:
        found |= placement.guest.metrics()
    binding, after, steps = bottlenecks(served)
    front = frontier(served, cancelled) if served.runs and explained and banded and not paid else None
    if front is not None:
        low, high = front.around
        wide = math.exp(served.spread)
        found["knee_requests_per_second"] = Estimate(
            front.knee, low / wide, high * wide, "1/s", SOURCES, "where requests a second over mean answer time is most"
        )
    if served.pull is not None:
        time = served.pull.time
        wide = math.exp(HAND_OVER_SPREAD.value)
        found["hand_over_time"] = Estimate(time, time / wide, time * wide, "s", ("vllm-nixl",))
    if start is not None:
        found["cold_start_time"] = start.time
        if asked.update:
            most = found["most_requests_per_second"].value
            time, left = update_engines(engines, asked, most, place)
            found["rolling_update_time"], found["requests_while_updating"] = time, left
        after, stated = (*after, *start.bottlenecks), (*stated, *start.findings)
    found |= money(asked, found)
    if leg is not None:
        found = leg.added_to(found)
    running = found["requests_running"].value if "requests_running" in found else 1.0
    findings = (
        *placement.findings,
        *served.findings,
        *stated,
        *unused(asked),
        *counted(asked.load),
        *drafting(served, running),
        *_limit_findings(served, found, limits),
        *more(served, binding),
    )
    return Answered(served, found, binding, after, findings, front, steps, leg)


def leg_of(network: Network, asked: Serving, place: str) -> Leg | None:
    """The round trip to the clients of a served model; None where none are named.

    Raises
    ------
    AnalysisError
        If they cannot reach its devices.
    """
    if not asked.origin.strip():
        return None
    parts = resolve(network, asked.deployment.prompts or asked.deployment.group, f"{place}.group")
    return network_leg(network, asked.origin, parts, asked.request, asked.reply, place)


def _limit_findings(served: Served, found: Mapping[str, Estimate], limits: Limits) -> list[Finding]:
    """Limits that do not hold, and whether more replicas would help."""
    share = limits.percentile
    asked = (
        ("ttft", 0, f"ttft_{share}", limits.ttft, f"{share} of the first token is"),
        ("latency", 2, f"latency_{share}", limits.latency, f"{share} of the whole answer is"),
        ("tpot", 1, "tpot", limits.tpot, "a token takes"),
    )
    stated: list[Finding] = []
    for what, which, name, limit, words in asked:
        value = found.get(name)
        if limit and value is not None and value.value > limit:
            text = (
                f"{words} {format_quantity(value.value, 'duration')}, above the "
                f"{format_quantity(limit, 'duration')} asked for"
            )
            how = remedy(what, limit, alone(served)[which])
            stated.append(Finding("SERVE-LIMIT", Severity.ERROR, text, (), how))
    return stated


# What to do for more requests or shorter answers: what a request takes alone, and what more of a part brings.


def alone(served: Served) -> tuple[float, float, float]:
    """First token, time per token and whole answer of a mean request that meets no other [s]."""
    requests, placement = served.sent.requests, served.placement
    prompt, output = float(np.mean(requests.prompt)), float(np.mean(requests.output))
    found = float(np.mean(requests.cached)) if requests.cached else 0.0
    reading = served.prompts or placement
    first = reading.release.overheads.path + placement.fetch + _prompt_time(reading, prompt, found)
    steps = placement.timed
    if served.pull is not None:
        # the engine that answers computes the last token of the prompt again
        first += served.pull.time + steps.step(1, prompt, 1, 0, 0.0)
    token = steps.decode(1) + steps.context() * (prompt + output / 2)
    return first, token, first + token * max(0.0, output - 1)


def _prompt_time(placement: Placement, prompt: float, found: float) -> float:
    """All of a prompt but for what is found in caches, in steps as long as the budget lets them be [s]."""
    left, done, time = max(1, round(prompt - found)), found, 0.0
    while left > 0:
        taken = min(left, placement.scheduling.budget) if placement.scheduling.chunked else left
        left -= taken
        time += placement.steps.step(taken, prefill_area(taken, done), 0 if left else 1, 0, 0.0)
        done += taken
    return time


def remedy(what: str, limit: float, shortest: float) -> str:
    """For a limit that does not hold [s]."""
    if shortest > limit:
        each = format_quantity(shortest, "duration")
        other = "shorter prompts" if what == "ttft" else "narrower weights"
        return (
            f"one request alone takes {each}, so more replicas do not help: use wider replicas, quicker accelerators "
            f"or {other}"
        )
    return f"a request alone takes {format_quantity(shortest, 'duration')}: use more replicas, or a lower load"


def more(served: Served, binding: Sequence[Bottleneck]) -> list[Finding]:
    """How much of what is drawn the load uses, and what one more of it would bring."""
    placement, replicas = served.placement, served.equal_replicas
    most, asked = served.most[0] * replicas, asked_rate(served)
    one = served.most[0] / (len(placement.replicas) if served.together else 1)
    if not asked or served.saturated:
        return []
    pieces = [
        f"{numbers.shown(asked, '1/s', 'requests')} are asked of the {numbers.shown(most, '1/s', 'requests')} "
        "that can be answered"
    ]
    if served.prompts is None and placement.each == 1:
        devices = placement.split.devices
        gpus = f"{devices} × {placement.device.name}" if devices > 1 else f"one {placement.device.name}"
        pieces.append(f"one more replica ({gpus}) adds {numbers.shown(one, '1/s', 'requests')}")
    elif served.short:
        pieces.append(f"what ends first is {served.short}")
    for phase in phases(served):
        mine = [b for b in binding if b.why.startswith(f"{phase.name}:") and b.gain_if_doubled]
        if mine:
            best = max(mine, key=lambda b: b.gain_if_doubled or 0.0)
            pieces.append(
                f"{phase.name} {numbers.gain(best.gain_if_doubled or 1.0)} with twice the speed of {best.label}"
            )
    advice = "replicas take more requests; wider replicas and quicker accelerators shorten answers"
    return [Finding("SERVE-MORE", Severity.INFO, "; ".join(pieces), (), advice)]


def drafting(served: Served, running: float) -> list[Finding]:
    """Up to how many requests at once drafts pay, and whether they do where so many decode at once."""
    placement = served.placement
    drafted = placement.timed
    if not isinstance(drafted, Drafted):
        return []
    context, fits = _fitting(served)
    most = pays_until(placement.steps, drafted, context, fits)
    now = gain(placement.steps, drafted, max(1, round(running)), context)
    if most >= fits:
        until = f"as many requests as fit, {fits:,} a replica"
    else:
        until = f"{most:,} requests at once in a replica" if most else "no number of requests"
    text = (
        f"drafting {drafted.drafts} token{'s' * (drafted.drafts > 1)} pays up to {until}; with the "
        f"{max(1, round(running)):,} that decode at once a token comes {now:.2f} times as fast as without"
    )
    if now < 1:
        return [Finding("SERVE-DRAFTS", Severity.WARNING, text, (), "draft fewer tokens or none at this load")]
    return [Finding("SERVE-DRAFTS", Severity.INFO, text, (), "draft where fewer requests decode at once than that")]


def _fitting(served: Served) -> tuple[float, int]:
    """Mean tokens of a request while it is answered, and how many such requests fit in a replica."""
    requests, placement = served.sent.requests, served.placement
    context = float(np.mean(requests.prompt)) + float(np.mean(requests.output)) / 2
    return context, max(1, min(placement.scheduling.slots, int(placement.capacity / context)))


def gains(served: Served) -> tuple[Curve, ...]:
    """How many times as fast tokens come with drafts, by requests at once; below 1 they are slower."""
    drafted = served.placement.timed
    assert isinstance(drafted, Drafted)
    context, fits = _fitting(served)
    at = sorted({*(2**k for k in range(fits.bit_length())), fits})
    gained = tuple(gain(served.placement.steps, drafted, many, context) for many in at)
    x = tuple(float(many) for many in at)
    return Curve("with drafts", x, gained), Curve("without", x, (1.0,) * len(x))


# Replicas that follow the load: started when more comes, stopped when less does, ready after their cold start.


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


def ready_of(fleet: Fleet) -> Callable[[float], Sequence[int]]:
    """The replicas that take requests at a time [s]."""
    edges = sorted({*fleet.ready, *(stop for stop in fleet.stopped if math.isfinite(stop))})
    pairs = list(zip(fleet.ready, fleet.stopped, strict=True))
    known = [[k for k, (ready, stop) in enumerate(pairs) if ready <= edge < stop] for edge in edges]
    return lambda now: known[bisect_right(edges, now) - 1]


def sent_among(at: Sequence[float], fleet: Fleet) -> list[int]:
    """The replica of each request: those that are ready take turns."""
    ready = ready_of(fleet)
    known = [ready(now) for now in at]
    return [each[turn % len(each)] for turn, each in enumerate(known)]


def routed(sent: Sent, fleet: Fleet, room: int, how: str) -> tuple[Requests, list[int]]:
    """Requests with what is found in the cache of the replica that each goes to, and that replica.

    Parameters
    ----------
    room
        Tokens that fit in the cache of a replica; one that is started has an empty cache.
    """
    requests = sent.requests
    if not sent.blocks:
        return requests, sent_among(requests.at, fleet)
    which, found = route(
        sent.blocks,
        sent.block,
        requests.prompt,
        requests.at,
        len(fleet.ready),
        room,
        how,
        ready=ready_of(fleet),
    )
    return replace(requests, cached=found), which


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

    def mean(self, end: float) -> float:
        """Replicas that are paid for in the mean until a time [1]; 0 before anything was sent."""
        return follow(self._at, self.able, self.start, 1, self.most).seconds(end) / end if self._at else 0.0

    def routed(self, sent: Sent, room: int, how: str) -> tuple[Requests, list[int]]:
        """All requests of a trace with what is found in caches of `room` tokens, and the drawn replica of each."""
        fleet = follow(sent.requests.at, self.able, self.start, 1, self.most)
        requests, which = routed(sent, fleet, room, how)
        places = places_of(fleet)
        return requests, [places[k] for k in which]


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
    fleet = follow(sent.requests.at, able, start, 1, drawn)
    requests, which = routed(sent, fleet, placement.capacity, load.routing)

    def run(factor: float) -> RequestLog:
        log = RequestLog()
        for k in range(len(fleet.started)):
            mine = of_replica(requests, which, k)
            if mine.prompt:
                log.parts.append((settled(one, mine, factor, cancelled), 0))
        return log

    runs = tuple(run(factor).run for factor in factors_of_runs(served))
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
        f"{fleet.most()} replica{'s' * (fleet.most() > 1)} at most and {paid / end:.3g} in the mean follow the load: "
        f"{hours:,.0f} accelerator hours a day instead of {whole:,.0f}; a replica is ready "
        f"{format_quantity(start, 'duration')} after its start"
    )
    finding = Finding("SERVE-SCALED", Severity.INFO, text, (), "set scaling off to run all replicas all the time")
    served = joined(served, requests, runs, paid / end)
    return replace(served, serving=replace(asked, load=load)), found, (finding,)


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
