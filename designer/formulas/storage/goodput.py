"""Goodput of a long run that fails now and then: closed form, the interval that keeps most of it, a simulation, spares.

Failures come at random, one on average every so often, as long as the run lasts: also while it restarts. After one the
run restarts cold, reads the last checkpoint that was written out, and does again what came after it.
"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass
from typing import Final

from designer.errors import AnalysisError
from designer.formulas.formula import Formula
from designer.sources import Constant, Status
from designer.units import Ratio, Seconds

#: steps of the search for the best interval: each halves what is left
_SEARCH_ITERATIONS: Final = 200
#: runs that are simulated
RUNS_LIMIT: Final = 200
#: share of runs below the lower and above the upper end of what one run sees
OUTSIDE: Final = Constant(0.1, 0.0, 0.5, "assumed-training", Status.ASSUMED, "1", "an 80 % band, as elsewhere")
#: how often more servers may be out than there are spares
SHORT: Final = Constant(0.01, 0.001, 0.1, "assumed-training", Status.ASSUMED, "1", "one hour in a hundred")


@dataclass(frozen=True, slots=True)
class Interruptions:
    """How often a run fails, and what each failure costs it.

    Parameters
    ----------
    between
        Mean time between failures of the whole job [s].
    restart
        From a failure until training goes on: detection and cold start, and reading the checkpoint [s].
    stall
        What each checkpoint stops training for [s].
    behind
        How long after training goes on a checkpoint is safe: the rest of a burst behind training [s].
    """

    between: Seconds
    restart: Seconds
    stall: Seconds
    behind: Seconds = Seconds(0.0)

    def __post_init__(self) -> None:
        if not 0 < self.between < math.inf or not all(
            0 <= t < math.inf for t in (self.restart, self.stall, self.behind)
        ):
            raise AnalysisError(
                f"failures every {self.between:g} s, {self.restart:g} s to restart",
                remedy="give a time between failures above 0 and others of 0 or more",
            )


def effective_time(interval: Seconds, failures: Interruptions) -> Ratio:
    """Effective training time ratio (ETTR): share of the time that brings the run forward, in the long run [1].

    Notes
    -----
    Between two failures, exponential with mean M, n checkpoints are safe if R + n (τ + δ) + b has gone by. The mean of
    n is exp(−(R + b)/M) ÷ (exp((τ + δ)/M) − 1), each worth τ: without b this is Daly's complete model.

    Sources
    -------
    Daly 2006, the complete model; Kokolis et al. 2025 for the name.

    Raises
    ------
    AnalysisError
        If a time or a share is out of range.
    """
    if not 0 < interval < math.inf:
        raise AnalysisError(f"a checkpoint every {interval:g} s", remedy="give an interval above 0")
    m = failures.between
    cycle = (interval + failures.stall) / m
    # an interval of hundreds of times the time between failures never ends
    kept = math.exp(-cycle) / -math.expm1(-cycle)
    return Ratio(interval / m * math.exp(-(failures.restart + failures.behind) / m) * kept)


def most_effective_interval(failures: Interruptions, shortest: Seconds = Seconds(0.0)) -> Seconds:
    """The interval with the highest ETTR, at least `shortest` [s].

    Notes
    -----
    The derivative is zero where 1 − τ/M = exp(−(τ + δ)/M); its left side falls faster, so that halving finds it.

    Sources
    -------
    Daly 2006.
    """
    m, stall = failures.between, failures.stall
    low, high = 0.0, 1.0
    for _ in range(_SEARCH_ITERATIONS):
        middle = (low + high) / 2
        if 1 - middle > math.exp(-(middle + stall / m)):
            low = middle
        else:
            high = middle
    return Seconds(max(low * m, shortest))


def simulated(
    interval: Seconds, failures: Interruptions, length: Seconds, seed: int = 0, runs: int = RUNS_LIMIT
) -> tuple[Ratio, Ratio, Ratio]:
    """ETTR of runs of a length with failures drawn at random: the mean, and what 80 % of single runs lie between [1].

    Work that is under way when a run ends is done, not lost.

    Raises
    ------
    AnalysisError
        If a time or a count is out of range.
    """
    if not 0 < length < math.inf or runs < 1 or interval <= 0:
        raise AnalysisError(f"{runs} runs of {length:g} s", remedy="give one run or more, of a length above 0")
    draw = random.Random(seed)
    cycle = interval + failures.stall
    found: list[float] = []
    for _ in range(runs):
        now, done, restart = 0.0, 0.0, 0.0
        while now < length:
            until = now + draw.expovariate(1 / failures.between)
            working = min(until, length) - now - restart
            if working > 0:
                whole, rest = divmod(working, cycle)
                if until >= length:
                    done += whole * interval + min(rest, interval)
                else:
                    done += max(0.0, (working - failures.behind) // cycle) * interval
            now, restart = until, failures.restart
        found.append(done / length)
    found.sort()
    edge = int(OUTSIDE.value * runs)
    return Ratio(sum(found) / runs), Ratio(found[edge]), Ratio(found[runs - 1 - edge])


def spares(between: Seconds, repair: Seconds) -> int:
    """Spare servers with which more are out at a time than there are spares for 1 % of the time only.

    Notes
    -----
    Failures at random and repairs next to each other: the number out is Poisson with mean repair ÷ time between
    failures, whatever repairs are distributed like (M/G/∞).

    Raises
    ------
    AnalysisError
        If a time, a count or a share is out of range.
    """
    if between <= 0 or not 0 <= repair < math.inf:
        raise AnalysisError(f"a repair of {repair:g} s", remedy="give 0 s or more, and a time between failures above 0")
    mean = repair / between
    if mean == 0:
        return 0
    count, within = 0, math.exp(-mean)
    while 1 - within > SHORT.value:
        count += 1
        # by logarithms: e to the minus a thousand is no number any more
        within += math.exp(count * math.log(mean) - mean - math.lgamma(count + 1))
    return count


FORMULA: Final = Formula(
    "goodput", "Goodput with failures", effective_time, ("daly-2006", "kokolis-2025"), "failures come independently"
)
