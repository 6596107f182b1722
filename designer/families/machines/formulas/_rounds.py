"""The loop all pre-copy models share: send, look what was dirtied meanwhile, send that."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, NamedTuple

from designer.sources import Constant, Status

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
