"""Ways drawn by hand: links that run through given corners, and come to their boxes wherever those are."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.routing.sides import BOTTOM, EDGE, LEFT, RIGHT, TOP

Float = npt.NDArray[np.float64]

#: a way may touch a box by so much, scene units
_TOUCH: Final = 0.25
_NEAR: Final = 1e-6


class BentWay(NamedTuple):
    """A way through given corners.

    Parameters
    ----------
    bends : (c, 2) the corners that count: those between both boxes
    side_a, side_b
        The sides at which it leaves the boxes.
    way : (v, 2)
    """

    bends: Float
    side_a: int
    side_b: int
    way: Float


def bent_way(rect_a: Float, rect_b: Float, bends: Float) -> BentWay | None:
    """The way from one box to another through corners; None if no corner is left between them.

    Parameters
    ----------
    rect_a, rect_b : (4,) x, y, width, height
    bends : (c, 2)
    """
    bends = bends[_count_inside_box(rect_a, bends) :]
    bends = bends[: len(bends) - _count_inside_box(rect_b, bends[::-1])]
    if not len(bends):
        return None
    side_a, side_b = _side(rect_a, bends), _side(rect_b, bends[::-1])
    start = on_side(rect_a, side_a, port_towards(rect_a, side_a, bends[0]))
    end = on_side(rect_b, side_b, port_towards(rect_b, side_b, bends[-1]))
    return BentWay(bends, side_a, side_b, way_through(start, side_a, bends, end, side_b))


def way_through(start: Float, side_a: int, bends: Float, end: Float, side_b: int) -> Float:
    """The way from one port through corners to another; the corners next to the ports keep to those. : (v, 2)"""
    points = _led_to(end, side_b, _led_to(start, side_a, bends.tolist())[::-1])[::-1]
    found = [start.tolist(), points[0]]
    for point in [*points[1:], end.tolist()]:
        before = found[-1]
        if abs(before[0] - point[0]) > _NEAR and abs(before[1] - point[1]) > _NEAR:
            found.append([point[0], before[1]])  # only what was written by hand is not at right angles
        found.append(point)
    return np.array(found)


def _led_to(port: Float, side: int, points: list[list[float]]) -> list[list[float]]:
    """Corners of which the first lies in the line of a port."""
    axis = 0 if side in (TOP, BOTTOM) else 1
    at, first = float(port[axis]), points[0]
    if abs(first[axis] - at) <= _NEAR:
        return points
    corner = [at, first[1]] if axis == 0 else [first[0], at]
    slides = len(points) > 1 and abs(points[1][1 - axis] - first[1 - axis]) <= _NEAR
    return [corner, *points[1:]] if slides else [corner, *points]


def port_towards(rect: Float, side: int, bend: Float) -> float:
    """Where along a side of a box a link leaves for a corner: in line with it, as far as the side reaches."""
    axis = 0 if side in (TOP, BOTTOM) else 1
    low, wide = float(rect[axis]), float(rect[axis + 2])
    edge = min(EDGE, wide / 2)
    return min(max(float(bend[axis]), low + edge), low + wide - edge)


def on_side(rect: Float, side: int, at: float) -> Float:
    """The point at a side of a box. : (2,)"""
    x, y, wide, high = rect.tolist()
    if side in (TOP, BOTTOM):
        return np.array([at, y if side == TOP else y + high])
    return np.array([x if side == LEFT else x + wide, at])


def corners_of(bends: Float) -> Float:
    """The corners there are, of a row filled with NaN. : (c, 2)"""
    return bends[~np.isnan(bends[:, 0])]


def is_free(way: Float, rects: Float) -> bool:
    """True if a way runs over none of some boxes."""
    low, high = np.minimum(way[:-1], way[1:])[:, None], np.maximum(way[:-1], way[1:])[:, None]
    over = (low < rects[:, :2] + rects[:, 2:] - _TOUCH) & (high > rects[:, :2] + _TOUCH)
    return not over.all(axis=2).any()


def _count_inside_box(rect: Float, bends: Float) -> int:
    """How many of the first corners lie in a box."""
    inside = ((bends >= rect[:2]) & (bends <= rect[:2] + rect[2:])).all(axis=1)
    outside = np.flatnonzero(~inside)
    return int(outside[0]) if len(outside) else len(bends)


def _side(rect: Float, bends: Float) -> int:
    """The side at which a link leaves a box for the first corner, at right angles to what comes after that."""
    (x, y), (left, top, wide, high) = bends[0].tolist(), rect.tolist()
    right, bottom = left + wide, top + high
    upright = left <= x <= right
    if len(bends) > 1:
        u, v = bends[1].tolist()
        level = abs(v - y) <= _NEAR
        if level != (abs(u - x) <= _NEAR):
            upright = level
    outside_x, outside_y = x <= left or x >= right, y <= top or y >= bottom
    if (upright and outside_y) or not outside_x:
        return TOP if y <= top else BOTTOM
    return LEFT if x <= left else RIGHT
