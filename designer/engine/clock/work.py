"""What the clock moves on: an amount of work with the resources that each unit of it takes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import count
from typing import Any, Protocol

from designer.errors import AnalysisError

_numbers = count()


class Shape:
    """What works of one sort take; shared by all of them, so that equal situations are recognised.

    Parameters
    ----------
    uses
        Resources with usage per unit of work; a resource named twice counts with the sum.
    weight
        Level = rate / weight.
    cap
        Most units per second.
    engine
        A resource that one work holds as a whole (or one of its slots); −1 for none.
    """

    __slots__ = ("cap", "engine", "number", "uses", "weight")

    def __init__(
        self, uses: Iterable[tuple[int, float]] = (), weight: float = 1.0, cap: float = math.inf, engine: int = -1
    ) -> None:
        summed: dict[int, float] = {}
        for resource, usage in uses:
            if not 0 <= usage < math.inf:
                raise AnalysisError(f"a usage of {usage:g}", remedy="give 0 or more, and a finite number")
            if usage:
                summed[resource] = summed.get(resource, 0.0) + usage
        if not 0 < weight < math.inf or not cap >= 0:
            raise AnalysisError(f"weight {weight:g} and cap {cap:g}", remedy="give a weight above 0 and a cap from 0")
        self.uses = tuple(summed.items())
        self.weight, self.cap, self.engine = weight, cap, engine
        self.number = next(_numbers)


class Work:
    """One amount to be done, and what became of it.

    Parameters
    ----------
    amount
        Units; inf goes on for ever.
    delay
        Time before it takes anything: latency [s].
    after
        Time from its last unit until that is there [s].
    ticket
        What the process that asked for it knows it by.

    Attributes
    ----------
    ready, began, ended
        When it was asked for, when it got its engine and started, and when it was done [s]; nan before.
    dropped
        True if it was given up before it was done; `ended` is when.
    log
        (time, rate, what holds it back), one entry for each change.
    """

    __slots__ = (
        "after",
        "amount",
        "began",
        "component",
        "delay",
        "dropped",
        "ended",
        "left",
        "log",
        "priority",
        "process",
        "rate",
        "ready",
        "shape",
        "ticket",
    )

    def __init__(
        self,
        amount: float,
        shape: Shape,
        *,
        delay: float = 0.0,
        after: float = 0.0,
        priority: int = 0,
        ticket: Any = None,
    ) -> None:
        if not amount >= 0 or not 0 <= delay < math.inf:
            raise AnalysisError(f"{amount:g} units after {delay:g} s", remedy="give 0 or more of both")
        self.amount = self.left = amount
        self.shape, self.delay, self.priority, self.ticket = shape, delay, priority, ticket
        self.after = after
        self.rate = 0.0
        self.ready = self.began = self.ended = math.nan
        self.dropped = False
        self.component: Component | None = None
        self.process: WorkProcess | None = None
        self.log: list[tuple[float, float, tuple[int, ...]]] = []


class Component:
    """Works that share resources, transitively, with a clock of their own."""

    __slots__ = ("at", "stamp", "thinned", "works")

    def __init__(self, at: float) -> None:
        self.works: dict[Work, None] = {}
        self.at = at
        self.stamp = 0
        #: whether a work ended since it was last looked at whether all still hang together
        self.thinned = False


class WorkProcess(Protocol):
    """What the clock asks for works."""

    def start(self, now: float) -> Iterable[Work]:
        """Works that are asked for at the start."""
        ...

    def finished(self, work: Work, now: float) -> Iterable[Work]:
        """Works that are asked for because one ended."""
        ...
