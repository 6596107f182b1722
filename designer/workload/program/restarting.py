"""A program that fails now and then: what is under way is lost, it starts cold, reads its last save, and goes on."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from designer.errors import AnalysisError
from designer.workload.program.process import Item, Restart, Script
from designer.workload.program.steps import Program
from designer.workload.program.tasks import Delay, Mark, Task

FAILURE: Final = "failure"
COLD_START: Final = "cold start"
RESTORE: Final = "restore"
_FAILS: Final = Mark(FAILURE)


class Restarting:
    """A program with a recovery, as a process: failures at given times, and drawn at random as long as it runs."""

    def __init__(self, program: Program) -> None:
        assert program.recovery is not None
        if program.arrivals is not None:
            raise AnalysisError(
                f"{program.name!r} has arrivals and recovers", place=program.name, remedy="let items follow each other"
            )
        self.program, self.recovery = program, program.recovery
        self._draw = random.Random(self.recovery.seed)
        self._script = Script(program)
        #: items before the first of the script that runs, items that are safe, and items under way
        self._offset = self._safe = self._under_way = 0
        self._failed = 0
        self._began = 0.0

    @property
    def tasks(self) -> Sequence[Task]:
        """Those of the program, and what a restart takes."""
        return (*self._script.tasks, _FAILS, Delay(self.recovery.cold_start), self.recovery.read)

    def start(self, now: float) -> list[Item]:
        """The program, and its first failures."""
        self._began = now
        return [*self._failures(now), *self._shifted(self._script.start(now))]

    def finished(self, item: Item, now: float) -> Iterable[Item]:
        """What follows; after a failure nothing of what was under way."""
        if item.step == FAILURE:
            self._failed += 1
            back = max((back for at, back in self.recovery.times if self._began + at <= now), default=0.0)
            wait = max(0.0, self._began + back - now)
            cold = Item(Delay(self.recovery.cold_start), COLD_START, self._failed, wait=wait)
            return Restart([cold, *self._failures(now)])
        if item.step == COLD_START:
            return [Item(self.recovery.read, RESTORE, item.number)]
        if item.step == RESTORE:
            self._offset, self._under_way = self._safe, 0
            left = self.program.times - self._offset
            self._script = Script(replace(self.program, times=left) if math.isfinite(left) else self.program)
            return self._shifted(self._script.start(now))
        inner = replace(item, number=item.number - self._offset)
        self._under_way -= 1
        if item.step == self.recovery.safe:
            self._safe = item.number + 1
        found = self._shifted(self._script.finished(inner, now))
        # when all is done nothing fails any more
        return found if self._under_way else Restart(())

    def waits_for(self) -> str:
        """What the program waits for."""
        return self._script.waits_for()

    def _shifted(self, items: Iterable[Item]) -> list[Item]:
        found = [replace(item, number=item.number + self._offset) for item in items]
        self._under_way += len(found)
        return found

    def _failures(self, now: float) -> list[Item]:
        """Those given that are still to come, and the next one that is drawn."""
        waits = [self._began + at - now for at, _ in self.recovery.times if self._began + at > now]
        if math.isfinite(self.recovery.between):
            waits.append(self._draw.expovariate(1 / self.recovery.between))
        return [Item(_FAILS, FAILURE, self._failed, wait=wait) for wait in waits]
