"""Numbers, widths and parts of engines for prompts and for answers that serve the largest load within limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Final

import numpy as np

from designer.engine.network import Network
from designer.engine.routes.selection import resolve
from designer.errors import AnalysisError
from designer.families.serving.deployment import Deployment, Serving
from designer.families.serving.placement import Placement
from designer.families.serving.split import largest_split_load, place_split, prompts_of
from designer.families.serving.widths import Width, answers_alone, fitting, on_one_engine, prompts_alone, rank
from designer.units import format_quantity

#: so many of the best by the closed form are run
_RUN_LIMIT: Final = 3
#: of those whose rates are this near each other, that with the fewest engines is taken [1]
_NEAR_TOLERANCE: Final = 0.02


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Engines for prompts and engines for answers, or such that do both.

    Parameters
    ----------
    deployment
        With numbers and widths set, as it can be placed.
    rate
        Requests a second within the limits by the closed form, hand-overs left out [1/s].
    words
        Which engines on what.
    short
        Which side ends first; empty where all do both.
    """

    deployment: Deployment
    rate: float
    words: str
    short: str = ""


@dataclass(frozen=True, slots=True)
class Found:
    """The best arrangement, its largest load in a run [1/s], and why it was chosen."""

    best: Arrangement
    rate: float
    why: tuple[str, ...]


def best_split(network: Network, asked: Serving, place: str, *, free: bool = False) -> Found:
    """The arrangement of a split deployment with the largest load within the limits.

    Parameters
    ----------
    free
        True to try which group reads the prompts as well.

    Raises
    ------
    AnalysisError
        If no engines of both kinds have a place, or keys and values have no way from one to the other.
    """
    every = sorted(arrangements(network, asked, place, free=free), key=lambda one: -one.rate)
    if not every:
        place_split(network, asked, place)
        raise AnalysisError(
            "no engines for prompts and for answers fit side by side",
            place=f"{place}.prompt_group",
            remedy="give them more accelerators, or let all do both",
        )
    tried = [(_run(network, replace(asked, deployment=one.deployment), place), one) for one in _nearest(every)]
    rate, best = max(tried, key=lambda pair: pair[0])
    if not rate and all(one.rate for _, one in tried):
        place_split(network, replace(asked, deployment=best.deployment), place)
    return Found(best, rate, tuple(_why(network, asked, place, best, every, free=free)))


def _run(network: Network, asked: Serving, place: str) -> float:
    """The largest load of one arrangement; 0 where it has no place on the servers, or no way joins its sides."""
    try:
        return largest_split_load(network, asked, place)
    except AnalysisError:
        return 0.0


def _nearest(every: Sequence[Arrangement]) -> list[Arrangement]:
    """The best, those with the fewest engines before others as good."""
    near = [one for one in every if one.rate >= (1 - _NEAR_TOLERANCE) * every[0].rate]
    near.sort(key=lambda one: one.deployment.replicas + one.deployment.prompt_replicas)
    rest = [one for one in every if one not in near]
    return [*near, *rest][:_RUN_LIMIT]


def arrangements(network: Network, asked: Serving, place: str, *, free: bool = False) -> Iterator[Arrangement]:
    """Every choice of numbers and widths that are not given, with the load each side takes by the closed form."""
    given = asked.deployment
    yield from _in_roles(network, asked, place)
    if free and given.prompts.strip() != given.group.strip():
        swapped = replace(given, group=given.prompts, prompts=given.group)
        yield from _in_roles(network, replace(asked, deployment=swapped), place)


def _in_roles(network: Network, asked: Serving, place: str) -> Iterator[Arrangement]:
    """Arrangements with the prompts on the one group and the answers on the other."""
    given = asked.deployment
    first = prompts_of(given)
    reading = _each(network, asked, replace(first, prompts="", replicas=0), place, prompts=True)
    saying = _each(network, asked, replace(given, prompts="", replicas=0, images=0), place, prompts=False)
    ours, theirs = (resolve(network, group, place) for group in (given.prompts, given.group))
    shared = len(np.intersect1d(ours, theirs)) > 0
    if shared and given.prompts.strip() != given.group.strip():
        return
    for one, other in product(reading, saying):
        for readers in _numbers(one, other, given.prompt_replicas, shared=shared):
            answering = len(other.placement.replicas)
            if shared:
                answering = (len(theirs) - readers * one.devices) // other.devices
            answering = min(answering, given.replicas or answering)
            if answering < 1:
                continue
            rates = readers * _per_engine(one), answering * _per_engine(other)
            ours_split, theirs_split = one.placement.split, other.placement.split
            chosen = replace(
                given,
                replicas=answering,
                prompt_replicas=readers,
                tensor=theirs_split.tensor,
                data=theirs_split.data,
                expert=theirs_split.expert,
                prompt_tensor=ours_split.tensor,
                prompt_data=ours_split.data,
                prompt_expert=ours_split.expert,
            )
            words = f"{_engines(readers, one)} for prompts and {_engines(answering, other)} for answers"
            yield Arrangement(chosen, min(rates), words, "reading prompts" if rates[0] < rates[1] else "answering")


def _each(network: Network, asked: Serving, deployment: Deployment, place: str, *, prompts: bool) -> list[Width]:
    times = prompts_alone if prompts else answers_alone
    given = bool(deployment.tensor)
    fit = fitting(network, deployment, place, frozenset())
    if given:
        fit = tuple(p for p in fit if p.split.data == max(1, deployment.data))
        fit = tuple(p for p in fit if p.split.expert == max(1, deployment.expert))
    return [one for one in rank(fit, replace(asked, deployment=deployment), times) if one.largest] if fit else []


def _per_engine(one: Width) -> float:
    return one.largest / len(one.placement.replicas)


def _numbers(one: Width, other: Width, given: int, *, shared: bool) -> Iterator[int]:
    """Numbers of engines for prompts: as given, all of their group, or any that leaves room for one that answers."""
    most = len(one.placement.replicas)
    if given:
        yield from [given] if given <= most else []
    elif shared:
        room = most * one.devices - other.devices
        yield from range(1, max(0, room) // one.devices + 1)
    else:
        yield most


def _engines(count: int, one: Width) -> str:
    split = one.placement.split
    also = f" (data {split.data}, expert {split.expert})" if split.data > 1 or split.expert > 1 else ""
    return f"{count} engine{'s' * (count != 1)} of {one.devices} x {one.placement.device.name}{also}"


def _why(
    network: Network, asked: Serving, place: str, best: Arrangement, every: Sequence[Arrangement], *, free: bool
) -> Iterator[str]:
    """What ends first, the next arrangement of another kind, and what all accelerators would do without a split."""
    rate = format_quantity(best.rate, "frequency")
    yield f"by the closed form {rate} of requests keep the limits, and {best.short} ends first"
    chosen = best.deployment
    kinds = (
        ("with another number of engines", ("prompt_replicas", "replicas")),
        ("with other widths for prompts", ("prompt_tensor", "prompt_data", "prompt_expert")),
        ("with other widths for answers", ("tensor", "data", "expert")),
        ("with prompts on the other accelerators", ("group",)),
    )
    for words, names in kinds:
        other = next((o for o in every if any(getattr(o.deployment, n) != getattr(chosen, n) for n in names)), None)
        if other is not None:
            yield f"{words}, {other.words}, it is {format_quantity(other.rate, 'frequency')}"
    both = [_together(network, asked, place, group) for group in dict.fromkeys((chosen.prompts, chosen.group))]
    yield f"where all read prompts and answer it is {format_quantity(sum(both), 'frequency')}" + (
        "" if free else ", widths of answers as given" * bool(asked.deployment.tensor)
    )


def _together(network: Network, asked: Serving, place: str, group: str) -> float:
    """The largest load of engines that do both on a group, by the closed form [1/s]; 0 where none fits."""
    deployment = replace(asked.deployment, group=group, prompts="", prompt_replicas=0, replicas=0)
    fit: Sequence[Placement] = fitting(network, deployment, place, frozenset())
    return rank(fit, replace(asked, deployment=deployment), on_one_engine)[0].largest if fit else 0.0
