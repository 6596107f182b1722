"""The shortest way with few bends around what stands between two points, where no plain shape is free."""

from __future__ import annotations

import heapq
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.routing.grid import Grid
from designer.design.routing.sides import BOTTOM, LEFT, RIGHT, TOP

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: what a bend costs, scene units of length
_BEND: Final = 50.0
#: what crossing another link costs, scene units of length
_CROSSING: Final = 200.0
#: the search gives up after so many cells
_MOST: Final = 30_000
#: columns and rows a step to each side goes
STEPS: Final = {LEFT: (-1, 0), TOP: (0, -1), RIGHT: (1, 0), BOTTOM: (0, 1)}
OPPOSITE: Final = {LEFT: RIGHT, TOP: BOTTOM, RIGHT: LEFT, BOTTOM: TOP}


def shortest_way(
    grid: Grid,
    start: tuple[float, float],
    leave: int,
    end: tuple[float, float],
    enter: int,
    others: tuple[Int, Int] | None = None,
) -> Float:
    """Points from one port to another, leaving and entering boxes at right angles to some sides. : (v, 2), or (0, 2)

    Parameters
    ----------
    others : (c, r), (c, r)
        How many upright and how many level pieces of other links run through each cell, to be crossed rarely.
    """
    upright, level = (None, None) if others is None else (others[0].tolist(), others[1].tolist())
    first, goal = cell_at(grid, start, leave), cell_at(grid, end, enter)
    if grid.taken[first] or grid.taken[goal]:
        return np.empty((0, 2))
    xs, ys = (grid.xs[:-1] + grid.xs[1:]) / 2, (grid.ys[:-1] + grid.ys[1:]) / 2
    xs[first[0]] = start[0] if leave in (TOP, BOTTOM) else xs[first[0]]
    ys[first[1]] = start[1] if leave in (LEFT, RIGHT) else ys[first[1]]
    at_x, at_y = xs.tolist(), ys.tolist()
    last = OPPOSITE[enter]  # the direction of travel when the way ends
    best: dict[tuple[int, int, int], float] = {(*first, leave): 0.0}
    before: dict[tuple[int, int, int], tuple[int, int, int]] = {}
    todo = [(0.0, 0.0, (*first, leave))]
    while todo and len(best) < _MOST:
        _, cost, state = heapq.heappop(todo)
        if cost > best[state]:
            continue
        i, j, heading = state
        if (i, j) == goal and heading == last:
            return _points(state, before, at_x, at_y, start, end, leave, enter)
        for turn, (di, dj) in STEPS.items():
            if turn == OPPOSITE[heading]:
                continue
            if turn != heading:
                new, more = (i, j, turn), _BEND
            else:
                ni, nj = i + di, j + dj
                if not (0 <= ni < grid.columns and 0 <= nj < grid.rows) or grid.taken[ni, nj]:
                    continue
                new, more = (ni, nj, turn), abs(at_x[ni] - at_x[i]) + abs(at_y[nj] - at_y[j])
                if upright is not None and level is not None:
                    more += _CROSSING * (upright if di else level)[ni][nj]
            reached = cost + more
            if reached < best.get(new, np.inf):
                best[new], before[new] = reached, state
                rest = abs(at_x[new[0]] - end[0]) + abs(at_y[new[1]] - end[1])
                heapq.heappush(todo, (reached + rest, reached, new))
    return np.empty((0, 2))


def cell_at(grid: Grid, point: tuple[float, float], side: int) -> tuple[int, int]:
    """The cell in front of a port."""
    x, y = np.array([point[0]]), np.array([point[1]])
    turned = grid.turned
    column = (
        grid.column(x) if side in (TOP, BOTTOM) else (turned.row_below(x) if side == RIGHT else turned.row_above(x))
    )
    row = turned.column(y) if side in (LEFT, RIGHT) else (grid.row_below(y) if side == BOTTOM else grid.row_above(y))
    return int(column[0]), int(row[0])


def _points(
    state: tuple[int, int, int],
    before: dict[tuple[int, int, int], tuple[int, int, int]],
    xs: list[float],
    ys: list[float],
    start: tuple[float, float],
    end: tuple[float, float],
    leave: int,
    enter: int,
) -> Float:
    """Corners of the way that ends in a state; its last piece runs into the port."""
    cells = [state]
    while state in before:
        state = before[state]
        cells.append(state)
    cells.reverse()
    middle = [(xs[i], ys[j]) for i, j, _ in cells]
    upright_end = enter in (TOP, BOTTOM)
    found = [start, *middle]
    # the last straight run comes in the port's own line
    k = len(found) - 1
    while k > 1 and abs(found[k][0 if upright_end else 1] - middle[-1][0 if upright_end else 1]) < 1e-9:
        found[k] = (end[0], found[k][1]) if upright_end else (found[k][0], end[1])
        k -= 1
    if k <= 1:
        found.insert(2, (end[0], found[1][1]) if upright_end else (found[1][0], end[1]))
    return np.array([*found, end])
