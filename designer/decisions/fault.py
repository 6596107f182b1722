"""What a fault of a built machine is: a change of the drawing, or what it leaves of measured rates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Final

from designer.decisions.acceptance import TWO_HOSTS
from designer.design.edits.properties import SetPolicy
from designer.registry import discover
from designer.sources import Constant

if TYPE_CHECKING:
    from designer.decisions.acceptance import Machine, Trial
    from designer.design.edit import Edit

#: sorts of tests that end at one host: collectives inside it, and between it and the next one
INSIDE: Final = ("all_reduce", "all_gather", "alltoall")
BETWEEN: Final = TWO_HOSTS
#: a fault of the machine as a whole has one place, without a path
WHOLE: Final = ("",)


@dataclass(frozen=True, slots=True)
class Effect:
    """What a fault leaves of the rates of some tests, where the drawing has no value for it.

    Parameters
    ----------
    left
        Share of the rate that is left; how much is not known beforehand lies between its ends.
    part
        The part that a test has to be about; empty for all.
    largest
        Messages above this size are left alone; 0 for no limit [B].
    """

    sorts: tuple[str, ...]
    left: Constant
    part: str = ""
    largest: int = 0

    def concerns(self, trial: Trial) -> bool:
        """Whether a test would show it."""
        fits = not self.largest or 0 < trial.size <= self.largest
        return trial.sort in self.sorts and fits and (not self.part or self.part in trial.parts)


@dataclass(frozen=True, eq=False)
class Fault:
    """Something that may be wrong.

    Parameters
    ----------
    kind
        What sort of fault; faults of one kind differ in their place.
    place
        Path of the part or link on the drawing; empty for the whole machine.
    edit
        What the drawing would look like; None where only `effects` and `algorithm` tell.
    links
        Links that a trial has to use to be concerned by the edit; None for any trial.
    algorithm
        What collectives are forced to.
    marks
        Parts the edit singles out, in order: faults of one kind whose marks are placed equally on the drawing show
        equally. None where it is not known what does.
    """

    kind: str
    title: str
    place: str
    remedy: str
    edit: Edit | None = None
    links: frozenset[str] | None = None
    effects: tuple[Effect, ...] = ()
    algorithm: str = "auto"
    marks: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault.

    Parameters
    ----------
    find
        Every place of a machine where it may be.
    """

    name: str
    find: Callable[[Machine], Iterator[Fault]]


def slower(
    name: str,
    title: str,
    remedy: str,
    *effects: Effect,
    at: Callable[[Machine], Sequence[str]] = lambda _: WHOLE,
) -> FaultKind:
    """A kind of fault that shows as lower rates alone.

    Parameters
    ----------
    title
        With ``{}`` for the path of the part.
    effects
        Those on tests inside a host concern only the part that has the fault.
    at
        Paths of the parts that may have it; the whole machine by default.
    """

    def find(machine: Machine) -> Iterator[Fault]:
        for path in at(machine):
            left = tuple(one if one.sorts == BETWEEN else replace(one, part=path) for one in effects)
            yield Fault(name, title.format(path), path, remedy, effects=left)

    return FaultKind(name, find)


def misset(name: str, title: str, remedy: str, policy: str, normal: bool) -> FaultKind:
    """A kind of fault: a switch of the route policy that is not as it should be, where the design has it right."""

    def find(machine: Machine) -> Iterator[Fault]:
        if getattr(machine.design.policy, policy) == normal:
            yield Fault(name, title, *WHOLE, remedy, SetPolicy({policy: not normal}), marks=())

    return FaultKind(name, find)


def forced(algorithm: str, title: str, remedy: str) -> FaultKind:
    """A kind of fault: collectives that are forced to an algorithm."""
    fault = Fault(algorithm, title, *WHOLE, remedy, algorithm=algorithm)
    return FaultKind(algorithm, lambda _: iter((fault,)))


@cache
def fault_kinds() -> Mapping[str, FaultKind]:
    """All kinds of faults by name."""
    return discover("designer.decisions.faults", "FAULT", FaultKind, group="designer.faults")
