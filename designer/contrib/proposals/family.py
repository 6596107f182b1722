"""What a family of designs is: what there is to choose in it, and the design that comes of the choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from designer.contrib.proposals.pareto import Choice
from designer.design.document import Design, WorkloadSpec
from designer.errors import FormatError

Chosen = Mapping[str, str]


@dataclass(frozen=True)
class Asked:
    """What designs are proposed for.

    Parameters
    ----------
    goal
        The workload that has to run.
    base
        The design that is drawn, for families that change one.
    given
        Values to choose from instead of those of the family, by the name of the choice.
    """

    goal: WorkloadSpec
    base: Design | None = None
    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])

    def choice(self, name: str, title: str, usual: tuple[str, ...]) -> Choice:
        """A choice with the values that were given, else the usual ones."""
        return Choice(name, title, self.given.get(name) or usual)


@dataclass(frozen=True)
class Family:
    """A family of designs.

    Parameters
    ----------
    goals
        Kinds of workloads it is proposed for.
    following
        What is to be chosen next; None once all is.
    make
        The design, with the goal as its only workload; raises ``FormatError`` where choices do not fit each other.
    server
        The design of one of its servers by what is chosen as ``server``.
    names
        All that may be chosen, for those who give values.
    unhurried
        Choices whose design does a goal as quickly as any that begins so, once nothing queues there, with the goal so
        asked; nothing where that is not sure.
    """

    name: str
    title: str
    goals: tuple[str, ...]
    following: Callable[[Asked, Chosen], Choice | None]
    make: Callable[[Asked, Chosen], Design]
    server: Callable[[Asked, str], Design]
    names: tuple[str, ...]
    unhurried: Callable[[Asked, Chosen], tuple[tuple[Asked, Chosen], ...]] = lambda asked, chosen: ()


def name_of(title: str) -> str:
    """The name of a proposed design, which files may have: its title in small letters, digits and hyphens."""
    kept = "".join(c if c.isascii() and c.isalnum() else "-" for c in title.lower())
    return "-".join(piece for piece in kept.split("-") if piece)[:100] or "proposal"


def whole_number(chosen: Chosen, name: str) -> int:
    """A choice that is a number.

    Raises
    ------
    FormatError
        If it is none.
    """
    text = chosen[name]
    if not (text.isascii() and text.isdigit() and 0 < len(text) < 8 and int(text) > 0):
        raise FormatError(f"{text[:40]!r} is no number", place=name, remedy="give 1 or more")
    return int(text)
