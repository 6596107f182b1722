"""The way of each connection of a picture, container by container: from the innermost out, then where both ends meet.

What is routed in one container depends on what is in it and on where links come in from further inside, so what
stays as it was need not be routed again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from types import MappingProxyType
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.design.routing.astray import Astray, End
from designer.design.routing.bows import Links, turn_bows, turn_meshes, untangle_bows
from designer.design.routing.by_hand import bent_way, is_free
from designer.design.routing.grid import Grid
from designer.design.routing.inside import Led, container_grid, lead, sides_between
from designer.design.routing.pieces import Pieces, among, put, rastered, tidied
from designer.design.routing.sides import BOTTOM, LEFT, RIGHT, TOP, flush, shut_stretches
from designer.memo import Interned

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]


#: more than containers are ever within each other
_DEEP: Final = 10_000
#: how wide what is right at a container is reported to the inside of it, scene units
_SILL: Final = 1.0


class Terrain(NamedTuple):
    """Boxes and what connects them.

    Parameters
    ----------
    rect : (n, 4) x, y, width, height, scene units
    parent : (n,) number of the container or −1
    solid : (n,) whether links run around a box; notes and frames are none
    a, b : (m,) boxes at both ends
    kind : (m,) number of the kind of connection
    above : (m,) whether a link between things of a row runs above what is between them, else below
    origin : (n, 2) where places in each box count from
    bends : (c, 2) corners of links drawn by hand, from a to b, relative to the origin of the container where both meet;
        they hold as long as no box is in that way
    """

    rect: Float
    parent: Int
    solid: Bool
    a: Int
    b: Int
    kind: Int
    above: Bool
    origin: Float = np.empty((0, 2))
    bends: Mapping[int, Float] = MappingProxyType({})


def route(scene: Terrain, chosen: Int | None = None) -> Float:
    """Points of connections, all or some of them, the last one repeated. : (k, v, 2)

    Some of them are as among all, if all that share a container with one are chosen.
    """
    chosen = np.arange(len(scene.a)) if chosen is None else chosen
    if not len(chosen):
        return np.empty((0, 2, 2))
    return _Router(scene, chosen).ways()


def sketch(scene: Terrain, chosen: Int, starts: Float, ends: Float) -> Float:
    """Ways of a few connections around boxes while something is dragged: coarse, in a fraction of the time.

    They touch their boxes where they did, if they still leave at that side, and are not set apart in their channels.
    : (k, v, 2)

    Parameters
    ----------
    starts, ends : (k, 2) where each touched its boxes, moved along with those
    """
    if not len(chosen):
        return np.empty((0, 2, 2))
    return _Router(scene, chosen, (starts, ends)).ways()


class _Router:
    def __init__(self, scene: Terrain, chosen: Int, touched: tuple[Float, Float] | None = None) -> None:
        self.scene = scene
        self._touched = touched
        self.a, self.b = scene.a[chosen], scene.b[chosen]
        self.kind, self.above = scene.kind[chosen], scene.above[chosen]
        rows = {link: n for n, link in enumerate(chosen.tolist())} if scene.bends else {}
        self._bends = {rows[link]: points for link, points in scene.bends.items() if link in rows}
        self.grids: dict[int, Grid | None] = {}
        self._shut: dict[int, list[tuple[int, float, float]]] = {}
        #: rows of the pieces led last that run over a box
        self._lost: list[int] = []
        order = np.argsort(scene.parent, kind="stable")
        order = order[scene.solid[order]]
        self._children, self._parents = order, scene.parent[order]
        first = np.searchsorted(self._parents, self._parents)
        self._slot = np.zeros(len(scene.rect), dtype=np.int64)
        self._slot[order] = np.arange(len(order)) - first

    def grid(self, container: int) -> Grid | None:
        if container not in self.grids:
            children = self._children_of(container)
            self.grids[container] = container_grid(self.scene.rect, children, container) if len(children) else None
        return self.grids[container]

    def ways(self) -> Float:
        rect, k = self.scene.rect, len(self.a)
        steps, top_a, top_b, meet = _climb(self.scene.parent, self.a, self.b)
        side_a, side_b = np.full(k, TOP), np.full(k, TOP)  # where one end contains the other, they meet at its top
        siblings = np.flatnonzero((top_a >= 0) & (top_b >= 0))
        together = [siblings[some] for some in _split(meet[siblings])]
        for rows in together:
            grid = self.grid(int(meet[rows[0]]))
            side_a[rows], side_b[rows] = sides_between(grid, rect[top_a[rows]], rect[top_b[rows]], self.above[rows])
        links = Links(siblings, (top_a, top_b), (side_a, side_b))
        turn_bows(rect, links)
        if self._touched is None:
            own = (top_a[siblings] == self.a[siblings]) & (top_b[siblings] == self.b[siblings])
            mesh = turn_meshes(rect, links, own, self.kind, self.above)
            untangle_bows(rect, links, mesh)
        bends = self._manual_corners(top_a, top_b, meet, side_a, side_b)
        link, end, box = self._outwards(steps)
        drawn = np.asarray((~np.isnan(bends[..., 0])).any(axis=1), dtype=np.bool_)
        self._turn_shut((link, end, self.scene.parent[box]), (top_a, top_b), (side_a, side_b), drawn)
        centre = rect[:, :2] + rect[:, 2:] / 2
        parts = _Parts()
        at, astray = self._touch_points(side_a, side_b), set[int]()
        links, ends = np.concatenate((link, siblings)), np.concatenate((end, np.full(len(siblings), -1)))
        boxes = np.concatenate((box, top_a[siblings]))
        # the innermost first: where they come out is where the next goes on
        for step, some in enumerate(_split(_depths(self.scene.parent)[boxes])[::-1]):
            rows, which = links[some], ends[some]
            out = which >= 0
            near, far = np.where(which == 1, 1, 0), np.where(which == 1, 0, 1)
            both = np.arange(len(rows))
            side = np.stack((side_a[rows], side_b[rows]))
            came = np.stack((at[0][rows], at[1][rows]))
            aim = np.stack((centre[self.b[rows]], centre[self.a[rows]]))
            pieces = Pieces(
                boxes[some],
                np.where(out, -1, top_b[rows]),
                side[near, both],
                np.where(out, side[near, both], side[far, both]),
                came[near, both],
                np.where(out, np.nan, came[far, both]),
                aim[near, both],
                np.where(out[:, None], aim[near, both], aim[far, both]),
                self.kind[rows],
                np.where(out[:, None, None], np.nan, bends[rows]),
            )
            for led, points, corners in self._lead_pieces(self.scene.parent[boxes[some]], pieces):
                end = which[led]
                parts.add(rows[led], np.where(end == 1, -step, step), end, points, corners)
                last = points[np.arange(len(led)), corners - 1, np.where(pieces.side_p[led] % 2 == 1, 0, 1)]
                for n in (0, 1):
                    at[n][rows[led[end == n]]] = last[end == n]
            astray |= self._lost_of(rows)
        ways = parts.together(k)
        if astray and self._touched is None:
            ways = put(ways, dict(self._direct_ways(sorted(astray), meet, (side_a, side_b))))
        return tidied(ways)[0]

    def _lost_of(self, rows: Int) -> set[int]:
        """Links of which a piece among those led last runs over a box."""
        lost = {int(rows[n]) for n in self._lost}
        self._lost = []
        return lost

    def _direct_ways(self, rows: list[int], meet: Int, sides: tuple[Int, Int]) -> Iterator[tuple[int, Float]]:
        """Ways of links that cannot be led container by container: where boxes are right at each other, the only way
        out of one may come in again elsewhere. They are searched for through all containers around both ends at once,
        and where something is right at the border of one of those, outside of it too.
        """
        scene, rect = self.scene, self.scene.rect
        shut = _shut_in(scene)
        known: dict[tuple[int, ...], tuple[Astray, Float] | None] = {}
        for row in rows:
            a, b = int(self.a[row]), int(self.b[row])
            within = [a if a == meet[row] else int(scene.parent[a]), b if b == meet[row] else int(scene.parent[b])]
            for whole in _upwards(scene.parent, int(meet[row])):
                chain = (box for start in within for box in _upwards(scene.parent, start, whole))
                around = sorted({*chain} - {whole})
                key = (whole, *around)
                if key not in known:
                    held = np.concatenate([self._children_of(container) for container in key])
                    held = held[~np.isin(held, around)]
                    grid = container_grid(rect, held, whole) if len(held) else None
                    known[key] = None if grid is None else (Astray(grid), rect[held])
                found = known[key]
                if found is not None:
                    one, other = (
                        End(rect[box], int(side[row]), np.nan, box == whole, -1 if box == whole else box)
                        for box, side in ((a, sides[0]), (b, sides[1]))
                    )
                    # where one end is around the other, the search begins at the inner one
                    way = found[0].way(other, one)[::-1] if one.border else found[0].way(one, other)
                    way = rastered(way)
                    if len(way) and is_free(way, found[1]):
                        yield row, way
                        break
                if not shut[list(key)].any():
                    break

    def _touch_points(self, side_a: Int, side_b: Int) -> tuple[Float, Float]:
        """Where along their sides links touch their boxes, NaN where that is free. : (k,), (k,)"""
        if self._touched is None:
            return np.full(len(self.a), np.nan), np.full(len(self.a), np.nan)
        found: list[Float] = []
        near = flush(self.scene.rect, self.scene.parent, self.scene.solid)
        for point, box, side in zip(self._touched, (self.a, self.b), (side_a, side_b), strict=True):
            axis = np.where(side % 2 == 1, 0, 1)
            rows, rect = np.arange(len(box)), self.scene.rect[box]
            edge = rect[rows, 1 - axis] + np.where(np.isin(side, (TOP, LEFT)), 0.0, rect[rows, 3 - axis])
            # where something is right at a side, what is open of it is looked for
            there = (np.abs(point[rows, 1 - axis] - edge) < _SILL / 2) & ~near[side, box]
            found.append(np.where(there, point[rows, axis], np.nan))
        return found[0], found[1]

    def _turn_shut(
        self, outwards: tuple[Int, Int, Int], tops: tuple[Int, Int], sides: tuple[Int, Int], drawn: Bool
    ) -> None:
        """Have links leave the containers around their ends where nothing is right at those, at another side if
        all of one is shut.

        Parameters
        ----------
        outwards
            Which link is led at which end out of which container.
        drawn : (k,) which keep their sides
        """
        link, end, box = outwards
        if not len(link):
            return
        rect, parent = self.scene.rect, self.scene.parent
        near = flush(rect, parent, self.scene.solid)
        at = np.where(end == 0, sides[0][link], sides[1][link])
        some = np.flatnonzero(near[at, box])
        if not len(some):
            return
        known: dict[tuple[int, int], list[tuple[float, float]]] = {}

        def shut(one: int, side: int) -> list[tuple[float, float]]:
            if (one, side) not in known:
                grid = self.grid(int(parent[one])) if near[side, one] else None
                known[one, side] = [] if grid is None else shut_stretches(grid, rect[one], side)
            return known[one, side]

        def closed(one: int, side: int) -> bool:
            axis = 0 if side % 2 else 1
            wide = sum(high - low for low, high in shut(one, side))
            return wide > float(rect[one, axis + 2]) - 1.0

        pairs = list(zip(box[some].tolist(), at[some].tolist(), strict=True))
        all_shut = {pair for pair in set(pairs) if closed(*pair)}
        turning = [n for n, pair in zip(some.tolist(), pairs, strict=True) if pair in all_shut]
        for row, which in dict.fromkeys(zip(link[turning].tolist(), end[turning].tolist(), strict=True)):
            if drawn[row]:
                continue
            around = box[(link == row) & (end == which)].tolist()
            here, there = int(tops[which][row]), int(tops[1 - which][row])
            order = [int(sides[which][row])]
            if here >= 0 and there >= 0:
                x, y, wide, high = rect[here].tolist()
                u, v = (rect[there, :2] + rect[there, 2:] / 2).tolist()
                far = {LEFT: x - u, TOP: y - v, RIGHT: u - x - wide, BOTTOM: v - y - high}
                order += sorted(far, key=lambda side: -far[side])
            open_side = next((side for side in order if not any(closed(one, side) for one in around)), order[0])
            sides[which][row] = open_side
        at = np.where(end == 0, sides[0][link], sides[1][link])
        some = np.flatnonzero(near[at, box])
        for one, side in set(zip(box[some].tolist(), at[some].tolist(), strict=True)):
            if shut(one, side):
                self._shut.setdefault(one, []).extend((side, low, high) for low, high in shut(one, side))

    def _manual_corners(self, top_a: Int, top_b: Int, meet: Int, side_a: Int, side_b: Int) -> Float:
        """Corners of links drawn by hand whose ways are free, NaN elsewhere; their boxes are left there. : (k, c, 2)"""
        rect, free = self.scene.rect, dict[int, Float]()
        for row, points in sorted(self._bends.items()):
            a, b, whole = int(top_a[row]), int(top_b[row]), int(meet[row])
            if a < 0 or b < 0:
                continue
            origin = self.scene.origin[whole] if whole >= 0 else np.zeros(2)
            drawn = bent_way(rect[a], rect[b], points + origin)
            if drawn is not None and is_free(drawn.way, rect[self._children_of(whole)]):
                free[row], side_a[row], side_b[row] = drawn.bends, drawn.side_a, drawn.side_b
        found = np.full((len(top_a), max((len(points) for points in free.values()), default=0), 2), np.nan)
        for row, points in free.items():
            found[row, : len(points)] = points
        return found

    def _outwards(self, steps: tuple[list[tuple[Int, Int]], list[tuple[Int, Int]]]) -> tuple[Int, Int, Int]:
        """Which links are led out at which end from which box. : (s,) each"""
        pairs = [(rows, np.full(len(rows), end), boxes) for end in (0, 1) for rows, boxes in steps[end]]
        if not pairs:
            return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
        link, end, box = (np.concatenate([pair[n] for pair in pairs]) for n in range(3))
        order = np.lexsort((end, link))
        return link[order], end[order], box[order]

    def _lead_pieces(self, container: Int, pieces: Pieces) -> Iterator[tuple[Int, Float, Int]]:
        """Lead pieces through their containers, each as if it were at the origin: equal pieces get equal paths.

        Yields which are led through a container, their points, and how many corners each has.
        """
        rect = self.scene.rect
        order = np.argsort(container, kind="stable")
        container = container[order]
        local = among(pieces.some(order), container, rect, self._slot)
        coarse = self._touched is not None
        # where its border is shut, what leaves a container is led apart from what stays
        apart = np.isin(container, list(self._shut)) & (local.q >= 0)
        for rows in _split(2 * container + apart):
            whole = int(container[rows[0]])
            if whole < 0:
                points, corners, lost = lead(rect[self._children_of(-1)], self.grid(-1), -1, local.some(rows), coarse)
            else:
                held = np.concatenate((rect[self._children_of(whole)], rect[[whole]]))
                shut = [] if apart[rows[0]] else self._shut.get(whole, [])
                if shut:
                    held = _with_sills(held, sorted(shut))
                held[:, :2] -= rect[whole, :2]
                inside = local.some(rows)
                inside = inside._replace(bends=inside.bends[:, ~np.isnan(inside.bends[..., 0]).all(axis=0)])
                equal = (held.tobytes(), *(np.ascontiguousarray(part).tobytes() for part in inside))
                points, corners, lost = _known((coarse, *equal), partial(_lead_pieces, coarse, *equal))
                if shut:
                    points = np.clip(points, 0.0, rect[whole, 2:])
                points = points + rect[whole, :2]
            self._lost += order[rows][list(lost)].tolist()
            yield order[rows], points, corners

    def _children_of(self, container: int) -> Int:
        first, last = np.searchsorted(self._parents, [container, container + 1])
        return self._children[first:last]


def _with_sills(held: Float, shut: list[tuple[int, float, float]]) -> Float:
    """What a container holds and itself, with a narrow sill around it that is taken where its border is shut. : (n, 4)

    Parameters
    ----------
    shut
        Side, and from where to where along it.
    """
    x, y, wide, high = held[-1].tolist()
    whole = (x - _SILL, y - _SILL, wide + 2 * _SILL, high + 2 * _SILL)
    taken: list[tuple[float, float, float, float]] = []
    for side, low, stop in shut:
        if side in (TOP, BOTTOM):
            taken.append((low, y - _SILL if side == TOP else y + high, stop - low, _SILL))
        else:
            taken.append((x - _SILL if side == LEFT else x + wide, low, _SILL, stop - low))
    return np.concatenate((held[:-1], np.array(taken), [whole]))


#: a design is full of equal containers, and an edit leaves most as they were
_known: Interned[Led] = Interned(4096)


def _lead_pieces(coarse: bool, rects: bytes, *parts: bytes) -> Led:
    """Ways through a container that is at the origin, stated as bytes: its contents and itself, then the pieces."""
    rect = np.frombuffer(rects).reshape(-1, 4)
    own = len(rect) - 1
    whole = (np.frombuffer(part, dtype=np.int64) for part in (*parts[:4], parts[8]))
    p, q, side_p, side_q, kind = whole
    at_p, at_q = (np.frombuffer(part) for part in parts[4:6])
    aim_p, aim_q = (np.frombuffer(part).reshape(-1, 2) for part in parts[6:8])
    bends = np.frombuffer(parts[9]).reshape(len(p), -1, 2)
    grid = container_grid(rect, np.arange(own), own) if own else None
    return lead(rect, grid, own, Pieces(p, q, side_p, side_q, at_p, at_q, aim_p, aim_q, kind, bends), coarse)


def _split(key: Int) -> list[Int]:
    """Rows by their keys, in the order of those. : list of (k,)"""
    if not len(key):
        return []
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1)


class _Climb(NamedTuple):
    """How both ends of links are led out of containers until they meet.

    Parameters
    ----------
    steps
        For each end which links are led out of the containers of which boxes, step by step.
    top_a, top_b : (k,) boxes at which both meet; −1 where one end contains the other
    meet : (k,) their container
    """

    steps: tuple[list[tuple[Int, Int]], list[tuple[Int, Int]]]
    top_a: Int
    top_b: Int
    meet: Int


def _climb(parent: Int, a: Int, b: Int) -> _Climb:
    top = [a.copy(), b.copy()]
    level = [_depths(parent)[ends] for ends in top]
    steps: tuple[list[tuple[Int, Int]], list[tuple[Int, Int]]] = ([], [])
    while True:
        # the deeper end climbs; at the same depth both do, until they have one container
        apart = (top[0] != top[1]) & (parent[top[0]] != parent[top[1]])
        climbing = [np.flatnonzero(apart & (level[end] >= level[1 - end])) for end in (0, 1)]
        if not len(climbing[0]) and not len(climbing[1]):
            break
        for end, some in enumerate(climbing):
            if len(some):
                here = top[end][some]
                steps[end].append((some, here))
                top[end][some] = parent[here]
                level[end][some] -= 1
    same = top[0] == top[1]
    return _Climb(steps, np.where(same, -1, top[0]), np.where(same, -1, top[1]), np.where(same, top[0], parent[top[0]]))


def _upwards(parent: Int, box: int, last: int = -1) -> Iterator[int]:
    """A box and the containers around it, up to one of them, −1 for the canvas."""
    while box != last and box >= 0:
        yield box
        box = int(parent[box])
    yield last


def _shut_in(scene: Terrain) -> Bool:
    """In which containers something is right at the border, the last for the canvas. : (n + 1,)"""
    found = np.zeros(len(scene.rect) + 1, dtype=bool)
    inner = np.flatnonzero(scene.solid & (scene.parent >= 0))
    above = scene.parent[inner]
    low = scene.rect[inner, :2] - scene.rect[above, :2]
    high = low + scene.rect[inner, 2:] - scene.rect[above, 2:]
    found[above[(low < _SILL).any(axis=1) | (high > -_SILL).any(axis=1)]] = True
    return found


def _depths(parent: Int) -> Int:
    """How many containers are around each box; those are in front of it. : (n,)"""
    depth = np.zeros(len(parent), dtype=np.int64)
    above = parent.copy()
    while (above >= 0).any():
        depth += above >= 0
        above = np.where(above >= 0, parent[above], -1)
    return depth


def dependent(scene: Terrain, stirred: Bool) -> Int:
    """Connections whose way may depend on what changed in some containers, directly or through others. : (k,)

    Parameters
    ----------
    stirred : (n + 1,) in which containers something changed, the last for the canvas
    """
    climb = _climb(scene.parent, scene.a, scene.b)
    links = [np.arange(len(scene.a)), *(rows for steps in climb.steps for rows, _ in steps)]
    places = [climb.meet, *(scene.parent[boxes] for steps in climb.steps for _, boxes in steps)]
    link, place = np.concatenate(links), np.concatenate(places)
    # what is right at a border may leave no way but outside of it
    some = np.unique(link[_shut_in(scene)[place]])
    up = climb.meet[some]
    while len(some):
        some, up = some[up >= 0], scene.parent[up[up >= 0]]
        link, place = np.concatenate((link, some)), np.concatenate((place, up))
    stirred = stirred.copy()
    found = np.zeros(len(scene.a), dtype=bool)
    while True:
        new = np.zeros(len(scene.a), dtype=bool)
        new[link[stirred[place]]] = True
        if (new == found).all():
            return np.flatnonzero(found)
        found = new
        stirred[place[found[link]]] = True


class _Parts:
    """Parts of ways, gathered container by container: from a outwards, between both containers, and inwards to b."""

    def __init__(self) -> None:
        self._row: list[Int] = []
        self._rank: list[Int] = []
        self._count: list[Int] = []
        self._points: list[Float] = []

    def add(self, row: Int, rank: Int, end: Int, points: Float, corners: Int) -> None:
        """Parts of links.

        Parameters
        ----------
        rank : (p,) order along the way among those at the same end
        end : (p,) 0 where it leads out of a container at a, 1 at b, −1 between the two
        points : (p, v, 2)
        corners : (p,) how many points each has
        """
        number = np.arange(points.shape[1])
        back = np.where(end[:, None] == 1, corners[:, None] - 1 - number, number)
        points = np.take_along_axis(points, np.maximum(back, 0)[..., None], axis=1)
        place = np.where(end == 0, 0, np.where(end == 1, 2, 1))
        self._row.append(row)
        self._rank.append(place * _DEEP + rank)
        self._count.append(corners)
        self._points.append(points[number < corners[:, None]])

    def together(self, k: int) -> Float:
        """The parts of each way one after another, the last point repeated. : (k, v, 2)"""
        row, rank, count = (np.concatenate(part) for part in (self._row, self._rank, self._count))
        order = np.lexsort((rank, row))
        first = np.concatenate(([0], count.cumsum()[:-1]))[order]
        count = count[order]
        before = np.concatenate(([0], count.cumsum()[:-1]))
        points = np.concatenate(self._points)[np.repeat(first - before, count) + np.arange(int(count.sum()))]
        many = np.bincount(row[order], weights=count, minlength=k).astype(np.int64)
        ways = np.repeat(points[many.cumsum() - 1][:, None], int(many.max()), axis=1)
        ways[np.arange(ways.shape[1]) < many[:, None]] = points
        return ways
