"""Parallel widths that a good operator would choose where none are given and limits are stated.

Every width that fits the drawing is judged by the closed form: whether it keeps the limits, and up to which load. Only
the best are run, where the closed form is not sure that limits hold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from designer.engine.network import Network
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.serving.closed_form import Mean, closed_form, decoding, first_token, keeps, operated, reading
from designer.families.serving.deployment import Deployment, Serving
from designer.families.serving.limits import outcome_of
from designer.families.serving.placement import Placement, place_deployment
from designer.families.training.preparation import named_model
from designer.findings import Finding, Severity
from designer.memo import memo
from designer.units import format_quantity
from designer.workload.shape import TransformerShape

#: a replica with experts has devices of at most so many servers
_SERVERS_LIMIT: Final = 4
#: of widths whose largest loads are this near each other, that with the fewest devices is taken [1]
_NEAR_TOLERANCE: Final = 0.05
#: so many of the best are run
_RUN_LIMIT: Final = 3
#: where times are below this share of their limits and loads below it, the closed form is sure enough [1]
_SURE_LIMIT: Final = 0.5
_HALVING_ROUNDS: Final = 16
#: networks, and deployments on each, whose widths stay placed
_NETWORKS_LIMIT: Final = 8
_DEPLOYMENTS_LIMIT: Final = 4
_NAMES: Final = ("tensor", "data", "expert")

#: times to the first token and per token of one replica at a rate of requests [s]
Times = Callable[[Placement, float, Mean], tuple[float, float]]


def every_width(network: Network, asked: Deployment, place: str) -> Iterator[Deployment]:
    """A deployment with all widths that are not given, the fewest devices first; some may have no room for the model.

    Raises
    ------
    AnalysisError
        If there is no such model or group.
    """
    shape = named_model(asked.model, f"{place}.model").shape
    parts = resolve(network, asked.group, f"{place}.group")
    local = int(np.unique(network.island[parts], return_counts=True)[1].max())
    experts = shape.experts if isinstance(shape, TransformerShape) else 0
    found: set[tuple[int, int, int]] = set()
    for tensor in [asked.tensor] if asked.tensor else _powers(local):
        most = min(len(parts) // max(1, asked.pipeline), _SERVERS_LIMIT * local) // tensor
        for data in [asked.data] if asked.data or not experts else _powers(most):
            together = tensor * max(1, data)
            # groups of several servers send tokens to whole experts: parts of each would be joined over the network
            cut = (1,) if together <= local or asked.tensor or asked.data else ()
            whole = (together,) if 1 < together <= experts else ()
            found |= {(tensor, data, e) for e in ((asked.expert,) if asked.expert else (*cut, *whole))}
    for tensor, data, expert in sorted(found, key=lambda w: (w[0] * max(1, w[1]), w[1], w[2])):
        yield replace(asked, tensor=tensor, data=data, expert=expert)


def _powers(most: int) -> list[int]:
    return [2**k for k in range(max(1, most).bit_length()) if 2**k <= max(1, most)]


def on_one_engine(placement: Placement, rate: float, load: Mean) -> tuple[float, float]:
    """Times of an engine that reads prompts and answers, at a rate [s]."""
    return closed_form(placement, rate, load.prompt, load.output)


@dataclass(frozen=True, slots=True)
class Width:
    """A deployment at one choice of widths, by the closed form.

    Parameters
    ----------
    placement
        As it is placed, before step tokens and slots are chosen for the limits.
    largest
        Requests a second within the limits; of clients those that they then get; 0 where the limits do not hold [1/s].
    ttft, tpot
        At the load that is asked for [s]; infinite where it is too much.
    excess
        Times over their limits at the least load, and with all clients [1]; at most 1 where they hold.
    """

    placement: Placement
    largest: float
    ttft: float
    tpot: float
    excess: float

    @property
    def devices(self) -> int:
        """Of a replica."""
        return self.placement.split.devices


def placed(
    network: Network, asked: Serving, place: str, running: Collection[str] = (), *, times: Times = on_one_engine
) -> Placement:
    """A deployment on the parts of its group; where no width is given and limits are, at the best widths for them.

    Parameters
    ----------
    running
        As of `place_deployment`.
    times
        What the limits are kept by.

    Raises
    ------
    AnalysisError
        As `place_deployment`.
    """
    deployment, limits = asked.deployment, asked.limits
    limited = limits.ttft or limits.tpot or limits.latency
    if deployment.tensor or not limited or deployment.part or asked.beside:
        return place_deployment(network, deployment, place, running)
    fit = fitting(network, deployment, place, frozenset(running))
    if not fit:
        return place_deployment(network, deployment, place, running)
    ranked = rank(fit, asked, times)
    best = _kept(ranked, asked) if times is on_one_engine else ranked[0]
    own = "prompt_" if times is prompts_alone else ""
    findings = (*best.placement.findings, *_why(best, ranked, asked, own))
    return replace(best.placement, findings=findings)


@memo(most=_NETWORKS_LIMIT, each=_DEPLOYMENTS_LIMIT)
def fitting(network: Network, asked: Deployment, place: str, running: frozenset[str]) -> tuple[Placement, ...]:
    """The deployment at every width at which it has room."""
    found: list[Placement] = []
    for one in every_width(network, asked, place):
        with suppress(AnalysisError):
            found.append(place_deployment(network, one, place, running))
    return tuple(found)


def rank(fit: Sequence[Placement], asked: Serving, times: Times = on_one_engine) -> list[Width]:
    """Placements at several widths, the best first: that which keeps the limits up to the largest load."""
    load = Mean.of(asked, fit[0])
    found = [_width(one, asked, load, times) for one in fit]
    most = max(one.largest for one in found)

    def order(one: Width) -> tuple[bool, float, float, int, int]:
        near = one.largest >= (1 - _NEAR_TOLERANCE) * most > 0
        split = one.placement.split
        return not near, 0.0 if near else -one.largest, 0.0 if near else one.excess, one.devices, split.data

    return sorted(found, key=order)


def _width(placement: Placement, asked: Serving, load: Mean, times: Times) -> Width:
    """One choice of widths judged by the closed form; of clients the busiest replica has its share, rounded up."""
    limits, replicas = asked.limits, len(placement.replicas)
    one = placement
    if times is on_one_engine:
        one = operated(placement, asked, load.prompt, load.output, lambda _: True)[0]

    def at(rate: float) -> tuple[float, float]:
        return times(one, rate, load)

    def excess(ttft: float, tpot: float) -> float:
        pairs = ((limits.ttft, ttft), (limits.tpot, tpot), (limits.latency, ttft + tpot * load.output))
        return max(value / limit for limit, value in pairs if limit)

    alone = at(0.0)
    if asked.load.kind in ("clients", "agents"):
        each = math.ceil(asked.load.clients / replicas)
        rate = _most(lambda r: r * (at(r)[0] + at(r)[1] * load.output) <= each, each / sum(alone))
        ttft, tpot = at(rate)
        # those beyond what runs at once wait for their first token
        ttft = max(ttft, each / rate - tpot * load.output) if rate > 0 else math.inf
        held = keeps((ttft, tpot), limits, load.output)
        served = rate * asked.load.clients / each
        return Width(placement, served if held else 0.0, ttft, tpot, excess(ttft, tpot))
    largest = _most(lambda r: keeps(at(r), limits, load.output), load.rate / replicas or 1.0)
    return Width(placement, largest * replicas, *at(load.rate / replicas), excess(*alone))


def _most(holds: Callable[[float], bool], near: float) -> float:
    """The largest rate that holds, where all below it do [1/s]; 0 where none does."""
    low, high = 0.0, near
    while holds(high) and high < near * 2**_HALVING_ROUNDS:
        low, high = high, 2 * high
    if not low and not holds(near / 2**_HALVING_ROUNDS):
        return 0.0
    for _ in range(_HALVING_ROUNDS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _kept(ranked: Sequence[Width], asked: Serving) -> Width:
    """The best with which the limits hold in a run; the best by the closed form where they hold with none."""
    load = Mean.of(asked, ranked[0].placement)
    for one in ranked[:_RUN_LIMIT] if len(ranked) > 1 else ():
        if one.largest and (_sure(one, asked, load) or _holds(one, asked, load)):
            return one
    return ranked[0]


def _sure(one: Width, asked: Serving, load: Mean) -> bool:
    limits = asked.limits
    half = replace(
        limits,
        ttft=_SURE_LIMIT * limits.ttft,
        tpot=_SURE_LIMIT * limits.tpot,
        latency=_SURE_LIMIT * limits.latency,
    )
    return load.rate <= _SURE_LIMIT * one.largest and keeps((one.ttft, one.tpot), half, load.output)


def _holds(one: Width, asked: Serving, load: Mean) -> bool:
    chosen = operated(one.placement, asked, load.prompt, load.output, lambda _: True)[0]
    try:
        return outcome_of(chosen, asked, len(one.placement.replicas)).holds
    except AnalysisError:
        return False


def _why(best: Width, ranked: Sequence[Width], asked: Serving, own: str = "") -> Iterator[Finding]:
    """For each width that was chosen, the best other one and what comes of it; settings are called `own` and more."""
    for name in _NAMES:
        mine = max(1, getattr(best.placement.split, name))
        other = next((w for w in ranked if max(1, getattr(w.placement.split, name)) != mine), None)
        if other is None or getattr(asked.deployment, name):
            continue
        text = f"{own}{name} {mine} ({_replicas(best)}): {_load(best, asked)}"
        text += f"; {_named(name, best, other)} {_other(best, other)}"
        yield Finding("SERVE-OPERATED", Severity.INFO, text, (), f"set {own}{name} to choose yourself")


def _replicas(one: Width) -> str:
    count = len(one.placement.replicas)
    return f"{count} replica{'s' * (count != 1)} of {one.devices}"


def _named(name: str, best: Width, other: Width) -> str:
    """The other choice, with all widths that differ."""
    ours, theirs = best.placement.split, other.placement.split
    also = [n for n in _NAMES if n == name or getattr(ours, n) != getattr(theirs, n)]
    also.sort(key=lambda n: n != name)
    return f"with {', '.join(f'{n} {getattr(theirs, n)}' for n in also)} ({_replicas(other)})"


def _load(one: Width, asked: Serving) -> str:
    if not one.largest:
        return "no width keeps the limits, and this one exceeds them least"
    if asked.load.kind in ("clients", "agents"):
        rate = format_quantity(one.largest, "frequency")
        return f"by the closed form {asked.load.clients:,} clients get {rate} of requests"
    return f"by the closed form the limits hold up to {format_quantity(one.largest, 'frequency')} of requests"


def _other(best: Width, other: Width) -> str:
    if not other.largest:
        return "they do not hold" if best.largest else f"times exceed them {other.excess:.2g} times"
    share = f"it is {format_quantity(other.largest, 'frequency')}"
    if not math.isfinite(other.tpot) or not math.isfinite(best.tpot):
        return share
    what, times = ("token", (best.tpot, other.tpot)) if best.tpot else ("first token", (best.ttft, other.ttft))
    ours, theirs = (format_quantity(time, "duration") for time in times)
    return f"{share}, and a {what} takes {theirs} instead of {ours}"


# Engines for prompts and engines for answers have limits of their own: the first token, and the tokens after it.


def prompts_alone(placement: Placement, rate: float, load: Mean) -> tuple[float, float]:
    """Time to the first token of an engine that only reads prompts, at a rate; nothing per token [s]."""
    whole = reading(placement, load.prompt)
    return first_token(placement, whole, rate * whole), 0.0


def answers_alone(placement: Placement, rate: float, load: Mean) -> tuple[float, float]:
    """Nothing to the first token, and time per token of an engine that only answers, at a rate [s]."""
    return 0.0, decoding(placement, rate, load.prompt, load.output)
