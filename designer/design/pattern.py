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
    index : (n_members, n_parts) part numbers; a row per group member, a column per matching part of it
    last : size of the innermost group, for patterns that count within it
    """

    index: Indices
    last: int

    @property
    def flat(self) -> Indices:
        """All parts, member by member. : (n_members * n_parts,)"""
        return self.index.ravel()


@dataclass(frozen=True, slots=True)
class Pattern:
    """A wiring pattern: ``join`` gives the part numbers of both ends of every link, equally long."""

    name: str
    title: str
    join: Callable[[Selection, Selection], tuple[Indices, Indices]]
    help: str = ""
