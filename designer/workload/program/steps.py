"""Programs: steps that are done once, again and again, or for every arrival; bounded buffers are lags between items."""

from __future__ import annotations

import math
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Literal

from designer.errors import AnalysisError
from designer.workload.program.tasks import AnyTask, Task


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


@dataclass(frozen=True, slots=True)
class Step:
    """One task at its place in a program.

    Parameters
    ----------
    after
        Steps of the same item that come before it. A step with several of them is a barrier.
    lags
        Steps of earlier items that come before it: ``{"compute": 2}`` starts item i once item i − 2 has been computed,
        a buffer of depth 2 between the two.
    every
        Done for every so many items only, the last of each such group.
    draw
        ``exponential``: the amount is drawn for each item, with the mean given.
    """

    name: str
    task: Task
    after: tuple[str, ...] = ()
    lags: Mapping[str, int] = field(default_factory=dict[str, int])
    every: int = 1
    draw: Literal["fixed", "exponential"] = "fixed"


@dataclass(frozen=True, slots=True)
class Measure:
    """A metric of a program: what is measured, on which step.

    Parameters
    ----------
    of
        ``end``: from the start of the program to the end of the step [s]; ``period``: from one end of the step to the
        next, once that is steady [s]; ``pace``: the same as it is most often, without steps of items before it waits
        for [s];
        ``time``: from when the step could start to its end, in the mean [s]; ``rate``: `amount` per period;
        ``throughput``: what all flows of the step move per time in which they move anything; ``progress``: share of
        the time in which the step brought the program forward, what failures undid aside [1]; ``latency``: from when
        its item could begin to the end of the step, in the mean [s]; ``share``: its time, in the mean, of `amount` [1];
        ``requests``: what the metric of that name is over the requests that the step answered.
    amount
        What one item is worth, for a rate.
    """

    name: str
    unit: str
    of: Literal["end", "period", "pace", "time", "rate", "throughput", "progress", "latency", "share", "requests"]
    step: str
    amount: float = 1.0


@dataclass(frozen=True, slots=True)
class Recovery:
    """What failures do to a program.

    Parameters
    ----------
    safe
        The step whose end makes its item, and all before it, safe; empty where nothing ever is.
    read
        What is read before it goes on.
    cold_start
        From a failure, or from when it may start again, until reading begins [s].
    between
        Mean time between failures that are drawn, exponential; inf for none [s].
    times
        Failures in addition, counted from the start of the program, and from when on it may start again [s].
    reroutes
        From a failure on the program has other steps of the same names, and reads by another task.
    """

    safe: str
    read: Task
    cold_start: float
    between: float = math.inf
    times: tuple[tuple[float, float], ...] = ()
    seed: int = 0
    reroutes: tuple[tuple[float, tuple[Step, ...], Task], ...] = ()


@dataclass(frozen=True, slots=True)
class Program:
    """Steps for each of a number of items.

    Parameters
    ----------
    times
        Items; inf goes on until nobody looks any more.
    arrivals
        When items may begin; None: as soon as lags allow.
    batch
        Items that may begin with each arrival; of several, one is looked at after the other.
    start
        When the program begins [s].
    weight
        Share of each of its flows on links that it shares, relative to flows of other programs [1].
    priority
        Who goes first on a part that does one thing at a time: the lowest number.
    seed
        Of what steps draw.
    recovery
        How it goes on after failures; None: nothing fails.

    Raises
    ------
    AnalysisError
        If a step names one that is not there, or steps wait for each other.
    """

    name: str
    steps: tuple[Step, ...]
    times: float = 1
    arrivals: Arrivals | None = None
    start: float = 0.0
    weight: float = 1.0
    priority: int = 0
    seed: int = 0
    measures: tuple[Measure, ...] = ()
    recovery: Recovery | None = None
    batch: int = 1

    def __post_init__(self) -> None:
        self._refuse(not self.steps, "has no steps", "give it one step or more")
        self._refuse(not 0 <= self.start < math.inf, f"starts at {self.start:g} s", "start at 0 s or later")
        self._refuse(not 0 < self.weight < math.inf, f"has weight {self.weight:g}", "give more than 0")
        whole = math.isinf(self.times) or float(self.times).is_integer()
        self._refuse(self.times < 1 or not whole, f"runs {self.times:g} times", "1 time or more")
        self._refuse(self.batch < 1, f"begins {self.batch} items with each arrival", "1 or more")
        known = {step.name for step in self.steps}
        self._refuse(len(known) < len(self.steps), "has two steps of one name", "name each step once")
        for step in self.steps:
            missing = [name for name in (*step.after, *step.lags) if name not in known]
            self._refuse(bool(missing), f"{step.name} waits for {missing}, which is no step", "correct the name")
            self._refuse(any(lag < 1 for lag in step.lags.values()), f"{step.name} has a lag below 1", "1 or more")
            self._refuse(step.every < 1, f"{step.name} is done every {step.every} items", "1 or more")
        for measure in self.measures:
            self._refuse(measure.step not in known, f"{measure.name} measures {measure.step}, which is no step", "")
        if self.recovery is not None:
            safe, cold = self.recovery.safe, self.recovery.cold_start
            self._refuse(
                bool(safe) and safe not in known, f"is safe after {safe}, which is no step", "correct the name"
            )
            self._refuse(not 0 <= cold < math.inf, f"starts cold in {cold:g} s", "give 0 s or more")
            self._refuse(not self.recovery.between > 0, "fails without pause", "give a time between failures above 0")
        ring = self._dependency_cycle()
        self._refuse(bool(ring), f"can never begin: {' waits for '.join(ring)}", "let one of them not wait")

    def _refuse(self, wrong: bool, text: str, remedy: str) -> None:
        if wrong:
            raise AnalysisError(f"the program {self.name!r} {text}", place=self.name, remedy=remedy)

    def _dependency_cycle(self) -> list[str]:
        """Steps of one item that wait for each other, first and last the same; empty if there are none."""
        after = {step.name: step.after for step in self.steps}
        done: set[str] = set()
        for first in after:
            trail, pending = [first], [iter(after[first])]
            while trail:
                following = next(pending[-1], None)
                if following is None:
                    done.add(trail.pop())
                    pending.pop()
                elif following in trail:
                    return [*trail[trail.index(following) :], following]
                elif following not in done:
                    trail.append(following)
                    pending.append(iter(after[following]))
        return []

    def step(self, name: str) -> Step:
        """A step by name."""
        return next(step for step in self.steps if step.name == name)

    def first(self, kind: type[AnyTask]) -> AnyTask | None:
        """The first task of a type among the steps; None where no step has one."""
        return next((step.task for step in self.steps if isinstance(step.task, kind)), None)
