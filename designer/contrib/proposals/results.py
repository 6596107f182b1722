"""What a search for a goal found: the best designs, and why the others lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from designer.contrib.proposals.goal import Wanted
from designer.contrib.proposals.pareto import Found, Measure, Nearest, Settings, Worth
from designer.design.document import Design
from designer.engine.results import Bottleneck


@dataclass(frozen=True, eq=False)
class Proposal:
    """One of the best designs.

    Parameters
    ----------
    choices
        What was chosen, by its title.
    broken
        Errors of design rules that the drawing it was made from has already; a proposal adds none.
    unrated
        Models without a rated power: they count nothing in its power.
    """

    title: str
    settings: Settings
    choices: Mapping[str, str]
    design: Design
    worth: Worth
    binding: tuple[Bottleneck, ...]
    broken: tuple[str, ...]
    unrated: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class Proposals:
    """What a search for a goal found.

    Parameters
    ----------
    best
        Designs within all limits that no other beats.
    nearest
        Where there are none: what would do if one limit were lifted.
    impossible
        Where there are none: what is in the way, in a sentence.
    """

    wanted: Wanted
    measures: tuple[Measure, ...]
    best: tuple[Proposal, ...]
    found: Found
    nearest: tuple[Nearest, ...]
    impossible: str
    titles: Callable[[Settings], str]
