"""Rows of arrays that are alike, found by hashes and checked figure by figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, cast

import numpy as np
import numpy.typing as npt

from designer.analysis.hashing import distinct, mix, rounded
from designer.sources import Constant, Status

Int = npt.NDArray[np.int64]
Float = npt.NDArray[np.float64]
#: figures of one class are this close, relative; far above rounding, far below what is asked of an answer
SAME_TOLERANCE: Final = Constant(
    1e-10, 1e-12, 1e-9, "flows-numerics", Status.ASSUMED, "1", "sums of the same shares in another order"
).value


@dataclass(frozen=True, slots=True, eq=False)
class Classes:
    """Rows that are alike.

    Parameters
    ----------
    first : (n_classes,) the first row of each class, ascending
    of : (n_rows,) class of each row, in 32 bits
    alike : (n_classes,) how many rows are in it
    """

    first: Int
    of: Int
    alike: Int

    def rows(self, classes: Int) -> Int:
        """All rows of some classes, ascending."""
        chosen = np.zeros(len(self.first), dtype=bool)
        chosen[classes] = True
        return np.flatnonzero(chosen[self.of])


def classes_of(*columns: Int, figures: tuple[Float, ...] = ()) -> Classes:
    """Rows that agree in all columns, and in all figures within rounding."""
    signs = mix(*columns, *(rounded(column) for column in figures))
    first, of, alike = distinct(signs)
    found = Classes(first, cast("Int", of.astype(np.int32)), alike)
    del signs, of
    lead = found.first[found.of]
    same = all(np.array_equal(column, column[lead]) for column in columns)
    if same and all(np.allclose(column, column[lead], SAME_TOLERANCE, 0.0) for column in figures):
        return found
    every = np.arange(len(columns[0]))
    return Classes(every, every, np.ones(len(every), dtype=np.int64))
