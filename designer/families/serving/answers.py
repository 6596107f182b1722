"""Runs of a placed deployment under its load, and the most that it can answer."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Final, Protocol

import numpy as np

from designer.engine.transfers import TransferAnswer
from designer.errors import AnalysisError
from designer.families.serving.closed_form import filled, operated
from designer.families.serving.deployment import Load, Serving
from designer.families.serving.engine_state import Requests, Steps
from designer.families.serving.formulas.layers import prefill_area
from designer.families.serving.load import Sent, offered
from designer.families.serving.placement import Placement
from designer.families.serving.records import ServingRun
from designer.families.serving.request_log import RequestLog
from designer.families.serving.scheduler import run_requests
from designer.families.serving.spreads import JITTER, step_spread
from designer.families.serving.tiers import Tier, sent_from, stored
from designer.findings import Finding, Severity
from designer.memo import Interned
from designer.sources import Constant, Status
from designer.units import format_quantity

#: what can end first in a split deployment
READING, ANSWERING, HANDING_OVER = "reading prompts", "answering", "handing over keys and values"
#: generations of requests in a run that finds what an engine can take, and most requests of one
_GENERATIONS_LIMIT: Final = 5
_PROBE_LIMIT: Final = 4000
_PROBE_LEAST_LIMIT: Final = 300
#: runs until those that take turns on a device are as busy as the one looked at
_SETTLING_ROUNDS: Final = 5
#: from here on a mean number is stated without what is behind its point
_WHOLE_LIMIT: Final = 10
#: with fewer requests at once than this, steps read all weights for little, and a wider replica answers more
CROWDED: Final = Constant(16.0, 8.0, 32.0, "assumed-serving", Status.ASSUMED, "1")
SOURCES: Final = ("fit-serving", "aic-kernels", "blis")


class Scaled:
    """Steps that all take a factor longer, and none less time than `least` has it take."""

    def __init__(self, steps: Steps, factor: float, least: Steps | None = None) -> None:
        self._steps, self._factor, self._least = steps, factor, least

    def decode(self, requests: int) -> float:
        """Time of a decoding step of so many requests, without their contexts [s]."""
        time = self._factor * self._steps.decode(requests)
        return time if self._least is None else max(time, self._least.decode(requests))

    def context(self) -> float:
        """Time a decoding step takes for each token of context it reads [s]."""
        time = self._factor * self._steps.context()
        return time if self._least is None else max(time, self._least.context())

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        """Time of a step with so many tokens of prompts next to requests that decode [s]."""
        time = self._factor * self._steps.step(tokens, area, finishing, requests, context)
        return time if self._least is None else max(time, self._least.step(tokens, area, finishing, requests, context))

    def uneven(self, full: int, tokens: int) -> float:
        """What experts take less than if all groups were as full as the fullest [s]."""
        return self._factor * self._steps.uneven(full, tokens)


class HandedOver(Protocol):
    """Hand-over of keys and values: bytes of a device [B], use of the path, time of the bytes and of all of one [s]."""

    @property
    def size(self) -> float: ...
    @property
    def use(self) -> float: ...
    @property
    def moving(self) -> float: ...
    @property
    def time(self) -> float: ...
    @property
    def together(self) -> TransferAnswer: ...


@dataclass(frozen=True, slots=True, eq=False)
class Served:
    """A deployment under a load.

    Parameters
    ----------
    runs
        Of one replica: as estimated, all steps faster, all slower by the 80 % band. Without those where the load
        is above what it can take.
    most
        Requests a second that `equal_replicas` replicas can answer each at all, with the band [1/s].
    prompts, pull, short
        Of a split deployment: engines that read prompts, the hand-over from them, and which of all ends first.
    """

    placement: Placement
    serving: Serving
    sent: Sent
    runs: tuple[ServingRun, ...]
    most: tuple[float, float, float]
    spread: float
    findings: tuple[Finding, ...]
    prompts: Placement | None = None
    pull: HandedOver | None = None
    equal_replicas: int = 1
    tier: Tier | None = None
    short: str = ""
    #: of a split deployment what ends next can answer so many times as much [1]
    room: float = 1.0
    #: replicas in the mean whose runs are together in `runs`; 0 where those are of one
    together: float = 0.0
    #: the same where equal answers end a few tokens apart, if clients that are in step ask for equal ones
    apart: ServingRun | None = None

    @property
    def saturated(self) -> bool:
        """True if more is asked than can be answered."""
        return not self.runs


def fastest(placement: Placement) -> float:
    """Least factor on step times that leaves every step no faster than its data sheet allows [1]."""
    steps = placement.steps
    ideal = steps.ideal()
    budget = placement.scheduling.budget
    many = max(1, min(placement.scheduling.slots, placement.capacity // budget))
    full = max(0.0, float(placement.capacity - many))

    def loads(one: Steps) -> tuple[float, ...]:
        prompts = one.step(budget, budget * budget / 2, 1, 0, 0.0)
        return one.decode(1), one.decode(many) + one.context() * full, prompts

    return max(least / time for least, time in zip(loads(ideal), loads(steps), strict=True))


def factors_of(placement: Placement, spread: float) -> tuple[float, float]:
    """The band of step times: factors of the fast and of the slow end [1]."""
    return max(math.exp(-spread), min(1.0, fastest(placement))), math.exp(spread)


def serve(
    placement: Placement, asked: Serving, cancelled: Callable[[], bool] | None = None, *, banded: bool = True
) -> Served:
    """A load on a placed deployment.

    Raises
    ------
    AnalysisError
        If a trace cannot be read, or no request fits.
    """
    replicas, drawn = len(placement.replicas), placement
    placement, sent, tier, fetching = stored(drawn, asked)
    requests = sent.requests
    if asked.load.reuse and requests.cached:
        # what was found holds for other loads on the same caches as well
        share = sum(requests.cached) / sum(requests.prompt)
        asked = replace(asked, load=replace(asked.load, prefix=share, reuse=""))
    longest = max(p + o for p, o in zip(requests.prompt, requests.output, strict=True))
    _some_fit(placement, requests)
    placement, chosen = operating(placement, asked, requests, cancelled)
    drawn = replace(drawn, scheduling=placement.scheduling)
    findings: list[Finding] = [*sampled(sent.notes), *fetching, *chosen]
    findings += too_long(placement, longest)
    if longest > placement.each_holds:
        text = f"requests of more than {placement.each_holds:,} tokens are refused: their keys and values do not fit"
        findings.append(Finding("SERVE-REFUSED", Severity.WARNING, text, (), "give a replica more memory"))
    spread = step_spread(placement)
    factors = (1.0, math.exp(-spread), math.exp(spread)) if banded else (1.0,)
    most = most_of(placement, requests, spread, cancelled)
    open_loop = not requests.clients and asked.load.kind != "offline"
    rate = offered(asked.load, requests, replicas)
    if open_loop and rate > most[0]:
        more = enough(rate * replicas, most[0], placement)
        together = at_once(placement, requests)
        slots, groups = placement.scheduling.slots, placement.split.data
        if slots < min(CROWDED.value, together):
            one = "an attention group" if groups > 1 else "an engine"
            more += f", or let {one} take more than {slots // groups} at once"
        elif together < CROWDED.value:
            more += f"; wider replicas have more room: keys and values of {counted(together)} requests fit in one"
        findings.append(saturated(rate * replicas, most[0] * replicas, "the replicas together", more))
        return Served(placement, asked, sent, (), most, spread, tuple(findings), equal_replicas=replicas, tier=tier)
    load = filled(asked.load, placement, requests, replicas)
    if load is not asked.load:
        asked = replace(asked, load=load)
        placement, sent, tier, _ = stored(drawn, asked)
        requests = sent.requests
    runs = tuple(
        settled(placement, requests, factor, cancelled)
        for factor, end in zip(factors, most, strict=False)
        # a band that reaches beyond what the engine can take has no upper end there
        if not open_loop or rate <= end
    )
    if open_loop and banded and len(runs) < len(factors):
        text = f"at the slow end of the band the replicas answer {most[2] * replicas:.3g} requests a second only"
        findings.append(Finding("SERVE-NEAR", Severity.WARNING, text, (), "leave more room than the band is wide"))
    apart = settled(placement, jittered(requests), 1.0, cancelled) if banded and in_step(asked.load) else None
    served = Served(
        placement, asked, sent, runs, most, spread, tuple(findings), equal_replicas=replicas, tier=tier, apart=apart
    )
    differ = asked.load.kind == "trace" and replicas > 1 and not asked.scaling
    return _all_of_trace(served, cancelled) if differ else served


def _all_of_trace(served: Served, cancelled: Callable[[], bool] | None) -> Served:
    """The same with the runs of all replicas: those that a trace is distributed to differ."""
    placement, load = served.placement, served.serving.load
    others = [sent_from(load, placement, k, served.tier).requests for k in range(1, len(placement.replicas))]
    asked = [served.sent.requests, *(one for one in others if one.prompt)]
    factors = factors_of_runs(served)
    logs = [RequestLog(parts=[(run, 0)]) for run in served.runs]
    for log, factor in zip(logs, factors, strict=True):
        log.parts += [(settled(placement, one, factor, cancelled), 0) for one in asked[1:]]
    return joined(served, joined_requests(asked), tuple(log.run for log in logs), float(len(placement.replicas)))


def factors_of_runs(served: Served) -> tuple[float, ...]:
    """How much longer steps take in each of the runs [1]."""
    return (1.0, math.exp(-served.spread), math.exp(served.spread))[: len(served.runs)]


def joined_requests(parts: Sequence[Requests]) -> Requests:
    """Requests that arrive at several replicas, in their order."""
    at = [t for one in parts for t in one.at]
    order = sorted(range(len(at)), key=at.__getitem__)

    def column(name: str) -> list[int]:
        values = [value for one in parts for value in getattr(one, name)]
        return [values[k] for k in order] if values else []

    cached = column("cached") if all(one.cached for one in parts) else ()
    fetched = column("fetched") if all(one.fetched for one in parts) else ()
    return Requests(column("prompt"), column("output"), [at[k] for k in order], cached=cached, fetched=fetched)


def joined(served: Served, requests: Requests, runs: tuple[ServingRun, ...], together: float) -> Served:
    """The same with runs of so many replicas in the mean, each as one."""
    high, low = (x * len(served.placement.replicas) for x in served.most[1:])
    most = served.most[0] * len(served.placement.replicas), high, low
    sent = replace(served.sent, requests=requests, first=0)
    return replace(served, sent=sent, runs=runs, most=most, equal_replicas=1, together=together)


def operating(
    placement: Placement, asked: Serving, requests: Requests, cancelled: Callable[[], bool] | None = None
) -> tuple[Placement, tuple[Finding, ...]]:
    """A placement as a good operator sets it up for a load, and what was chosen for it."""
    rate = offered(asked.load, requests, len(placement.replicas))
    arrives = not requests.clients and asked.load.kind != "offline"

    def keeps_up(one: Placement) -> bool:
        return not arrives or rate <= most_of(one, requests, step_spread(one), cancelled)[0]

    prompt, output = float(np.mean(requests.prompt)), float(np.mean(requests.output))
    return operated(placement, asked, prompt, output, keeps_up)


def _some_fit(placement: Placement, requests: Requests) -> None:
    """Refuse requests of which none has room."""
    shortest = min(p + o for p, o in zip(requests.prompt, requests.output, strict=True))
    if shortest > placement.each_holds:
        one = "an attention group" if placement.split.data > 1 else "a replica"
        raise AnalysisError(
            f"keys and values of {placement.each_holds:,} tokens fit in {one}, the shortest request has {shortest:,}",
            place=placement.place,
            remedy="use more devices for a replica, narrower formats, or shorter requests",
        )


def in_step(load: Load) -> bool:
    """True if all clients ask for equal answers, so that clients whose answers end together stay in step."""
    return load.kind == "clients" and load.clients > 1 and not load.lengths and load.spread == 0


def jittered(requests: Requests) -> Requests:
    """Requests whose answers end a few tokens apart."""
    draw = random.Random(len(requests.output))
    output = [max(1, n - int(abs(draw.gauss(0.0, JITTER.value)))) for n in requests.output]
    return replace(requests, output=output)


def settled(
    placement: Placement, requests: Requests, factor: float, cancelled: Callable[[], bool] | None = None
) -> ServingRun:
    """A run whose steps take a factor longer, and in which those that take turns on a device are as busy as it is.

    No step is faster than its data sheet allows: prompts may be near their limit where decoding is far from its own.
    """
    if factor < 1:
        factor = factor if _bounded_each(placement) else max(factor, min(1.0, fastest(placement)))
    busy = 0.0
    run = _run(placement, requests, factor * placement.slowed(busy), cancelled)
    if placement.cut is None or placement.cut.turns < 2:
        return run
    for _ in range(_SETTLING_ROUNDS):
        # halfway to what was found: a run that slows others down is slowed down by them
        busy = (busy + run.busy) / 2
        run = _run(placement, requests, factor * placement.slowed(busy), cancelled)
    return run


def _run(placement: Placement, requests: Requests, factor: float, cancelled: Callable[[], bool] | None) -> ServingRun:
    least = placement.steps.ideal() if factor < 1 and _bounded_each(placement) else None
    steps = placement.timed if factor == 1 else Scaled(placement.timed, factor, least)
    how, capacity, path = placement.scheduling, placement.capacity, path_of(placement)
    asked = placement.deployment
    columns = (getattr(requests, one.name) for one in fields(requests))
    sent = tuple(tuple(x) if isinstance(x, Sequence) else x for x in columns)
    key = (placement.steps, asked.drafts, placement.curve, factor, least is None, how, capacity, path, sent)
    return _RUNS(key, lambda: run_requests(steps, requests, how, capacity, path, cancelled=cancelled))


#: runs of those asked last: limits that were checked with a load are not run again for its answer
_RUNS_LIMIT: Final = 4
_RUNS: Final = Interned[ServingRun](_RUNS_LIMIT)


def _bounded_each(placement: Placement) -> bool:
    """True if steps are those of the data sheet one by one: none that makes several tokens, or waits for its turn."""
    return not placement.deployment.drafts and (placement.cut is None or placement.cut.turns < 2)


def path_of(placement: Placement) -> float:
    """A request's way to the queue, keys and values from beyond the GPU fetched [s]."""
    return placement.release.overheads.path + placement.fetch


def most_of(
    placement: Placement, requests: Requests, spread: float, cancelled: Callable[[], bool] | None
) -> tuple[float, float, float]:
    """Requests a second of one replica that never runs dry, and the same with faster and slower steps [1/s].

    Raises
    ------
    AnalysisError
        If no request fits.
    """
    _some_fit(placement, requests)
    fitting = [
        (p, o, c)
        for p, o, c in zip(requests.prompt, requests.output, requests.cached or [0] * len(requests.prompt), strict=True)
        if p + o <= placement.each_holds
    ]
    each = sum(p + o / 2 for p, o, _ in fitting) / len(fitting)
    together = max(1, min(placement.scheduling.slots, int(placement.capacity / each)))
    count = max(_PROBE_LEAST_LIMIT, min(_PROBE_LIMIT, _GENERATIONS_LIMIT * together))
    slowed = placement.slowed(1.0)
    asked = placement.deployment
    drafting = asked.drafts, placement.curve, placement.draft_steps
    engine = placement.scheduling, placement.capacity, path_of(placement), slowed, *drafting
    rate = _PROBED(
        (placement.steps, engine, tuple(fitting[:count]), count),
        lambda: _probe_rate(placement, fitting, count, slowed, together, cancelled),
    )
    fast, slow = factors_of(placement, spread)
    return rate, rate / fast, rate / slow


#: what engines can take, of those asked last: the same at every rate
_PROBED_LIMIT: Final = 32
_PROBED: Final = Interned[float](_PROBED_LIMIT)


def _probe_rate(
    placement: Placement,
    fitting: Sequence[tuple[int, int, int]],
    count: int,
    slowed: float,
    together: int,
    cancelled: Callable[[], bool] | None,
) -> float:
    """Requests a second of an engine at which so many wait at once, of which so many run together [1/s].

    Notes
    -----
    Answers of equal length end in waves, and engines that read prompts first end many at once, so that what is
    answered between two moments says little. What is done of all requests by then grows evenly.
    """
    taken = [fitting[k % len(fitting)] for k in range(count)]
    probe = Requests([p for p, _, _ in taken], [o for _, o, _ in taken], [0.0] * count, cached=[c for _, _, c in taken])
    # how tokens are sent changes nothing of what is answered
    # nor are groups of attention uneven where so many wait
    plain = replace(placement, scheduling=replace(placement.scheduling, stream_interval=1, groups=1))
    run = _run(plain, probe, slowed, cancelled)
    share = _prompt_share(placement, fitting, together)
    taken_at, first, done = (at[run.served] for at in (run.taken, run.first, run.done))

    def progress(at: float) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            prompts = np.where(first > taken_at, np.clip((at - taken_at) / (first - taken_at), 0, 1), at >= first)
            answers = np.where(done > first, np.clip((at - first) / (done - first), 0, 1), at >= done)
        return float((share * prompts + (1 - share) * answers).sum())

    # from when the first ones have come to decoding until the last one has
    begin = float(np.sort(first)[min(together, count // (_GENERATIONS_LIMIT - 1)) - 1])
    end = float(first.max())
    return (progress(end) - progress(begin)) / (end - begin) if end > begin else len(done) / run.end


def _prompt_share(placement: Placement, fitting: Sequence[tuple[int, int, int]], together: int) -> float:
    """Share of a request's work that its prompt makes, where so many are answered at once [1]."""
    steps, how = placement.steps, placement.scheduling
    prompt, output, cached = (float(column.mean()) for column in np.array(fitting, dtype=np.float64).T)
    new = max(1.0, prompt - cached)
    tokens = int(min(how.budget, new * together))
    whole = tokens if new >= tokens else new
    area = tokens / whole * prefill_area(round(whole), cached)
    step = steps.step(tokens, area, max(1, int(tokens / new)), 0, 0.0) - (steps.decode(1) if how.mixed else 0.0)
    reading = max(0.0, step) * new / tokens
    context = steps.context() * together * (prompt + output / 2)
    answering = (output - 1) * (steps.decode(together) + context) / together
    return reading / (reading + answering) if reading + answering > 0 else 1.0


def asked_rate(served: Served) -> float:
    """Requests a second that are sent to the whole deployment [1/s]; 0 where they have no times of their own."""
    return offered(served.serving.load, served.sent.requests, served.equal_replicas) * served.equal_replicas


def at_once(placement: Placement, requests: Requests) -> float:
    """How many requests fit in the cache of a replica together, in the mean of their lives."""
    return placement.capacity / (float(np.mean(requests.prompt)) + float(np.mean(requests.output)) / 2)


def counted(requests: float) -> str:
    """A mean number of requests in words."""
    return f"{requests:,.0f}" if requests >= _WHOLE_LIMIT else f"{requests:.2g}"


def enough(rate: float, each: float, placement: Placement) -> str:
    """In words, how many replicas take a rate of which one takes so much [1/s]."""
    count = math.ceil(rate / each)
    return f"give it {count:,} replicas ({count * placement.split.devices:,} accelerators) or more"


def saturated(rate: float, most: float, what: str, more: str) -> Finding:
    """A load above what can be answered [1/s]; `more` says how much more it takes."""
    text = (
        f"{format_quantity(rate, 'frequency')} of requests arrive, {what} can take "
        f"{format_quantity(most, 'frequency')} at most: "
        "above that queues would grow without limit, so no latency is given"
    )
    remedy = f"ask for less than {most:.3g} requests a second, or {more}"
    return Finding("SERVE-SATURATED", Severity.ERROR, text, (), remedy)


def too_long(placement: Placement, longest: int) -> list[Finding]:
    """Requests beyond what the model was made for; engines refuse them unless they are asked to stretch it."""
    shape = placement.shape
    if not shape.context or longest <= shape.context:
        return []
    text = f"the longest request has {longest:,} tokens, {shape.name} was made for {shape.context:,}"
    remedy = "send shorter requests, or choose a model made for so many; times are those of an engine that takes them"
    return [Finding("SERVE-CONTEXT", Severity.WARNING, text, (), remedy)]


def sampled(notes: tuple[str, ...]) -> tuple[Finding, ...]:
    """What was done to the requests of a file."""
    remedy = "look at the file if that was not meant"
    return tuple(Finding("SERVE-TRACE", Severity.INFO, note, (), remedy) for note in notes)
