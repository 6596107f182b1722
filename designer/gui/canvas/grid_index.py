"""A spatial index over many rectangles: grids of doubling cell size, held in sorted arrays. No Qt.

Every rectangle lies in one cell, that of its centre, of the grid whose cells are at least as large as it is. So a
query looks at the cells it covers and half a cell around them; each row of cells is one run of a sorted array.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

_SMALLEST: Final = 32.0
_WIDTH: Final = 1 << 31
_HALF: Final = 1 << 30
_NONE: Final[Int] = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class _Grid:
    """One grid: sorted cell keys and the rectangle of each."""

    cell: float
    keys: Int
    members: Int


class GridIndex:
    """Finds rectangles that touch a point or rectangle.

    Parameters
    ----------
    rects : (n, 4) x, y, width, height
    """

    def __init__(self, rects: Float) -> None:
        self._rects = np.ascontiguousarray(rects, dtype=np.float64).reshape(-1, 4)
        self._left, self._top = self._rects[:, 0], self._rects[:, 1]
        self._right = self._left + self._rects[:, 2]
        self._bottom = self._top + self._rects[:, 3]
        self._grids = self._made()

    def _made(self) -> tuple[_Grid, ...]:
        if not len(self._rects):
            return ()
        extent = np.maximum(self._rects[:, 2], self._rects[:, 3])
        level = np.ceil(np.log2(np.maximum(extent, _SMALLEST) / _SMALLEST)).astype(np.int64)
        grids: list[_Grid] = []
        for step in np.unique(level):
            members = np.flatnonzero(level == step)
            cell = _SMALLEST * 2.0 ** int(step)
            column = _cells((self._left[members] + self._right[members]) / 2, cell)
            row = _cells((self._top[members] + self._bottom[members]) / 2, cell)
            keys = row * _WIDTH + column
            order = np.argsort(keys, kind="stable")
            grids.append(_Grid(cell, keys[order], members[order]))
        return tuple(grids)

    def __len__(self) -> int:
        return len(self._rects)

    def touching(self, x: float, y: float, width: float = 0.0, height: float = 0.0) -> Int:
        """Numbers of the rectangles that touch a rectangle, ascending. : (k,)"""
        right, bottom = x + width, y + height
        found: list[Int] = []
        for grid in self._grids:
            near = self._near(grid, x, y, right, bottom)
            if len(near):
                hit = (self._left[near] <= right) & (self._right[near] >= x)
                hit &= (self._top[near] <= bottom) & (self._bottom[near] >= y)
                near = near[hit]
                if len(near):
                    found.append(near)
        return np.sort(np.concatenate(found)) if found else _NONE

    def at(self, x: float, y: float, slack: float = 0.0) -> Int:
        """Numbers of the rectangles within `slack` of a point, ascending. : (k,)"""
        return self.touching(x - slack, y - slack, 2 * slack, 2 * slack)

    def _near(self, grid: _Grid, x: float, y: float, right: float, bottom: float) -> Int:
        first, last = _cell(x - grid.cell / 2, grid.cell), _cell(right + grid.cell / 2, grid.cell)
        top, low = _cell(y - grid.cell / 2, grid.cell), _cell(bottom + grid.cell / 2, grid.cell)
        if low - top >= len(grid.keys):
            return grid.members
        rows = np.arange(top, low + 1, dtype=np.int64) * _WIDTH
        starts = np.searchsorted(grid.keys, rows + first, side="left")
        stops = np.searchsorted(grid.keys, rows + last, side="right")
        return grid.members[ranges(starts, stops)]


def ranges(starts: Int, stops: Int) -> Int:
    """All numbers of the half-open ranges, one after the other. : (sum of lengths,)"""
    lengths = stops - starts
    total = int(lengths.sum())
    if not total:
        return _NONE
    offsets = np.repeat(starts - np.concatenate(([0], np.cumsum(lengths)[:-1])), lengths)
    return np.arange(total, dtype=np.int64) + offsets


def _cell(value: float, cell: float) -> int:
    return int(min(max(value // cell, -_HALF + 1), _HALF - 1)) + _HALF


def _cells(values: Float, cell: float) -> Int:
    return np.clip(np.floor(values / cell), -_HALF + 1, _HALF - 1).astype(np.int64) + _HALF
