"""What is read off runs of a placed deployment: percentiles with their errors, rates, memory, power, what binds."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Protocol

import numpy as np

from designer.analysis.serving.load import Sent, offered
from designer.analysis.serving.placement import Placement
from designer.analysis.serving.readings import SHARES, quantiles, read, throughput, window, within
from designer.analysis.serving.records import ServingRun
from designer.analysis.serving.scheduler import Requests, Steps, run_requests
from designer.analysis.serving.spreads import JITTER, first_extra, held_back, step_spread
from designer.analysis.serving.tiers import Tier, stored
from designer.analysis.transfers import TransferAnswer
from designer.errors import AnalysisError
from designer.findings import Finding, Severity
from designer.formulas.serving.attention_prefill import prefill_area
from designer.formulas.serving.memory_capacity import OTHER, OTHER_ALONE
from designer.formulas.serving.power import serving_power
from designer.formulas.serving.speculation import accepted
from designer.memo import Alike
from designer.sources import Constant, Estimate, Status
from designer.units import Ratio, Seconds, format_quantity
from designer.workload.metrics import METRICS
from designer.workload.serving import Load, Serving

#: a band is of 80 %: so many standard deviations either way
EIGHTY: Final = Constant(1.2816, 1.2816, 1.2816, "counted-serving", Status.PRIMARY, "1", "of a normal distribution")
#: an engine this close to what it can take has no steady queue within any run
_FULL_TOLERANCE: Final = 0.99
#: what can end first in a split deployment
READING, ANSWERING, HANDING_OVER = "reading prompts", "answering", "handing over keys and values"
#: generations of requests in a run that finds what an engine can take, and most requests of one
_GENERATIONS_LIMIT: Final = 5
_PROBE_LIMIT: Final = 4000
_PROBE_LEAST_LIMIT: Final = 300
#: runs until those that take turns on a device are as busy as the one looked at
_SETTLING_ROUNDS: Final = 5
_MILLION_LIMIT: Final = 10**6
#: from here on a mean number is told without what is behind its point
_WHOLE_LIMIT: Final = 10
#: with fewer requests at once than this, steps read all weights for little, and a wider replica answers more
CROWDED: Final = Constant(16.0, 8.0, 32.0, "assumed-serving", Status.ASSUMED, "1")
SOURCES: Final = ("fit-serving", "aic-kernels", "blis")


class Scaled:
    """Steps that all take a factor longer."""

    def __init__(self, steps: Steps, factor: float) -> None:
        self._steps, self._factor = steps, factor

    def decode(self, requests: int) -> float:
        """Time of a decoding step of so many requests, without their contexts [s]."""
        return self._factor * self._steps.decode(requests)

    def context(self) -> float:
        """Time a decoding step takes for each token of context it reads [s]."""
        return self._factor * self._steps.context()

    def step(self, tokens: int, area: float, finishing: int, requests: int, context: float) -> float:
        """Time of a step with so many tokens of prompts beside requests that decode [s]."""
        return self._factor * self._steps.step(tokens, area, finishing, requests, context)


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
        Requests a second that `stands` replicas alike can answer each at all, with the band [1/s].
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
    stands: int = 1
    tier: Tier | None = None
    short: str = ""
    #: of a split deployment what ends next can answer so many times as much [1]
    room: float = 1.0
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
    replicas = len(placement.replicas)
    placement, sent, tier, fetching = stored(placement, asked)
    requests = sent.requests
    if asked.load.reuse and requests.cached:
        # what was found holds for other loads on the same caches as well
        share = sum(requests.cached) / sum(requests.prompt)
        asked = replace(asked, load=replace(asked.load, prefix=share, reuse=""))
    longest = max(p + o for p, o in zip(requests.prompt, requests.output, strict=True))
    _some_fit(placement, requests)
    findings: list[Finding] = [*sampled(sent.notes), *fetching]
    findings += too_long(placement, longest)
    if longest > placement.capacity:
        text = f"requests of more than {placement.capacity:,} tokens are refused: their keys and values do not fit"
        findings.append(Finding("SERVE-REFUSED", Severity.WARNING, text, (), "give a replica more memory"))
    spread = step_spread(placement)
    factors = (1.0, *factors_of(placement, spread)) if banded else (1.0,)
    most = most_of(placement, requests, spread, cancelled)
    open_loop = not requests.clients and asked.load.kind != "offline"
    rate = offered(asked.load, requests, replicas)
    if open_loop and rate > _FULL_TOLERANCE * most[0]:
        more = enough(rate * replicas, most[0], placement)
        together = at_once(placement, requests)
        slots = placement.scheduling.slots
        if slots < min(CROWDED.value, together):
            more += f", or let an engine take more than {slots} at once"
        elif together < CROWDED.value:
            more += f"; wider replicas have more room: keys and values of {counted(together)} requests fit in one"
        findings.append(saturated(rate * replicas, most[0] * replicas, "the replicas together", more))
        return Served(placement, asked, sent, (), most, spread, tuple(findings), stands=replicas, tier=tier)
    runs = tuple(
        settled(placement, requests, factor, cancelled)
        for factor, end in zip(factors, most, strict=False)
        # a band that reaches beyond what the engine can take has no upper end there
        if not open_loop or rate <= _FULL_TOLERANCE * end
    )
    if open_loop and banded and len(runs) < len(factors):
        text = f"at the slow end of the band the replicas answer {most[2] * replicas:.3g} requests a second only"
        findings.append(Finding("SERVE-NEAR", Severity.WARNING, text, (), "leave more room than the band is wide"))
    apart = settled(placement, jittered(requests), 1.0, cancelled) if banded and in_step(asked.load) else None
    return Served(placement, asked, sent, runs, most, spread, tuple(findings), stands=replicas, tier=tier, apart=apart)


def _some_fit(placement: Placement, requests: Requests) -> None:
    """Refuse requests of which none has room."""
    shortest = min(p + o for p, o in zip(requests.prompt, requests.output, strict=True))
    if shortest > placement.capacity:
        raise AnalysisError(
            f"keys and values of {placement.capacity:,} tokens fit in a replica, the shortest request has {shortest:,}",
            place=placement.place,
            remedy="use more devices for a replica, narrower formats, or shorter requests",
        )


def in_step(load: Load) -> bool:
    """True if all clients ask for equal answers, so that they stay in step with each other if these end alike."""
    return load.kind == "clients" and load.clients > 1 and not load.lengths and load.spread == 0


def jittered(requests: Requests) -> Requests:
    """Requests whose answers end a few tokens apart."""
    draw = random.Random(len(requests.output))
    output = [max(1, n - int(abs(draw.gauss(0.0, JITTER.value)))) for n in requests.output]
    return replace(requests, output=output)


def settled(
    placement: Placement, requests: Requests, factor: float, cancelled: Callable[[], bool] | None = None
) -> ServingRun:
    """A run in which those that take turns on a device are as busy as this one is."""
    busy = 0.0
    run = _run(placement, requests, factor * placement.slowed(busy), cancelled)
    if placement.cut is None or placement.cut.turns < 2:
        return run
    for _ in range(_SETTLING_ROUNDS):
        turns = run.turns
        length = float((turns[:, 3] * turns[:, 1] + turns[:, 2] * turns[:, 3] * (turns[:, 3] - 1) / 2).sum())
        # halfway to what was found: a run that slows others down is slowed down by them
        busy = (busy + min(1.0, length / run.end)) / 2
        run = _run(placement, requests, factor * placement.slowed(busy), cancelled)
    return run


def _run(placement: Placement, requests: Requests, factor: float, cancelled: Callable[[], bool] | None) -> ServingRun:
    steps = placement.timed if factor == 1 else Scaled(placement.timed, factor)
    path = path_of(placement)
    return run_requests(steps, requests, placement.scheduling, placement.capacity, path, cancelled=cancelled)


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
        if p + o <= placement.capacity
    ]
    each = sum(p + o / 2 for p, o, _ in fitting) / len(fitting)
    together = max(1, min(placement.scheduling.slots, int(placement.capacity / each)))
    count = max(_PROBE_LEAST_LIMIT, min(_PROBE_LIMIT, _GENERATIONS_LIMIT * together))
    slowed = placement.slowed(1.0)
    asked = placement.deployment
    engine = placement.scheduling, placement.capacity, path_of(placement), slowed, asked.drafts, placement.curve
    rate = _PROBED(
        (placement.steps, engine, tuple(fitting[:count]), count),
        lambda: _probed(placement, fitting, count, slowed, together, cancelled),
    )
    fast, slow = factors_of(placement, spread)
    return rate, rate / fast, rate / slow


#: what engines can take, of those asked last: the same at every rate
_PROBED_LIMIT: Final = 32
_PROBED: Final = Alike[float](_PROBED_LIMIT)


def _probed(
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
    plain = replace(placement, scheduling=replace(placement.scheduling, stream_interval=1))
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
    return offered(served.serving.load, served.sent.requests, served.stands) * served.stands


def at_once(placement: Placement, requests: Requests) -> float:
    """How many requests fit in the cache of a replica together, in the mean of their lives."""
    return placement.capacity / (float(np.mean(requests.prompt)) + float(np.mean(requests.output)) / 2)


def counted(requests: float) -> str:
    """A mean number of requests in words."""
    return f"{requests:,.0f}" if requests >= _WHOLE_LIMIT else f"{requests:.2g}"


def enough(rate: float, each: float, placement: Placement) -> str:
    """In words, how many replicas take a rate of which one takes so much [1/s]."""
    count = math.ceil(rate / each / _FULL_TOLERANCE)
    return f"give it {count:,} replicas ({count * placement.split.devices:,} accelerators) or more"


def saturated(rate: float, most: float, what: str, more: str) -> Finding:
    """A load above what can be answered [1/s]; `more` says how much more it takes."""
    text = (
        f"{format_quantity(rate, 'frequency')} of requests arrive, {what} can take "
        f"{format_quantity(most, 'frequency')} at most: from there on queues grow for ever and no latency is told"
    )
    remedy = f"ask for less than {most:.3g} requests a second, or {more}"
    return Finding("SERVE-SATURATED", Severity.ERROR, text, (), remedy)


def too_long(placement: Placement, longest: int) -> list[Finding]:
    """Requests beyond what the model was made for; engines refuse them unless they are told to stretch it."""
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


def metrics(served: Served) -> Mapping[str, Estimate]:
    """All metrics with their bands."""
    placement, replicas = served.placement, len(served.placement.replicas)
    devices = placement.accelerators + (served.prompts.accelerators if served.prompts is not None else 0)
    note = (
        f"{placement.chosen.release.title}; {replicas} replicas of {placement.split.devices}, the slowest of them"
        if replicas > 1
        else placement.chosen.release.title
    )
    found: dict[str, Estimate] = {}
    value, high, low = (most * served.stands for most in served.most)
    found["most_requests_per_second"] = Estimate(value, low, high, "1/s", SOURCES, note)
    found["replicas"] = Estimate.exact(replicas, "1", (), "as placed")
    found["accelerators"] = Estimate.exact(devices, "1", (), "as placed")
    low, high = placement.capacity_band
    found["kv_capacity"] = Estimate(
        placement.capacity,
        min(low, placement.capacity),
        max(high, placement.capacity),
        "1",
        ("blis", "aic-config"),
        "tokens of a replica",
    )
    found["memory_per_gpu"] = _claimed(placement)
    if served.saturated:
        mean_out = float(np.mean(served.sent.requests.output))
        for name, factor in (("requests_per_second", 1.0), ("tokens_per_second", mean_out)):
            most = [x * served.stands * factor for x in served.most]
            found[name] = Estimate(most[0], most[2], most[1], "1/s", SOURCES, "saturated: what can be answered at all")
        return found
    found |= _timed(served, note)
    found |= _rates(served, note, devices)
    return found


def _claimed(placement: Placement) -> Estimate:
    """What an engine takes of an accelerator: its share, in which it counts what is beside weights or does not."""
    memory = placement.device.memory
    held = memory * placement.scheduling.memory_share
    beside = (OTHER if placement.split.devices > 1 else OTHER_ALONE).high
    low, high = max(placement.weights, held - beside), min(memory, held + beside)
    return Estimate(held, min(low, held), max(high, held), "B", ("blis", "aic-config"), "claimed at start")


def _least_first(served: Served) -> Mapping[str, float]:
    """Least times to the first token: of each prompt alone, at all of the data sheet [s]."""
    reading = served.prompts or served.placement
    requests = served.sent.requests
    cached = requests.cached or [0] * len(requests.prompt)
    ideal = reading.steps.ideal()

    def alone(new: float) -> float:
        return ideal.step(round(max(1.0, new)), new * new / 2, 1, 0, 0.0)

    new = np.array(requests.prompt, dtype=np.float64) - np.array(cached, dtype=np.float64)
    shares = [share.value for share in SHARES.values()]
    each = {f"ttft_{name}": alone(tokens) for name, tokens in zip(SHARES, quantiles(new, shares), strict=True)}
    return {"ttft": alone(float(new.mean())), **each}


def _timed(served: Served, note: str) -> Mapping[str, Estimate]:
    readings = [read(run, served.sent.first) for run in served.runs]
    base = readings[0]
    extra = first_extra(served.placement)
    least = _least_first(served)
    every = served.runs[0].stream_interval
    sources = (*SOURCES, "stream-intervals") if every > 1 else SOURCES
    note = f"{note}; messages of {every} tokens" if every > 1 else note
    placement = served.placement
    gained = accepted(placement.curve, placement.deployment.drafts) if placement.deployment.drafts else 1.0
    step = Seconds(base.values.get("tpot", 0.0) * gained)
    # nobody knows whether clients with equal requests stay in step: the band is that of either
    apart = read(served.apart, served.sent.first).values if served.apart is not None else base.values
    found: dict[str, Estimate] = {}
    for name, value in base.values.items():
        if name not in METRICS:
            continue
        others = [r.values[name] for r in readings]
        error = EIGHTY.value * base.errors[name] / value if value > 0 else 0.0
        beside = extra if name.startswith("ttft") else 0.0
        # tokens that are sent together come after no time at all, at one end of the band and not at the other
        sooner = math.log(value / min(others)) if min(others) > 0 else math.inf
        low = math.hypot(sooner, beside, error) if value > 0 else 0.0
        later = held_back(placement.release, Seconds(value), step, placement.deployment.stream_interval)
        late = later if name.startswith("ttft") else 0.0
        high = math.hypot(math.log(max(others) / value), beside, error, late) if value > 0 else 0.0
        slow_missing = len(readings) < 3 and served.runs[0].counts.turns > 0 and len(readings) > 1
        ends = sorted((value, apart.get(name, value)))
        top = max(*others, ends[1] * math.exp(max(high, 2 * served.spread if slow_missing else high)))
        bottom = min(value, max(ends[0] * math.exp(-low), least.get(name, 0.0)))
        found[name] = Estimate(value, bottom, top, "s", sources, note, {"sampling_error": base.errors[name]})
    return found


def _rates(served: Served, note: str, devices: int) -> Mapping[str, Estimate]:
    placement, replicas, run = served.placement, served.stands, served.runs[0]
    pairs = [throughput(one, served.sent.first) for one in served.runs]

    found = {
        "requests_per_second": Estimate.over([p[0] for p in pairs], "1/s", SOURCES, note).scaled(replicas),
        "tokens_per_second": Estimate.over([p[1] for p in pairs], "1/s", SOURCES, note).scaled(replicas),
    }
    begin, end = window(run, served.sent.first)
    turns = run.turns
    length = turns[:, 3] * turns[:, 1] + turns[:, 2] * turns[:, 3] * (turns[:, 3] - 1) / 2
    inside = (turns[:, 0] >= begin) & (turns[:, 0] <= end)
    share = length * inside
    whole = end - begin
    busy = min(1.0, float(share.sum()) / whole)
    running = float((share * turns[:, 4]).sum() / whole)
    waiting = float((share * turns[:, 6]).sum() / whole)
    found["requests_running"] = Estimate.relative(
        running,
        math.exp(-served.spread),
        math.exp(served.spread),
        "1",
        SOURCES,
        "that decode, of a replica",
    )
    found["requests_waiting"] = Estimate(waiting, 0.0, waiting * math.exp(2 * served.spread), "1", SOURCES)
    use = run.counts.kv_peak / max(1, placement.capacity)
    ends = [one.counts.kv_peak / max(1, placement.capacity) for one in served.runs]
    found["kv_use"] = Estimate(use, min(ends), min(1.0, max(ends)), "1", SOURCES, "most at any time")
    hits = served.sent.requests.cached
    if hits:
        part = sum(hits) / sum(served.sent.requests.prompt)
        found["prefix_hits"] = Estimate.exact(part, "1", SOURCES)
    if served.tier is not None:
        time, rates = served.tier.fetch, served.tier.path
        ends = [float((rates.rate / side).max()) for side in (rates.high, rates.low)]
        found["fetch_time"] = Estimate(time, time * min(1.0, ends[0]), time * max(1.0, ends[1]), "s", SOURCES)
    limits = served.serving.limits
    if limits.ttft or limits.tpot or limits.latency:
        shares = [within(one, served.sent.first, limits) for one in served.runs]
        good = [share * pair[0] for share, pair in zip(shares, pairs, strict=True)]
        found["goodput"] = Estimate.over(good, "1/s", SOURCES, note).scaled(replicas)
    if placement.device.power:
        found |= _power(served, found["tokens_per_second"].value, busy, devices)
    return found


def _power(served: Served, tokens: float, busy: float, devices: int) -> Mapping[str, Estimate]:
    placement, run = served.placement, served.runs[0]
    device, shape = placement.device, placement.shape
    length = run.turns[:, 3] * run.turns[:, 1]
    total = float(length.sum())
    steps_a_second = run.counts.steps / total
    context = float((run.turns[:, 5] * length).sum()) / total
    read_bytes = (placement.weights + context * placement.steps.kv.token / placement.split.data) * steps_a_second
    work = 2 * shape.active_parameters * (run.counts.tokens_in + run.counts.tokens_out) / total
    arithmetic = work / placement.split.devices / device.flops[device.runs_as(placement.steps.weights)]
    memory = Ratio(min(1.0, read_bytes / device.bandwidth))
    computing = Ratio(min(1.0, arithmetic))
    cut = placement.cut
    if cut is not None and cut.turns > 1:
        # those that take turns are one device's work together, however long each waits
        busy = min(1.0, busy * cut.turns / placement.slowed(busy))
        one = serving_power(device.power, Ratio(busy), memory, computing)
        alike = 1
    else:
        # parts of a device that hold no replica do not serve
        one, alike = (
            serving_power(device.power, Ratio(busy), memory, computing),
            placement.replicas.size / placement.accelerators,
        )
    watts = one * devices * alike
    found = {
        "power": Estimate(
            watts,
            watts * math.exp(-POWER_SPREAD.value),
            min(device.power * alike * devices, watts * math.exp(POWER_SPREAD.value)),
            "W",
            ("mlenergy-h100",),
            "accelerators alone",
        )
    }
    if tokens > 0:
        band = math.hypot(POWER_SPREAD.value, served.spread)
        each = watts / tokens
        found["energy_per_token"] = Estimate.relative(
            each, math.exp(-band), math.exp(band), "J", ("mlenergy-h100",), "accelerators alone"
        )
        million = _MILLION_LIMIT * each * float(np.mean(run.output[run.served]))
        found["energy_per_million_requests"] = Estimate.relative(
            million, math.exp(-band), math.exp(band), "J", ("mlenergy-h100",), "accelerators alone"
        )
    return found


POWER_SPREAD: Final = Constant(0.15, 0.12, 0.25, "mlenergy-h100", Status.DERIVED, "1", "p90 of the fit 15.8 %")
