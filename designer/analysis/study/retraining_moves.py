"""A migration beside a training that begins again and again: what it comes to, begun at any moment.

Both ends are worked out: with the retraining all the time, and without it. A migration far shorter than a retraining
meets all of one or none; a longer one keeps a share of its pace while one runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from designer.sources import Estimate
from designer.units import Ratio, Seconds

#: what begins in one period ends in one of so many that follow each other, edges included
_TURNS_LIMIT: Final = 3


@dataclass(frozen=True, slots=True)
class Mean:
    """What a retraining makes of a migration.

    Parameters
    ----------
    slower
        How many times as long it takes while it runs; inf where nothing moves meanwhile, None where nothing does [1].
    times
        By metric, how many times as much it is in the mean [1].
    """

    slower: Estimate | None
    times: Mapping[str, Estimate]


def mean_of_moves(
    alone: Mapping[str, Estimate], during: Mapping[str, Estimate], main: str, duty: Estimate, every: float
) -> Mean:
    """A migration by its metrics without a retraining and all the time beside it.

    Parameters
    ----------
    main
        The metric that is its time.
    every
        Time from one retraining to the next [s].
    """
    sources = duty.sources
    if main not in alone or alone[main].value <= 0:
        return Mean(None, {})
    work = alone[main].value
    if main not in during:
        return Mean(Estimate(math.inf, math.inf, math.inf, "1", sources), {})
    slower = max(1.0, during[main].value / work)
    found: dict[str, Estimate] = {}
    for name, m in alone.items():
        other = during.get(name)
        if other is None or m.value <= 0 or m.unit == "1":
            continue
        ends: list[float] = []
        for share in (duty.value, duty.low, duty.high):
            share = min(1.0, share)
            if name == main:
                mean = mean_time(Seconds(work), Ratio(slower), Seconds(share * every), Seconds(every)) / work
            else:
                mean = 1 + share * (other.value / m.value - 1)
            ends.append(mean)
        found[name] = Estimate(ends[0], min(ends), max(ends), "1", sources)
    return Mean(Estimate.exact(slower, "1", sources, "worked out with it and without"), found)


def mean_time(work: Seconds, slower: Ratio, busy: Seconds, every: Seconds) -> Seconds:
    """Mean time of something that begins at any moment and goes on at 1/`slower` of its pace while others are busy.

    Others are busy for the first `busy` of `every` seconds. Between the moments at which its beginning or its end
    passes a change of pace, its time is a straight line of when it begins, so the mean over all is exact.

    Examples
    --------
    Half of the time at half pace, a second of work, and far longer spans of either: 1 s or 2 s.

    >>> round(mean_time(Seconds(1.0), Ratio(2.0), Seconds(5e6), Seconds(1e7)), 3)
    1.5

    Work of 750 s: each period of 1,000 s does 500 + 500/2, so it takes a period, whenever it begins.

    >>> mean_time(Seconds(750.0), Ratio(2.0), Seconds(500.0), Seconds(1000.0))
    1000.0
    """
    if busy <= 0 or slower <= 1:
        return work
    if busy >= every:
        return Seconds(work * slower)
    period = busy / slower + (every - busy)

    def done(at: float) -> float:
        turns, rest = divmod(at, every)
        return turns * period + (rest / slower if rest < busy else busy / slower + rest - busy)

    def when(amount: float) -> float:
        turns, rest = divmod(amount, period)
        return turns * every + (rest * slower if rest < busy / slower else busy + rest - busy / slower)

    # beginnings whose end falls on a change of pace
    marks = {0.0, float(busy), float(every)}
    passed = math.floor(work / period)
    for turn in range(passed, passed + _TURNS_LIMIT):
        for edge in (turn * period, turn * period + busy / slower):
            begin = edge - work
            if 0 < begin < period:
                marks.add(when(begin))
    places = sorted(marks)
    times = [when(done(at) + work) - at for at in places]
    area = sum((b - a) * (s + t) / 2 for a, b, s, t in zip(places, places[1:], times, times[1:], strict=False))
    return Seconds(area / every)
