"""Ways of pieces through one container before they are set apart, and where along the sides of boxes they begin."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.routing.grid import Grid
from designer.design.routing.pieces import Pieces, is_bent, put, tidied
from designer.design.routing.search import shortest_way
from designer.design.routing.sides import BOTTOM, LEFT, RIGHT, TOP, open_stretch, ports

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
        found = _detour_rows(grid, xu[rest], xl[rest], first[rest], last[rest])
        row_1[rest], row_2[rest], x[rest] = found
        free[rest] = row_1[rest] >= 0
    y1, y2 = (grid.middle_of_row(np.maximum(row, 0)) for row in (row_1, row_2))
    y1, y2 = np.where(free, y1, (yu + yl) / 2), np.where(free, y2, (yu + yl) / 2)
    return _ways_through(upper, (xu, y1), (x, y1), (x, y2), (xl, y2), lower), free


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
    return _ways_through(start, (xu, y), (x, y), (x, border), (x, border), end), free


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
    return _ways_through(one, (one[:, 0], y), (other[:, 0], y), (other[:, 0], y), (other[:, 0], y), other), free


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


def _detour_rows(grid: Grid, xu: Float, xl: Float, first: Int, last: Int) -> tuple[Int, Int, Float]:
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


def _ways_through(start: Float, *points: tuple[Float, Float] | Float) -> Float:
    """Ways through points. : (k, v, 2)"""
    return np.stack([start, *(p if isinstance(p, np.ndarray) else np.column_stack(p) for p in points)], axis=1)


#: farther than anything in a picture, scene units
_FAR: Final = 1e9
#: so many links of a container are searched for one by one
SEARCHED: Final = 400


def places(
    grid: Grid | None, rp: Float, rq: Float, pieces: Pieces, fixed: tuple[Float, Float], aims: tuple[Float, Float]
) -> tuple[Float, Float]:
    """Where along their sides links touch boxes. : (k,), (k,)"""
    k = len(rp)
    box, side = np.concatenate((pieces.p, pieces.q)), np.concatenate((pieces.side_p, pieces.side_q))
    rect = np.concatenate((rp, rq))
    given = np.concatenate((pieces.at_p, pieces.at_q))
    given = np.where(np.isnan(given), np.concatenate(fixed), given)
    axis = np.where(side % 2 == 1, 0, 1)
    rows = np.arange(2 * k)
    low = rect[rows, axis]
    high = low + rect[rows, axis + 2]
    if grid is not None:
        low, high = open_stretch(grid, rect, side, box >= 0, (low, high))
    place = ports((box + 1) * 4 + side, np.concatenate(aims), given, low, high)
    return place[:k], place[k:]


def by_turns(ways: Float, pieces: Pieces, aims: tuple[Float, Float], outwards: Bool) -> tuple[Float, Float]:
    """Aims that give the order in which links leave boxes, by where they turn. : (k,), (k,)

    Of those that turn left, the one that turns first is leftmost, to the right rightmost; of those that turn together,
    the ones that come back to the same row are nearest to where they turn to, the farthest of them last.
    """
    ways, corners = tidied(ways)
    k, rows = len(ways), np.arange(len(ways))
    back = np.maximum(corners - 1 - np.arange(3)[:, None], 0)
    first = np.concatenate((np.stack([ways[:, min(n, ways.shape[1] - 1)] for n in range(3)]), ways[rows, back]), axis=1)
    side, aim = np.concatenate((pieces.side_p, pieces.side_q)), np.concatenate(aims)
    axis = np.where(side % 2 == 1, 0, 1)
    both = np.arange(2 * k)
    leg = np.abs(first[1, both, 1 - axis] - first[0, both, 1 - axis])
    turns = np.tile(corners > 2, 2)
    to = np.where(turns, np.sign(first[2, both, axis] - first[1, both, axis]), 0.0)
    bow = np.tile((pieces.side_p == pieces.side_q) & ~outwards, 2)
    far = np.where(turns, first[2, both, axis], aim)
    rank = np.empty(2 * k)
    rank[np.lexsort((both, np.where(bow, -aim, aim), np.where(bow, 0.0, far), bow * to, -to * leg, to))] = both
    found = np.where(to == 0, aim, to * _FAR + rank)
    return found[:k], found[k:]


def on_side(rect: Float, side: Int, at: Float) -> Float:
    """Points at the sides of boxes. : (k, 2)"""
    x = np.where(side == LEFT, rect[:, 0], np.where(side == RIGHT, rect[:, 0] + rect[:, 2], at))
    y = np.where(side == TOP, rect[:, 1], np.where(side == BOTTOM, rect[:, 1] + rect[:, 3], at))
    return np.column_stack((x, y))


def plain_ways(start: Float, end: Float, facing: Bool, upright: Bool) -> Float:
    """One turn half-way, whatever is in the way. : (k, 6, 2)"""
    middle = (start + end) / 2
    bow = np.where(facing, middle[:, 1], np.maximum(start[:, 1], end[:, 1]) + 20.0)
    one = np.where(upright[:, None], np.column_stack((start[:, 0], bow)), np.column_stack((middle[:, 0], start[:, 1])))
    two = np.where(upright[:, None], np.column_stack((end[:, 0], bow)), np.column_stack((middle[:, 0], end[:, 1])))
    return np.stack((start, one, two, two, two, end), axis=1)


def ways_of(
    grid: Grid, start: Float, end: Float, pieces: Pieces, facing: Bool, outwards: Bool, most: int = SEARCHED
) -> Float:
    """Ways that run around everything, where there are any. : (k, v, 2)"""
    k = len(start)
    ways, free = np.repeat(start[:, None], 6, axis=1), np.zeros(k, dtype=bool)
    # what is neither free nor found keeps right angles
    ways[:, -1], ways[:, -2] = end, np.column_stack((start[:, 0], end[:, 1]))
    for side in (BOTTOM, TOP, RIGHT, LEFT):
        here = pieces.side_p == side
        axis, sign = (1 if side % 2 else 0), (1.0 if side in (BOTTOM, RIGHT) else -1.0)
        laid = grid if axis == 1 else grid.turned
        order = (0, 1) if axis == 1 else (1, 0)
        one, two = start[:, order], end[:, order]
        some = np.flatnonzero(here & facing)
        if len(some):
            if sign > 0:
                found, good = down(laid, one[some], two[some])
            else:
                found, good = down(laid, two[some], one[some])
                found = found[:, ::-1]
            ways[some], free[some] = found[:, :, order], good
        some = np.flatnonzero(here & ~facing & ~outwards & (pieces.side_p == pieces.side_q))
        if len(some):
            found, good = hanging(laid, one[some], two[some], sign > 0)
            ways[some], free[some] = found[:, :, order], good
        some = np.flatnonzero(here & outwards)
        if len(some):
            found, good = _ways_to_border(laid, one[some], two[some, 1], sign)
            ways[some], free[some] = found[:, :, order], good
    bent = is_bent(pieces)
    rest = np.flatnonzero(~free & ~outwards & ~bent)[:most]
    found = {
        n: shortest_way(grid, (x, y), int(pieces.side_p[n]), (u, v), int(pieces.side_q[n]))
        for n, (x, y), (u, v) in zip(rest.tolist(), start[rest].tolist(), end[rest].tolist(), strict=True)
    }
    return put(ways, {n: way for n, way in found.items() if len(way)})


def _ways_to_border(grid: Grid, start: Float, border: Float, sign: float) -> tuple[Float, Bool]:
    """Ways to the border below, or above where `sign` is negative."""
    if sign > 0:
        return out(grid, start, border)
    mirrored = Grid(grid.xs, -grid.ys[::-1], np.ascontiguousarray(grid.taken[:, ::-1]))
    found, good = out(mirrored, start * (1.0, -1.0), -border)
    return found * (1.0, -1.0), good
