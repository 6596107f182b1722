"""Moving a few boxes of a laid-out picture: only what depends on them is computed again.

The result is what laying out everything anew would give; where that cannot be had cheaply the answer is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.arrange.sizes import PADDING, fitted
from designer.design.connection_paths import bow_swing, route

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class MovingBoxes:
    """What moving needs to know of a picture; see ``designer.design.geometry.Geometry``.

    Parameters
    ----------
    fixed : (n,) whether contents of the box must not change its extent, because open groups or notes are involved
    least : (n, 2) extent a container has even when it holds nothing, scene units
    peers, elbow, blocked : (m,)
        Both ends are in one container; has right angles; something is in the way along a row.
    bows : (k,) the connections that need room to bow
    """

    rect: Float
    origin: Float
    parent: Int
    last: Int
    fixed: Bool
    least: Float
    a: Int
    b: Int
    peers: Bool
    elbow: Bool
    blocked: Bool
    bows: Int
    routes: Float
    shapes: Int


def moved(scene: MovingBoxes, moves: Mapping[int, tuple[float, float]]) -> MovingBoxes | None:
    """The scene with some boxes moved by distances, contents and all; None if it must be laid out anew."""
    rect, origin = scene.rect.copy(), scene.origin.copy()
    changed = np.zeros(len(rect), dtype=bool)
    for box, (dx, dy) in moves.items():
        inside = slice(box, int(scene.last[box]))
        rect[inside, :2] += (dx, dy)
        origin[inside] += (dx, dy)
        changed[inside] = True
    containers = {int(scene.parent[box]) for box in moves}
    while containers:
        container = max(containers)  # containers stand in front of their contents
        containers.discard(container)
        if container < 0:
            continue
        fit = _fit(scene, rect, origin, container)
        if (fit == rect[container]).all():
            continue
        if scene.fixed[container]:
            return None
        rect[container] = fit
        changed[container] = True
        containers.add(int(scene.parent[container]))
    return _rerouted(scene, rect, origin, changed)


def _fit(scene: MovingBoxes, rect: Float, origin: Float, container: int) -> Float:
    children = np.flatnonzero(scene.parent == container)
    r = rect[children]
    low, high = r[:, :2] - origin[container], r[:, :2] + r[:, 2:] - origin[container]
    boxes = [(float(low[:, 0].min()), float(low[:, 1].min()), float(high[:, 0].max()), float(high[:, 1].max()))]
    boxes += _bows(scene, rect, origin[container], children)
    corner, end = fitted(boxes, (float(scene.least[container, 0]), float(scene.least[container, 1])))
    low_corner = origin[container] + corner
    return np.array([*low_corner, end[0] - corner[0], end[1] - corner[1]])


def _bows(scene: MovingBoxes, rect: Float, origin: Float, children: Int) -> list[tuple[float, float, float, float]]:
    """Room for bows below the rows of a container, one box for the deepest."""
    first, stop = int(children[0]), int(scene.last[children[-1]])
    connections = scene.bows[(scene.a[scene.bows] >= first) & (scene.a[scene.bows] < stop)]
    if not len(connections):
        return []
    child = np.full(len(rect), -1, dtype=np.int64)
    for k in children.tolist():
        child[k : int(scene.last[k])] = k
    a, b = child[scene.a[connections]], child[scene.b[connections]]
    keep = (a >= 0) & (b >= 0) & (a != b)
    a, b = a[keep], b[keep]
    top, bottom = rect[:, 1], rect[:, 1] + rect[:, 3]
    row = (top[a] < bottom[b]) & (top[b] < bottom[a])
    found: list[tuple[float, float, float, float]] = []
    for i, j in zip(a[row].tolist(), b[row].tolist(), strict=True):
        y = float(max(bottom[i], bottom[j]) - origin[1])
        x = float(rect[i, 0] - origin[0])
        found.append((x, y, x, y + bow_swing(abs(float(rect[i, 0] - rect[j, 0]))) - PADDING / 2))
    return found


def _rerouted(scene: MovingBoxes, rect: Float, origin: Float, changed: Bool) -> MovingBoxes:
    """The scene with boxes in new places and the connections that depend on them routed again."""
    a, b = scene.a, scene.b
    blocked, routes, shapes = scene.blocked.copy(), scene.routes.copy(), scene.shapes.copy()
    suspects = _crossed(scene, rect, changed)
    blocked[suspects] = blocked_connections(rect, scene.parent, a, b, suspects)
    anew = np.zeros(len(a), dtype=bool)
    anew[suspects] = blocked[suspects] != scene.blocked[suspects]
    touched = np.flatnonzero(changed[a] | changed[b])
    delta = rect - scene.rect
    whole = (delta[a[touched]] == delta[b[touched]]).all(axis=1) & (delta[a[touched], 2:] == 0).all(axis=1)
    whole &= ~anew[touched]
    routes[touched[whole]] += delta[a[touched[whole]], None, :2]  # both ends moved alike
    anew[touched[~whole]] = True
    if anew.any():
        near = _at_boxes(scene, anew)
        around = np.flatnonzero(_at_boxes(scene, near))
        points, shape = route(rect, a[around], b[around], scene.elbow[around], blocked[around])
        keep = near[around]
        routes[around[keep]], shapes[around[keep]] = points[keep], shape[keep]
    return replace(scene, rect=rect, origin=origin, blocked=blocked, routes=routes, shapes=shapes)


def _at_boxes(scene: MovingBoxes, connections: Bool) -> Bool:
    """The connections that share a box with some of `connections`."""
    box = np.zeros(len(scene.rect), dtype=bool)
    box[scene.a[connections]] = box[scene.b[connections]] = True
    return box[scene.a] | box[scene.b]


def _crossed(scene: MovingBoxes, rect: Float, changed: Bool) -> Int:
    """Connections along a row whose way may have been freed or taken by changed boxes, or whose ends moved."""
    boxes = np.flatnonzero(changed)
    hot = np.zeros(len(rect) + 1, dtype=bool)  # containers in which something moved, the last for the top
    hot[scene.parent[boxes]] = True
    connections = np.flatnonzero(hot[scene.parent[scene.a]] & scene.peers)
    a, b = scene.a[connections], scene.b[connections]
    found = changed[a] | changed[b]
    for r in (scene.rect, rect):
        ra, rb, moving = r[a], r[b], r[boxes]
        low, high = moving[:, :2].min(axis=0), (moving[:, :2] + moving[:, 2:]).max(axis=0)
        x0, x1 = np.minimum(ra[:, 0] + ra[:, 2], rb[:, 0] + rb[:, 2]), np.maximum(ra[:, 0], rb[:, 0])
        y0, y1 = np.maximum(ra[:, 1], rb[:, 1]), np.minimum(ra[:, 1] + ra[:, 3], rb[:, 1] + rb[:, 3])
        found |= (y0 < y1) & (x0 < high[0]) & (x1 > low[0]) & (y0 < high[1]) & (y1 > low[1])
    return connections[found]


#: so many pairs of connection and box are looked at together
_PAIRS: Final = 4_000_000


def blocked_connections(rect: Float, parent: Int, a: Int, b: Int, connections: Int) -> Bool:
    """True where a box of the same container stands between the ends of some connections along a row. :
    (len(connections),)"""
    blocked = np.zeros(len(connections), dtype=bool)
    top, bottom = rect[:, 1], rect[:, 1] + rect[:, 3]
    a, b = a[connections], b[connections]
    row = np.flatnonzero((top[a] < bottom[b]) & (top[b] < bottom[a]) & (parent[a] == parent[b]))
    for container in np.unique(parent[a[row]]):
        mine = row[parent[a[row]] == container]
        others = np.flatnonzero(parent == container)
        step = max(1, _PAIRS // len(others))
        for start in range(0, len(mine), step):
            some = mine[start : start + step]
            blocked[some] = _between(rect, a[some], b[some], others)
    return blocked


def _between(rect: Float, a: Int, b: Int, others: Int) -> Bool:
    """True where some of `others` stand between boxes `a` and `b`. : (len(a),)"""
    left = np.minimum(rect[a, 0] + rect[a, 2], rect[b, 0] + rect[b, 2])
    right = np.maximum(rect[a, 0], rect[b, 0])
    y = (np.maximum(rect[a, 1], rect[b, 1]) + np.minimum(rect[a, 1] + rect[a, 3], rect[b, 1] + rect[b, 3])) / 2
    r = rect[others]
    covers = (r[:, 0] < right[:, None]) & (r[:, 0] + r[:, 2] > left[:, None])
    covers &= (r[:, 1] < y[:, None]) & (r[:, 1] + r[:, 3] > y[:, None])
    return np.asarray(covers.any(axis=1))
