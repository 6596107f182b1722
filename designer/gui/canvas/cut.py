"""What is left out at a scale: containers too small to show what joins their contents stand for it. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.geometry import Geometry

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: contents narrower than this have no links of their own, their container has them [px]
_READABLE: Final = 40.0


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Wires between what is still told apart.

    Parameters
    ----------
    stop : (n,) for each box the box that stands for it, itself or a container
    a, b : (k,) boxes at the ends of each merged wire
    wires : (m',) wires by merged wire: those of merged wire j are ``wires[first[j]:first[j + 1]]``
    first : (k + 1,)
    chosen : (k,) the wire whose way a merged one takes, −1 where it runs straight between other boxes
    lines : (k, 4) straight from border to border, scene units
    of_wire : (m,) merged wire of each wire, −1 where it is inside a closed one
    """

    stop: Int
    a: Int
    b: Int
    wires: Int
    first: Int
    chosen: Int
    lines: Float
    of_wire: Int

    def __len__(self) -> int:
        return len(self.a)

    def most(self, values: Float) -> Float:
        """Largest value of the wires of each merged one; NaN counts as nothing. : (m,) → (k,)"""
        if not len(self.a):
            return np.empty(0)
        return np.fmax.reduceat(values[self.wires], self.first[:-1])

    def total(self, values: Float) -> Float:
        """Sum over the wires of each merged one. : (m,) → (k,)"""
        return np.add.reduceat(values[self.wires], self.first[:-1]) if len(self.a) else np.empty(0)


def stops(geometry: Geometry, scale: float) -> Int:
    """For each box the outermost container around it whose contents are too small to have links; else itself. : (n,)"""
    n = len(geometry)
    stop = np.arange(n)
    parent = geometry.parent
    inside = np.flatnonzero(parent >= 0)
    if not len(inside):
        return stop
    # the mean of what a container holds
    held = np.bincount(parent[inside], minlength=n)
    extent = np.minimum(geometry.rect[:, 2], 4 * geometry.rect[:, 3])
    wide = np.bincount(parent[inside], weights=extent[inside], minlength=n)
    closed = geometry.is_container & (wide < _READABLE / scale * held)
    depth = geometry.depth
    for d in range(1, int(depth.max()) + 1):
        here = np.flatnonzero((depth == d) & (parent >= 0))
        above = parent[here]
        swallowed = closed[above] | (stop[above] != above)
        stop[here] = np.where(swallowed, stop[above], here)
    return stop


def cut_at(geometry: Geometry, scale: float | None) -> Cut:
    """The wires told apart at a scale, parallel ones merged; None merges only parallel ones."""
    n, m = len(geometry), geometry.n_wires
    stop = np.arange(n) if scale is None else stops(geometry, scale)
    sa, sb = stop[geometry.wire_a], stop[geometry.wire_b]
    low, high = np.minimum(sa, sb), np.maximum(sa, sb)
    kept = np.flatnonzero(low != high)
    key = low[kept] * max(n, 1) + high[kept]
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    fresh = np.ones(len(ordered), dtype=bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    first = np.concatenate((np.flatnonzero(fresh), [len(ordered)]))
    wires = kept[order]
    of_wire = np.full(m, -1, dtype=np.int64)
    of_wire[wires] = np.cumsum(fresh) - 1
    lead = wires[first[:-1]] if len(wires) else np.empty(0, dtype=np.int64)
    a, b = sa[lead], sb[lead]
    middle = wires[(first[:-1] + first[1:]) // 2] if len(wires) else lead
    own = (stop[geometry.wire_a[middle]] == geometry.wire_a[middle]) & (
        stop[geometry.wire_b[middle]] == geometry.wire_b[middle]
    )
    chosen = np.where(own, middle, -1)
    return Cut(stop, a, b, wires, first, chosen, _straight(geometry.rect, a, b), of_wire)


def _straight(rect: Float, a: Int, b: Int) -> Float:
    """Lines between the middles of boxes, from border to border. : (k, 4)"""
    ca, cb = rect[a, :2] + rect[a, 2:] / 2, rect[b, :2] + rect[b, 2:] / 2
    step = cb - ca
    return np.concatenate((ca + step * _reach(rect[a], step), cb - step * _reach(rect[b], step)), axis=1)


def _reach(rect: Float, step: Float) -> Float:
    """Share of a step from the middle of a box to its border, at most half. : (k, 1)"""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = rect[:, 2:] / 2 / np.abs(step)
    share = np.nanmin(np.where(np.abs(step) > 1e-9, share, np.inf), axis=1)
    return np.minimum(share, 0.5)[:, None]
