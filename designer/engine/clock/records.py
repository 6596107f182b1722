"""Tasks and works as they were done."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from designer.engine.account.expression import Time
from designer.sources import Estimate


@dataclass(frozen=True, slots=True)
class Readings:
    """Values of one run that counts from its first counted request, and their errors, by metric."""

    values: Mapping[str, float]
    errors: Mapping[str, float]


class AnsweredRequests(Protocol):
    """What became of the requests of a program that answers some.

    Attributes
    ----------
    extra
        What is not known of the first answer next to its steps: logarithm of the factor either way [1].
    saturated
        True if more is asked than can be answered: no latency is stated.
    """

    extra: float
    saturated: bool

    @property
    def readings(self) -> Readings:
        """Means, percentiles and rates of all that counts, as clients see them."""
        ...

    def behind(self, leg: Estimate | None) -> AnsweredRequests:
        """The same as clients see it over a round trip [s]; None for clients at the server."""
        ...

    def seen_later_by(self, metric: str) -> Estimate:
        """The time by which clients see a metric later than the server [s]."""
        ...


@dataclass(slots=True, eq=False)
class TaskRun:
    """One task as it was done.

    Parameters
    ----------
    program, step, number
        Whose it is, which step, of which item (from 0).
    ready, began, ended
        When it could begin, when the first of its works got what it needs, when the last was done [s]; nan: not yet.
    by
        The task whose end made it ready, by its place in ``Run.tasks``; −1 for the start of the program.
    parent
        The task it is a part of; −1 for none.
    works
        Its works, by their place in ``Run.works``.
    dropped
        True if a failure ended it before it was done.
    """

    program: str
    step: str
    number: int
    ready: float
    by: int
    parent: int = -1
    began: float = math.nan
    ended: float = math.nan
    works: tuple[int, ...] = ()
    dropped: bool = False

    @property
    def done(self) -> bool:
        """True if it was done."""
        return not (self.dropped or math.isnan(self.ended))

    @property
    def time(self) -> float:
        """From ready to ended [s]."""
        return self.ended - self.ready


@dataclass(frozen=True, slots=True, eq=False)
class WorkRun:
    """One work, which represents `equal` equal ones: when it ran, at which rates, and what held it back.

    Parameters
    ----------
    task
        By its place in ``Run.tasks``.
    group
        The estimate its time rests on, as ``Cost.group``.
    uses
        Resources with usage per unit, all equivalent works together.
    engine
        Resource held as a whole from `began` to `ended`; −1 for none.
    log
        (time, rate, resources that hold it back); the rate holds until the next entry.
    amount, unit
        How much of it one has to do, inf for a stream, and in what: ``B`` or ``s``.
    time
        What it spends its time on where nothing holds it back; None where that is not known.
    """

    task: int
    equal: int
    ready: float
    began: float
    ended: float
    engine: int
    group: str
    uses: tuple[tuple[int, float], ...]
    log: tuple[tuple[float, float, tuple[int, ...]], ...]
    amount: float = math.inf
    unit: str = ""
    time: Time | None = None
