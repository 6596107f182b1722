"""What is run over time: which workloads together, when each begins, what fails when, and until when."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from designer.analysis.simulation.rerouting import Failure
from designer.design.address import Address, Ref, address_text
from designer.workload.kind import workload_kinds

if TYPE_CHECKING:
    from designer.design.document import Design


@dataclass(frozen=True, slots=True)
class Event:
    """From a time on a link, or all links of a part, have a share of their capacity: 0 failed, 1 mended."""

    path: str
    at: float
    share: float

    @property
    def text(self) -> str:
        """What happens, in words."""
        if self.share == 0:
            return f"{self.path} fails"
        return f"{self.path} is mended" if self.share >= 1 else f"{self.path} falls to {self.share:.0%}"


@dataclass(frozen=True, slots=True)
class Scenario:
    """What is run over time.

    Parameters
    ----------
    workloads
        Ids of those that run; none: the one shown.
    starts
        When some of them begin, others begin when they say themselves [s].
    until
        When to end [s]; None: when all is done, or after a minute where something goes on for ever.
    shifts
        True to look for later starts that keep workloads out of each other's way.
    """

    workloads: tuple[str, ...] = ()
    starts: Mapping[str, float] = field(default_factory=dict[str, float])
    events: tuple[Event, ...] = ()
    until: float | None = None
    shifts: bool = False

    def toggled(self, workload: str) -> Scenario:
        """With a workload that ran not, or without one that did."""
        if workload in self.workloads:
            starts = {w: t for w, t in self.starts.items() if w != workload}
            return replace(self, workloads=tuple(w for w in self.workloads if w != workload), starts=starts)
        return replace(self, workloads=(*self.workloads, workload))

    def started(self, workload: str, at: float | None) -> Scenario:
        """With a workload that begins at a time, or when it says itself."""
        starts = {w: t for w, t in self.starts.items() if w != workload}
        if at is not None:
            starts[workload] = at
        workloads = self.workloads if workload in self.workloads else (*self.workloads, workload)
        return replace(self, workloads=workloads, starts=starts)

    def with_event(self, event: Event) -> Scenario:
        """With one more thing that happens, in order of time; another at the same place and time makes way."""
        others = [e for e in self.events if (e.path, e.at) != (event.path, event.at)]
        return replace(self, events=tuple(sorted([*others, event], key=lambda e: (e.at, e.path))))

    def without_event(self, event: Event) -> Scenario:
        """Without something that happens."""
        return replace(self, events=tuple(e for e in self.events if e != event))

    def failed_at(self, moment: float) -> tuple[str, ...]:
        """Paths of the links and parts that have no capacity left at a time."""
        share = {event.path: event.share for event in self.events if event.at <= moment}
        return tuple(path for path, left in share.items() if left == 0)

    def kept_in(self, design: Design) -> Scenario:
        """What of it can still be run on a design that was edited."""
        kept = tuple(w for w in self.workloads if w in design.workloads)
        return replace(self, workloads=kept, starts={w: t for w, t in self.starts.items() if w in kept})

    def failures(self) -> tuple[Failure, ...]:
        """Its events for the simulation."""

        return tuple(Failure(e.path, e.at, e.share) for e in self.events)


def runnable(design: Design) -> list[tuple[str, str]]:
    """Workloads that run over time: ids and titles."""
    kinds = workload_kinds()
    return [
        (w.id, w.title or kinds[w.kind].title)
        for w in design.workloads.values()
        if w.kind in kinds and kinds[w.kind].program is not None
    ]


def path_of(picked: tuple[Address, Ref]) -> str:
    """The path of a link or part one can see, for what happens to it; of what all members share, that of the first.

    Empty for what cannot fail: groups, notes, and wirings as a whole.
    """
    within, ref = picked
    if ref.what not in ("parts", "links"):
        return ""
    steps = tuple((group, 0 if member is None else member) for group, member in within)
    text = address_text(steps)
    return f"{text}/{ref.id}" if text else ref.id
