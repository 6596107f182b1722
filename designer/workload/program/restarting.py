"""A program that fails now and then: what is under way is lost, it starts cold, reads its last save, and goes on."""

from __future__ import annotations

import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from designer.workload.program.process import ARRIVAL, Item, Restart, Script
from designer.workload.program.steps import Program
from designer.workload.program.tasks import Delay, Mark, Task

FAILURE: Final = "failure"
COLD_START: Final = "cold start"
RESTORE: Final = "restore"
_FAILS: Final = Mark(FAILURE)


class Restarting:
    """A program with a recovery, as a process: failures at given times, and drawn at random as long as it runs.

    One whose items arrive is idle in between, and what fails then does it no harm. All of an arrival that is done is
    safe, as the model is kept that has been trained.
    """

    def __init__(self, program: Program) -> None:
        assert program.recovery is not None
        self.program, self.recovery = program, program.recovery
        self._draw = random.Random(self.recovery.seed)
        self._script = Script(program)
        #: items before the first of the script that runs, items that are safe, items under way, items that have come
        self._offset = self._safe = self._under_way = self._came = 0
        self._failed = 0
        self._began = 0.0
        self._idle = False
        #: the step whose last item of an arrival ends it
        self._last = next((m.step for m in program.measures if m.of == "progress"), program.steps[-1].name)

    @property
    def tasks(self) -> Sequence[Task]:
        """Those of the program, of what it is after failures, and what a restart takes."""
        elsewhere = [step.task for _, steps, _ in self.recovery.reroutes for step in steps]
        reads = [self.recovery.read, *(read for _, _, read in self.recovery.reroutes)]
        return (*self._script.tasks, *elsewhere, _FAILS, Delay(self.recovery.cold_start), *reads)

    def start(self, now: float) -> list[Item]:
        """The program, and its first failures."""
        self._began = now
        begun = self._shift_items(self._script.start(now))
        if self.program.arrivals is not None:
            self._idle = True
            return begun
        return [*self._failures(now), *begun]

    def finished(self, item: Item, now: float) -> Iterable[Item]:
        """What follows; after a failure nothing of what was under way."""
        if item.step == FAILURE:
            self._failed += 1
            back = max((back for at, back in self.recovery.times if self._began + at <= now), default=0.0)
            wait = max(0.0, self._began + back - now)
            cold = Item(Delay(self.recovery.cold_start), COLD_START, self._failed, wait=wait)
            return Restart([cold, *self._failures(now)])
        if item.step == COLD_START:
            return [Item(self._moved_read(now), RESTORE, item.number)]
        if item.step == RESTORE:
            return self._restart_from(now)
        if item.step == ARRIVAL:
            return self._add_items(item, now)
        inner = replace(item, number=item.number - self._offset)
        self._under_way -= 1
        over = self.program.arrivals is not None and (item.number + 1) % self.program.batch == 0
        if item.step == self.recovery.safe or (over and item.step == self._last):
            self._safe = max(self._safe, item.number + 1)
        found = self._shift_items(self._script.finished(inner, now))
        if self.program.arrivals is not None and self._under_way == self._script.waits_for_arrival:
            return self._rest(now)
        # when all is done nothing fails any more
        return found if self._under_way else Restart(())

    def _moved_read(self, now: float) -> Task:
        """Take the steps that the last failure leaves; the task that reads there."""
        past = [one for one in self.recovery.reroutes if self._began + one[0] <= now]
        if not past:
            return self.recovery.read
        _, steps, read = max(past, key=lambda one: one[0])
        self.program = replace(self.program, steps=steps)
        return read

    def _restart_from(self, now: float) -> list[Item]:
        """From what is safe on."""
        before, self._offset, self._under_way = self._script, self._safe, 0
        left = self.program.times - self._offset
        self._script = Script(replace(self.program, times=left) if math.isfinite(left) else self.program)
        if self.program.arrivals is None:
            return self._shift_items(self._script.start(now))
        given = self._came - self._safe
        return self._shift_items(self._script.resume(now, self._began, before.to_come(), given))

    def _add_items(self, item: Item, now: float) -> list[Item]:
        """More items are there; one that was idle may fail from now on."""
        self._came += self.program.batch
        self._under_way -= 1
        begun = self._shift_items(self._script.finished(item, now))
        if not self._idle:
            return begun
        self._idle = False
        return [*self._failures(now), *begun]

    def _rest(self, now: float) -> Restart:
        """Nothing is under way until the next arrival, so nothing that fails is lost."""
        self._idle, self._safe = True, self._came
        return Restart(self._restart_from(now))

    def waits_for(self) -> str:
        """What the program waits for, in words."""
        return self._script.waits_for()

    def _shift_items(self, items: Iterable[Item]) -> list[Item]:
        found = [replace(item, number=item.number + self._offset) for item in items]
        self._under_way += len(found)
        return found

    def _failures(self, now: float) -> list[Item]:
        """Those given that are still to come, and the next one that is drawn."""
        waits = [self._began + at - now for at, _ in self.recovery.times if self._began + at > now]
        if math.isfinite(self.recovery.between):
            waits.append(self._draw.expovariate(1 / self.recovery.between))
        return [Item(_FAILS, FAILURE, self._failed, wait=wait) for wait in waits]
