"""The account of a time: its band, what holds it back, what doubling that gains, what comes next, where the time goes.

One rule for every workload. All of it is read from the expression of the time, in one evaluation over scenarios: as
drawn, each tie twice as fast, each of its members alone, each estimate at its low and at its high end.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import hypot, prod, sqrt
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from designer.engine.account.expression import Resource, Scenario, Solved, Tie, Time, seconds, shares
from designer.engine.network.partition import SAME_TOLERANCE
from designer.engine.results import Bottleneck, Spent

Float = npt.NDArray[np.float64]
#: relative ends of the band of an estimate: times as long at least and at most [1]
Ends = tuple[float, float]

#: what saves less than this share of a time is not worth naming
NOTICE_TOLERANCE: Final = 1.005
#: ties that are tried, and members of a tie that are tried alone, where a try is an evaluation, and where it is a run
_TIES_LIMIT: Final = 24
_RUNS_LIMIT: Final = 4
_RUN_TIES_LIMIT: Final = 8
#: how many that come next are named
_NEXT_LIMIT: Final = 3
#: of a run, ties with less than this share of the time of the longest are not tried [1]
_SHARE_TOLERANCE: Final = 0.01


@dataclass(frozen=True, slots=True)
class Held:
    """Resources that hold a time back together.

    Parameters
    ----------
    gain
        How many times shorter the time is with all of them twice as fast [1]; None where that was not tried.
    alone
        The same for each by itself; None where that was not tried.
    share
        Of the time [1]; 0 where it is not known.
    """

    tie: Tie
    gain: float | None
    alone: tuple[float | None, ...]
    share: float


@dataclass(frozen=True, slots=True)
class Account:
    """A time explained.

    Parameters
    ----------
    value, low, high
        The time and its 80 % band [s].
    binding
        What gains at least half of what the best gains when it is twice as fast, the best first.
    next
        What gains less, or holds the time back once the first are twice as fast.
    spent
        Seconds of every tie, the longest first. They add up to the time unless it has `Solved` parts that do not state
        their own [s].
    """

    value: float
    low: float
    high: float
    binding: tuple[Held, ...] = ()
    next: tuple[Held, ...] = ()
    spent: Mapping[Tie, float] = field(default_factory=dict[Tie, float])

    def bottlenecks(
        self, words: Callable[[Resource], Bottleneck], sort: Callable[[Resource], Hashable] | None = None
    ) -> tuple[tuple[Bottleneck, ...], tuple[Bottleneck, ...]]:
        """Bottlenecks that bind, and those that come next.

        Parameters
        ----------
        words
            Names and describes a resource.
        sort
            Members of a tie of the same sort are listed once: the first represents all of them.
        """
        binding, after = (
            [b for held in each for b in _name_bottlenecks(held, words, sort)] for each in (self.binding, self.next)
        )
        return tuple(binding), tuple(after)

    def parts(
        self, words: Callable[[Resource], Bottleneck], sort: Callable[[Resource], Hashable] | None = None
    ) -> tuple[Spent, ...]:
        """Where the time goes, the longest first; parameters as of `bottlenecks`."""
        return tuple(
            Spent(tuple(_name_bottlenecks(Held(tie, None, (None,) * len(tie), spent / self.value), words, sort)), spent)
            for tie, spent in self.spent.items()
            if spent > 0
        )


def _name_bottlenecks(
    held: Held, words: Callable[[Resource], Bottleneck], sort: Callable[[Resource], Hashable] | None
) -> list[Bottleneck]:
    found: list[Bottleneck] = []
    members: dict[Hashable, list[tuple[Resource, float | None]]] = {}
    for resource, alone in zip(held.tie, held.alone, strict=True):
        members.setdefault(sort(resource) if sort is not None else resource, []).append((resource, alone))
    for same in members.values():
        (resource, alone), count = same[0], len(same)
        plain = words(resource)
        part = f"{held.share:.0%} of the time" if held.share > 0 else ""
        if held.gain is None and not part:
            part = "holds the time back once what binds is twice as fast"
        why = "; ".join(text for text in (plain.why, part) if text)
        found.append(
            replace(
                plain,
                why=why,
                gain_if_doubled=alone,
                gain_together=held.gain,
                equal=plain.equal * count,
                share=held.share,
            )
        )
    return found


def named(
    spent: Mapping[Tie, float],
    words: Callable[[Resource], Bottleneck],
    sort: Callable[[Resource], Hashable] | None = None,
) -> tuple[Bottleneck, ...]:
    """What holds a time back, without gains, each with its share of the time, the largest first.

    Parameters
    ----------
    spent
        Ties by their share of the time [1]; a resource of several ties has the share of all of them.
    words, sort
        As of `Account.bottlenecks`.
    """
    found: dict[str, Bottleneck] = {}
    for tie, share in spent.items():
        for one in _name_bottlenecks(Held(tie, None, (None,) * len(tie), share), words, sort):
            known = found.get(one.id)
            found[one.id] = one if known is None else replace(known, share=known.share + share)
    return tuple(sorted(found.values(), key=lambda one: -one.share))


def account(time: Time, bands: Mapping[str, Ends], *, floor: float = 0.0, explained: bool = True) -> Account:
    """The account of a time.

    Parameters
    ----------
    bands
        Times as long at least and at most, by estimate [1].
    floor
        What the time cannot be shorter than [s].
    explained
        False where only the value and its band are wanted.
    """
    estimates = [name for name, ends in bands.items() if ends != (1.0, 1.0)]
    every_tie = shares(time, derived=False) if explained else {}
    spent = _candidates(time, every_tie)
    run = isinstance(time, Solved) and not time.quick
    scenarios: list[Scenario] = [{}]
    scenarios += [dict[Any, float]({name: end}) for name in estimates for end in bands[name]]
    tried: list[tuple[Tie, list[int]]] = []
    for tie in spent:
        singles = len(tie) if 1 < len(tie) <= (_RUNS_LIMIT if run else _TIES_LIMIT) else 0
        first = len(scenarios)
        scenarios += [dict.fromkeys(tie, 0.5), *({resource: 0.5} for resource in tie[:singles])]
        tried.append((tie, list(range(first, len(scenarios)))))
    found = evaluated(time, scenarios)
    value = float(found[0])
    ends = found[1 : 1 + 2 * len(estimates)]
    low, high = banded(value, ends)
    changes = ~np.isclose(ends, value, SAME_TOLERANCE, 0.0)
    matter = [name for k, name in enumerate(estimates) if changes[2 * k : 2 * k + 2].any()]
    # of a run, which takes long, squares are enough
    if len(matter) > 1 and not run:
        low = min(low, float(seconds(time, quickest_together(matter, bands))))
    low = min(value, max(low, floor))
    if not explained or value <= 0:
        return Account(value, low, high)
    every = [_held_by(tie, value, found[at], spent[tie] / value) for tie, at in tried]
    every.sort(key=_gain, reverse=True)
    # where no gain is worth naming, the best of them still is what the time consists of
    every = [held for k, held in enumerate(every) if not k or _gain(held) >= NOTICE_TOLERANCE]
    if not every or _gain(every[0]) <= 1:
        return Account(value, low, high, spent=every_tie)
    line = 1 + (_gain(every[0]) - 1) / 2
    binding = tuple(held for held in every if _gain(held) >= line)
    later = [held for held in every if _gain(held) < line]
    if len(later) < _NEXT_LIMIT:
        later += _next_bottlenecks(time, value, binding, later)
    return Account(value, low, high, binding, tuple(later[:_NEXT_LIMIT]), every_tie)


def evaluated(time: Time, scenarios: Sequence[Scenario]) -> Float:
    """The time in each scenario [s]. : (n_scenarios,)"""
    varied: dict[Hashable, list[tuple[int, float]]] = {}
    for k, scenario in enumerate(scenarios):
        for key, by in scenario.items():
            varied.setdefault(key, []).append((k, by))
    # what varies in the same way shares one array
    known: dict[tuple[tuple[int, float], ...], Float] = {}
    slower: dict[Hashable, Float] = {}
    for key, each in varied.items():
        column = known.get(tuple(each))
        if column is None:
            column = known[tuple(each)] = np.ones(len(scenarios))
            for k, by in each:
                column[k] = by
        slower[key] = column
    return np.broadcast_to(seconds(time, slower), len(scenarios))


def quickest_together(estimates: Sequence[str], bands: Mapping[str, Ends]) -> Scenario:
    """All estimates at once, each 1/√n of the way to its quick end: as likely as one of them at that end.

    Where resources bind together, no estimate alone shortens the time; for sums this is no farther than deviations
    added in squares.
    """
    way = 1 / sqrt(len(estimates))
    return {name: 1 - (1 - bands[name][0]) * way for name in estimates}


def banded(value: float, ends: Float) -> tuple[float, float]:
    """The band of a value from its values at the ends of each independent estimate: deviations added in squares.

    Parameters
    ----------
    ends : (n,)

    Notes
    -----
    The low end is not below the value with all estimates at their quick ends, where each divides it.
    """
    # the square of a very long time overflows
    off = (ends - value).tolist()
    quick = [x for x in off if x < 0]
    together = value * prod(1 + x / value for x in quick) if quick else value
    return max(together, value - hypot(*quick)), value + hypot(*(x for x in off if x > 0))


def _candidates(time: Time, found: Mapping[Tie, float]) -> dict[Tie, float]:
    """Ties worth trying, of all ties with their seconds; a run says them, and a solver that does not names them."""
    run = isinstance(time, Solved) and time.held is not None and not time.quick
    least = _SHARE_TOLERANCE * max(found.values(), default=0.0) if run else 0.0
    most = _RUN_TIES_LIMIT if run else _TIES_LIMIT
    return dict([(tie, spent) for tie, spent in found.items() if spent >= least][:most])


def _held_by(tie: Tie, value: float, found: Float, share: float) -> Held:
    gains = [value / float(one) if one > 0 else float("inf") for one in found]
    alone = tuple(gains[1:]) if len(gains) > 1 else (gains[0],) if len(tie) == 1 else (None,) * len(tie)
    return Held(tie, gains[0], alone, share)


def _gain(held: Held) -> float:
    return max(one for one in (held.gain, *held.alone, 1.0) if one is not None)


def _next_bottlenecks(time: Time, value: float, binding: Sequence[Held], known: Sequence[Held]) -> list[Held]:
    """What holds the time back once what binds is twice as fast, and was not named.

    As of every other resource, half of its seconds must be worth naming against the time as drawn.
    """
    faster: dict[Hashable, float] = {resource: 0.5 for held in binding for resource in held.tie}
    named = faster.keys() | {resource for held in known for resource in held.tie}
    if isinstance(time, Solved) and time.held is None and named.issuperset(r for tie in time.ties for r in tie):
        return []
    found: list[Held] = []
    for tie, spent in shares(time, faster).items():
        rest = tuple(resource for resource in tie if resource not in named)
        if rest and value >= NOTICE_TOLERANCE * (value - spent / 2):
            found.append(Held(rest, None, (None,) * len(rest), 0.0))
    return found
