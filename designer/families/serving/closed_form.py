"""Times of an engine at a load in closed form: reading of prompts and decoding as queues, without a run."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

from designer.families.serving.deployment import Limits, Load, Serving
from designer.families.serving.engine_state import Requests
from designer.families.serving.formulas.layers import prefill_area
from designer.families.serving.load import FILLING_LIMIT, offered, sent_to_one
from designer.families.serving.placement import Placement
from designer.sources import Constant, Status

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
