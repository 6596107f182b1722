"""Members that differ from their group in values alone: which parts and links they are, and what stays as it was.

The frame of such a design departs from that of the *plain* design, see ``designer.design.shapes``: parts and links
stand alike and have the same numbers, only definitions are others. So arrays of the plain frame serve both, and what
is looked for anew are the few parts and links of the members that differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from designer.design.elaborate import Netlist

if TYPE_CHECKING:
    from designer.analysis.frame import Frame

Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Departure:
    """How a frame differs from the plain one.

    Parameters
    ----------
    frame
        The plain one.
    part_of : (n_part_defs,) the plain definition that stands where each one stands
    own_part, own_link : (n_part_defs,), (n_link_defs,) definitions that say something else than that
    """

    frame: Frame
    part_of: Int
    own_part: Bool
    own_link: Bool

    @property
    def part_at(self) -> Int:
        """The definition that stands for each plain one in members that do not differ. : (n_plain_part_defs,)"""
        found = np.zeros(int(self.part_of.max(initial=-1)) + 1, dtype=np.int64)
        # written back to front, so that the first of each stays: the content of a group is before its exceptions
        found[self.part_of[::-1]] = np.arange(len(self.part_of))[::-1]
        return found

    def parts(self, net: Netlist) -> Int:
        """Numbers of the parts that differ, ascending."""
        return np.flatnonzero(self.own_part[net.part_def])

    def links(self, net: Netlist) -> Int:
        """Numbers of the links that differ, or have an end that does; ascending."""
        found = self.own_link[net.link_def]
        if self.own_part.any():
            at = self.own_part[net.part_def]
            found |= at[net.link_a]
            found |= at[net.link_b]
        return np.flatnonzero(found)


@dataclass(frozen=True, slots=True, eq=False)
class Split:
    """Classes of rows of which some members have become others.

    Parameters
    ----------
    of : (n_rows,) class of each row
    first : (n_classes,) one row of each class: the first, where that is known
    was : (n_classes,) the class that each was before
    """

    of: Int
    first: Int
    was: Int


def split(of: Int, first: Int, rows: Int, sign: Int) -> Split:
    """Classes of rows after some rows became others: those of one class and one sign stay together.

    Parameters
    ----------
    of, first
        Classes, and the first row of each, ascending or not.
    rows, sign : (n,) the rows that have changed, ascending, and by what they are told apart now
    """
    of = of.copy()
    if not len(rows):
        return Split(of, first, np.arange(len(first)))
    before, n = of[rows].astype(np.int64), len(first)
    _, lead, new = np.unique(np.stack([before, sign], axis=1), axis=0, return_index=True, return_inverse=True)
    of[rows] = n + new.reshape(-1)
    begin = np.concatenate([first, rows[lead]])
    was = np.concatenate([np.arange(n), before[lead]])
    here = np.ones(len(begin), dtype=bool)
    for k in np.flatnonzero(np.isin(first, rows)).tolist():
        left = np.flatnonzero(of == k)
        here[k] = len(left) > 0
        begin[k] = left[0] if len(left) else 0
    if here.all():
        return Split(of, begin, was)
    number = (np.cumsum(here) - 1).astype(of.dtype)
    return Split(number[of], begin[here], was[here])
