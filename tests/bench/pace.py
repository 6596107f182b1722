"""How fast this machine is just now: the named baseline budgets are held against.

A budget in seconds is meant for a quiet machine. It gates as a ratio: the median over seven turns of the time of what
is measured over the time of the baseline taken right before and after it, against the same ratio on that machine. So a
busy or slower machine slows both, and only a slower program fails.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable

#: a million additions of a counter on the quiet machine the budgets were set for [s]
QUIET = 0.050
#: turns whose median counts
TURNS = 7


def baseline(clock: Callable[[], float] = time.perf_counter) -> float:
    """A million additions of a counter, now [s]."""
    start, total = clock(), 0
    for k in range(1_000_000):
        total += k
    return clock() - start


def slowness(clock: Callable[[], float] = time.perf_counter) -> float:
    """How many times as long as on the quiet machine the baseline takes just now [1]."""
    return baseline(clock) / QUIET


class Paced:
    """Times of one thing, each as it would be on the quiet machine, in the unit they are given in.

    Parameters
    ----------
    clock
        ``time.process_time`` for what does not wait for anybody.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self.clock = clock
        self.quiet: list[float] = []
        self.plain: list[float] = []
        self._before = slowness(clock)

    def add(self, seconds: float) -> None:
        """A time just measured."""
        after = slowness(self.clock)
        self.plain.append(seconds)
        self.quiet.append(2 * seconds / (self._before + after))
        self._before = after

    def run(self, function: Callable[[], object]) -> None:
        """Run and time once."""
        start = self.clock()
        function()
        self.add(self.clock() - start)

    @property
    def median(self) -> float:
        """Median as on the quiet machine."""
        return statistics.median(self.quiet)


def paced(
    function: Callable[[], object],
    *,
    setup: Callable[[], object] | None = None,
    turns: int = TURNS,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Median time of some runs as on the quiet machine [s]; `setup` runs before each, untimed."""
    times = Paced(clock)
    for _ in range(turns):
        if setup is not None:
            setup()
        times.run(function)
    return times.median
