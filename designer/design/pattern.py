"""What every wiring pattern in ``designer.design.wiring`` offers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Indices = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Selection:
    """The parts a path chose.

    Parameters
    ----------
    index : (n_members, n_columns) part numbers; a row per group member, a column per matching part id;
        −1 where a member that is an exception has no such part
    last : size of the innermost group, for patterns that count within it
    """

    index: Indices
    last: int

    @property
    def flat(self) -> Indices:
        """All parts, member by member. : (n_parts,)"""
        places = self.index.ravel()
        return places[places >= 0]

    @property
    def places(self) -> Indices:
        """All places, member by member, −1 where there is no part; so the parts of one member lacking moves no other.
        : (n_members * n_columns,)"""
        return self.index.ravel()


def present(a: Indices, b: Indices) -> tuple[Indices, Indices]:
    """The pairs of places where there is a part on both sides."""
    keep = (a >= 0) & (b >= 0)
    return a[keep], b[keep]


@dataclass(frozen=True, slots=True)
class Pattern:
    """A wiring pattern: ``join`` gives the part numbers of both ends of every link, equally long.

    ``links`` tells how many links that will be, so that too many are refused before they are made; None means one
    for each part of the first side.
    """

    name: str
    title: str
    join: Callable[[Selection, Selection], tuple[Indices, Indices]]
    help: str = ""
    links: Callable[[Selection, Selection], int] | None = None

    def count(self, a: Selection, b: Selection) -> int:
        """Number of links `join` would make."""
        return self.links(a, b) if self.links is not None else a.index.size
