"""Moving a few boxes of a laid-out picture: only what depends on them is computed again.

The result is what laying out everything anew would give; where that cannot be had cheaply the answer is None.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.arrange.sizes import PADDING, bow_swing, fitted
from designer.design.routing.route import Terrain, dependent, route

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
_NONE: Final[Mapping[int, tuple[float, float]]] = MappingProxyType({})


@dataclass(frozen=True, slots=True, eq=False)
class MovingBoxes:
    """What moving needs to know of a picture; see ``designer.design.geometry.Geometry``.

    Parameters
    ----------
    fixed : (n,) whether contents of the box must not change its extent, because open groups or notes are involved
    least : (n, 2) extent a container has even when it holds nothing, scene units
    links
        What connects the boxes.
    bows : (k,) the connections that need room to bow
    routes : (m, v, 2)
    """

    rect: Float
    origin: Float
    parent: Int
    last: Int
    fixed: Bool
    least: Float
    links: Terrain
    bows: Int
    routes: Float


def moved(scene: MovingBoxes, moves: Mapping[int, tuple[float, float]]) -> MovingBoxes | None:
    """The scene with some boxes moved by distances, contents and all; None if it must be laid out anew."""
    found = grown(scene, moves)
    return None if found is None else _rerouted(scene, *found)


def grown(
    scene: MovingBoxes, moves: Mapping[int, tuple[float, float]], sizes: Mapping[int, tuple[float, float]] = _NONE
) -> tuple[Float, Float] | None:
    """Boxes and origins with some boxes moved by distances or given other sizes, and what is around them fitted; None
    if that must be laid out anew. : (n, 4), (n, 2)

    Parameters
    ----------
    sizes
        Of a container the least one, told from its origin.
    """
    rect, origin, least = scene.rect.copy(), scene.origin.copy(), scene.least
    for box, (dx, dy) in moves.items():
        inside = slice(box, int(scene.last[box]))
        rect[inside, :2] += (dx, dy)
        origin[inside] += (dx, dy)
    containers = {int(scene.parent[box]) for box in (*moves, *sizes)}
    if sizes:
        least = least.copy()
    for box, size in sizes.items():
        if int(scene.last[box]) > box + 1:
            least[box] = size
            containers.add(box)
        else:
            rect[box, 2:] = size
    while containers:
        container = max(containers)  # containers stand in front of their contents
        containers.discard(container)
        if container < 0:
            continue
        fit = _fit(scene, rect, origin, container, least)
        if (fit == rect[container]).all():
            continue
        if scene.fixed[container]:
            return None
        rect[container] = fit
        containers.add(int(scene.parent[container]))
    return rect, origin


def _fit(scene: MovingBoxes, rect: Float, origin: Float, container: int, least: Float) -> Float:
    children = np.flatnonzero(scene.parent == container)
    r = rect[children]
    low, high = r[:, :2] - origin[container], r[:, :2] + r[:, 2:] - origin[container]
    boxes = [(float(low[:, 0].min()), float(low[:, 1].min()), float(high[:, 0].max()), float(high[:, 1].max()))]
    boxes += _bows(scene, rect, origin[container], children)
    corner, end = fitted(boxes, (float(least[container, 0]), float(least[container, 1])))
    low_corner = origin[container] + corner
    return np.array([*low_corner, end[0] - corner[0], end[1] - corner[1]])


def _bows(scene: MovingBoxes, rect: Float, origin: Float, children: Int) -> list[tuple[float, float, float, float]]:
    """Room for bows below the rows of a container, one box for the deepest."""
    first, stop = int(children[0]), int(scene.last[children[-1]])
    connections = scene.bows[(scene.links.a[scene.bows] >= first) & (scene.links.a[scene.bows] < stop)]
    if not len(connections):
        return []
    child = np.full(len(rect), -1, dtype=np.int64)
    for k in children.tolist():
        child[k : int(scene.last[k])] = k
    a, b = child[scene.links.a[connections]], child[scene.links.b[connections]]
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


def _rerouted(scene: MovingBoxes, rect: Float, origin: Float) -> MovingBoxes:
    """The scene with boxes in new places and the connections that depend on them routed again."""
    links = scene.links._replace(rect=rect, origin=origin)
    delta = rect - scene.rect
    parent = scene.parent
    around = np.where((parent >= 0)[:, None], delta[np.maximum(parent, 0)], 0.0)
    # what stands in a container as before is routed as before; the last is the canvas
    stirred = np.zeros(len(rect) + 1, dtype=bool)
    inside = (delta[:, :2] != around[:, :2]).any(axis=1) | (delta[:, 2:] != 0).any(axis=1)
    stirred[parent[inside & links.solid]] = True
    resized = np.flatnonzero((delta[:, 2:] != 0).any(axis=1))
    stirred[resized] = True
    anew = dependent(links, stirred)
    routes = scene.routes + delta[links.a, None, :2]
    found = route(links, anew)
    wide = max(routes.shape[1], found.shape[1])
    routes = _padded(routes, wide)
    routes[anew] = _padded(found, wide)
    while routes.shape[1] > 2 and (routes[:, -1] == routes[:, -2]).all():
        routes = routes[:, :-1]
    return replace(scene, rect=rect, origin=origin, links=links, routes=routes)


def _padded(routes: Float, wide: int) -> Float:
    """Routes with room for so many corners."""
    return np.concatenate((routes, np.repeat(routes[:, -1:], wide - routes.shape[1], axis=1)), axis=1)
