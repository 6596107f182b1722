"""A server that gathers what waits into batches: samples in, batches through one instance, latencies out."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import count, repeat
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.errors import Cancelled
from designer.families.serving.inference import Inference

Float = npt.NDArray[np.float64]

#: batches between two looks at whether someone cancelled
_LOOK_LIMIT: Final = 4096


@dataclass(frozen=True, eq=False)
class BatchRun:
    """A run of one instance.

    Parameters
    ----------
    at, done : (n,) when each sample came and was answered [s]
    batches : (m,) samples of each batch
    busy
        Time in which batches ran [s].
    """

    at: Float
    done: Float
    batches: npt.NDArray[np.int64]
    busy: float

    @cached_property
    def latency(self) -> Float:
        """From coming to answer [s]."""
        return self.done - self.at

    @property
    def use(self) -> float:
        """Share of time in which the instance worked [1]."""
        return min(1.0, self.busy / float(self.done[-1])) if len(self.done) else 0.0


def gaps_of(asked: Inference, instances: int, which: int, begin: float = 0.0) -> Iterator[float]:
    """When samples come to one of so many instances that share them, in order and without end [s].

    Scenarios in which all are there at once have as many as are looked at.
    """
    draw = np.random.default_rng(asked.seed if not which else (asked.seed, which))
    if asked.scenario == "server":
        now = begin
        while True:
            for moment in (now + np.cumsum(draw.exponential(instances / asked.rate, asked.count))).tolist():
                now = moment
                yield moment
    elif asked.scenario == "video":
        phase = np.sort(draw.random(max(1, math.ceil(asked.streams / instances))) / asked.frames)
        for frame in count():
            yield from (begin + (phase + frame / asked.frames)).tolist()
    elif asked.scenario == "offline":
        yield from repeat(begin, asked.count)
    else:
        yield from repeat(begin)


def run_batches(
    at: Float, largest: int, delay: float, time: Callable[[int], float], cancelled: Callable[[], bool] | None = None
) -> BatchRun:
    """Samples that come at times in order [s], through one instance.

    Parameters
    ----------
    largest, delay
        Most samples of a batch; how long the first of it waits for others [s].
    time
        Of a batch of so many [s].

    Notes
    -----
    A batch begins when the instance is free and either it is full or its first sample has waited long enough. With a
    largest batch of 1 this is the Lindley recursion.

    Raises
    ------
    Cancelled
        If it was stopped.
    """
    n = len(at)
    # of batches that occur: the largest may be far from them
    times: dict[int, float] = {}
    moments: list[float] = at.tolist()
    done = np.empty(n)
    sizes: list[int] = []
    free = busy = 0.0
    i = 0
    while i < n:
        if cancelled is not None and not len(sizes) % _LOOK_LIMIT and cancelled():
            raise Cancelled("stopped")
        full = moments[i + largest - 1] if i + largest <= n else float("inf")
        begin = max(free, min(full, moments[i] + delay))
        # all that have come by then, as many as fit
        size = 1
        while size < largest and i + size < n and moments[i + size] <= begin:
            size += 1
        if size not in times:
            times[size] = time(size)
        free = begin + times[size]
        busy += times[size]
        done[i : i + size] = free
        sizes.append(size)
        i += size
    return BatchRun(at, done, np.array(sizes, dtype=np.int64), busy)
