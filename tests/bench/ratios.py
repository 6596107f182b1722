"""How the gates are held: the time of what is measured over the time of a named baseline in the same run.

The baseline is plain work of the same kind (a library, or Python itself, without the program), or another answer of the
program where the gate is about how the two compare. Both run by turns, so that a busy or slower machine slows both and
only a slower program fails. Seconds are noted next to it and refuse nothing.
"""

from __future__ import annotations

import heapq
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import networkx as nx

#: turns whose median counts
TURNS = 7


def timed(function: Callable[[], object], clock: Callable[[], float] = time.process_time) -> float:
    """How long one run takes [s]."""
    start = clock()
    function()
    return clock() - start


@dataclass
class Against:
    """Times of one thing and of its baseline, by turns.

    Parameters
    ----------
    baseline
        Run right before and after each turn.
    clock
        Processor time, which does not count waiting for others; ``time.perf_counter`` for what runs in other processes.
    """

    baseline: Callable[[], object]
    clock: Callable[[], float] = time.process_time
    seconds: list[float] = field(default_factory=list[float])
    base: list[float] = field(default_factory=list[float])
    ratios: list[float] = field(default_factory=list[float])

    def __post_init__(self) -> None:
        self.baseline()
        self.base.append(timed(self.baseline, self.clock))

    def add(self, seconds: float) -> None:
        """A time just measured."""
        before = self.base[-1]
        self.base.append(timed(self.baseline, self.clock))
        self.seconds.append(seconds)
        self.ratios.append(2 * seconds / (before + self.base[-1]))

    def run(self, function: Callable[[], object]) -> None:
        """Run and time once."""
        self.add(timed(function, self.clock))

    @property
    def ratio(self) -> float:
        """Median over the turns [1]."""
        return statistics.median(self.ratios)

    def note(self, benchmark: Any) -> None:
        """Keep what was measured with the report."""
        benchmark.extra_info["ratio"] = round(self.ratio, 3)
        benchmark.extra_info["milliseconds"] = round(1e3 * statistics.median(self.seconds), 3)
        benchmark.extra_info["milliseconds of the baseline"] = round(1e3 * statistics.median(self.base), 3)


def against(
    benchmark: Any,
    function: Callable[[], object],
    baseline: Callable[[], object],
    *,
    setup: Callable[[], object] | None = None,
    turns: int = TURNS,
) -> float:
    """How many times as long as its baseline a function takes [1]; `setup` runs before each turn, untimed."""
    times = Against(baseline)
    for _ in range(turns):
        if setup is not None:
            setup()
        times.run(function)
    times.note(benchmark)
    return times.ratio


def heap_of(events: int) -> Callable[[], object]:
    """A heap from which so many events are taken, each followed by another: the least a clock has to do."""

    def run() -> float:
        waiting = [(float(k), k) for k in range(64)]
        now = 0.0
        for k in range(events):
            now, _ = heapq.heappop(waiting)
            heapq.heappush(waiting, (now + 1.0 + k % 7, k))
        return now

    return run


def led_over_a_grid() -> object:
    """Shortest ways over a grid of 60 × 60 points by networkx: the textbook's way of leading links around boxes."""
    return nx.single_source_dijkstra_path_length(GRID, (0, 0))


GRID = nx.grid_2d_graph(60, 60)
