"""The way of each connection of a picture, container by container: from the innermost out, then where both ends meet.

What is routed in one container depends on what stands in it and on where links come in from further inside, so what
stays as it was need not be routed again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.routing.grid import Grid
from designer.design.routing.inside import Pieces, container_grid, lead, sides_between, tidied

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


class Scene(NamedTuple):
    """Boxes and what connects them.

    Parameters
    ----------
    rect : (n, 4) x, y, width, height, scene units
    parent : (n,) number of the container or −1
    solid : (n,) whether links run around a box; notes and frames are none
    a, b : (m,) boxes at both ends
    kind : (m,) number of the kind of connection
    above : (m,) whether a link between things of a row runs above what stands between them, else below
    """

    rect: Float
    parent: Int
    solid: Bool
    a: Int
    b: Int
    kind: Int
    above: Bool


def route(scene: Scene, chosen: Int | None = None) -> Float:
    """Points of connections, all or some of them, the last one repeated. : (k, v, 2)

    Some of them are as among all, if all that share a container with one are chosen.
    """
    chosen = np.arange(len(scene.a)) if chosen is None else chosen
    if not len(chosen):
        return np.empty((0, 2, 2))
    return _Router(scene, chosen).ways()


class _Router:
    def __init__(self, scene: Scene, chosen: Int) -> None:
        self.scene = scene
        self.a, self.b = scene.a[chosen], scene.b[chosen]
        self.kind, self.above = scene.kind[chosen], scene.above[chosen]
        self.grids: dict[int, Grid | None] = {}
        order = np.argsort(scene.parent, kind="stable")
        order = order[scene.solid[order]]
        self._children, self._parents = order, scene.parent[order]

    def grid(self, container: int) -> Grid | None:
        if container not in self.grids:
            first, last = np.searchsorted(self._parents, [container, container + 1])
            children = self._children[first:last]
            self.grids[container] = container_grid(self.scene.rect, children, container) if len(children) else None
        return self.grids[container]

    def ways(self) -> Float:
        rect, k = self.scene.rect, len(self.a)
        up_a, up_b, top_a, top_b, meet = self._lifted()
        side_a, side_b = np.zeros(k, dtype=np.int64), np.zeros(k, dtype=np.int64)
        inner = (top_a < 0) | (top_b < 0)  # one end contains the other
        for container in np.unique(meet[~inner]).tolist():
            rows = np.flatnonzero((meet == container) & ~inner)
            side_a[rows], side_b[rows] = sides_between(
                self.grid(container), rect[top_a[rows]], rect[top_b[rows]], self.above[rows]
            )
        side_a[inner] = side_b[inner] = 1
        centre = rect[:, :2] + rect[:, 2:] / 2
        tails: list[list[Float]] = [[centre[:0]] * k, [centre[:0]] * k]
        at = [np.full(k, np.nan), np.full(k, np.nan)]
        outward: list[tuple[int, int, Int, Int]] = []  # container, end, rows, boxes
        for end, (up, side) in enumerate(((up_a, side_a), (up_b, side_b))):
            del side
            for step in up:
                rows, boxes = step
                for container in np.unique(self.scene.parent[boxes]).tolist():
                    inside = self.scene.parent[boxes] == container
                    outward.append((container, end, rows[inside], boxes[inside]))
        # the innermost first: containers stand in front of their contents
        for container in sorted({o[0] for o in outward}, reverse=True):
            jobs = [o for o in outward if o[0] == container]
            rows = np.concatenate([o[2] for o in jobs])
            boxes = np.concatenate([o[3] for o in jobs])
            ends = np.concatenate([np.full(len(o[2]), o[1]) for o in jobs])
            side = np.where(ends == 0, side_a[rows], side_b[rows])
            came = np.where(ends == 0, at[0][rows], at[1][rows])
            other = np.where(ends == 0, self.b[rows], self.a[rows])
            direct = np.flatnonzero((meet[rows] == container) & ~inner[rows])
            assert not len(direct)
            self._lead(container, rows, ends, boxes, side, came, centre[other], tails, at)
        found: list[Float] = [centre[:0]] * k
        for container in np.unique(meet[~inner]).tolist():
            rows = np.flatnonzero((meet == container) & ~inner)
            pieces = Pieces(
                top_a[rows],
                top_b[rows],
                side_a[rows],
                side_b[rows],
                at[0][rows],
                at[1][rows],
                centre[self.b[rows]],
                centre[self.a[rows]],
                self.kind[rows],
            )
            points, corners = lead(rect, self.grid(container), container, pieces)
            for row, way, count in zip(rows.tolist(), points, corners.tolist(), strict=True):
                found[row] = way[:count]
        return _together(tails, found)

    def _lead(
        self,
        container: int,
        rows: Int,
        ends: Int,
        boxes: Int,
        side: Int,
        came: Float,
        aim: Float,
        tails: list[list[Float]],
        at: list[Float],
    ) -> None:
        """Lead links from boxes of a container to its border."""
        none = np.full(len(rows), np.nan)
        pieces = Pieces(boxes, np.full(len(rows), -1), side, side, came, none, aim, aim, self.kind[rows])
        points, corners = lead(self.scene.rect, self.grid(container), container, pieces)
        for n, (row, end, count) in enumerate(zip(rows.tolist(), ends.tolist(), corners.tolist(), strict=True)):
            way = points[n, :count]
            tails[end][row] = np.concatenate((tails[end][row], way)) if len(tails[end][row]) else way
            at[end][row] = way[-1, 0] if side[n] % 2 == 1 else way[-1, 1]

    def _lifted(self) -> tuple[list[tuple[Int, Int]], list[tuple[Int, Int]], Int, Int, Int]:
        """For each end the boxes it is led out of, step by step; the boxes at which both ends meet; their container.

        An end that contains the other has no box there: −1.
        """
        parent = self.scene.parent
        k = len(self.a)
        chains = []
        for ends in (self.a, self.b):
            chain = [ends]
            while (chain[-1] >= 0).any():
                above = chain[-1]
                chain.append(np.where(above >= 0, parent[np.maximum(above, 0)], -1))
            chains.append(chain)
        depth = [sum((level >= 0).astype(np.int64) for level in chain) for chain in chains]
        top = [self.a.copy(), self.b.copy()]
        steps: list[list[tuple[Int, Int]]] = [[], []]
        rows = np.arange(k)
        level = [depth[0].copy(), depth[1].copy()]
        del rows
        while True:
            # the deeper end climbs; at the same depth both do, until they have one container
            apart = (top[0] != top[1]) & (parent[np.maximum(top[0], 0)] != parent[np.maximum(top[1], 0)])
            climb = [np.flatnonzero(apart & (level[e] >= level[1 - e])) for e in (0, 1)]
            if not len(climb[0]) and not len(climb[1]):
                break
            for e in (0, 1):
                some = climb[e]
                if not len(some):
                    continue
                here = top[e][some]
                steps[e].append((some, here))
                top[e][some] = parent[here]
                level[e][some] -= 1
        # where an end is the container of the other, the other is led to its border
        same = top[0] == top[1]
        meet = np.where(same, top[0], parent[np.maximum(top[0], 0)])
        return steps[0], steps[1], np.where(same, -1, top[0]), np.where(same, -1, top[1]), meet


def _together(tails: list[list[Float]], found: list[Float]) -> Float:
    """The pieces of each connection as one way from a to b."""
    whole: list[Float] = []
    for head, middle, tail in zip(tails[0], found, tails[1], strict=True):
        parts = [p for p in (head, middle, tail[::-1]) if len(p)]
        whole.append(parts[0] if len(parts) == 1 else np.concatenate(parts))
    most = max(len(way) for way in whole)
    ways = np.empty((len(whole), most, 2))
    for n, way in enumerate(whole):
        ways[n, : len(way)] = way
        ways[n, len(way) :] = way[-1]
    return tidied(ways)[0]
