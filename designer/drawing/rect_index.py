"""A spatial index over many rectangles in painter's order: rectangles in runs, with a rectangle around each run. No Qt.

What is in one container follows it in painter's order, so a run covers little ground; a query looks at the runs
it touches and then at their members. For tens of thousands of rectangles this is a few numpy calls, and nothing has
to be sorted when the picture changes.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

_RUN: Final = 32
_STEPS: Final[Int] = np.arange(_RUN, dtype=np.int64)
_NONE: Final[Int] = np.empty(0, dtype=np.int64)


class RectIndex:
    """Finds rectangles that touch a point or rectangle.

    Parameters
    ----------
    rects : (n, 4) x, y, width, height
    """

    def __init__(self, rects: Float) -> None:
        rects = np.asarray(rects, dtype=np.float64).reshape(-1, 4)
        self._count = len(rects)
        # large ones are in runs of their own, else every run with one of them would be everywhere
        extent = rects[:, 2:].max(axis=1) if self._count else np.empty(0)
        usual = max(float(np.median(extent)), 1.0) if self._count else 1.0
        size = np.floor(np.log2(np.maximum(extent / usual, 1.0)) / 2)
        self._order = np.argsort(size, kind="stable")
        self._mixed = bool(self._count and size.max() > 0)
        rects = rects[self._order]
        # the sign of the far edges is turned, so that "touches" is one comparison of four columns
        sides = np.empty((-(-self._count // _RUN) * _RUN, 4))
        sides[: self._count, :2] = rects[:, :2]
        sides[: self._count, 2:] = -(rects[:, :2] + rects[:, 2:])
        sides[self._count :] = np.inf
        self._sides = np.ascontiguousarray(sides.T)
        runs = self._sides.reshape(4, -1, _RUN).min(axis=2)
        # runs of runs: with hundreds of thousands of rectangles there are many runs, too
        padded = np.full((4, -(-runs.shape[1] // _RUN) * _RUN), np.inf)
        padded[:, : runs.shape[1]] = runs
        self._runs = padded
        self._heaps = np.ascontiguousarray(padded.reshape(4, -1, _RUN).min(axis=2))

    def __len__(self) -> int:
        return self._count

    def touching(self, x: float, y: float, width: float = 0.0, height: float = 0.0) -> Int:
        """Numbers of the rectangles that touch a rectangle, ascending. : (k,)"""
        right, bottom = x + width, y + height
        heaps = _within_sides(self._heaps, right, bottom, -x, -y)
        if not len(heaps):
            return _NONE
        runs = (heaps[:, None] * _RUN + _STEPS).ravel()
        runs = runs[_within_sides(self._runs.take(runs, axis=1), right, bottom, -x, -y)]
        if not len(runs):
            return _NONE
        if len(runs) * 2 > self._runs.shape[1]:
            found = _within_sides(self._sides, right, bottom, -x, -y)
        else:
            members = (runs[:, None] * _RUN + _STEPS).ravel()
            found = members[_within_sides(self._sides.take(members, axis=1), right, bottom, -x, -y)]
        return np.sort(self._order[found]) if self._mixed else found

    def at(self, x: float, y: float, slack: float = 0.0) -> Int:
        """Numbers of the rectangles within `slack` of a point, ascending. : (k,)"""
        return self.touching(x - slack, y - slack, 2 * slack, 2 * slack)


def _within_sides(sides: Float, right: float, bottom: float, left: float, top: float) -> Int:
    found = sides[0] <= right
    found &= sides[1] <= bottom
    found &= sides[2] <= left
    found &= sides[3] <= top
    return found.nonzero()[0]
