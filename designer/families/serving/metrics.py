"""What is read off the runs of a served deployment: percentiles with their errors, rates, memory, power."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Final

import numpy as np

from designer.families.serving.answers import SOURCES, Served, asked_rate
from designer.families.serving.deployment import Serving
from designer.families.serving.formulas.memory import OTHER, OTHER_ALONE
from designer.families.serving.formulas.power import serving_power
from designer.families.serving.formulas.speculation import accepted
from designer.families.serving.images import ends_of
from designer.families.serving.placement import Placement
from designer.families.serving.readings import SHARES, percentiles, quantiles, read, throughput, window, within
from designer.families.serving.records import ServingRun
from designer.families.serving.request_log import RequestLog
from designer.families.serving.spreads import first_extra, held_back, other_model
from designer.sources import EIGHTY, Constant, Estimate, Status
from designer.units import Ratio, Seconds
from designer.workload.metrics import METRICS

POWER_SPREAD: Final = Constant(0.15, 0.12, 0.25, "mlenergy-h100", Status.DERIVED, "1", "p90 of the fit 15.8 %")


_MILLION_LIMIT: Final = 10**6


def metrics(served: Served) -> Mapping[str, Estimate]:
    """All metrics with their bands."""
    placement, replicas = served.placement, len(served.placement.replicas)
    devices = placement.accelerators + (served.prompts.accelerators if served.prompts is not None else 0)
    which = "all together" if served.together else "the slowest of them"
    note = (
        f"{placement.chosen.release.title}; {replicas} replicas of {placement.split.devices}, {which}"
        if replicas > 1
        else placement.chosen.release.title
    )
    found: dict[str, Estimate] = {}
    value, high, low = (most * served.equal_replicas for most in served.most)
    seeing = served.placement.release.overheads.seeing
    if seeing and served.prompts is None:
        # all replicas together read the images of so many requests
        less, more = ends_of(value / replicas * seeing)
        low, high = low / more, high / less
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
    found["memory_per_gpu"] = _claimed_share(placement)
    if served.saturated:
        mean_out = float(np.mean(served.sent.requests.output))
        for name, factor in (("requests_per_second", 1.0), ("tokens_per_second", mean_out)):
            most = [x * served.equal_replicas * factor for x in served.most]
            found[name] = Estimate(most[0], most[2], most[1], "1/s", SOURCES, "saturated: what can be answered at all")
        return found
    found |= _time_metrics(served, note)
    found |= _rates(served, note, devices)
    return found


def _claimed_share(placement: Placement) -> Estimate:
    """What an engine takes of an accelerator: its share, in which it counts what is next to weights or does not."""
    memory = placement.device.memory
    held = memory * placement.scheduling.memory_share
    other = (OTHER if placement.split.devices > 1 else OTHER_ALONE).high
    low, high = max(placement.weights, held - other), min(memory, held + other)
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


def _time_metrics(served: Served, note: str) -> Mapping[str, Estimate]:
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
    fitted = not other_model(placement.release, placement.shape, placement.deployment.weights)
    # nobody knows whether clients with equal requests stay in step: the band is that of either
    apart = read(served.apart, served.sent.first).values if served.apart is not None else base.values
    found: dict[str, Estimate] = {}
    for name, value in base.values.items():
        if name not in METRICS:
            continue
        others = [r.values[name] for r in readings]
        error = EIGHTY.value * base.errors[name] / value if value > 0 else 0.0
        other = extra if name.startswith("ttft") else 0.0
        # tokens that are sent together come after no time at all, at one end of the band and not at the other
        sooner = math.log(value / min(others)) if min(others) > 0 else math.inf
        low = math.hypot(sooner, other, error) if value > 0 else 0.0
        later = held_back(placement.release, Seconds(value), step, placement.deployment.stream_interval, fitted=fitted)
        late = later if name.startswith("ttft") else 0.0
        high = math.hypot(math.log(max(others) / value), other, error, late) if value > 0 else 0.0
        slow_missing = len(readings) < 3 and served.runs[0].counts.turns > 0 and len(readings) > 1
        seeing = (served.prompts or placement).release.overheads.seeing
        if seeing and value > 0 and name.startswith(("ttft", "latency")):
            ends = ends_of(seeing / value)
            low, high = math.hypot(low, math.log(ends[0])), math.hypot(high, math.log(ends[1]))
        ends = sorted((value, apart.get(name, value)))
        top = max(*others, ends[1] * math.exp(max(high, 2 * served.spread if slow_missing else high)))
        bottom = min(value, max(ends[0] * math.exp(-low), least.get(name, 0.0)))
        found[name] = Estimate(value, bottom, top, "s", sources, note, {"sampling_error": base.errors[name]})
    return found


def _rates(served: Served, note: str, devices: int) -> Mapping[str, Estimate]:
    placement, replicas, run = served.placement, served.equal_replicas, served.runs[0]
    arriving = served.serving.load.kind in ("rate", "trace")
    pairs = [throughput(one, served.sent.first, arriving=arriving) for one in served.runs]
    begin, end = window(run, served.sent.first)
    drawn = (len(run.sent) - 1 - served.sent.first) / (end - begin)
    if served.serving.load.kind == "rate" and drawn > 0 and not served.serving.load.profile:
        # requests drawn come a little faster or slower than was asked for; no more are answered than come
        asked = asked_rate(served) / replicas
        even = [min(asked / drawn, asked / requests) for requests, _ in pairs]
        pairs = [(requests * k, tokens * k) for k, (requests, tokens) in zip(even, pairs, strict=True)]
    least = served.most[2]
    if arriving and asked_rate(served) > least * replicas:
        # engines at the slow end of the band are not run: they answer what they can
        pairs.append((least, least * float(np.mean(served.sent.requests.output))))
    found = {
        "requests_per_second": Estimate.over([p[0] for p in pairs], "1/s", SOURCES, note).scaled(replicas),
        "tokens_per_second": Estimate.over([p[1] for p in pairs], "1/s", SOURCES, note).scaled(replicas),
    }
    turns, length = run.turns, run.lengths
    inside = (turns[:, 0] >= begin) & (turns[:, 0] <= end)
    share = length * inside
    whole = end - begin
    each = whole * (served.together or 1.0)
    busy = min(1.0, float(share.sum()) / each)
    running = float((share * turns[:, 4]).sum() / each)
    waiting = float((share * turns[:, 6]).sum() / each)
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
        good = [share * pair[0] for share, pair in zip(shares, pairs, strict=False)]
        found["goodput"] = Estimate.over(good, "1/s", SOURCES, note).scaled(replicas)
    if placement.device.power:
        found |= _power(served, found["tokens_per_second"].value, busy, devices)
    return found


def _power(served: Served, tokens: float, busy: float, devices: int) -> Mapping[str, Estimate]:
    run = served.runs[0]
    watts = power_of_run(served.placement, run, served.sent.first, busy, devices, served.together)
    found = {"power": watts}
    if tokens > 0:
        band = math.hypot(POWER_SPREAD.value, served.spread)
        each = watts.value / tokens
        million = _MILLION_LIMIT * each * float(np.mean(run.output[run.served]))
        for name, energy in (("energy_per_token", each), ("energy_per_million_requests", million)):
            found[name] = Estimate.relative(energy, math.exp(-band), math.exp(band), "J", watts.sources, watts.note)
    return found


def power_of_run(
    placement: Placement, run: ServingRun, first: int, busy: float, devices: int, together: float = 0.0
) -> Estimate:
    """What accelerators draw while requests are answered as in a run [W].

    Parameters
    ----------
    first
        The first request that counts.
    busy
        Share of the time a replica works [1].
    devices
        Accelerators of all replicas.
    together
        Replicas that run in the mean, where they follow the load; 0 for all.
    """
    device, shape = placement.device, placement.shape
    begin, end = window(run, first)
    steady = run.turns[(run.turns[:, 0] >= begin) & (run.turns[:, 0] <= end)]
    turns = steady if len(steady) else run.turns
    length = turns[:, 3] * turns[:, 1]
    total = float(length.sum())
    steps_a_second = float(turns[:, 3].sum()) / total
    context = float((turns[:, 5] * length).sum()) / total
    read_bytes = (placement.weights + context * placement.steps.kv.token / placement.split.data) * steps_a_second
    # tokens answered are counted turn by turn, those of prompts in proportion
    answered = float((turns[:, 3] * turns[:, 4]).sum()) / max(1.0, float((run.turns[:, 3] * run.turns[:, 4]).sum()))
    work = 2 * shape.active_parameters * (run.counts.tokens_in + run.counts.tokens_out) * answered / total
    arithmetic = work / placement.split.devices / device.flops[device.runs_as(placement.steps.weights)]
    memory = Ratio(min(1.0, read_bytes / device.bandwidth))
    computing = Ratio(min(1.0, arithmetic))
    cut = placement.cut
    if cut is not None and cut.turns > 1:
        # those that take turns are one device's work together, however long each waits
        busy = min(1.0, busy * cut.turns / placement.slowed(busy))
        equal = 1.0
    else:
        # parts of a device that hold no replica do not serve
        equal = placement.replicas.size / placement.accelerators
    one = serving_power(device.power, Ratio(busy), memory, computing)
    if together:
        # replicas that are not running draw nothing
        equal *= together / len(placement.replicas)
    watts = one * devices * equal
    return Estimate(
        watts,
        watts * math.exp(-POWER_SPREAD.value),
        min(device.power * equal * devices, watts * math.exp(POWER_SPREAD.value)),
        "W",
        ("mlenergy-h100",),
        "accelerators alone",
    )


def costs_of_run(
    asked: Serving, placement: Placement, devices: int, log: RequestLog, together: float = 0.0
) -> Mapping[str, Estimate]:
    """`money` of a day like what a log has; empty before any request was answered.

    Parameters
    ----------
    devices
        Accelerators that are paid for.
    together
        Replicas that run in the mean, where they follow the load; 0 for all.
    """
    rates = percentiles(log.run, log.first, arriving=log.arriving).values
    limits, run = asked.limits, log.run
    if "requests_per_second" not in rates or log.saturated:
        return {}
    good = within(run, log.first, limits) if limits.ttft or limits.tpot or limits.latency else 1.0
    found = {
        "ttft": Estimate.exact(rates["ttft"], "s"),
        "requests_per_second": Estimate.exact(good * rates["requests_per_second"], "1/s"),
        "accelerators": Estimate.exact(devices, "1"),
    }
    if together:
        hours = together * placement.split.devices * _HOURS.value
        found["accelerator_hours"] = Estimate.exact(hours, "1")
    if placement.device.power and len(run.turns):
        busy = min(1.0, float(run.lengths.sum()) / (run.end * (together or len(placement.replicas))))
        found["power"] = power_of_run(placement, run, log.first, busy, devices, together)
    return money(asked, found)


_HOURS: Final = Constant(24.0, 24.0, 24.0, "counted-serving", Status.PRIMARY, "1", "of a day")


_DAY: Final = Constant(86400.0, 86400.0, 86400.0, "counted-serving", Status.PRIMARY, "s")


_KWH: Final = Constant(3.6e6, 3.6e6, 3.6e6, "counted-serving", Status.PRIMARY, "J", "a kilowatt-hour")


def money(asked: Serving, found: Mapping[str, Estimate]) -> Mapping[str, Estimate]:
    """Cost of a day like the load, and requests answered within limits for one unit of the currency.

    Parameters
    ----------
    found
        The metrics of the deployment under its load; where replicas follow it, with the hours that are paid for.

    Notes
    -----
    Accelerators are paid for while they are started or run, all day where they do not follow the load, and for the
    energy that they draw meanwhile; where nothing says what they draw, the note says so. Sums have no unit: they are in
    the currency of the prices.
    """
    prices = asked.accelerator_price, asked.energy_price
    answered = found.get("goodput", found.get("requests_per_second"))
    if not any(prices) or answered is None or "ttft" not in found:
        return {}
    hours = found["accelerator_hours"].value if "accelerator_hours" in found else None
    paid = (found["accelerators"].value * _HOURS.value if hours is None else hours) * prices[0]
    power = found.get("power")
    note = "in the currency of the prices"
    ends = [paid, paid, paid]
    if prices[1] and power is not None:
        drawn = (power.value, power.low, power.high)
        ends = [paid + watts * _DAY.value / _KWH.value * prices[1] for watts in drawn]
    elif prices[1]:
        note += ", without energy: what the accelerators draw is not known"
    sources = power.sources if power is not None and prices[1] else ()
    day = Estimate(ends[0], ends[1], ends[2], "1", sources, note)
    if not day.low > 0:
        return {"cost_per_day": day}
    for_it = [rate * _DAY.value for rate in (answered.value, answered.low, answered.high)]
    worth = Estimate(
        for_it[0] / day.value, for_it[1] / day.high, for_it[2] / day.low, "1", (*answered.sources, *sources), note
    )
    return {"cost_per_day": day, "requests_per_money": worth}
