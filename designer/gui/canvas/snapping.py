"""Where a drag comes to rest: next to its neighbours, in line with them, else on the grid. No Qt."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.arrange.sizes import GRID

Float = npt.NDArray[np.float64]

#: so many of the nearest neighbours are looked at
MOST_NEIGHBOURS: Final = 200


class Guide(NamedTuple):
    """An alignment guide [scene unit]."""

    x1: float
    y1: float
    x2: float
    y2: float


class Snapped(NamedTuple):
    """A distance to move by, and the lines to show."""

    dx: float
    dy: float
    guides: tuple[Guide, ...] = ()


def snapped(moving: tuple[float, float, float, float], dx: float, dy: float, others: Float, reach: float) -> Snapped:
    """The place a rectangle snaps to when it is moved by a distance.

    Parameters
    ----------
    moving
        The rectangle before the drag: x, y, width, height.
    others : (n, 4) neighbours to line up with
    reach
        How near edges or middles must be, scene units.
    """
    x, y, width, height = moving
    to_x, pull_x = _pulled(x + dx, width, others[:, 0], others[:, 2], reach)
    to_y, pull_y = _pulled(y + dy, height, others[:, 1], others[:, 3], reach)
    new_dx = dx + to_x if pull_x else _gridded(x + dx) - x
    new_dy = dy + to_y if pull_y else _gridded(y + dy) - y
    guides = _guides((x + new_dx, y + new_dy, width, height), others, pull_x, pull_y)
    return Snapped(new_dx, new_dy, guides)


def gridded(value: float) -> float:
    """The grid line nearest to a coordinate."""
    return _gridded(value)


def _gridded(value: float) -> float:
    return float(np.floor(value / GRID + 0.5) * GRID)


def _pulled(low: float, extent: float, lows: Float, extents: Float, reach: float) -> tuple[float, bool]:
    """The shortest way that brings an edge or the middle in line with one of the others."""
    if not len(lows):
        return 0.0, False
    own = np.array([low, low + extent / 2, low + extent])
    theirs = np.stack((lows, lows + extents / 2, lows + extents))
    # edges line up with edges, middles with middles
    gaps = np.concatenate([(theirs[j] - own[i]) for i, j in ((0, 0), (2, 2), (1, 1), (0, 2), (2, 0))])
    at = int(np.abs(gaps).argmin())
    return (float(gaps[at]), True) if abs(gaps[at]) <= reach else (0.0, False)


def _guides(rect: tuple[float, float, float, float], others: Float, pull_x: bool, pull_y: bool) -> tuple[Guide, ...]:
    found: list[Guide] = []
    x, y, width, height = rect
    if pull_x:
        for at in (x, x + width / 2, x + width):
            line = _lined(at, others[:, 0], others[:, 2], others[:, 1], others[:, 3], y, height)
            if line is not None:
                found.append(Guide(at, line[0], at, line[1]))
    if pull_y:
        for at in (y, y + height / 2, y + height):
            line = _lined(at, others[:, 1], others[:, 3], others[:, 0], others[:, 2], x, width)
            if line is not None:
                found.append(Guide(line[0], at, line[1], at))
    return tuple(found)


def _lined(
    at: float, lows: Float, extents: Float, across: Float, across_extents: Float, own: float, own_extent: float
) -> tuple[float, float] | None:
    near = (np.abs(lows - at) < 0.5) | (np.abs(lows + extents / 2 - at) < 0.5) | (np.abs(lows + extents - at) < 0.5)
    if not near.any():
        return None
    start = min(own, float(across[near].min()))
    stop = max(own + own_extent, float((across[near] + across_extents[near]).max()))
    return start, stop
