"""Links that cross many others, led elsewhere if that saves crossings in all."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.routing.grid import Grid
from designer.design.routing.search import shortest_way

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: of more links, or in a grid of more cells, none is led elsewhere; nor more of them than this
MOST_UNCROSSED: Final = 240
_MOST_CELLS: Final = 6000
_TRIED: Final = 4
_TOUCH: Final = 0.5


def crossed(ways: Float) -> tuple[Int, int]:
    """How many times each way crosses others, and at how many places ways cross. : (k, v, 2) → (k,)"""
    k, v, _ = ways.shape
    pieces = np.concatenate((ways[:, :-1], ways[:, 1:]), axis=2).reshape(-1, 4)
    owner = np.repeat(np.arange(k), v - 1)
    upright = (pieces[:, 0] == pieces[:, 2]) & (pieces[:, 1] != pieces[:, 3])
    flat = (pieces[:, 1] == pieces[:, 3]) & (pieces[:, 0] != pieces[:, 2])
    up, level = pieces[upright], pieces[flat]
    x, y = up[:, :1], level[:, 1]
    top, bottom = np.minimum(up[:, 1], up[:, 3])[:, None], np.maximum(up[:, 1], up[:, 3])[:, None]
    left, right = np.minimum(level[:, 0], level[:, 2]), np.maximum(level[:, 0], level[:, 2])
    cross = (left < x - _TOUCH) & (x + _TOUCH < right) & (top < y - _TOUCH) & (y + _TOUCH < bottom)
    i, j = np.nonzero(cross & (owner[upright][:, None] != owner[flat]))
    found = np.zeros(k, dtype=np.int64)
    np.add.at(found, owner[upright][i], 1)
    np.add.at(found, owner[flat][j], 1)
    return found, len(np.unique(np.column_stack((x[i, 0], y[j])), axis=0))


def led_elsewhere(grid: Grid, ways: Float, crossings: Int, fixed: Bool, sides: tuple[Int, Int]) -> dict[int, Float]:
    """Other ways for the links that cross most, by their numbers.

    Parameters
    ----------
    ways : (k, v, 2) points, the last one repeated, at right angles
    crossings : (k,)
    fixed : (k,) those that stay
    sides : (k,), (k,) at which they leave boxes
    """
    if len(ways) > MOST_UNCROSSED or grid.columns * grid.rows > _MOST_CELLS:
        return {}
    order = np.lexsort((np.arange(len(ways)), -crossings))
    worst = order[(crossings[order] > 0) & ~fixed[order]][:_TRIED]
    if not len(worst):
        return {}
    through = [_cells(grid, way) for way in ways]
    upright, level = (np.sum([cells[n] for cells in through], axis=0) for n in (0, 1))
    found: dict[int, Float] = {}
    for n in worst.tolist():
        upright, level = upright - through[n][0], level - through[n][1]
        (x, y), (u, v) = ways[n, 0].tolist(), ways[n, -1].tolist()
        way = shortest_way(grid, (x, y), int(sides[0][n]), (u, v), int(sides[1][n]), (upright, level))
        if len(way):
            found[n] = way
            through[n] = _cells(grid, way)
        upright, level = upright + through[n][0], level + through[n][1]
    return found


def _cells(grid: Grid, way: Float) -> tuple[Int, Int]:
    """Through which cells upright and level pieces of a way run, without those it turns in: who meets it there may pass
    it on the outside. : (c, r), (c, r)"""
    upright = np.zeros((grid.columns, grid.rows), dtype=np.int64)
    level = np.zeros_like(upright)
    turned = grid.turned
    corners: list[tuple[int, int]] = []
    for (x, y), (u, v) in zip(way[:-1].tolist(), way[1:].tolist(), strict=True):
        if x == u and y != v:
            column = int(grid.column(np.array([x]))[0])
            first, last = grid.row_below(np.array([min(y, v)])), grid.row_above(np.array([max(y, v)]))
            upright[column, int(first[0]) : int(last[0]) + 1] = 1
        elif x != u:
            row = int(turned.column(np.array([y]))[0])
            first, last = turned.row_below(np.array([min(x, u)])), turned.row_above(np.array([max(x, u)]))
            level[int(first[0]) : int(last[0]) + 1, row] = 1
        corners.append((int(grid.column(np.array([u]))[0]), int(turned.column(np.array([v]))[0])))
    for column, row in corners[:-1]:
        upright[column, row] = level[column, row] = 0
    return upright, level
