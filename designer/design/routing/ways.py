"""Ways between two points of a container: the plainest free one of a few shapes, for all links at once.

All are told for links that leave a box downwards; `designer.design.routing.inside` turns the others.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.routing.grid import Grid

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: the first so many rows below and above are tried to turn in
_ROWS: Final = 6


def down(grid: Grid, upper: Float, lower: Float) -> tuple[Float, Bool]:
    """Ways from points at the bottom of boxes down to points at the top of others, and which are free.

    Returns
    -------
    ways, free : (k, 6, 2), (k,)
    """
    xu, yu, xl, yl = *upper.T, *lower.T
    first, last = grid.row_below(yu), grid.row_above(yl)
    row_1 = _one_turn(grid, xu, xl, first, last)
    free = row_1 >= 0
    row_2, x = row_1.copy(), xl.copy()
    rest = np.flatnonzero(~free)
    if len(rest):
        found = _around(grid, xu[rest], xl[rest], first[rest], last[rest])
        row_1[rest], row_2[rest], x[rest] = found
        free[rest] = row_1[rest] >= 0
    y1, y2 = (grid.middle_of_row(np.maximum(row, 0)) for row in (row_1, row_2))
    y1, y2 = np.where(free, y1, (yu + yl) / 2), np.where(free, y2, (yu + yl) / 2)
    return _bent(upper, (xu, y1), (x, y1), (x, y2), (xl, y2), lower), free


def out(grid: Grid, start: Float, border: Float) -> tuple[Float, Bool]:
    """Ways from points at the bottom of boxes down to the border of the container, at any x. : (k, 6, 2), (k,)"""
    xu, yu = start.T
    first, last = grid.row_below(yu), grid.row_above(border)
    x, row = xu.copy(), first.copy()
    free = grid.free_down(xu, first, last)
    for below in range(_ROWS):
        rest = np.flatnonzero(~free & (first + below <= last))
        rest = rest[grid.free_down(xu[rest], first[rest], first[rest] + below)]
        if not len(rest):
            continue
        turn = first[rest] + below
        column = grid.nearest_column(turn, last[rest], *grid.run(turn, xu[rest]), xu[rest])
        chosen, column, turn = rest[column >= 0], column[column >= 0], turn[column >= 0]
        x[chosen], row[chosen] = grid.middle_of_column(column), turn
        free[chosen] = True
    y = np.where(x == xu, border, grid.middle_of_row(row))
    end = np.column_stack((x, border))
    return _bent(start, (xu, y), (x, y), (x, border), (x, border), end), free


def hanging(grid: Grid, one: Float, other: Float, downwards: bool) -> tuple[Float, Bool]:
    """Ways between points at the same side of two boxes, below or above both. : (k, 6, 2), (k,)"""
    step = 1 if downwards else -1
    start = [(grid.row_below if downwards else grid.row_above)(y) for y in (one[:, 1], other[:, 1])]
    row = np.maximum(*start) if downwards else np.minimum(*start)
    found = np.full(len(one), -1)
    going = np.arange(len(one))
    while len(going):
        at = row[going]
        inside = (at >= 0) & (at < grid.rows)
        going, at = going[inside], at[inside]
        legs = np.ones(len(going), dtype=bool)
        for point, begin in zip((one, other), start, strict=True):
            span = (begin[going], at) if downwards else (at, begin[going])
            legs &= grid.free_down(point[going, 0], *span)
        done = legs & grid.free_across(at, one[going, 0], other[going, 0])
        found[going[done]] = at[done]
        going = going[legs & ~done]
        row[going] += step
    free = found >= 0
    reach = 20.0 * step + np.where(step > 0, np.maximum(one[:, 1], other[:, 1]), np.minimum(one[:, 1], other[:, 1]))
    y = np.where(free, grid.middle_of_row(np.maximum(found, 0)), reach)
    return _bent(one, (one[:, 0], y), (other[:, 0], y), (other[:, 0], y), (other[:, 0], y), other), free


def _one_turn(grid: Grid, xu: Float, xl: Float, first: Int, last: Int) -> Int:
    """The first row from above in which links can turn from `xu` to `xl`; −1 for none. : (k,)"""
    found = np.full(len(xu), -1)
    going, row = np.arange(len(xu)), first.copy()
    while len(going):
        going = going[row[going] <= last[going]]
        at = row[going]
        leg = grid.free_down(xu[going], first[going], at)
        done = leg & grid.free_across(at, xu[going], xl[going]) & grid.free_down(xl[going], at, last[going])
        found[going[done]] = at[done]
        going = going[leg & ~done]
        row[going] += 1
    return found


def _around(grid: Grid, xu: Float, xl: Float, first: Int, last: Int) -> tuple[Int, Int, Float]:
    """Two rows to turn in and a free column between them, nearest to the end below; −1 for none."""
    row_1, row_2, x = np.full(len(xu), -1), np.full(len(xu), -1), xl.copy()
    for below, above in sorted(np.ndindex(_ROWS, _ROWS), key=sum):
        rest = np.flatnonzero((row_1 < 0) & (first + below < last - above))
        one, two = first[rest] + below, last[rest] - above
        legs = grid.free_down(xu[rest], first[rest], one) & grid.free_down(xl[rest], two, last[rest])
        rest, one, two = rest[legs], one[legs], two[legs]
        if not len(rest):
            continue
        low_1, high_1 = grid.run(one, xu[rest])
        low_2, high_2 = grid.run(two, xl[rest])
        column = grid.nearest_column(one, two, np.maximum(low_1, low_2), np.minimum(high_1, high_2), xl[rest])
        chosen = column >= 0
        rest = rest[chosen]
        row_1[rest], row_2[rest], x[rest] = one[chosen], two[chosen], grid.middle_of_column(column[chosen])
    return row_1, row_2, x


def _bent(start: Float, *points: tuple[Float, Float] | Float) -> Float:
    """Ways through points. : (k, v, 2)"""
    return np.stack([start, *(p if isinstance(p, np.ndarray) else np.column_stack(p) for p in points)], axis=1)
