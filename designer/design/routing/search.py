"""The shortest way with few bends around what is between two points, where no plain shape is free."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.routing.grid import Grid
from designer.design.routing.sides import BOTTOM, LEFT, RIGHT, TOP

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: a cell and the side it is left at
State = tuple[int, int, int]
#: what a bend costs, scene units of length
BEND: Final = 50.0
#: what crossing another link costs, scene units of length
CROSSING: Final = 600.0
#: the search gives up after so many cells
_MOST: Final = 30_000
#: columns and rows a step to each side goes
STEPS: Final = {LEFT: (-1, 0), TOP: (0, -1), RIGHT: (1, 0), BOTTOM: (0, 1)}
_TURNS: Final = {LEFT: (TOP, BOTTOM), TOP: (LEFT, RIGHT), RIGHT: (TOP, BOTTOM), BOTTOM: (LEFT, RIGHT)}
OPPOSITE: Final = {LEFT: RIGHT, TOP: BOTTOM, RIGHT: LEFT, BOTTOM: TOP}


def shortest_way(
    grid: Grid,
    start: tuple[float, float],
    leave: int,
    end: tuple[float, float],
    enter: int,
    others: tuple[Int, Int] | None = None,
    along: bool = False,
) -> Float:
    """Points from one port to another, leaving and entering boxes at right angles to some sides. : (v, 2), or (0, 2)

    Parameters
    ----------
    along
        Whether it may end anywhere along the side it enters at.
    others : (c, r), (c, r)
        How many upright and how many level pieces of other links run through each cell, to be crossed rarely.
    """
    upright, level = (None, None) if others is None else (others[0].tolist(), others[1].tolist())
    first, goal = cell_at(grid, start, leave), cell_at(grid, end, enter)
    if grid.taken[first] or (grid.taken[goal] and not along):
        return np.empty((0, 2))
    xs, ys = (grid.xs[:-1] + grid.xs[1:]) / 2, (grid.ys[:-1] + grid.ys[1:]) / 2
    xs[first[0]] = start[0] if leave in (TOP, BOTTOM) else xs[first[0]]
    ys[first[1]] = start[1] if leave in (LEFT, RIGHT) else ys[first[1]]
    at_x, at_y, taken = xs.tolist(), ys.tolist(), grid.taken.tolist()
    last = OPPOSITE[enter]  # the direction of travel when the way ends
    across = 1 if enter in (TOP, BOTTOM) else 0
    best: dict[State, float] = {(*first, leave): 0.0}
    before: dict[State, State] = {}
    todo = [(0.0, 0.0, (*first, leave))]
    while todo and len(best) < _MOST:
        _, cost, state = heapq.heappop(todo)
        if cost > best[state]:
            continue
        i, j, heading = state
        if heading == last and ((i, j) == goal or (along and (i, j)[across] == goal[across])):
            if along:
                end = (at_x[i], end[1]) if across else (end[0], at_y[j])
            return _points(state, before, at_x, at_y, start, end, leave, enter)
        for new, more in steps(state, taken, at_x, at_y):
            if upright is not None and level is not None:
                more += CROSSING * (upright if new[2] in (LEFT, RIGHT) else level)[new[0]][new[1]]
            reached = cost + more
            if reached < best.get(new, np.inf):
                best[new], before[new] = reached, state
                far = abs(at_x[new[0]] - end[0]), abs(at_y[new[1]] - end[1])
                rest = far[across] if along else far[0] + far[1]
                ahead = new[2] == last and (along or new[1 - across] == goal[1 - across])
                rest += 0.0 if ahead else BEND if new[2] % 2 != last % 2 else 2 * BEND
                heapq.heappush(todo, (reached + rest, reached, new))
    return np.empty((0, 2))


def steps(
    state: State, taken: Sequence[Sequence[bool]], xs: Sequence[float], ys: Sequence[float]
) -> list[tuple[State, float]]:
    """What can be done next and what it costs [scene units]: to turn to a side, or to go on to the next free cell."""
    i, j, heading = state
    one, other = _TURNS[heading]
    found: list[tuple[State, float]] = [((i, j, one), BEND), ((i, j, other), BEND)]
    di, dj = STEPS[heading]
    ni, nj = i + di, j + dj
    if 0 <= ni < len(taken) and 0 <= nj < len(taken[0]) and not taken[ni][nj]:
        found.append(((ni, nj, heading), abs(xs[ni] - xs[i]) + abs(ys[nj] - ys[j])))
    return found


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
    state: State,
    before: dict[State, State],
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
