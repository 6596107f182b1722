"""The nearest place where a rectangle is on nothing else."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.arrange.sizes import GAP, GRID

Float = npt.NDArray[np.float64]
#: places are looked for next to so many of the nearest rectangles; the outside of all is tried last
_NEAR: Final = 40


def free_spot(taken: Float, x: float, y: float, width: float, height: float, gap: float = GAP) -> tuple[float, float]:
    """Top left corner nearest to (x, y) where a rectangle keeps a gap to all others.

    Parameters
    ----------
    taken : (n, 4) rectangles in the way: left, top, width, height
    """
    if not len(taken) or _keeps_gap(taken, np.array([[x, y]]), width, height, 0.0)[0]:
        # where somebody put it, it may touch; only what has to give way keeps the gap
        return x, y
    left, top = taken[:, 0] - gap - width, taken[:, 1] - gap - height
    right, bottom = taken[:, 0] + taken[:, 2] + gap, taken[:, 1] + taken[:, 3] + gap
    middle = taken[:, :2] + taken[:, 2:] / 2
    far = np.abs(middle[:, 0] - x - width / 2) - taken[:, 2] / 2
    high = np.abs(middle[:, 1] - y - height / 2) - taken[:, 3] / 2
    near = np.argsort(np.maximum(far, 0) + np.maximum(high, 0), kind="stable")[:_NEAR]
    xs = np.unique(np.concatenate([[x], _round_down(left[near]), _round_up(right[near])]))
    ys = np.unique(np.concatenate([[y], _round_down(top[near]), _round_up(bottom[near])]))
    spots = np.stack(np.meshgrid(xs, ys, indexing="ij"), axis=-1).reshape(-1, 2)
    spots = spots[np.argsort(np.hypot(*(spots - (x, y)).T), kind="stable")]
    step = max(1, 4_000_000 // len(taken))
    for first in range(0, len(spots), step):
        some = spots[first : first + step]
        free = np.flatnonzero(_keeps_gap(taken, some, width, height, gap))
        if len(free):
            return float(some[free[0], 0]), float(some[free[0], 1])
    return float(_round_up(right).max()), y


def _round_down(values: Float) -> Float:
    return np.floor(values / GRID) * GRID


def _round_up(values: Float) -> Float:
    return np.ceil(values / GRID) * GRID


def _keeps_gap(taken: Float, spots: Float, width: float, height: float, gap: float) -> npt.NDArray[np.bool_]:
    """Which of some places keep the gap. : (k,)"""
    x, y = spots[:, :1], spots[:, 1:]
    slack = gap - 1e-6
    apart = (
        (x + width <= taken[:, 0] - slack)
        | (x >= taken[:, 0] + taken[:, 2] + slack)
        | (y + height <= taken[:, 1] - slack)
        | (y >= taken[:, 1] + taken[:, 3] + slack)
    )
    return np.all(apart, axis=1)
