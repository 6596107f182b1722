"""Loads of a run as intervals in arrays: one for each time that a work takes so much of a resource."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.engine.clock.records import TaskRun, WorkRun

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: a load below this part of its peak is the rounding of a sum
_NOTHING_TOLERANCE: Final = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """Loads: each of `value` on `resource` from `begin` to `end`, by a program. All : (n,)"""

    begin: Float
    end: Float
    resource: Int
    value: Float
    program: Int

    @staticmethod
    def of(works: Sequence[WorkRun], tasks: Sequence[TaskRun], programs: Sequence[str], end: float) -> Intervals:
        """The loads of all works; what has not ended goes on to the end of the run and beyond."""
        number = {name: k for k, name in enumerate(programs)}
        rows: list[tuple[float, float, int, float, int]] = []
        for work in works:
            mine = number[tasks[work.task].program]
            if work.engine >= 0 and not math.isnan(work.began):
                rows.append((work.began, math.inf if math.isnan(work.ended) else work.ended, work.engine, 1.0, mine))
            last = len(work.log) - 1
            for k, (at, rate, _) in enumerate(work.log):
                if rate > 0:
                    then = work.log[k + 1][0] if k < last else math.inf
                    rows += [(at, then, resource, rate * usage, mine) for resource, usage in work.uses]
        columns = tuple(zip(*rows, strict=True)) or ((), (), (), (), ())
        return Intervals(
            np.array(columns[0], np.float64),
            np.array(columns[1], np.float64),
            np.array(columns[2], np.int64),
            np.array(columns[3], np.float64),
            np.array(columns[4], np.int64),
        )

    def at(self, time: float, count: int, program: int = -1) -> Float:
        """(count,) load of each resource just after a time."""
        rows = (self.begin <= time) & (time < self.end)
        if program >= 0:
            rows &= self.program == program
        return np.bincount(self.resource[rows], self.value[rows], count).astype(np.float64)

    def mean(self, begin: float, end: float, count: int, program: int = -1) -> Float:
        """(count,) mean load of each resource between two times."""
        held = np.minimum(self.end, end) - np.maximum(self.begin, begin)
        rows = held > 0
        if program >= 0:
            rows &= self.program == program
        amount = self.value[rows] * held[rows]
        return np.bincount(self.resource[rows], amount, count) / (end - begin)

    def pieces(self, resource: int, program: int = -1) -> tuple[Float, Float]:
        """Times and the load of a resource from each on, piecewise constant: (n,) [s] and (n,)."""
        rows = self.resource == resource
        if program >= 0:
            rows &= self.program == program
        begin, end, value = self.begin[rows], self.end[rows], self.value[rows]
        open_ended = ~np.isfinite(end)
        times = np.unique(np.concatenate([[0.0], begin, end[~open_ended]]))
        change = np.zeros(len(times))
        np.add.at(change, np.searchsorted(times, begin), value)
        np.add.at(change, np.searchsorted(times, end[~open_ended]), -value[~open_ended])
        load = np.cumsum(change)
        load[np.abs(load) <= _NOTHING_TOLERANCE * np.abs(load).max(initial=0.0)] = 0.0
        return times, load
