"""Links that still run over a box: led around it from wherever else they can leave their boxes.

A port may be shut by a box that is right at it, and the plain shapes and the quick search look from given ports
only. What they leave is searched for here from every open place of both boxes: the shortest way with few bends first,
and where the picture is too large for that, the one with fewest bends, which is found whenever there is one.
"""

from __future__ import annotations

import heapq
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.routing.by_hand import is_free, on_side
from designer.design.routing.grid import Grid
from designer.design.routing.search import BEND, OPPOSITE, State, cell_at, steps
from designer.design.routing.sides import BOTTOM, LEFT, RIGHT, TOP

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: what a port at another side and one at a narrow place cost, scene units of length
_OTHER_SIDE: Final = 100.0
_NARROW: Final = 50.0
#: a place narrower than this is narrow, scene units
_WIDE: Final = 8.0
#: share of how far a port is from the middle of its side
_OFF: Final = 0.5
#: states of the search for the shortest way
_MOST: Final = 30_000

_Cell = tuple[int, int]


class End(NamedTuple):
    """Where a link ends.

    Parameters
    ----------
    rect : (4,) x, y, width, height
    side
        At which it should.
    at
        Where along that side it must; NaN if it may at any place of any side.
    border
        Whether it ends at the border around everything, coming from inside, rather than at a box.
    key
        The same for all links at one box.
    """

    rect: Float
    side: int
    at: float
    border: bool
    key: int


class _Door(NamedTuple):
    """An open place to end at: the cell in front, the side of the box there, what it costs, and where a given port
    is."""

    cell: _Cell
    side: int
    cost: float
    at: float


class Astray:
    """Links of one container that run over a box, to be led around it one by one.

    Parameters
    ----------
    grid
        The free cells of the container.
    most
        The search for the shortest way gives up after so many states.
    """

    def __init__(self, grid: Grid, most: int = _MOST) -> None:
        self._grid, self._most = grid, most
        self._taken: list[list[bool]] = grid.taken.tolist()
        self._xs = ((grid.xs[:-1] + grid.xs[1:]) / 2).tolist()
        self._ys = ((grid.ys[:-1] + grid.ys[1:]) / 2).tolist()
        self._used: dict[tuple[int, int, _Cell], int] = {}
        self._runs: _Runs | None = None

    def way(self, one: End, other: End) -> Float:
        """Points of a free way from one end to the other; none if there is no such way. : (v, 2), or (0, 2)"""
        starts, goals = self._doors(one), self._doors(other)
        if not starts or not goals:
            return np.empty((0, 2))
        found = self._shortest(starts, goals, other)
        if found is None:
            self._runs = self._runs or _Runs(self._grid)
            found = self._runs.straightest(starts, goals)
        if found is None:
            return np.empty((0, 2))
        return self._points(found, one, other)

    def _doors(self, end: End) -> list[_Door]:
        grid = self._grid
        sides = (end.side,) if end.border or not np.isnan(end.at) else (LEFT, TOP, RIGHT, BOTTOM)
        found: list[_Door] = []
        for side in sides:
            # a border is come to from inside
            leave = OPPOSITE[side] if end.border else side
            x, y = on_side(end.rect, side, 0.0).tolist()
            if not np.isnan(end.at):
                point = on_side(end.rect, side, end.at).tolist()
                cells = [cell_at(grid, (point[0], point[1]), leave)]
            elif side in (TOP, BOTTOM):
                row = cell_at(grid, (x, y), leave)[1]
                first = int(grid.turned.row_below(end.rect[:1])[0])
                last = int(grid.turned.row_above(end.rect[:1] + end.rect[2:3])[0])
                cells = [(column, row) for column in range(first, last + 1)]
            else:
                column = cell_at(grid, (x, y), leave)[0]
                first = int(grid.row_below(end.rect[1:2])[0])
                last = int(grid.row_above(end.rect[1:2] + end.rect[3:4])[0])
                cells = [(column, row) for row in range(first, last + 1)]
            axis = 0 if side in (TOP, BOTTOM) else 1
            edges, middles = (grid.xs, self._xs) if axis == 0 else (grid.ys, self._ys)
            centre = float(end.rect[axis] + end.rect[axis + 2] / 2)
            for cell in cells:
                if grid.taken[cell]:
                    continue
                n = cell[axis]
                cost = 0.0 if side == end.side else _OTHER_SIDE
                if np.isnan(end.at):
                    cost += 0.0 if end.border else abs(middles[n] - centre) * _OFF
                    cost += _NARROW * float(edges[n + 1] - edges[n] < _WIDE)
                found.append(_Door(cell, leave, cost, end.at))
        return found

    def _shortest(self, starts: list[_Door], goals: list[_Door], end: End) -> tuple[_Door, list[_Cell], _Door] | None:  # noqa: C901
        """The first place, the cells it turns in, and the last place."""
        taken, xs, ys = self._taken, self._xs, self._ys
        left, top, right, bottom = *end.rect[:2].tolist(), *(end.rect[:2] + end.rect[2:]).tolist()

        def rest(i: int, j: int) -> float:
            if end.border:
                return 0.0
            return max(left - xs[i], xs[i] - right, 0.0) + max(top - ys[j], ys[j] - bottom, 0.0)

        first: dict[State, _Door] = {}
        last: dict[State, _Door] = {}
        best: dict[State, float] = {}
        before: dict[State, State] = {}
        for door in goals:
            last.setdefault((*door.cell, OPPOSITE[door.side]), door)
        todo: list[tuple[float, float, State, bool]] = []
        for door in starts:
            state = (*door.cell, door.side)
            if door.cost < best.get(state, np.inf):
                best[state], first[state] = door.cost, door
                heapq.heappush(todo, (door.cost + rest(*door.cell), door.cost, state, False))
        while todo and len(best) < self._most:
            _, cost, state, done = heapq.heappop(todo)
            if done:
                turns: list[_Cell] = []
                goal, at = last[state], state
                while at in before:
                    if before[at][2] != at[2]:
                        turns.append(at[:2])
                    at = before[at]
                return first[at], turns[::-1], goal
            if cost > best[state]:
                continue
            if state in last:
                whole = cost + last[state].cost
                heapq.heappush(todo, (whole, whole, state, True))
            for new, more in steps(state, taken, xs, ys):
                reached = cost + more
                if reached < best.get(new, np.inf):
                    best[new], before[new] = reached, state
                    first.pop(new, None)
                    heapq.heappush(todo, (reached + rest(new[0], new[1]), reached, new, False))
        return None

    def _points(self, found: tuple[_Door, list[_Cell], _Door], one: End, other: End) -> Float:
        start, turns, goal = found
        points = [[self._xs[i], self._ys[j]] for i, j in turns]
        ends: list[Float] = []
        at = [self._end_position(door, end) for door, end in ((start, one), (goal, other))]
        axes = [0 if door.side in (TOP, BOTTOM) else 1 for door in (start, goal)]
        if not points and at[0] != at[1]:
            # straight on: one end comes to where the other is, or if both are given, it turns in front of the first
            if np.isnan(goal.at):
                at[1] = at[0]
            elif np.isnan(start.at):
                at[0] = at[1]
            else:
                i, j = start.cell
                points = [[self._xs[i], self._ys[j]] for _ in range(2)]
        for door, end, place in ((start, one, at[0]), (goal, other, at[1])):
            ends.append(on_side(end.rect, OPPOSITE[door.side] if end.border else door.side, place))
        if points:
            points[0][axes[0]] = at[0]
            points[-1][axes[1]] = at[1]
        return np.array([ends[0].tolist(), *points, ends[1].tolist()])

    def _end_position(self, door: _Door, end: End) -> float:
        """Where along its side a link ends: each that comes to one place has its own there."""
        if not np.isnan(door.at):
            return door.at
        axis = 0 if door.side in (TOP, BOTTOM) else 1
        key = (end.key, door.side, door.cell)
        n = self._used.get(key, 0) + 1
        self._used[key] = n
        share, part = 0.0, 0.5
        while n:  # 1/2, 1/4, 3/4, 1/8, 5/8 …
            share, part, n = share + part * (n & 1), part / 2, n >> 1
        edges = self._grid.xs if axis == 0 else self._grid.ys
        low, high = float(edges[door.cell[axis]]), float(edges[door.cell[axis] + 1])
        return low + share * (high - low)


class _Runs:
    """Free cells in a line, level and upright: one can turn from one to the other where they meet."""

    def __init__(self, grid: Grid) -> None:
        free = ~grid.taken
        self._level, self._rows, many = _number_runs(free.T)
        self._level = self._level.T
        self._upright, self._columns, more = _number_runs(free)
        self._many = many
        i, j = np.nonzero(free)
        count = many + more
        one, other = self._level[i, j], self._upright[i, j] + many
        # few pictures come here: the others need not wait for the library
        from scipy.sparse import csr_matrix

        self._edges = csr_matrix((np.ones(len(one), dtype=np.int8), (one, other)), shape=(count, count))
        self._edges = (self._edges + self._edges.T).tocsr()

    def straightest(self, starts: list[_Door], goals: list[_Door]) -> tuple[_Door, list[_Cell], _Door] | None:
        """The first place, the cells it turns in, and the last place, of a way with fewest bends."""
        from scipy.sparse.csgraph import breadth_first_order

        best: tuple[float, _Door, list[_Cell], _Door] | None = None
        for start in {self._run(door): door for door in sorted(starts, key=lambda d: -d.cost)}.values():
            source = self._run(start)
            before = breadth_first_order(self._edges, source, directed=False)[1]
            for goal in goals:
                run = self._run(goal)
                if run != source and before[run] < 0:
                    continue
                turns: list[_Cell] = []
                while run != source:
                    turns.append(self._crossing_cell(run, int(before[run])))
                    run = int(before[run])
                cost = start.cost + goal.cost + BEND * len(turns)
                if best is None or cost < best[0]:
                    best = cost, start, turns[::-1], goal
        return None if best is None else best[1:]

    def _run(self, door: _Door) -> int:
        upright = door.side in (TOP, BOTTOM)
        return int(self._upright[door.cell]) + self._many if upright else int(self._level[door.cell])

    def _crossing_cell(self, one: int, other: int) -> _Cell:
        upright, level = max(one, other) - self._many, min(one, other)
        return int(self._columns[upright]), int(self._rows[level])


def _number_runs(free: npt.NDArray[np.bool_]) -> tuple[Int, Int, int]:
    """Number of the run along the second axis each cell is in, the first index of each run, and how many there are."""
    begins = free.copy()
    begins[:, 1:] &= ~free[:, :-1]
    number = np.cumsum(begins.ravel()).reshape(free.shape) - 1
    return number, np.nonzero(begins)[0], int(begins.sum())


def over_boxes(grid: Grid, ways: Float, rects: Float) -> list[int]:
    """Rows of the ways that run over a box. : (k, v, 2)"""
    low, high = np.minimum(ways[:, :-1], ways[:, 1:]), np.maximum(ways[:, :-1], ways[:, 1:])
    level = grid.meets(low[..., 1], low[..., 0], high[..., 0])
    upright = grid.turned.meets(low[..., 0], low[..., 1], high[..., 1])
    flat = low[..., 1] == high[..., 1]
    some = np.flatnonzero(np.where(flat, level, upright).any(axis=1))
    return [n for n in some.tolist() if not is_free(ways[n], rects)]
