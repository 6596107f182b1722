"""The path of each connection on the canvas: four points a connection, all connections at once.

Straight connections and elbows are polylines through the four points, curves are cubic Bézier curves with the middle
two as control points. Connections that leave a box on the same side are spread along it in the order of where they go.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

STRAIGHT, ELBOW, CURVE = range(3)
#: sides of a box
LEFT, TOP, RIGHT, BOTTOM = range(4)
#: share of a side, in its middle, that connections are spread over
_SPREAD: Final = 0.8
#: connections are at most so far apart at a side, scene units
_STEP: Final = 16.0
#: how far a bow between boxes of a row swings out: at least, and per distance, at most
_BOW: Final = (20.0, 0.16, 160.0)
#: elbows turn at most this far below the upper box, so that they stay between its row and the next
_TURN: Final = 56.0
#: where boxes behind others are met, from their left end; and free length at the ends of a box's side
_GATE: Final = 8.0
_EDGE: Final = 4.0
#: boxes with more connections than this are not looked at for boxes behind others
_MANY: Final = 512


def route(rect: Float, a: Int, b: Int, elbow: Bool, blocked: Bool) -> tuple[Float, Int]:
    """Points (m, 4, 2) and shapes (m,) of the connections from boxes `a` to boxes `b`.

    Parameters
    ----------
    rect : (n, 4) boxes: x, y, width, height, scene units
    elbow : (m,) whether a connection is drawn with right angles where there is room
    blocked : (m,) whether something stands between two boxes of a row, so that the connection must bow around it
    """
    m = len(a)
    if m == 0:
        return np.empty((0, 4, 2)), np.empty(0, dtype=np.int64)
    side_a, side_b = _sides(rect[a], rect[b], elbow, blocked)
    ends = _attached(rect, a, b, side_a, side_b)
    points = np.stack([ends[:m], ends[:m], ends[m:], ends[m:]], axis=1)
    shape = np.zeros(m, dtype=np.int64)
    upright = (side_a == BOTTOM) & (side_b == TOP) | (side_a == TOP) & (side_b == BOTTOM)
    level = (side_a % 2 == 0) & (side_b % 2 == 0)
    bow = side_a == side_b
    hang = np.flatnonzero(upright & elbow)
    from_a = side_a[hang] == BOTTOM
    upper, lower = np.where(from_a, a[hang], b[hang]), np.where(from_a, b[hang], a[hang])
    points[hang] = _hung(rect, upper, lower, points[hang], from_a)
    shape[hang] = ELBOW
    _sweep(points, np.flatnonzero(upright & ~elbow), 1)
    _sweep(points, np.flatnonzero(level & ~elbow), 0)
    _bow(points, np.flatnonzero(bow), side_a)
    shape[((upright | level) & ~elbow) | bow] = CURVE
    flat = (np.abs(points[..., 0] - points[:, :1, 0]) < 1e-6).all(axis=1)
    flat |= (np.abs(points[..., 1] - points[:, :1, 1]) < 1e-6).all(axis=1)
    shape[flat & ~bow] = STRAIGHT
    return points, shape


def _sides(ra: Float, rb: Float, elbow: Bool, blocked: Bool) -> tuple[Int, Int]:
    """The sides at which each connection leaves its two boxes."""
    below = rb[:, 1] - ra[:, 1] - ra[:, 3]  # free height between a above and b below
    above = ra[:, 1] - rb[:, 1] - rb[:, 3]
    right = rb[:, 0] - ra[:, 0] - ra[:, 2]
    left = ra[:, 0] - rb[:, 0] - rb[:, 2]
    side_a = np.full(len(ra), BOTTOM)
    side_b = np.full(len(ra), TOP)
    up = above >= 0
    side_a[up], side_b[up] = TOP, BOTTOM
    row = (below < 0) & (above < 0)
    to_right, to_left = row & (right >= left), row & (right < left)
    side_a[to_right], side_b[to_right] = RIGHT, LEFT
    side_a[to_left], side_b[to_left] = LEFT, RIGHT
    bow = row & blocked
    side_a[bow] = side_b[bow] = np.where(elbow[bow], TOP, BOTTOM)
    return side_a, side_b


def _attached(rect: Float, a: Int, b: Int, side_a: Int, side_b: Int) -> Float:
    """Where connections touch their boxes: first all ends at `a`, then all at `b`. : (2m, 2)"""
    box, side = np.concatenate([a, b]), np.concatenate([side_a, side_b])
    other = rect[np.concatenate([b, a])]
    aim = other[:, :2] + other[:, 2:] / 2
    along = np.where(side % 2 == 1, 0, 1)  # top and bottom run along x
    towards = np.take_along_axis(aim, along[:, None], axis=1)[:, 0]
    key = box * 4 + side
    rank, many = _ranks(key, towards)
    length = np.take_along_axis(rect[box, 2:], along[:, None], axis=1)[:, 0]
    step = np.minimum(_STEP, length * _SPREAD / many)
    place = (rank - (many - 1) / 2) * step
    r = rect[box]
    ends = r[:, :2] + r[:, 2:] / 2
    rows = np.arange(len(box))
    ends[rows, along] += place
    ends[side == LEFT, 0] = r[side == LEFT, 0]
    ends[side == RIGHT, 0] = (r[:, 0] + r[:, 2])[side == RIGHT]
    ends[side == TOP, 1] = r[side == TOP, 1]
    ends[side == BOTTOM, 1] = (r[:, 1] + r[:, 3])[side == BOTTOM]
    return ends


def _hung(rect: Float, upper: Int, lower: Int, points: Float, from_a: Bool) -> Float:
    """Right angles from upper boxes down to lower ones, given where they touch. : (k, 4, 2)

    A connection drops straight where the lower box is under the upper one. Boxes that stand behind others of the same
    upper one are met at the end that sticks out. Otherwise connections of one upper box turn at different heights, the
    outermost first, and connections of one lower box the innermost first, so that none crosses another.
    """
    stop = np.where(from_a[:, None], points[:, 3], points[:, 0]).copy()
    start = np.where(from_a[:, None], points[:, 0], points[:, 3])
    left, right = rect[upper, 0], rect[upper, 0] + rect[upper, 2]
    bottom = rect[upper, 1] + rect[upper, 3]
    behind = _behind(rect, upper, lower)
    stop[behind, 0] = rect[lower[behind], 0] + _GATE
    straight = (stop[:, 0] > left + _EDGE) & (stop[:, 0] < right - _EDGE)
    x = _ports(upper, stop[:, 0], start[:, 0], np.where(straight, stop[:, 0], np.nan), left, right)
    reach = stop[:, 0] - x
    key = upper * 3 + np.sign(reach).astype(np.int64) + 1
    rank, many = _ranks(key, -np.abs(reach))
    below, gathered = _ranks(lower * 3 + np.sign(reach).astype(np.int64) + 1, np.abs(reach))
    share = np.where(many > 1, (rank + 1) / (many + 1), (below + 1) / (gathered + 1))
    turn = bottom + np.minimum(stop[:, 1] - bottom, _TURN) * share
    way = np.stack([np.stack([x, bottom], 1), np.stack([x, turn], 1), np.stack([stop[:, 0], turn], 1), stop], axis=1)
    return np.where(from_a[:, None, None], way, way[:, ::-1])


def _behind(rect: Float, upper: Int, lower: Int) -> Bool:
    """True if another box that hangs from the same upper one stands above the middle of a lower box."""
    one, other = _pairs(upper)
    r, s = rect[lower[one]], rect[lower[other]]
    middle = r[:, 0] + r[:, 2] / 2
    hides = (s[:, 1] + s[:, 3] <= r[:, 1]) & (s[:, 0] < middle) & (s[:, 0] + s[:, 2] > middle)
    found = np.zeros(len(upper), dtype=bool)
    found[one[hides]] = True
    return found


def _pairs(key: Int) -> tuple[Int, Int]:
    """All ordered pairs of rows with the same key; keys of very many rows are left out."""
    order = np.argsort(key, kind="stable")
    sorted_key = key[order]
    starts = np.flatnonzero(np.concatenate([[True], sorted_key[1:] != sorted_key[:-1]])) if len(order) else order
    sizes = np.diff(np.concatenate([starts, [len(order)]]))
    keep = (sizes > 1) & (sizes <= _MANY)
    starts, sizes = starts[keep], sizes[keep]
    squares = sizes * sizes
    size, start = np.repeat(sizes, squares), np.repeat(starts, squares)
    within = np.arange(int(squares.sum())) - np.repeat(np.cumsum(squares) - squares, squares)
    return order[start + within // size], order[start + within % size]


def _ports(upper: Int, target: Float, spread: Float, fixed: Float, left: Float, right: Float) -> Float:
    """Where connections leave the bottoms of upper boxes: `fixed` if it is a number, the others left and right of
    it."""
    given = ~np.isnan(fixed)
    low, high = _extremes(upper, np.where(given, fixed, np.inf), np.where(given, fixed, -np.inf))
    behind = target > (left + right) / 2
    edge, limit = np.where(behind, high, low), np.where(behind, right, left)
    sign = np.where(behind, 1.0, -1.0)
    loose = ~given & np.isfinite(edge)
    rank, many = _ranks(np.where(loose, 2 * upper + behind, -1), sign * target)
    reach = np.maximum(np.abs(np.where(loose, limit - edge, 0.0)) - _EDGE, 0.0)
    beside = np.where(loose, edge, 0.0) + sign * np.minimum(_STEP, reach / many) * (rank + 1)
    return np.where(given, fixed, np.where(loose, beside, spread))


def _extremes(key: Int, low: Float, high: Float) -> tuple[Float, Float]:
    """For each row the smallest `low` and largest `high` among those with the same key."""
    boxes, row = np.unique(key, return_inverse=True)
    least, most = np.full(len(boxes), np.inf), np.full(len(boxes), -np.inf)
    np.minimum.at(least, row, low)
    np.maximum.at(most, row, high)
    return least[row], most[row]


def _ranks(key: Int, by: Float) -> tuple[Float, Float]:
    """Rank of each among those with the same key, and how many those are."""
    order = np.lexsort((np.arange(len(key)), by, key))
    rank, many = np.empty(len(order)), np.empty(len(order))
    sorted_key = key[order]
    starts = np.flatnonzero(np.concatenate([[True], sorted_key[1:] != sorted_key[:-1]])) if len(order) else order
    sizes = np.diff(np.concatenate([starts, [len(order)]]))
    rank[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    many[order] = np.repeat(sizes, sizes)
    return rank, many


def _sweep(points: Float, connections: Int, axis: int) -> None:
    """Curves that leave both boxes at a right angle."""
    middle = (points[connections, 0, axis] + points[connections, 3, axis]) / 2
    points[connections, 1, axis] = middle
    points[connections, 2, axis] = middle


def bow_swing(distance: float) -> float:
    """How far a bow between two places `distance` apart swings out, scene units."""
    least, share, most = _BOW
    return min(least + share * distance, most)


def _bow(points: Float, connections: Int, side: Int) -> None:
    """Curves that leave and come back at the same side."""
    least, share, most = _BOW
    swing = np.minimum(least + share * np.abs(points[connections, 3, 0] - points[connections, 0, 0]), most)
    swing *= 4 / 3  # a cubic curve comes three quarters of the way to its control points
    swing = np.where(side[connections] == TOP, -swing, swing)
    points[connections, 1, 1] += swing
    points[connections, 2, 1] += swing
