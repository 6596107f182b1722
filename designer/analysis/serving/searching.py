"""Many ways to serve a load, screened by a closed form; only those that come out smallest are run."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

from designer.analysis.serving.placement import Placement, changed
from designer.errors import AnalysisError, Cancelled
from designer.formulas.serving._number_format import CACHE_FORMATS, number_format
from designer.formulas.serving.attention_prefill import prefill_area
from designer.units import format_quantity
from designer.workload.engines import releases
from designer.workload.serving import Deployment, Limits

#: what may be chosen, with what of each is tried; engines are the releases that were measured
_BUDGETS_LIMIT: Final = (2048, 4096, 8192, 16384)
_SLOTS_LIMIT: Final = (64, 128, 256, 512, 1024)
_WEIGHTS: Final = ("bf16", "fp8", "mxfp4", "nvfp4", "int4")
CHOICES: Final = ("engine", "weights", "cache", "budget", "slots")
#: use of a replica beyond which the closed form lets no queue settle
_FULL_TOLERANCE: Final = 0.9
#: turns until requests at once and their steps agree
_SETTLING_ROUNDS: Final = 12
_LOOK_LIMIT: Final = 64


@dataclass(frozen=True, slots=True)
class Screened:
    """One way by the closed form: accelerators for the load [1], and the times that go with them [s]."""

    placement: Placement
    choice: str
    accelerators: float
    ttft: float
    tpot: float


def variants(asked: Deployment, search: Sequence[str]) -> Iterator[tuple[Deployment, str]]:
    """Every combination of what is to be chosen, with what was chosen in words.

    Raises
    ------
    AnalysisError
        If something cannot be chosen.
    """
    wanted = _wanted(search)
    unknown = [name for name in wanted if name not in CHOICES]
    if unknown:
        raise AnalysisError(
            f"{unknown[0]!r} is not chosen by a search", place="--search", remedy=f"use {', '.join(CHOICES)} or all"
        )
    engines = [(r.engine, r.release) for r in releases().values() if r.known] if "engine" in wanted else []
    lists: list[list[dict[str, object]]] = [
        [{"engine": e, "release": r} for e, r in engines] or [{}],
        [{"weights": w} for w in _WEIGHTS] if "weights" in wanted else [{}],
        [{"cache": c} for c in CACHE_FORMATS if c in ("bf16", "fp8")] if "cache" in wanted else [{}],
        [{"budget": b} for b in _BUDGETS_LIMIT] if "budget" in wanted else [{}],
        [{"slots": n} for n in _SLOTS_LIMIT] if "slots" in wanted else [{}],
    ]
    for parts in product(*lists):
        given = {k: v for part in parts for k, v in part.items()}
        yield replace(asked, **given), " ".join(str(v) for v in given.values())  # pyright: ignore[reportArgumentType]


def _wanted(search: Sequence[str]) -> tuple[str, ...]:
    return CHOICES if "all" in search else tuple(search)


def screened(
    placements: Sequence[Placement],
    search: Sequence[str],
    load: tuple[float, float, float],
    limits: Limits,
    progress: Callable[[float, str], None] | None = None,
    cancelled: Callable[[], bool] | None = None,
) -> list[Screened]:
    """Every way, the smallest first.

    Parameters
    ----------
    placements
        One of each width.
    load
        Requests a second [1/s], mean prompt and output [tokens].

    Raises
    ------
    Cancelled
        If `cancelled` says so.
    """
    found: list[Screened] = []
    count = 0
    for number, placement in enumerate(placements):
        for asked, choice in variants(placement.deployment, search):
            count += 1
            if count % _LOOK_LIMIT == 0:
                if cancelled is not None and cancelled():
                    raise Cancelled("stopped")
                if progress is not None:
                    progress(number / len(placements), f"{count:,} ways looked at")
            # a format of experts leaves a model without them in another one that is tried as well
            alike = "weights" in _wanted(search) and number_format(asked.weights).dense and not placement.shape.experts
            one = None if alike else changed(placement, asked)
            if one is not None:
                found.append(_screen(one, choice, load, limits))
    found.sort(key=lambda s: (s.accelerators, s.ttft + s.tpot * load[2]))
    return found


def _screen(placement: Placement, choice: str, load: tuple[float, float, float], limits: Limits) -> Screened:
    rate, prompt, output = load
    low, high, middle = 0.0, 2 * rate, rate
    # the largest rate of a replica that keeps the limits, by halves, until it tells how many replicas there are
    for _ in range(_SETTLING_ROUNDS):
        if _keeps(closed_form(placement, middle, prompt, output), limits, output):
            low = middle
        else:
            high = middle
        if low and math.ceil(rate / low) == math.ceil(rate / high):
            break
        middle = (low + high) / 2
    if not low:
        return Screened(placement, choice, math.inf, math.inf, math.inf)
    replicas = math.ceil(rate / low)
    times = closed_form(placement, rate / replicas, prompt, output)
    return Screened(placement, choice, replicas * placement.split.devices, *times)


def _keeps(times: tuple[float, float], limits: Limits, output: float) -> bool:
    ttft, tpot = times
    if not math.isfinite(ttft):
        return False
    whole = ttft + tpot * output
    return not (
        (limits.ttft and ttft > limits.ttft)
        or (limits.tpot and tpot > limits.tpot)
        or (limits.latency and whole > limits.latency)
    )


def closed_form(placement: Placement, rate: float, prompt: float, output: float) -> tuple[float, float]:
    """Time to the first token and per token of one replica at a rate [s]; infinite where it cannot keep up.

    Notes
    -----
    Requests at once are rate times time to answer (Little); steps with prompts lengthen the mean step by their share
    of the time; a prompt waits for half a step and for prompts before it as in M/D/1.
    """
    steps, how = placement.steps, placement.scheduling
    tokens = max(1, round(min(prompt, how.budget)))
    pieces = math.ceil(prompt / how.budget)
    # of a prompt in pieces the mean one, which reads what came before it
    reading = steps.step(tokens, prefill_area(round(prompt), 0.0) / pieces, 1, 0, 0.0)
    whole = prompt + output / 2
    if prompt + output > placement.capacity:
        return math.inf, math.inf
    running = 1.0
    tpot = 0.0
    for _ in range(_SETTLING_ROUNDS):
        count = max(1, round(running))
        step = steps.decode(count) + steps.context() * count * whole
        extra = max(0.0, reading - (steps.decode(1) if how.mixed else 0.0)) * pieces
        busy = rate * extra
        if busy >= _FULL_TOLERANCE:
            return math.inf, math.inf
        tpot = step / (1 - busy)
        running = rate * output * tpot
        if running > how.slots or running * whole > placement.capacity:
            return math.inf, math.inf
    busy = rate * reading * pieces
    if busy >= _FULL_TOLERANCE:
        return math.inf, math.inf
    wait = busy * reading * pieces / (2 * (1 - busy)) + tpot / 2
    return placement.release.overheads.path + placement.fetch + reading * pieces + wait, tpot


def reason_lost(one: Screened) -> str:
    """Why a way that was not run lost."""
    if not math.isfinite(one.accelerators):
        return "no number of replicas keeps the limits, by the closed form"
    return f"{one.accelerators:.0f} accelerators by the closed form, {format_quantity(one.tpot, 'duration')} a token"
