"""The loop all pre-copy models share: send, look what was dirtied meanwhile, send that."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final, NamedTuple

from designer.errors import AnalysisError
from designer.sources import Constant, Estimate, Status

# How far a constant that one publication knows may be off on another set-up.

#: |ln| of what was missed when each of six publications was left out: 80 % lie below 0.47, each publication counting
#: equally; 0.45–0.48 whichever of the others is taken out of this as well, 0.31 without RDMA
ONE_PUBLICATION: Final = Constant(
    1.0, 1 / 1.6, 1.6, "migration-calibration", Status.DERIVED, "1", "six publications, each left out in turn"
)


def widened(known: Constant, most: float | None = None) -> Constant:
    """A constant read off one publication, with the band that another set-up needs; `most` is what nothing exceeds."""
    high = max(known.high, known.value * ONE_PUBLICATION.high)
    low = min(known.low, known.value * ONE_PUBLICATION.low)
    return replace(known, low=low, high=high if most is None else min(high, most))


MOST_ROUNDS: Final = Constant(
    20_000,
    20_000,
    20_000,
    "migration-assumed",
    Status.ASSUMED,
    note="bound of the loop; later rounds last microseconds",
)
STALLED_SHOWN: Final = Constant(
    10, 10, 10, "migration-assumed", Status.ASSUMED, note="rounds kept for the curve once it is known to stall"
)


@dataclass(frozen=True, slots=True)
class Round:
    """One pass of pre-copy.

    Parameters
    ----------
    start, duration
        When it began and how long it took [s].
    sent, dirtied
        Guest memory sent, and dirtied meanwhile [B].
    kept
        Share of its writing rate the guest kept [1]; below 1 it was slowed down.
    """

    start: float
    duration: float
    sent: float
    dirtied: float
    kept: float


class Dirtying(NamedTuple):
    """What a guest dirties in a pass [B], the share of its rate it keeps, and whether it can be slowed no further."""

    amount: float
    kept: float
    final: bool


#: index of the pass, its start [s], its duration [s], what it sends [B]
DirtyRule = Callable[[int, float, float, float], Dirtying]


@dataclass(frozen=True, slots=True)
class Rounds:
    """All passes, what is left for the switch-over [B], and whether it came below the goal."""

    rounds: tuple[Round, ...]
    left: float
    converged: bool

    @property
    def duration(self) -> float:
        """Time of all passes [s]."""
        return sum(each.duration for each in self.rounds)

    @property
    def sent(self) -> float:
        """Guest memory sent in the passes [B]."""
        return sum(each.sent for each in self.rounds)


def iterate(
    first: float, bandwidth: float, most_dirty: float, stop_at: float, rule: DirtyRule, most_passes: int | None = None
) -> Rounds:
    """Passes until the rest is at most `stop_at` [B], or until it is certain that this never happens.

    A pass that leaves no less than it sent, under a rule that cannot slow the guest further, repeats for ever:
    the next rest is a fixed multiple of this one, cut off at `most_dirty`.

    Parameters
    ----------
    first
        Memory of the first pass [B].
    bandwidth
        Guest memory carried per second [B/s].
    most_dirty
        Writable working set: what can be dirty at most [B].
    stop_at
        Rest that may be left for the switch-over [B].
    most_passes
        Passes after which the monitor stops the guest whatever is left; None for no such limit.
    """
    rounds: list[Round] = []
    to_send, now, stalled = first, 0.0, 0
    while len(rounds) < MOST_ROUNDS.value:
        duration = to_send / bandwidth
        dirtying = rule(len(rounds), now, duration, to_send)
        dirtied = min(most_dirty, dirtying.amount)
        rounds.append(Round(now, duration, to_send, dirtied, dirtying.kept))
        if dirtied <= stop_at or len(rounds) == most_passes:
            return Rounds(tuple(rounds), dirtied, converged=True)
        stalled = stalled + 1 if dirtying.final and dirtied >= to_send else 0
        if stalled >= STALLED_SHOWN.value:
            break
        to_send, now = dirtied, now + duration
    return Rounds(tuple(rounds), rounds[-1].dirtied, converged=False)


# Checks on what a person typed, with the same words everywhere.


def positive(value: float, what: str) -> float:
    """`value` if it is a finite number above zero.

    Raises
    ------
    AnalysisError
        If it is zero, negative or no number.
    """
    if not (math.isfinite(value) and value > 0):
        raise AnalysisError(f"{what} is {value:g}", place=what, remedy="give a number above zero")
    return value


def not_negative(value: float, what: str) -> float:
    """`value` if it is a finite number of zero or more.

    Raises
    ------
    AnalysisError
        If it is negative or no number.
    """
    if not (math.isfinite(value) and value >= 0):
        raise AnalysisError(f"{what} is {value:g}", place=what, remedy="give zero or a positive number")
    return value


def at_least_one(value: int, what: str) -> int:
    """`value` if it is 1 or more.

    Raises
    ------
    AnalysisError
        If it is smaller.
    """
    if value < 1:
        raise AnalysisError(f"{what} is {value}", place=what, remedy="give at least 1")
    return value


def share(value: float, what: str) -> float:
    """`value` if it lies in 0–1.

    Raises
    ------
    AnalysisError
        If it lies outside.
    """
    if not 0 <= value <= 1:
        raise AnalysisError(f"{what} is {value:g}", place=what, remedy="give a share between 0 and 1")
    return value


# What a migration model returns.


class Verdict(StrEnum):
    """Whether a pre-copy comes to an end."""

    CONVERGES = "converges"
    SLOWED = "converges with the guest slowed down"
    POST_COPY = "finished by post-copy"
    NEVER = "does not converge"


@dataclass(frozen=True, slots=True)
class Outcome:
    """A live migration as computed: verdict, times with 80 % bands, and the curve to plot.

    Parameters
    ----------
    reason
        One sentence that says which threshold decided.
    total_time, precopy_time, downtime
        From start to running at the destination; of the passes; of the pause of the guest [s].
    longest_downtime
        The pause if the rest just fits the threshold: what a guest that writes all the time must expect [s].
    transferred
        Put on the link, resent pages included [B].
    slowdown
        Share of its writing rate the guest loses while it is slowed down [1].
    time, remaining
        The curve: memory not yet in place at the destination [B] against time [s].
    """

    verdict: Verdict
    reason: str
    rounds: tuple[Round, ...]
    total_time: Estimate
    precopy_time: Estimate
    downtime: Estimate
    longest_downtime: float
    transferred: Estimate
    slowdown: Estimate
    time: tuple[float, ...]
    remaining: tuple[float, ...]
    sources: tuple[str, ...]

    @property
    def converged(self) -> bool:
        """True if the virtual machine arrives."""
        return self.verdict is not Verdict.NEVER


def curve(rounds: Rounds, start: float, end: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Time [s] and remaining memory [B]: flat during set-up, a corner per pass, zero at `end` if it converged."""
    time, remaining = [0.0], [rounds.rounds[0].sent]
    if start > 0:
        time.append(start)
        remaining.append(rounds.rounds[0].sent)
    for each in rounds.rounds:
        time.append(start + each.start + each.duration)
        remaining.append(each.dirtied)
    if math.isfinite(end):
        time.append(max(end, time[-1]))
        remaining.append(0.0)
    return tuple(time), tuple(remaining)


def slowed(rounds: Rounds) -> float:
    """Largest share of its writing that the guest lost while it was slowed down [1]."""
    return max((1 - each.kept for each in rounds.rounds), default=0.0)
