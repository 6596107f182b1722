"""Times of an engine at a load in closed form: reading of prompts and decoding as queues, without a run."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from designer.families.serving.deployment import Limits, Load, Serving
from designer.families.serving.engine_state import Requests
from designer.families.serving.formulas.layers import prefill_area
from designer.families.serving.formulas.memory import spare
from designer.families.serving.load import FILLING_LIMIT, offered, sent_to_one
from designer.families.serving.placement import Placement
from designer.findings import Finding, Severity
from designer.sources import Constant, Status
from designer.units import format_quantity

#: use of an engine beyond which the closed form lets no queue settle
_FULL_TOLERANCE: Final = 0.9
#: turns until requests at once and their steps agree
_SETTLING_ROUNDS: Final = 12


@dataclass(frozen=True, slots=True)
class Mean:
    """A load in the mean: requests a second [1/s], prompt and output of one [tokens]."""

    rate: float
    prompt: float
    output: float

    @staticmethod
    def of(asked: Serving, placement: Placement) -> Mean:
        """The mean of what is sent."""
        one = sent_to_one(asked.load, 1, placement.place, placement.capacity).requests
        return Mean(offered(asked.load, one), sum(one.prompt) / len(one.prompt), sum(one.output) / len(one.output))


def keeps(times: tuple[float, float], limits: Limits, output: float) -> bool:
    """True if times to the first token and per token keep the limits."""
    ttft, tpot = times
    held = ((limits.ttft, ttft), (limits.tpot, tpot), (limits.latency, ttft + tpot * output))
    return math.isfinite(ttft + tpot) and not any(limit and value > limit for limit, value in held)


def _pieces(placement: Placement, prompt: float) -> tuple[float, int]:
    """Time of a piece of a prompt, the mean one, which reads what came before it [s]; and how many there are."""
    budget = placement.scheduling.budget
    tokens, pieces = max(1, round(min(prompt, budget))), math.ceil(prompt / budget)
    return placement.steps.step(tokens, prefill_area(round(prompt), 0.0) / pieces, 1, 0, 0.0), pieces


def reading(placement: Placement, prompt: float) -> float:
    """Time an engine reads a prompt for when it does nothing else [s]."""
    piece, pieces = _pieces(placement, prompt)
    return piece * pieces


def first_token(placement: Placement, whole: float, busy: float) -> float:
    """Time to the first token where prompts of `whole` seconds wait for those before them, as in M/D/1 [s]."""
    if busy >= _FULL_TOLERANCE:
        return math.inf
    return placement.release.overheads.path + placement.fetch + whole * (1 + busy / (2 * (1 - busy)))


def decoding(placement: Placement, rate: float, prompt: float, output: float, busy: float = 0.0) -> float:
    """Time per token at a rate of requests [s]; infinite where the engine cannot keep up.

    Parameters
    ----------
    busy
        Share of the time that prompts take.

    Notes
    -----
    Requests at once are rate times time to answer (Little).
    """
    whole, running, tpot = prompt + output / 2, 1.0, 0.0
    if prompt + output > placement.each_holds or busy >= _FULL_TOLERANCE:
        return math.inf
    for _ in range(_SETTLING_ROUNDS):
        count = max(1, round(running))
        tpot = (placement.steps.decode(count) + placement.steps.context() * count * whole) / (1 - busy)
        running = rate * output * tpot
        if running > placement.scheduling.slots or running * whole > placement.capacity:
            return math.inf
    return tpot


def closed_form(placement: Placement, rate: float, prompt: float, output: float) -> tuple[float, float]:
    """Time to the first token and per token of one replica at a rate [s]; infinite where it cannot keep up.

    Notes
    -----
    Steps with prompts lengthen the mean step by their share of the time; a prompt waits for half a step.
    """
    piece, pieces = _pieces(placement, prompt)
    extra = max(0.0, piece - (placement.steps.decode(1) if placement.scheduling.mixed else 0.0)) * pieces
    tpot = decoding(placement, rate, prompt, output, rate * extra)
    ttft = first_token(placement, piece * pieces, rate * piece * pieces) + tpot / 2
    return (ttft, tpot) if math.isfinite(ttft) else (math.inf, math.inf)


# How many requests a run looks at, so that its engines are as full as they get before the first that counts.

#: answers take longer the fuller an engine is, and lengths differ: it is full after the mean answer and half of that
LIVES: Final = Constant(1.5, 1.2, 2.0, "assumed-serving", Status.ASSUMED, "1", "answers that fill an engine")
#: more requests than this are not looked at for the sake of a steady window
_MOST_LIMIT: Final = 100_000


def filled(load: Load, placement: Placement, requests: Requests, replicas: int, looked: int = 1) -> Load:
    """A rate of requests of which the first tenth fills the engines: with long answers there are more of them.

    Parameters
    ----------
    requests
        Some of the load, for the lengths of the mean one.
    replicas, looked
        That share the load, and those of them whose requests are looked at.
    """
    if load.kind != "rate" or load.profile:
        return load
    together = at_once(load, placement, requests, replicas) * looked
    count = math.ceil(min(_MOST_LIMIT, FILLING_LIMIT * LIVES.value * together))
    return replace(load, count=count) if count > load.count else load


def at_once(load: Load, placement: Placement, requests: Requests, replicas: int) -> float:
    """Requests of a load that are at one of so many replicas at once in the mean, at most those it has room for."""
    rate = offered(load, requests, replicas)
    prompt = sum(requests.prompt) / len(requests.prompt)
    output = sum(requests.output) / len(requests.output)
    ttft, tpot = closed_form(placement, rate, prompt, output)
    # requests at once by Little's law, never more than there is room for
    room = min(placement.scheduling.slots, placement.capacity / (prompt + output / 2))
    return min(rate * (ttft + tpot * output), room)


#: of the memory that an engine is given at most: the rest is for what grows while it runs
SHARE: Final = Constant(0.95, 0.92, 0.97, "assumed-serving", Status.ASSUMED, "1", "gpu-memory-utilization")
#: shares are whole percents
_PERCENT_LIMIT: Final = 100
#: step tokens of a scheduler that are tried, the most first; fewer than the last make prompts too slow for any use
BUDGETS_LIMIT: Final = (16384, 8192, 4096, 2048, 1024, 512)


def operated(
    placement: Placement, asked: Serving, prompt: float, output: float, keeps_up: Callable[[Placement], bool]
) -> tuple[Placement, tuple[Finding, ...]]:
    """A placement with the memory share, step tokens and slots that keep limits, and why they were chosen.

    Parameters
    ----------
    prompt, output
        Of a mean request [tokens].
    keeps_up
        Whether a placement can answer what is asked: nothing is chosen with which it cannot.

    Notes
    -----
    A step that reads prompts is felt by every request that decodes meanwhile: it may be no longer than a token.
    More requests at once than decode within that time wait in the queue instead. Where fewer have room, the engine
    takes more of the memory, up to what other things on the device may need.
    """
    limit = asked.limits.tpot
    limited = limit or asked.limits.ttft or asked.limits.latency
    stated: list[Finding] = []
    if limited and _crowded(placement, asked, prompt, output):
        chosen = _share(placement, limit, prompt, output)
        if chosen is not None:
            placement, finding = chosen
            stated.append(finding)
    for choose in (_budget, _slots) if limit else ():
        chosen = choose(placement, limit, prompt, output)
        if chosen is not None and keeps_up(chosen[0]):
            placement, finding = chosen
            stated.append(finding)
    return placement, tuple(stated)


def _crowded(placement: Placement, asked: Serving, prompt: float, output: float) -> bool:
    """True if more requests of a load would be at a replica at once than have room in its cache."""
    load, replicas, whole = asked.load, len(placement.replicas), prompt + output / 2
    room = placement.capacity / whole
    if load.kind in ("clients", "agents"):
        return load.clients / replicas > room
    return load.kind == "rate" and load.rate / replicas * output * _token(placement, max(1, int(room)), whole) > room


def _share(placement: Placement, limit: float, prompt: float, output: float) -> tuple[Placement, Finding] | None:
    """All memory but what is beyond the engine's account at most, where the cache holds fewer requests than decode."""
    devices, how, whole = placement.split.devices, placement.scheduling, prompt + output / 2
    if placement.deployment.memory_share or placement.cut is None or placement.cut.each > 1:
        return None
    free = spare(devices, bool(placement.shape.experts)) / placement.device.memory
    share = min(SHARE.value, math.floor(_PERCENT_LIMIT * (1 - free)) / _PERCENT_LIMIT)
    room, slots = int(placement.capacity / whole), how.slots
    if share <= how.memory_share or room >= slots or (limit and _token(placement, room + 1, whole) > limit):
        return None
    chosen = placement.with_share(share)
    more = int(chosen.capacity / whole)
    if more <= room:
        return None
    left = format_quantity((1 - share) * placement.device.memory, "size")
    text = (
        f"the engine takes {share:.0%} of the memory instead of the default {how.memory_share:.0%}: {more:,} requests "
        f"have room in a replica instead of {room:,}; {left} of each device stay free"
    )
    return chosen, Finding("SERVE-OPERATED", Severity.INFO, text, (), "set memory_share to choose yourself")


def _token(placement: Placement, requests: int, whole: float) -> float:
    """Time of a token where so many requests decode together [s]."""
    return placement.steps.decode(requests) + placement.steps.context() * requests * whole


def _budget(placement: Placement, limit: float, prompt: float, output: float) -> tuple[Placement, Finding] | None:
    """The most step tokens with which a step that reads prompts takes no longer than a token may."""
    how, groups = placement.scheduling, placement.split.data
    own = how.budget // groups
    if placement.deployment.budget or not how.chunked:
        return None
    before = _prompt_step(placement, own, prompt, output)
    if before <= limit:
        return None
    for each in BUDGETS_LIMIT:
        time = _prompt_step(placement, each, prompt, output) if each < own else math.inf
        # where no step is that short, the shortest disturbs least
        if time <= limit or (each == BUDGETS_LIMIT[-1] and time < before):
            text = (
                f"steps hold {each:,} tokens instead of the default {own:,}: one that reads prompts takes "
                f"{format_quantity(time, 'duration')} instead of {format_quantity(before, 'duration')}; the limit of a "
                f"token is {format_quantity(limit, 'duration')}"
            )
            finding = Finding("SERVE-OPERATED", Severity.INFO, text, (), "set budget to choose yourself")
            return replace(placement, scheduling=replace(how, budget=each * groups)), finding
    return None


def _prompt_step(placement: Placement, each: int, prompt: float, output: float) -> float:
    """A step full of prompts in every group, next to as many requests as come with them [s]."""
    how, groups = placement.scheduling, placement.split.data
    whole = min(float(each), prompt)
    pairs = each / whole * prefill_area(round(whole), max(0.0, (prompt - whole) / 2))
    decoding = 1 if how.mixed else 0
    tokens = max(1, each - decoding) * groups
    context = decoding * groups * (prompt + output / 2)
    return placement.steps.step(tokens, pairs * groups, groups, decoding * groups, context)


def _slots(placement: Placement, limit: float, prompt: float, output: float) -> tuple[Placement, Finding] | None:
    """The most requests at once that decode within the time a token may take."""
    how, groups = placement.scheduling, placement.split.data
    own = how.slots // groups
    if placement.deployment.slots or placement.deployment.drafts:
        return None
    whole = prompt + output / 2
    room = max(1, min(own, int(placement.each_holds / whole)))

    def time(each: int) -> float:
        return _token(placement, each * groups, whole)

    if time(room) <= limit or time(1) > limit:
        return None
    low, high = 1, room
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if time(middle) <= limit else (low, middle)
    text = (
        f"at most {low:,} requests run at once instead of the default {own:,}: with {room:,}, for which there is room, "
        f"a token takes {format_quantity(time(room), 'duration')}; its limit is {format_quantity(limit, 'duration')}"
    )
    finding = Finding("SERVE-OPERATED", Severity.INFO, text, (), "set slots to choose yourself")
    return replace(placement, scheduling=replace(how, slots=low * groups)), finding
