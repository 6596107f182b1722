"""When the items of a program arrive: periodic, Poisson, bursty, or from a trace; one seed gives the same times."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from designer.errors import AnalysisError


@dataclass(frozen=True, slots=True)
class Arrivals:
    """Times at which items arrive, counted from the start of the program.

    Parameters
    ----------
    shape
        ``periodic``; ``poisson``; ``bursty``: bursts of `burst` items at once, bursts Poisson; ``trace``.
    rate
        Items per second in the mean [1/s].
    burst
        Mean number of items in a burst, geometric [1].
    times
        Of a trace, ascending [s].
    """

    shape: Literal["periodic", "poisson", "bursty", "trace"] = "periodic"
    rate: float = 0.0
    burst: float = 1.0
    seed: int = 0
    times: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if self.shape == "trace":
            for k, (before, at) in enumerate(zip((0.0, *self.times), self.times, strict=False)):
                if not (math.isfinite(at) and at >= before):
                    why = "is negative" if at < 0 else "is no number" if math.isnan(at) else "comes before the last"
                    raise AnalysisError(
                        f"arrival {k + 1} at {at:g} s {why}", place="arrivals", remedy="give ascending times from 0 s"
                    )
        elif not 0 < self.rate < math.inf:
            raise AnalysisError(f"arrivals of {self.rate:g} a second", place="arrivals", remedy="give a rate above 0")
        if not 1 <= self.burst < math.inf:
            raise AnalysisError(f"bursts of {self.burst:g} items", place="arrivals", remedy="give 1 or more")

    def __iter__(self) -> Iterator[float]:
        if self.shape == "trace":
            yield from self.times
        elif self.shape == "periodic":
            k = 0
            while True:
                yield k / self.rate
                k += 1
        else:
            yield from self._random()

    def _random(self) -> Iterator[float]:
        drawn, now = random.Random(self.seed), 0.0
        burst = self.burst if self.shape == "bursty" else 1.0
        while True:
            now += drawn.expovariate(self.rate / burst)
            yield now
            while drawn.random() > 1 / burst:
                yield now
