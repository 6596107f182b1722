"""Which places between the things of one container are free: their edges cut it into cells, each free or taken.

Counts of taken cells along rows and columns state in one look whether a straight piece is free, for all links at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: more cells than this are not looked at: links then run as if nothing stood in their way
_MOST_CELLS: Final = 6_000_000
#: so many cells are looked at together
_AT_ONCE: Final = 2_000_000


@dataclass(frozen=True, eq=False)
class Grid:
    """Cells between the edges of boxes.

    Parameters
    ----------
    xs, ys : (c + 1,), (r + 1,) ascending edges of columns and rows, scene units
    taken : (c, r) whether a box covers the cell
    """

    xs: Float
    ys: Float
    taken: Bool

    @cached_property
    def _along_x(self) -> Int:
        return _cumulative_counts(self.taken)

    @cached_property
    def _along_y(self) -> Int:
        return _cumulative_counts(self.taken.T)

    @cached_property
    def turned(self) -> Grid:
        """The same with x and y exchanged."""
        return Grid(self.ys, self.xs, self.taken.T)

    @property
    def rows(self) -> int:
        """How many rows it has."""
        return len(self.ys) - 1

    @property
    def columns(self) -> int:
        """How many columns it has."""
        return len(self.xs) - 1

    def column(self, x: Float) -> Int:
        """Number of the column with an x. : (k,)"""
        return self.xs[1:-1].searchsorted(x, side="right")

    def row_below(self, y: Float) -> Int:
        """Number of the row that a y is in, or that begins there. : (k,)"""
        return self.ys[1:-1].searchsorted(y, side="right")

    def row_above(self, y: Float) -> Int:
        """Number of the row that a y is in, or that ends there. : (k,)"""
        return self.ys[1:-1].searchsorted(y, side="left")

    def middle_of_row(self, row: Int) -> Float:
        """y in the middle of rows. : (k,)"""
        return (self.ys[row] + self.ys[row + 1]) / 2

    def middle_of_column(self, column: Int) -> Float:
        """x in the middle of columns. : (k,)"""
        return (self.xs[column] + self.xs[column + 1]) / 2

    def free_across(self, row: Int, x0: Float, x1: Float) -> Bool:
        """True where a horizontal piece within a row is free. : (k,)"""
        first, last = self.column(np.minimum(x0, x1)), self.column(np.maximum(x0, x1))
        return self._along_x[last + 1, row] == self._along_x[first, row]

    def free_down(self, x: Float, first: Int, last: Int) -> Bool:
        """True where a vertical piece through the rows from `first` to `last` is free, and where there are none. :
        (k,)"""
        column = self.column(x)
        return (first > last) | (self._along_y[np.maximum(last, first) + 1, column] == self._along_y[first, column])

    def meets(self, y: Float, x0: Float, x1: Float) -> Bool:
        """True where a horizontal piece may run over boxes: both above and below it something is, between its ends,
        of which `x0` is the left one. : any shape"""
        first, last = self.turned.row_below(x0), self.turned.row_above(x1)
        return self.taken_across(self.row_below(y), first, last) & self.taken_across(self.row_above(y), first, last)

    def taken_across(self, row: Int, first: Int, last: Int) -> Bool:
        """True where something is in a row from column `first` to `last`. : any shape"""
        return (first <= last) & (self._along_x[np.maximum(last, first) + 1, row] > self._along_x[first, row])

    @cached_property
    def _runs(self) -> tuple[Int, Int]:
        """First and last column of the free run each cell is in. : (c, r), (c, r)"""
        number = np.arange(self.columns)[:, None]
        left = np.maximum.accumulate(np.where(self.taken, number, -1), axis=0) + 1
        right = np.minimum.accumulate(np.where(self.taken, number, self.columns)[::-1], axis=0)[::-1] - 1
        return left, right

    def run(self, row: Int, x: Float) -> tuple[Int, Int]:
        """First and last column that can be reached along a row from an x. : (k,), (k,)"""
        left, right = self._runs
        column = self.column(x)
        return left[column, row], right[column, row]

    def nearest_column(self, first: Int, last: Int, low: Int, high: Int, x: Float) -> Int:
        """The column nearest to an x that is free from row `first` to `last`, among some; −1 for none. : (k,)"""
        found = np.full(len(x), -1)
        middles = (self.xs[:-1] + self.xs[1:]) / 2
        number = np.arange(self.columns)
        step = max(1, _AT_ONCE // max(1, self.columns))
        for start in range(0, len(x), step):
            some = slice(start, start + step)
            free = self._along_y[np.maximum(last, first)[some] + 1] == self._along_y[first[some]]
            free &= (number >= low[some, None]) & (number <= high[some, None])
            far = np.where(free, np.abs(middles - x[some, None]), np.inf)
            best = far.argmin(axis=1)
            found[some] = np.where(free.any(axis=1), best, -1)
        return found

    def band(self, row: Int, x0: Float, x1: Float) -> tuple[Float, Float]:
        """How far horizontal pieces can be moved up and down from a free row. : (k,), (k,)"""
        low, high = row.copy(), row.copy()
        for bound, step in ((low, -1), (high, 1)):
            going = np.arange(len(row))
            while len(going):
                at = bound[going] + step
                inside = (at >= 0) & (at < self.rows)
                going, at = going[inside], at[inside]
                free = self.free_across(at, x0[going], x1[going])
                going = going[free]
                bound[going] += step
        return self.ys[low], self.ys[high + 1]


def grid_of(rects: Float, border: tuple[float, float, float, float]) -> Grid | None:
    """The grid of the things of a container; None where they are too many or placed too irregularly.

    Parameters
    ----------
    rects : (n, 4) x, y, width, height
    border
        Left, top, right and bottom of where links may run.
    """
    low, high = rects[:, :2], rects[:, :2] + rects[:, 2:]
    xs = np.unique(np.concatenate((low[:, 0], high[:, 0], [border[0], border[2]])))
    ys = np.unique(np.concatenate((low[:, 1], high[:, 1], [border[1], border[3]])))
    if len(xs) * len(ys) > _MOST_CELLS:
        return None
    covers = np.zeros((len(xs), len(ys)), dtype=np.int64)
    left, right = np.searchsorted(xs, low[:, 0]), np.searchsorted(xs, high[:, 0])
    top, bottom = np.searchsorted(ys, low[:, 1]), np.searchsorted(ys, high[:, 1])
    for i, j, sign in ((left, top, 1), (right, top, -1), (left, bottom, -1), (right, bottom, 1)):
        np.add.at(covers, (i, j), sign)
    taken = covers.cumsum(axis=0).cumsum(axis=1)[:-1, :-1] > 0
    return Grid(xs, ys, np.ascontiguousarray(taken))


def _cumulative_counts(taken: Bool) -> Int:
    counts = np.zeros((taken.shape[0] + 1, taken.shape[1]), dtype=np.int64)
    np.cumsum(taken, axis=0, out=counts[1:])
    return counts
