"""A time as an expression over terms: seconds of real resources that are added, overlap, or are chosen between.

A term is the seconds that one resource takes, resting on one estimate. Everything said about a time is read from its
expression: its value where resources are faster or estimates off, for many scenarios in one evaluation, and where the
time goes. No resource made faster lengthens an expression, since every node rises with each of its parts; only
`Solved` times depend on the rule that shares capacities out.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from math import sqrt
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.sources import Constant, Status

Float = npt.NDArray[np.float64]
#: a resource, as its owner names it
Resource = Hashable
#: resources that hold a time back together: doubling one of them alone may gain nothing
Tie = tuple[Resource, ...]
#: times as long by resource and by estimate; what is left out is as it is
Scenario = Mapping[Any, float]
#: the same for many scenarios, one entry for each
Slower = Mapping[Any, Float]

#: parts this near the longest hold back together with it, relative
TIED: Final = Constant(0.02, 0.0, 0.1, "assumed-training", Status.ASSUMED, "1", "explained together").value
_NONE: Final[Slower] = {}


@dataclass(frozen=True, slots=True)
class Term:
    """Seconds of one resource [s]; `estimate` names the constant that scales it, empty where it is exact."""

    resource: Resource
    seconds: float
    estimate: str = ""


@dataclass(frozen=True, slots=True)
class Tied:
    """Seconds that each of several resources takes at the same time, equally long [s]."""

    resources: Tie
    seconds: float
    estimate: str = ""


@dataclass(frozen=True, slots=True)
class Sum:
    """Parts one after the other, all of them so many times; `estimate` scales the whole."""

    parts: tuple[Time, ...]
    times: float = 1.0
    estimate: str = ""


@dataclass(frozen=True, slots=True)
class Longest:
    """Parts at the same time: a roofline, tied links, tasks that run in parallel."""

    parts: tuple[Time, ...]


@dataclass(frozen=True, slots=True)
class Least:
    """The quickest of several ways to do the same: an algorithm, a protocol, a path."""

    parts: tuple[Time, ...]


@dataclass(frozen=True, slots=True)
class Roofline:
    """Arithmetic and memory of a kernel at the same time: the longer counts, and near it both do.

    The time is (a^p + b^p)^(1/p) with a sharpness of p, at least 1.
    """

    parts: tuple[Time, Time]
    sharpness: float


@dataclass(frozen=True, slots=True)
class Hidden:
    """Work, and what is left of traffic when up to `share` of the time of the work hides it.

    The share is at most 1, so that faster work never lengthens the sum by what it no longer hides.
    """

    work: Time
    traffic: Time
    share: float


@dataclass(frozen=True, slots=True)
class Filling:
    """Filling and draining a pipeline of chunks: `times` the geometric mean of two times.

    A pipeline of k chunks costs (k + steps - 1)(a + b / k); the best k leaves a term in √(ab).
    """

    first: Time
    second: Time
    times: float


@dataclass(frozen=True, eq=False, slots=True)
class Solved:
    """A time known only by solving or running again.

    Parameters
    ----------
    seconds
        As it is [s].
    ties
        What may hold it back.
    solve
        The time where some resources and estimates take so many times as long [s].
    estimates
        Names of the estimates it rests on.
    held
        Seconds of each tie in such a scenario, where a run says so; ties that show only there are among them.
    quick
        True if it is solved without a run, so that as many resources are tried as of other times.
    """

    seconds: float
    ties: tuple[Tie, ...]
    solve: Callable[[Scenario], float]
    estimates: tuple[str, ...] = ()
    held: Callable[[Scenario], Mapping[Tie, float]] | None = None
    quick: bool = False


Time = Term | Tied | Sum | Longest | Least | Roofline | Hidden | Filling | Solved


def seconds(time: Time, slower: Slower | Scenario = _NONE) -> Float | float:
    """The time in every scenario [s]; a number where nothing that varies is in it. : (n,) or ()"""
    return _seconds(time, slower, {})


def _seconds(time: Time, slower: Slower | Scenario, worst: dict[int, Float | float]) -> Float | float:
    """As `seconds`; `worst` keeps how many times as long each tie takes, by its identity."""
    match time:
        case Term(resource, value, estimate):
            return value * slower.get(resource, 1.0) * slower.get(estimate, 1.0)
        case Tied(resources, value, estimate):
            longer = worst.get(id(resources))
            if longer is None:
                longer = worst[id(resources)] = _largest_slowdown(resources, slower)
            return value * longer * slower.get(estimate, 1.0)
        case Sum(parts, times, estimate):
            total: Float | float = 0.0
            for part in parts:
                total = total + _seconds(part, slower, worst)
            return total * times * slower.get(estimate, 1.0)
        case Longest(parts) | Least(parts):
            best = _maximum if isinstance(time, Longest) else _minimum
            found = _seconds(parts[0], slower, worst)
            for part in parts[1:]:
                found = best(found, _seconds(part, slower, worst))
            return found
        case Roofline((one, other), sharpness):
            return _smooth_maximum(_seconds(one, slower, worst), _seconds(other, slower, worst), sharpness)
        case Hidden(work, traffic, share):
            shown = _seconds(work, slower, worst)
            return shown + _maximum(0.0, _seconds(traffic, slower, worst) - share * shown)
        case Filling(first, second, times):
            return times * (_seconds(first, slower, worst) * _seconds(second, slower, worst)) ** 0.5
        case Solved():
            return _solve_time(time, slower)


def _smooth_maximum(one: Float | float, other: Float | float, sharpness: float) -> Float | float:
    top = _maximum(one, other)
    # the shorter over the longer: powers of small times would vanish
    ratio = _minimum(one, other) / np.maximum(top, np.finfo(float).tiny)
    return top * (1 + ratio**sharpness) ** (1 / sharpness)


def _largest_slowdown(resources: Tie, slower: Slower | Scenario) -> Float | float:
    # resources that vary in the same way have one array
    mine = {id(by): by for resource in resources if (by := slower.get(resource)) is not None}
    longest: Float | float = 0.0 if all(resource in slower for resource in resources) else 1.0
    for by in mine.values():
        longest = _maximum(longest, by)
    return longest


def _maximum(one: Float | float, other: Float | float) -> Float | float:
    # numbers are most of an expression, and comparing them as arrays takes longer
    return max(one, other) if isinstance(one, float) and isinstance(other, float) else np.maximum(one, other)


def _minimum(one: Float | float, other: Float | float) -> Float | float:
    return min(one, other) if isinstance(one, float) and isinstance(other, float) else np.minimum(one, other)


def _solve_time(time: Solved, slower: Slower | Scenario) -> Float | float:
    mine = {resource for tie in time.ties for resource in tie} | set(time.estimates)
    # a run that says what holds it back may depend on anything
    varied = {key: np.atleast_1d(by) for key, by in slower.items() if key in mine or time.held is not None}
    if not varied:
        return time.seconds
    if all(isinstance(by, float) for by in slower.values()):
        return time.solve({key: float(by) for key, by in slower.items() if key in varied and by != 1.0})
    columns = np.broadcast_arrays(*varied.values())
    known: dict[tuple[float, ...], float] = {(1.0,) * len(varied): time.seconds}
    found = np.empty(len(columns[0]))
    for k, row in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        if row not in known:
            known[row] = time.solve({key: by for key, by in zip(varied, row, strict=True) if by != 1.0})
        found[k] = known[row]
    return found


def shares(time: Time, slower: Scenario | None = None, *, derived: bool = True) -> dict[Tie, float]:
    """Where the time goes [s] by what holds it back, longest first; parts that are equally long are one tie.

    Parameters
    ----------
    slower
        Times as long by resource and by estimate.
    derived
        False to leave the ties of a `Solved` time that does not say its own at 0 s, in place of solving once for each.

    Notes
    -----
    Nodes are homogeneous: twice every term is twice the time. So the seconds of all ties add up to the time, by Euler's
    theorem, where those of its `Solved` times do.
    """
    found: dict[Tie, float] = {}
    for tie, spent in _shares(time, 1.0, slower or {}, derived):
        if spent > 0 or not derived:
            found[tie] = found.get(tie, 0.0) + spent
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _shares(time: Time, times: float, slower: Scenario, derived: bool) -> Iterator[tuple[Tie, float]]:  # noqa: C901, PLR0912
    match time:
        case Term(resource):
            yield (resource,), times * _seconds_at(time, slower)
        case Tied(resources):
            # those that are faster than the others hold nothing back
            each = [slower.get(resource, 1.0) for resource in resources]
            top = max(each) * (1 - TIED) if slower else 1.0
            yield (
                tuple(r for r, by in zip(resources, each, strict=True) if by >= top),
                times * _seconds_at(time, slower),
            )
        case Sum(parts, count, estimate):
            factor = times * count * float(slower.get(estimate, 1.0))
            for part in parts:
                yield from _shares(part, factor, slower, derived)
        case Longest(parts):
            values = [_seconds_at(part, slower) for part in parts]
            top = [part for part, value in zip(parts, values, strict=True) if value >= max(values) * (1 - TIED)]
            yield from (
                _split_ties(top, times, slower, derived) if len(top) > 1 else _shares(top[0], times, slower, derived)
            )
        case Least(parts):
            yield from _shares(min(parts, key=lambda part: _seconds_at(part, slower)), times, slower, derived)
        case Roofline(parts, sharpness):
            whole = _seconds_at(time, slower)
            for part in parts:
                # by the derivative of the norm: the shares of both add up to the whole
                share = (_seconds_at(part, slower) / whole) ** (sharpness - 1) if whole > 0 else 0.0
                yield from _shares(part, times * share, slower, derived)
        case Hidden(work, traffic, share):
            hides, hidden = _seconds_at(work, slower), _seconds_at(traffic, slower)
            left = hidden - share * hides
            if left <= 0:
                yield from _shares(work, times, slower, derived)
            else:
                yield from _shares(work, times * (1 - share), slower, derived)
                yield from _shares(traffic, times, slower, derived)
        case Filling(first, second, count):
            a, b = _seconds_at(first, slower), _seconds_at(second, slower)
            if a > 0 and b > 0:
                half = times * count * sqrt(a * b) / 2
                yield from _shares(first, half / a, slower, derived)
                yield from _shares(second, half / b, slower, derived)
        case Solved():
            known = dict.fromkeys(time.ties, 0.0) if time.held is None and not derived else _time_of_ties(time, slower)
            yield from ((tie, times * spent) for tie, spent in known.items())


def _seconds_at(time: Time, slower: Scenario) -> float:
    return float(seconds(time, slower))


def _split_ties(parts: Iterable[Time], times: float, slower: Scenario, derived: bool) -> Iterator[tuple[Tie, float]]:
    """Parts that are equally long: what each shares out, and all of them hold back the rest together."""
    each = [shares(part, slower, derived=derived) for part in parts]
    common = [min(one.get(tie, 0.0) for one in each) for tie in each[0]]
    rest = max(sum(one.values()) for one in each)
    for tie, spent in zip(each[0], common, strict=True):
        if spent > 0:
            rest -= spent
            yield tie, times * spent
    members = dict.fromkeys(
        resource
        for one in each
        for tie, spent in one.items()
        if spent > min(other.get(tie, 0.0) for other in each)
        for resource in tie
    )
    if members and rest > 0:
        yield tuple(members), times * rest
    yield from ((tie, 0.0) for one in each for tie, spent in one.items() if not spent)


#: a small step by which the seconds of a tie are found [1]
_STEP_TOLERANCE: Final = 1e-3


def _time_of_ties(time: Solved, base: Scenario) -> Mapping[Tie, float]:
    if time.held is not None:
        return time.held(base)
    whole = _seconds_at(time, base)
    found: dict[Tie, float] = {}
    for tie in time.ties:
        longer = time.solve({**base, **{resource: base.get(resource, 1.0) * (1 + _STEP_TOLERANCE) for resource in tie}})
        found[tie] = max(0.0, longer - whole) / _STEP_TOLERANCE
    return found
