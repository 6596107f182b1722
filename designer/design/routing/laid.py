"""Ways of pieces through one container before they are set apart, and where along the sides of boxes they begin."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.routing.grid import Grid
from designer.design.routing.pieces import Pieces, is_bent, put, tidied
from designer.design.routing.search import shortest_way
from designer.design.routing.sides import BOTTOM, LEFT, RIGHT, TOP, open_stretch, ports
from designer.design.routing.ways import down, hanging, out

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

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
            found, good = _out(laid, one[some], two[some, 1], sign)
            ways[some], free[some] = found[:, :, order], good
    bent = is_bent(pieces)
    rest = np.flatnonzero(~free & ~outwards & ~bent)[:most]
    found = {
        n: shortest_way(grid, (x, y), int(pieces.side_p[n]), (u, v), int(pieces.side_q[n]))
        for n, (x, y), (u, v) in zip(rest.tolist(), start[rest].tolist(), end[rest].tolist(), strict=True)
    }
    return put(ways, {n: way for n, way in found.items() if len(way)})


def _out(grid: Grid, start: Float, border: Float, sign: float) -> tuple[Float, Bool]:
    """Ways to the border below, or above where `sign` is negative."""
    if sign > 0:
        return out(grid, start, border)
    mirrored = Grid(grid.xs, -grid.ys[::-1], np.ascontiguousarray(grid.taken[:, ::-1]))
    found, good = out(mirrored, start * (1.0, -1.0), -border)
    return found * (1.0, -1.0), good
