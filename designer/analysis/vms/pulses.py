"""Traffic that comes and goes: the steps of a training beside migrations, which communicate for a part of the time.

A migration that lasts for many steps meets communication for its share of the time. One that is over within a step
meets all of it or none, as it comes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import numpy.typing as npt

from designer.sources import Estimate
from designer.units import Ratio, Seconds

Float = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class Pulses:
    """A step that repeats: it computes, and groups communicate beside that and after it.

    Parameters
    ----------
    computing
        Time of the step in which nothing is sent that it waits for [s].
    hidden, shown
        How long each group is on the links beside computing, and after it, where nobody else is. : (n_groups,) [s]
    forced
        Share of the time in which some group is taken to communicate, whatever the step says; None for what it says.
    """

    computing: float
    hidden: Float
    shown: Float
    forced: float | None = None

    def times(self, kept: Float) -> float:
        """How many times as long a step takes when groups keep a share of their rate [1]."""
        return self._step(kept) / self._step(np.ones_like(kept))

    @property
    def period(self) -> float:
        """Duration of a step with no other traffic on the network [s]."""
        return self._step(np.ones_like(self.hidden))

    def shares(self, kept: Float) -> Float:
        """Share of the time in which each group communicates when it keeps a share of its rate; in turn. : (n_groups,)

        What takes longer is there for longer: a group that keeps half of its rate communicates for twice the time.
        """
        on = (self.hidden + self.shown) / kept
        if self.forced is not None:
            return on / on.sum() * self.forced
        return on / max(self._step(kept), float(on.sum()))

    def _step(self, kept: Float) -> float:
        beside = float(np.max(self.hidden / kept, initial=0.0))
        return max(self.computing, beside) + float((self.shown / kept).sum())


@dataclass(frozen=True, slots=True)
class Turn:
    """What is there at some times: which group of each workload communicates, −1 for none, and how much of the time."""

    share: float
    groups: tuple[int, ...]


def turns(shares: Mapping[int, Float]) -> list[Turn]:
    """All that may be there at one time where phases are unknown, so that each workload comes as the others do or not.

    Parameters
    ----------
    shares
        By number of a workload, in the order of the numbers: the share of the time of each of its groups.
    """
    each = [[(1 - float(s.sum()), -1), *((float(one), k) for k, one in enumerate(s))] for s in shares.values()]
    return [
        Turn(share, tuple(group for _, group in chosen))
        for chosen in product(*each)
        if (share := float(np.prod([part for part, _ in chosen]))) > 0
    ]


def span(off: Seconds, on: Seconds, busy: Seconds, every: Seconds) -> tuple[Seconds, Seconds]:
    """The least and the most time of something that begins at any moment of what comes and goes.

    Parameters
    ----------
    off, on
        What it takes while the other is silent, and while it is there.
    busy, every
        How long the other is there, in one piece, and from one to the next.

    Examples
    --------
    Half a second of each second at half pace: 2.25 s of work get 0.75 s done in each, so 3 s, whenever it begins.

    >>> [round(time, 9) for time in span(Seconds(2.25), Seconds(4.5), Seconds(0.5), Seconds(1.0))]
    [3.0, 3.0]

    What takes 0.2 s alone meets all of it or none.

    >>> span(Seconds(0.2), Seconds(0.4), Seconds(0.5), Seconds(1.0))
    (0.2, 0.4)
    """
    return _takes((every - busy, off), (busy, on)), _takes((busy, on), (every - busy, off))


def _takes(first: tuple[float, float], second: tuple[float, float]) -> Seconds:
    """Time to get done what takes so long in each of two states that follow each other."""
    done = first[0] / first[1], second[0] / second[1]
    whole, rest = divmod(1.0, done[0] + done[1])
    time = whole * (first[0] + second[0])
    if rest <= done[0]:
        return Seconds(time + rest * first[1])
    return Seconds(time + first[0] + (rest - done[0]) * second[1])


def with_phases(
    mean: Mapping[str, Estimate],
    off: Mapping[str, Estimate],
    on: Mapping[str, Estimate],
    main: str,
    share: Ratio,
    every: Seconds,
) -> dict[str, Estimate]:
    """Metrics with bands that hold any phase: one that is over soon may meet communication all of the time, or never.

    Parameters
    ----------
    mean, off, on
        Metrics where the other is there for its share of the time, never, and always.
    main
        The metric that tells how long it all takes; that of anything else but a time is as unsure as this one.
    share, every
        Share of the time in which the other is there [1], and from one time to the next.
    """
    found = dict(mean)
    for name, m in mean.items():
        if name not in off or name not in on:
            continue
        timed = name if m.unit == "s" else main
        if timed not in off or timed not in on or timed not in mean:
            continue
        towards = _towards(off[timed].value, on[timed].value, share, every)
        ends = [
            getattr(m, end) * (1 + part * (other[name].value / m.value - 1)) if m.value > 0 else getattr(m, end)
            for end in ("low", "high")
            for part, other in zip(towards, (off, on), strict=True)
        ]
        found[name] = replace(m, low=min(m.low, *ends), high=max(m.high, *ends))
    return found


def _towards(off: float, on: float, share: float, every: float) -> tuple[float, float]:
    """How far the best and the worst phase are from the mean towards never and always being there [1]."""
    if not (0 < share < 1 and 0 < off < on):
        return 0.0, 0.0
    usual = 1 / (share / on + (1 - share) / off)
    least, most = span(Seconds(off), Seconds(on), Seconds(share * every), Seconds(every))
    return max(0.0, (usual - least) / (usual - off)), max(0.0, (most - usual) / (on - usual))
