"""What tests ask of the ways of links: what they run over, where they cross."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from designer.design.geometry import Geometry

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: a link may touch a border by so much, scene units
_TOUCH = 0.5


def over_boxes(rect: Float, parent: Int, solid: Bool, a: Int, b: Int, routes: Float) -> list[tuple[int, int]]:
    """Connections that run over a box, each with that box; those around an end are entered by right.

    Parameters
    ----------
    solid : (n,) the boxes that count
    """
    low, high = np.minimum(routes[:, :-1], routes[:, 1:]), np.maximum(routes[:, :-1], routes[:, 1:])
    found: list[tuple[int, int]] = []
    for connection, (ends_a, ends_b) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        counts = solid.copy()
        for end in (ends_a, ends_b):
            above = int(parent[end])
            while above >= 0:
                counts[above] = False
                above = int(parent[above])
        boxes = np.flatnonzero(counts)
        left, top, right, bottom = rect[boxes, 0], rect[boxes, 1], *(rect[boxes, :2] + rect[boxes, 2:]).T
        one, other = low[connection][:, None], high[connection][:, None]
        over = (one[..., 0] < right - _TOUCH) & (other[..., 0] > left + _TOUCH)
        over &= (one[..., 1] < bottom - _TOUCH) & (other[..., 1] > top + _TOUCH)
        found += [(connection, int(box)) for box in boxes[over.any(axis=0)]]
    return found


def over_any(geometry: Geometry) -> list[tuple[str, str, str]]:
    """The same for a picture, by names: both ends of the link and the box it runs over."""
    solid = np.array([ref.what != "annotations" for ref in geometry.refs], dtype=bool)
    a, b = geometry.connection_a, geometry.connection_b
    found = over_boxes(geometry.rect, geometry.parent, solid, a, b, geometry.connection_route)
    return [(geometry.label(int(a[c])), geometry.label(int(b[c])), geometry.label(box)) for c, box in found]


def crossings(routes: Float) -> int:
    """At how many places links cross: an upright piece of one and a level piece of another, each within the other."""
    pieces = np.concatenate((routes[:, :-1], routes[:, 1:]), axis=2).reshape(-1, 4)
    owner = np.repeat(np.arange(len(routes)), routes.shape[1] - 1)
    upright = (pieces[:, 0] == pieces[:, 2]) & (pieces[:, 1] != pieces[:, 3])
    flat = (pieces[:, 1] == pieces[:, 3]) & (pieces[:, 0] != pieces[:, 2])
    up, level = pieces[upright], pieces[flat]
    x, y = up[:, :1], level[:, 1]
    top, bottom = np.minimum(up[:, 1], up[:, 3])[:, None], np.maximum(up[:, 1], up[:, 3])[:, None]
    left, right = np.minimum(level[:, 0], level[:, 2]), np.maximum(level[:, 0], level[:, 2])
    cross = (left < x - _TOUCH) & (x + _TOUCH < right) & (top < y - _TOUCH) & (y + _TOUCH < bottom)
    cross &= owner[upright][:, None] != owner[flat]
    i, j = np.nonzero(cross)
    return len(np.unique(np.column_stack((x[i, 0], y[j])), axis=0))


def upon(routes: Float, kind: Int, near: float = 1.0) -> list[tuple[int, int]]:
    """Pairs of links with pieces on each other, but for those of one kind on the very same line, which are a trunk.

    Parameters
    ----------
    near
        What is nearer than this is on each other, scene units.
    """
    one, other = routes[:, :-1].reshape(-1, 2), routes[:, 1:].reshape(-1, 2)
    owner = np.repeat(np.arange(len(routes)), routes.shape[1] - 1)
    found: set[tuple[int, int]] = set()
    for axis in (0, 1):
        along = (one[:, axis] == other[:, axis]) & (one[:, 1 - axis] != other[:, 1 - axis])
        place, link = one[along, axis], owner[along]
        ends = np.sort(np.column_stack((one[along, 1 - axis], other[along, 1 - axis])), axis=1)
        beside = np.minimum(ends[:, None, 1], ends[:, 1]) - np.maximum(ends[:, None, 0], ends[:, 0]) > 4 * _TOUCH
        apart = np.abs(place[:, None] - place)
        close = beside & (apart < near) & (link[:, None] < link)
        close &= (apart > 0) | (kind[link][:, None] != kind[link])
        i, j = np.nonzero(close)
        found |= set(zip(link[i].tolist(), link[j].tolist(), strict=True))
    return sorted(found)
