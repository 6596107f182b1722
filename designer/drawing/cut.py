"""What is left out at a scale: containers too small to show what joins their contents represent it. No Qt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Domain
from designer.design.arrange.roles import link_domain
from designer.design.geometry import Geometry
from designer.design.routing.route import Terrain, route

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: more merged connections than this run straight from border to border, whatever is between
_ROUTED: Final = 3000
#: contents narrower than this have no links of their own, their container has them [px]
_READABLE: Final = 40.0


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """Connections between what is still distinguished.

    Parameters
    ----------
    stop : (n,) for each box the box that represents it, itself or a container
    a, b : (k,) boxes at the ends of each merged connection
    connections : (m',) connections by merged connection: those of merged connection j are
        ``connections[first[j]:first[j + 1]]``
    first : (k + 1,)
    route : (k, v, 2) corners of each merged connection, the last one repeated, scene units
    of_connection : (m,) merged connection of each connection, −1 where it is inside a closed one
    """

    stop: Int
    a: Int
    b: Int
    connections: Int
    first: Int
    route: Float
    of_connection: Int

    def __len__(self) -> int:
        return len(self.a)

    def most(self, values: Float) -> Float:
        """Largest value of the connections of each merged one; NaN counts as nothing. : (m,) → (k,)"""
        if not len(self.a):
            return np.empty(0)
        return np.fmax.reduceat(values[self.connections], self.first[:-1])

    def total(self, values: Float) -> Float:
        """Sum over the connections of each merged one. : (m,) → (k,)"""
        return np.add.reduceat(values[self.connections], self.first[:-1]) if len(self.a) else np.empty(0)


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
    """The connections distinguished at a scale, parallel ones merged; None merges only parallel ones."""
    n, m = len(geometry), geometry.n_connections
    stop = np.arange(n) if scale is None else stops(geometry, scale)
    sa, sb = stop[geometry.connection_a], stop[geometry.connection_b]
    low, high = np.minimum(sa, sb), np.maximum(sa, sb)
    kept = np.flatnonzero(low != high)
    key = low[kept] * max(n, 1) + high[kept]
    order = np.argsort(key, kind="stable")
    ordered = key[order]
    fresh = np.ones(len(ordered), dtype=bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    first = np.concatenate((np.flatnonzero(fresh), [len(ordered)]))
    connections = kept[order]
    of_connection = np.full(m, -1, dtype=np.int64)
    of_connection[connections] = np.cumsum(fresh) - 1
    lead = connections[first[:-1]] if len(connections) else np.empty(0, dtype=np.int64)
    a, b = sa[lead], sb[lead]
    if scale is None:
        middle = connections[(first[:-1] + first[1:]) // 2] if len(connections) else lead
        for connection in geometry.connections.bends:
            # of parallel ones, that which was drawn by hand
            middle[of_connection[connection]] = connection
        ways = geometry.connection_route[middle]
    elif len(lead) > _ROUTED:
        ways = _straight(geometry.rect, a, b).reshape(-1, 2, 2)
    else:
        ways = _route_between(geometry, stop, lead, a, b, of_connection)
    return Cut(stop, a, b, connections, first, ways, of_connection)


def _route_between(geometry: Geometry, stop: Int, lead: Int, a: Int, b: Int, of_connection: Int) -> Float:
    """Ways between what is still distinguished, around the other boxes that are."""
    shown = (stop == np.arange(len(geometry))) & [ref.what != "annotations" for ref in geometry.refs]
    host = np.array([link_domain(kind) is Domain.HOST for kind in geometry.connection_kinds], dtype=bool)
    kind = geometry.connection_kind[lead]
    bends: dict[int, Float] = {}
    for connection, points in geometry.connections.bends.items():
        merged, end = int(of_connection[connection]), int(stop[geometry.connection_a[connection]])
        if merged >= 0:
            bends.setdefault(merged, points if end == a[merged] else points[::-1])
    return route(Terrain(geometry.rect, geometry.parent, shown, a, b, kind, host[kind], geometry.origin, bends))


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
