"""Pre-copy as a process, to check the simulation's processes against the closed form."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from designer.errors import AnalysisError
from designer.workload.program.process import Item
from designer.workload.program.tasks import Delay, Move, Task


class Precopy:
    """Live migration pass by pass: send all, then what was dirtied meanwhile, until the rest is small.

    Parameters
    ----------
    way
        From where to where; the size of each pass replaces its own.
    memory, working_set
        To send, and what can be dirty at most [B].
    dirty_rate
        Of the guest [B/s].
    rest
        Left for the switch-over at most [B].
    most_passes
        It gives up after so many.
    """

    def __init__(
        self,
        way: Move,
        memory: float,
        dirty_rate: float,
        rest: float,
        *,
        working_set: float = float("inf"),
        most_passes: int = 100,
    ) -> None:
        if memory <= 0 or dirty_rate < 0 or rest <= 0:
            raise AnalysisError("pre-copy without memory or rest", remedy="give memory and rest above 0")
        self.way, self.memory, self.dirty_rate, self.rest = way, memory, dirty_rate, rest
        self.working_set, self.most_passes = working_set, most_passes
        self.passes: list[tuple[float, float]] = []
        self._at = 0.0

    @property
    def tasks(self) -> Sequence[Task]:
        """The way."""
        return (self.way,)

    def start(self, now: float) -> list[Item]:
        """The first pass."""
        self._at = now
        return [self._pass("pass", self.memory)]

    def finished(self, item: Item, now: float) -> list[Item]:
        """The next pass, or the switch-over."""
        if item.step != "pass":
            return []
        took, self._at = now - self._at, now
        self.passes.append((took, self.memory if not self.passes else item.scale))
        left = min(self.dirty_rate * took, self.working_set)
        if left <= 0:
            return [Item(Delay(0.0), "switch-over", 0)]
        last = left <= self.rest or len(self.passes) >= self.most_passes
        return [self._pass("switch-over" if last else "pass", left)]

    def _pass(self, step: str, size: float) -> Item:
        return Item(replace(self.way, size=size), step, len(self.passes))

    def waits_for(self) -> str:
        """What the program waits for, in words: the pass under way."""
        return f"pass {len(self.passes) + 1} of the pre-copy"
