"""The pieces of links that are led through one container, and their ways as arrays of points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: places are reported in so many steps of a scene unit
_RASTER: Final = 8.0


class Pieces(NamedTuple):
    """What is to be led through one container.

    Parameters
    ----------
    p, q : (k,) boxes at the ends; q is −1 where a piece ends at the border
    side_p, side_q : (k,)
    at_p, at_q : (k,) where along the side a link comes in that ends further inside; NaN where it ends at the box
    aim_p, aim_q : (k, 2) where the link goes to, seen from each end
    kind : (k,) number of the kind of link
    bends : (k, c, 2) corners of those drawn by hand, NaN elsewhere
    """

    p: Int
    q: Int
    side_p: Int
    side_q: Int
    at_p: Float
    at_q: Float
    aim_p: Float
    aim_q: Float
    kind: Int
    bends: Float

    def some(self, rows: Int | slice) -> Pieces:
        """Some of them."""
        return Pieces._make(part[rows] for part in self)


#: how far beyond a container what is outside is taken to be, scene units
_BEYOND: Final = 1000.0


def among(pieces: Pieces, container: Int, rect: Float, slot: Int) -> Pieces:
    """Pieces with places stated from the corners of their containers, and boxes numbered among what those hold.

    What lies beyond a container is reported only by its side and order, so that the way out does not depend on how far
    off it is.

    Parameters
    ----------
    container : (k,) of each piece, ascending; −1 for the canvas, where places stay as they are
    slot : (n,) number of each box among the contents of its container
    """
    within = (container >= 0)[:, None]
    origin = np.where(within, rect[container, :2], 0.0)
    size = np.where(within, rect[container, 2:], np.inf)
    at = [
        value - np.where(side % 2 == 1, origin[:, 0], origin[:, 1])
        for value, side in ((pieces.at_p, pieces.side_p), (pieces.at_q, pieces.side_q))
    ]
    aims = [_by_order(aim - origin, np.where(within, 0.0, -np.inf), size, container) for aim in pieces[6:8]]
    q = np.where(pieces.q < 0, -1, slot[pieces.q])
    bends = pieces.bends - origin[:, None]
    return pieces._replace(p=slot[pieces.p], q=q, at_p=at[0], at_q=at[1], aim_p=aims[0], aim_q=aims[1], bends=bends)


def _by_order(aim: Float, low: Float, size: Float, container: Int) -> Float:
    """Aims of which those outside of their container are reported by side and order alone. : (k, 2)"""
    found = aim.copy()
    rows = np.arange(len(aim))
    for axis in (0, 1):
        value = aim[:, axis]
        order = np.lexsort((value, container))
        fresh = np.concatenate(([True], np.diff(container[order]) != 0))
        step = fresh | np.concatenate(([True], np.diff(value[order]) != 0))
        count = np.cumsum(step)
        first = np.maximum.accumulate(np.where(fresh, rows, 0))
        rank = np.empty(len(aim))
        rank[order] = count - count[first]
        found[:, axis] = np.where(value < low[:, 0], rank - 2 * _BEYOND, value)
        found[:, axis] = np.where(value > size[:, axis], size[:, axis] + _BEYOND + rank, found[:, axis])
    return found


def is_bent(pieces: Pieces) -> Bool:
    """Which are drawn by hand. : (k,)"""
    return np.asarray((~np.isnan(pieces.bends[..., 0])).any(axis=1), dtype=np.bool_)


def put(ways: Float, some: Mapping[int, Float]) -> Float:
    """Ways of which some are replaced by others, however many corners those have. : (k, v, 2)"""
    more = max((len(way) for way in some.values()), default=0) - ways.shape[1]
    if more > 0:
        ways = np.concatenate((ways, np.repeat(ways[:, -1:], more, axis=1)), axis=1)
    for n, way in some.items():
        ways[n, : len(way)], ways[n, len(way) :] = way, way[-1]
    return ways


def rastered(ways: Float) -> Float:
    """Paths on a fine raster, so that what moves as a whole keeps its path exactly. : (k, v, 2)"""
    return np.floor(ways * _RASTER + 0.5) / _RASTER


def tidied(ways: Float) -> tuple[Float, Int]:
    """Ways without points that lie on each other or on a straight piece, the last point repeated; and how many
    points each has. : (k, v, 2) → (k, w, 2), (k,)"""
    k, v, _ = ways.shape
    corners = np.full(k, v)
    for _ in range(2):
        keep = np.ones((k, v), dtype=bool)
        keep[:, 1:] = (np.abs(np.diff(ways, axis=1)) > 1e-6).any(axis=2)
        ways, corners = _pack_points(ways, keep)
        keep = np.ones((k, v), dtype=bool)
        before, after = ways[:, 1:-1] - ways[:, :-2], ways[:, 2:] - ways[:, 1:-1]
        keep[:, 1:-1] = ~((np.abs(before) < 1e-6) & (np.abs(after) < 1e-6)).any(axis=2)
        keep &= np.arange(v) < corners[:, None]
        # the last point stays even where the ones repeated behind it look straight
        keep[np.arange(k), corners - 1] = True
        ways, corners = _pack_points(ways, keep)
    most = max(2, int(corners.max()) if k else 2)
    return np.ascontiguousarray(ways[:, :most]), corners


def _pack_points(ways: Float, keep: Bool) -> tuple[Float, Int]:
    """The kept points of each way moved to the front, the last one repeated. : (k, v, 2), (k,)"""
    corners = keep.sum(axis=1)
    order = np.argsort(~keep, axis=1, kind="stable")
    order = np.where(
        np.arange(ways.shape[1]) < corners[:, None], order, np.take_along_axis(order, corners[:, None] - 1, axis=1)
    )
    return np.take_along_axis(ways, order[..., None], axis=1), corners
