"""Classes of which some members have become others: the classes are kept, and what has changed is told apart."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar, cast

import numpy as np
import numpy.typing as npt

Int = npt.NDArray[np.int64]
#: numbers of classes, in 32 bits where there are very many rows
Numbers = npt.NDArray[np.signedinteger[Any]]
Rows = TypeVar("Rows", bound=Numbers)


@dataclass(frozen=True, slots=True, eq=False)
class Split(Generic[Rows]):
    """Classes of rows of which some members have become others.

    Parameters
    ----------
    of : (n_rows,) class of each row
    first : (n_classes,) one row of each class: the first, where that is known
    was : (n_classes,) the class that each was before
    left, came : (n_classes,) rows that each class lost, and rows that came to it
    """

    of: Rows
    first: Int
    was: Int
    left: Int
    came: Int

    def sizes(self, before: Int) -> Int:
        """How many rows each class has, by how many each had before. : (n_classes,)"""
        return np.where(self.came > 0, self.came, before[self.was] - self.left)


def split(of: Rows, first: Int, rows: Int, sign: Int) -> Split[Rows]:
    """Classes of rows after some rows became others: those of one class and one sign stay together.

    Parameters
    ----------
    of, first
        Classes, and the first row of each, ascending or not.
    rows, sign : (n,) the rows that have changed, ascending, and by what they are told apart now
    """
    of = of.copy()
    if not len(rows):
        none = np.zeros(len(first), dtype=np.int64)
        return Split(of, first, np.arange(len(first)), none, none)
    before, n = of[rows].astype(np.int64), len(first)
    _, lead, new = np.unique(np.stack([before, sign], axis=1), axis=0, return_index=True, return_inverse=True)
    of[rows] = n + new.reshape(-1)
    begin = np.concatenate([first, rows[lead]])
    was = np.concatenate([np.arange(n), before[lead]])
    left = np.concatenate([np.bincount(before, minlength=n), np.zeros(len(lead), dtype=np.int64)])
    came = np.concatenate([np.zeros(n, dtype=np.int64), np.bincount(new.reshape(-1))])
    here = np.ones(len(begin), dtype=bool)
    for k in np.flatnonzero(np.isin(first, rows)).tolist():
        others = np.flatnonzero(of == k)
        here[k] = len(others) > 0
        begin[k] = others[0] if len(others) else 0
    if here.all():
        return Split(of, begin, was, left, came)
    number = (np.cumsum(here) - 1).astype(of.dtype)
    return Split(cast("Rows", number[of]), begin[here], was[here], left[here], came[here])
