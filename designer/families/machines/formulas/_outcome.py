"""What a migration model returns."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum

from designer.families.machines.formulas._rounds import Round, Rounds
from designer.sources import Estimate


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
    slowed_time
        How long it is slowed down [s].
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
    slowed_time: float
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


def slowed(rounds: Rounds) -> tuple[float, float]:
    """Largest share of writing lost, and for how long the guest was slowed at all [s]."""
    lost = max((1 - each.kept for each in rounds.rounds), default=0.0)
    return lost, sum(each.duration for each in rounds.rounds if each.kept < 1)
