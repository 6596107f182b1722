"""At which sides links leave boxes, and where along them."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.routing.grid import Grid

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: sides of a box; the odd ones run along x
LEFT, TOP, RIGHT, BOTTOM = range(4)
#: the side across from each
OPPOSITES: Final = np.array([RIGHT, BOTTOM, LEFT, TOP])
#: share of a side, in its middle, that links are spread over
_SPREAD: Final = 0.8
#: links are at most so far apart at a side, scene units
_STEP: Final = 16.0
#: free length at the ends of a side, scene units
EDGE: Final = 6.0
#: straight links are tried so far from the middle, in steps of so much, scene units
_TRIES: Final = (14, 8.0)


def facing_sides(ra: Float, rb: Float) -> tuple[Int, Int]:
    """The sides at which links leave two boxes: one above the other first, then side by side. : (k,), (k,)"""
    below = rb[:, 1] - ra[:, 1] - ra[:, 3]  # free height between a above and b below
    above = ra[:, 1] - rb[:, 1] - rb[:, 3]
    right = rb[:, 0] - ra[:, 0] - ra[:, 2]
    left = ra[:, 0] - rb[:, 0] - rb[:, 2]
    side_a, side_b = np.full(len(ra), BOTTOM), np.full(len(ra), TOP)
    up = (above >= 0) & (above > below)
    side_a[up], side_b[up] = TOP, BOTTOM
    row = (below < 0) & (above < 0)
    to_right, to_left = row & (right >= left), row & (right < left)
    side_a[to_right], side_b[to_right] = RIGHT, LEFT
    side_a[to_left], side_b[to_left] = LEFT, RIGHT
    return side_a, side_b


def blocked_in_row(grid: Grid, ra: Float, rb: Float) -> Bool:
    """True where something is between two boxes side by side. : (k,)"""
    left, right = np.minimum(ra[:, 0] + ra[:, 2], rb[:, 0] + rb[:, 2]), np.maximum(ra[:, 0], rb[:, 0])
    y = (np.maximum(ra[:, 1], rb[:, 1]) + np.minimum(ra[:, 1] + ra[:, 3], rb[:, 1] + rb[:, 3])) / 2
    inside = right - left > 0.5
    free = grid.free_across(grid.row_below(y), np.minimum(left + 0.25, right), np.maximum(right - 0.25, left))
    return inside & ~free


def straight_places(grid: Grid, low: Float, high: Float, start: Float, stop: Float, twin: Int) -> Float:
    """x of vertical links that can run straight down from one box to another, NaN for the others. : (k,)

    Parameters
    ----------
    low, high : (k,) between which x they may run
    start, stop : (k,) y of both ends, downwards
    twin : (k,) which one of several parallel links it is, from 0 on; each has a place of its own
    """
    found, left = np.full(len(low), np.nan), twin.copy()
    first, last = grid.row_below(start), grid.row_above(stop)
    middle = (low + high) / 2
    going = np.flatnonzero(low <= high)
    many, step = _TRIES
    for n in range(2 * many + 1):
        if not len(going):
            break
        x = middle[going] + (n + 1) // 2 * step * (1 if n % 2 else -1)
        fits = (x >= low[going] - 1e-9) & (x <= high[going] + 1e-9)
        fits &= grid.free_down(x, first[going], last[going])
        left[going] -= fits
        done = fits & (left[going] < 0)
        found[going[done]] = x[done]
        going = going[~done & ((n + 1) // 2 * step <= (high - low)[going] / 2 + step)]
    return found


def open_stretch(grid: Grid, rect: Float, side: Int, counts: Bool, ends: tuple[Float, Float]) -> tuple[Float, Float]:
    """Between which places links may leave the sides of boxes: where others are right at a side, the longest stretch
    without. : (k,), (k,)

    Parameters
    ----------
    counts : (k,) whether to look at a side at all
    ends : (k,), (k,) the ends of the sides
    """
    low, high = ends[0].copy(), ends[1].copy()
    for at in (LEFT, TOP, RIGHT, BOTTOM):
        rows = np.flatnonzero(counts & (side == at))
        if not len(rows):
            continue
        laid = grid if at % 2 else grid.turned
        across = 1 if at % 2 else 0
        if at in (TOP, LEFT):
            front = laid.row_above(rect[rows, across])
        else:
            front = laid.row_below(rect[rows, across] + rect[rows, across + 2])
        first, last = laid.turned.row_below(low[rows]), laid.turned.row_above(high[rows])
        shut = laid.taken_across(front, first, last)
        for n, row, start, stop in zip(*(a[shut].tolist() for a in (rows, front, first, last)), strict=True):
            free = np.concatenate(([False], ~laid.taken[start : stop + 1, row], [False]))
            begins, stops = np.flatnonzero(~free[:-1] & free[1:]), np.flatnonzero(free[:-1] & ~free[1:])
            if len(begins):
                left, right = laid.xs[start + begins], laid.xs[start + stops]
                widest = int((right - left).argmax())
                low[n], high[n] = left[widest], right[widest]
    return low, high


def flush(rect: Float, parent: Int, solid: Bool) -> Bool:
    """Which sides of boxes lie where a side of another thing of the same container ends, that may be right at it.
    : (4, n)"""
    found = np.zeros((4, len(rect)), dtype=bool)
    for side, other in ((LEFT, RIGHT), (TOP, BOTTOM)):
        axis = side
        low, high = rect[:, axis], rect[:, axis] + rect[:, axis + 2]
        place, at = np.unique(np.concatenate((low, high)), return_inverse=True)
        key = at.ravel() + np.tile((parent + 1) * len(place), 2)
        ends_low, ends_high = key[: len(rect)], key[len(rect) :]
        found[side] = np.isin(ends_low, ends_high[solid])
        found[other] = np.isin(ends_high, ends_low[solid])
    return found


def shut_stretches(grid: Grid, rect: Float, side: int) -> list[tuple[float, float]]:
    """Between which places of a side of a box others are right at it.

    Parameters
    ----------
    rect : (4,)
    """
    laid, axis = (grid, 0) if side % 2 else (grid.turned, 1)
    low, high = float(rect[axis]), float(rect[axis] + rect[axis + 2])
    edge = float(rect[1 - axis]) if side in (TOP, LEFT) else float(rect[1 - axis] + rect[3 - axis])
    if edge <= laid.ys[0] or edge >= laid.ys[-1]:
        return [(low, high)]
    row = int((laid.row_above if side in (TOP, LEFT) else laid.row_below)(np.array([edge]))[0])
    first, last = int(laid.turned.row_below(np.array([low]))[0]), int(laid.turned.row_above(np.array([high]))[0])
    taken = np.concatenate(([False], laid.taken[first : last + 1, row], [False]))
    begins, stops = np.flatnonzero(~taken[:-1] & taken[1:]), np.flatnonzero(taken[:-1] & ~taken[1:])
    return list(zip(laid.xs[first + begins].tolist(), laid.xs[first + stops].tolist(), strict=True))


def ports(key: Int, aim: Float, fixed: Float, low: Float, high: Float) -> Float:
    """Where links touch the sides of boxes: `fixed` where that is a number, else spread in the order of their aims.

    Parameters
    ----------
    key : (k,) the same for all at one side
    aim : (k,) where each goes to, along the side
    low, high : (k,) ends of the side
    """
    order = np.lexsort((np.arange(len(key)), aim, key))
    rank, many = ranks(key, order)
    length = high - low
    step = np.minimum(_STEP, length * _SPREAD / many)
    spread = (low + high) / 2 + (rank - (many - 1) / 2) * step
    given = ~np.isnan(fixed)
    if not given.any():
        return spread
    least, most = _extremes(key, np.where(given, fixed, np.inf), np.where(given, fixed, -np.inf))
    loose = ~given & np.isfinite(least)
    least, most = np.where(loose, least, 0.0), np.where(loose, most, 0.0)
    behind = aim > (least + most) / 2
    edge, limit = np.where(behind, most, least), np.where(behind, high, low)
    sign = np.where(behind, 1.0, -1.0)
    end_key = np.where(loose, 2 * key + behind, -1)
    end_order = np.lexsort((np.arange(len(key)), sign * aim, end_key))
    rank, many = ranks(end_key, end_order)
    reach = np.maximum(np.abs(np.where(loose, limit - edge, 0.0)) - EDGE / 2, 0.0)
    outside = np.where(loose, edge, 0.0) + sign * np.minimum(_STEP, reach / many) * (rank + 1)
    return np.where(given, fixed, np.where(loose, outside, spread))


def ranks(key: Int, order: Int) -> tuple[Float, Float]:
    """Rank of each among those with the same key, in an order that sorts by key first, and how many those are."""
    rank, many = np.empty(len(order)), np.empty(len(order))
    in_order = key[order]
    starts = np.flatnonzero(np.concatenate([[True], in_order[1:] != in_order[:-1]])) if len(order) else order
    sizes = np.diff(np.concatenate([starts, [len(order)]]))
    rank[order] = np.arange(len(order)) - np.repeat(starts, sizes)
    many[order] = np.repeat(sizes, sizes)
    return rank, many


def _extremes(key: Int, low: Float, high: Float) -> tuple[Float, Float]:
    """For each row the smallest `low` and largest `high` among those with the same key."""
    sides, row = np.unique(key, return_inverse=True)
    least, most = np.full(len(sides), np.inf), np.full(len(sides), -np.inf)
    np.minimum.at(least, row, low)
    np.maximum.at(most, row, high)
    return least[row], most[row]
