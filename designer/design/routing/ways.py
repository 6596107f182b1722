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

#: a column around what is in the way is looked for so many columns to each side, from the first rows below and above
_COLUMNS: Final = 48
_ROWS: Final = 3


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
    column = grid.column(xu)
    for off in _offsets(_COLUMNS):
        for down_by in range(_ROWS):
            rest = np.flatnonzero(~free)
            if not len(rest):
                break
            at, turn = column[rest] + off, first[rest] + down_by
            inside = (at >= 0) & (at < grid.columns) & (turn <= last[rest])
            rest, at, turn = rest[inside], at[inside], turn[inside]
            aim = grid.middle_of_column(at)
            fits = grid.free_down(xu[rest], first[rest], turn) & grid.free_across(turn, xu[rest], aim)
            fits &= grid.free_down(aim, turn, last[rest])
            x[rest[fits]], row[rest[fits]] = aim[fits], turn[fits]
            free[rest[fits]] = True
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
    column = grid.column(xl)
    for off in _offsets(_COLUMNS):
        for below in range(_ROWS):
            for above in range(_ROWS):
                rest = np.flatnonzero(row_1 < 0)
                if not len(rest):
                    return row_1, row_2, x
                one, two, at = first[rest] + below, last[rest] - above, column[rest] + off
                inside = (one < two) & (at >= 0) & (at < grid.columns)
                rest, one, two, at = rest[inside], one[inside], two[inside], at[inside]
                aim = grid.middle_of_column(at)
                fits = grid.free_down(xu[rest], first[rest], one) & grid.free_across(one, xu[rest], aim)
                fits &= grid.free_down(aim, one, two) & grid.free_across(two, aim, xl[rest])
                fits &= grid.free_down(xl[rest], two, last[rest])
                chosen = rest[fits]
                row_1[chosen], row_2[chosen], x[chosen] = one[fits], two[fits], aim[fits]
    return row_1, row_2, x


def _offsets(most: int) -> list[int]:
    """0, 1, −1, 2, −2 …"""
    return [0, *(sign * n for n in range(1, most + 1) for sign in (1, -1))]


def _bent(start: Float, *points: tuple[Float, Float] | Float) -> Float:
    """Ways through points. : (k, v, 2)"""
    return np.stack([start, *(p if isinstance(p, np.ndarray) else np.column_stack(p) for p in points)], axis=1)
