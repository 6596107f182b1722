"""Where boxes may be moved or how large they may become so that nothing lies on anything else.

A container grows with what it holds, but only into free room: where something is next to it, what it holds stops at
the border. The nearest place that is free is looked for; what overlapped before may stay so, but gets no worse.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.address import Address, Ref
from designer.design.arrange.sizes import CONTAINER, GRID, HEADER, PADDING
from designer.design.document import Part
from designer.design.edit import Edit
from designer.design.geometry import Geometry, grown, lay_out, may_move, moving_boxes

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: a container that grows keeps this far from what is next to it, so that links still run between them, scene units
_APART: Final = float(GRID)
#: next to so many of the nearest boxes places are looked for; so many of them are tried whole
_NEAR: Final = 16
_TRIED: Final = 24
#: of more pairs of a moved box and one in its way, only the extent of all that moves is looked at
_MOST_PAIRS: Final = 20_000
#: a picture of more boxes is not looked at whole
_LARGE: Final = 3000
_TOUCH: Final = 1e-6


class Room:
    """Where some boxes of a picture may go together.

    Parameters
    ----------
    boxes
        Those that move, contents and all; none is in another one of them.
    container
        What takes them in, −1 for the canvas itself; None leaves each where it is.
    copies
        Whether the boxes stay and copies of them move.
    """

    def __init__(
        self, geometry: Geometry, boxes: Sequence[int], container: int | None = None, copies: bool = False
    ) -> None:
        self._geometry = geometry
        self._solid = np.array([ref.what != "annotations" for ref in geometry.refs], dtype=bool)
        self.boxes = np.array([box for box in boxes if self._solid[box]], dtype=np.int64)
        home = geometry.parent[self.boxes]
        self._into = home if container is None else np.full(len(self.boxes), container)
        self._stays = bool((self._into == home).all()) and not copies
        self._lifted = np.zeros(len(geometry), dtype=bool)
        if not copies:
            for box in self.boxes.tolist():
                self._lifted[box : int(geometry.last[box])] = True
        self._fixed = moving_boxes(geometry)
        self._exact = self._stays and may_move(geometry, self.boxes.tolist())
        self._targets: dict[int, Int] = {
            target: self.boxes[self._into == target] for target in sorted(set(self._into.tolist()))
        }
        self._neighbours = {target: self._children(target, ~self._lifted) for target in self._targets}
        self._shut = self._forbidden()

    def _children(self, container: int, which: Bool) -> Int:
        return np.flatnonzero((self._geometry.parent == container) & self._solid & which)

    def _forbidden(self) -> Float:
        """Distances that would put a box on another: left, top, right, bottom. : (p, 4)"""
        rect, found = self._geometry.rect, list[Float]()
        for target, boxes in self._targets.items():
            moving, still = rect[boxes], rect[self._neighbours[target]]
            if len(moving) * len(still) > _MOST_PAIRS:
                low, high = moving[:, :2].min(axis=0), (moving[:, :2] + moving[:, 2:]).max(axis=0)
                moving = np.array([[*low, *(high - low)]])
            low = still[None, :, :2] - (moving[:, :2] + moving[:, 2:])[:, None]
            high = (still[:, :2] + still[:, 2:])[None] - moving[:, None, :2]
            pairs = np.concatenate((low, high), axis=2).reshape(-1, 4)
            if self._stays:
                # what lies on each other already may stay so
                pairs = pairs[~((pairs[:, :2] < -_TOUCH).all(axis=1) & (pairs[:, 2:] > _TOUCH).all(axis=1))]
            found.append(pairs)
        return np.concatenate(found) if found else np.empty((0, 4))

    def spoils(self, edit: Edit, dx: float, dy: float) -> bool:
        """Whether something would lie on anything else after an edit that moves the boxes; it is looked for only where
        more may change than they and what is around them.
        """
        if self._exact and grown(self._fixed, dict.fromkeys(self.boxes.tolist(), (dx, dy))) is not None:
            return False
        return bool(new_overlaps(self._geometry, edit))

    def nearest(self, dx: float, dy: float) -> tuple[int, int] | None:
        """The distance nearest to a wanted one at which there is room; None if there is none near."""
        wish = (round(dx), round(dy))
        if self.is_free(*wish):
            return wish
        near = islice(self._spots(*wish), _TRIED)
        return next((spot for spot in near if self._grows_freely(*spot)), None)

    def along(self, dx: int, dy: int) -> tuple[int, int]:
        """The longest part of a straight way that is free; (0, 0) if there is none."""
        for step in range(max(abs(dx), abs(dy)), 0, -1):
            x, y = min(step, abs(dx)) * int(np.sign(dx)), min(step, abs(dy)) * int(np.sign(dy))
            if self.is_free(x, y):
                return x, y
        return 0, 0

    def is_free(self, dx: int, dy: int) -> bool:
        """Whether nothing lies on anything else at a distance."""
        return not self._overlaps(np.array([[dx, dy]]))[0] and self._grows_freely(dx, dy)

    def _overlaps(self, spots: Float | Int) -> Bool:
        x, y = spots[:, :1], spots[:, 1:]
        left, top, right, bottom = self._shut.T
        over = (x > left + _TOUCH) & (x < right - _TOUCH) & (y > top + _TOUCH) & (y < bottom - _TOUCH)
        return np.asarray(over.any(axis=1), dtype=np.bool_)

    def _spots(self, dx: int, dy: int) -> Iterator[tuple[int, int]]:
        """Distances next to what is in the way, the nearest first."""
        xs, ys = [dx], [dy]
        left, top, right, bottom = self._shut.T
        far = np.maximum(np.maximum(left - dx, dx - right), np.maximum(top - dy, dy - bottom))
        near = np.argsort(far, kind="stable")[:_NEAR]
        xs += np.floor(left[near]).tolist() + np.ceil(right[near]).tolist()
        ys += np.floor(top[near]).tolist() + np.ceil(bottom[near]).tolist()
        for target, boxes in self._targets.items():
            if target >= 0:
                some = self._borders(target, boxes)
                xs += some[0]
                ys += some[1]
        spots = np.stack(np.meshgrid(np.unique(xs), np.unique(ys), indexing="ij"), axis=-1).reshape(-1, 2)
        spots = spots[np.argsort(np.hypot(*(spots - (dx, dy)).T), kind="stable")]
        spots = spots[~self._overlaps(spots)]
        for target, boxes in self._targets.items():
            if target >= 0 and not self._is_loose(target):
                spots = spots[self._fits(target, boxes, spots)]
        for x, y in spots.tolist():
            yield int(x), int(y)

    def _borders(self, target: int, boxes: Int) -> tuple[list[float], list[float]]:
        """Distances at which boxes are at the border of a container, as it is and grown up to what is next to it."""
        rect = self._geometry.rect
        low, high = rect[boxes, :2].min(axis=0), (rect[boxes, :2] + rect[boxes, 2:]).max(axis=0)
        corner, end = rect[target, :2], rect[target, :2] + rect[target, 2:]
        neighbours = rect[self._neighbour_boxes(target)]
        found: tuple[list[float], list[float]] = ([], [])
        for axis, head in ((0, 0), (1, HEADER)):
            ends = [float(end[axis]), *(neighbours[:, axis] - _APART).tolist()]
            starts = [float(corner[axis]), *(neighbours[:, axis] + neighbours[:, axis + 2] + _APART).tolist()]
            first = sorted((s for s in starts if s <= corner[axis]), reverse=True)[:_NEAR]
            last = sorted(e for e in ends if e >= end[axis])[:_NEAR]
            found[axis].extend(np.ceil(np.array(first) + PADDING + head - low[axis]).tolist())
            found[axis].extend(np.floor(np.array(last) - PADDING - high[axis]).tolist())
        return found

    def _neighbour_boxes(self, container: int) -> Int:
        """What is next to a container and stays."""
        found = self._children(int(self._geometry.parent[container]), ~self._lifted)
        return found[found != container]

    def _is_loose(self, container: int) -> bool:
        """Whether what is around a container gives way where that grows."""
        return bool(self._geometry.is_group[container])

    def _fits(self, target: int, boxes: Int, spots: Float) -> Bool:
        """At which distances a container that takes boxes in keeps apart from what is next to it. : (s,)"""
        rect = self._geometry.rect
        low, high = rect[boxes, :2].min(axis=0), (rect[boxes, :2] + rect[boxes, 2:]).max(axis=0)
        corner, end = rect[target, :2], rect[target, :2] + rect[target, 2:]
        low = np.minimum(corner, low + spots - (PADDING, PADDING + HEADER))
        high = np.maximum(end, high + spots + PADDING)
        around = self._neighbour_boxes(target)
        good = np.ones(len(spots), dtype=bool)
        for other in rect[around]:
            before = _gap(np.array([*corner, *(end - corner)]), other[None])[0]
            now = np.maximum(
                np.maximum(other[0] - high[:, 0], low[:, 0] - other[0] - other[2]),
                np.maximum(other[1] - high[:, 1], low[:, 1] - other[1] - other[3]),
            )
            good &= now >= min(_APART, before) - _TOUCH
        return good

    def _grows_freely(self, dx: float, dy: float) -> bool:
        rect, now = self._geometry.rect, self.rects(dx, dy)
        changed = np.flatnonzero((now != rect).any(axis=1) & ~self._lifted)
        for box in changed.tolist():
            around = self._children(int(self._geometry.parent[box]), np.ones(len(rect), dtype=bool))
            around = around[(around != box) & ~np.isin(around, self.boxes)]
            if not len(around):
                continue
            before, after = _gap(rect[box], rect[around]), _gap(now[box], now[around])
            if (after < np.minimum(_APART, before) - _TOUCH).any():
                return False
        for target, boxes in self._targets.items():
            # what moves next to a container that grows with it
            grew = [box for box in changed.tolist() if int(self._geometry.parent[box]) == target]
            for box in grew:
                if (_gap(now[box], now[boxes]) < np.minimum(0.0, _gap(rect[box], rect[boxes])) - _TOUCH).any():
                    return False
        return True

    def rects(self, dx: float, dy: float) -> Float:
        """All boxes with some moved by a distance, and containers grown around them. : (n, 4)"""
        if self._exact:
            found = grown(self._fixed, dict.fromkeys(self.boxes.tolist(), (dx, dy)))
            if found is not None:
                return found[0]
        rect = self._geometry.rect.copy()
        if self._stays or self._lifted.any():
            rect[self._lifted, :2] += (dx, dy)
        for target, boxes in self._targets.items():
            extent = self._geometry.rect[boxes] + (dx, dy, 0, 0)
            container = target
            while container >= 0 and not self._is_loose(container):
                fit = self._grown(rect[container], extent, container)
                if (fit == rect[container]).all():
                    break
                rect[container] = fit
                extent, container = fit[None], int(self._geometry.parent[container])
        return rect

    def _grown(self, own: Float, held: Float, container: int) -> Float:
        """A container with room for what comes in; a card becomes one."""
        geometry = self._geometry
        low, high = own[:2], own[:2] + own[2:]
        if not geometry.is_container[container]:
            thing = geometry.thing(container)
            size = thing.size if isinstance(thing, Part) else None
            high = np.maximum(low, low + (CONTAINER if size is None else (size.width, size.height)))
        low = np.minimum(low, held[:, :2].min(axis=0) - (PADDING, PADDING + HEADER))
        high = np.maximum(high, (held[:, :2] + held[:, 2:]).max(axis=0) + PADDING)
        return np.concatenate((low, high - low))


def largest(geometry: Geometry, box: int, width: float, height: float) -> tuple[float, float]:
    """The extent nearest to a wanted one that a box may be given by its lower right corner; that of a container is
    stated from its origin.
    """
    if geometry.refs[box].what == "annotations":
        return width, height
    scene, parent = moving_boxes(geometry), int(geometry.parent[box])
    origin = geometry.origin[box] if geometry.is_container[box] else geometry.rect[box, :2]
    rect = geometry.rect
    now = (rect[box, :2] + rect[box, 2:] - origin).tolist()
    wants = [[width], [height]]
    around = box
    inset = 0.0
    while around >= 0:
        # up to what is next to the box, or next to a container that would grow with it
        above = int(geometry.parent[around])
        others = _solid_children(geometry, above, around)
        gap = 0.0 if around == box else _APART
        for axis in (0, 1):
            edge = float(origin[axis])
            wants[axis] += (rect[others, axis] - gap - inset - edge).tolist()
            if above >= 0:
                wants[axis].append(float(rect[above, axis] + rect[above, axis + 2] - inset - PADDING - edge))
        inset += PADDING
        around = above

    def free(size: tuple[float, float]) -> bool:
        found = grown(scene, {}, {box: size}) if parent < 0 or may_move(geometry, [box]) else None
        if found is None:
            return size[0] <= now[0] + _TOUCH and size[1] <= now[1] + _TOUCH
        after = found[0]
        at = box
        while at >= 0:
            others = _solid_children(geometry, int(geometry.parent[at]), at)
            least = 0.0 if at == box else _APART
            gaps = _gap(rect[at], rect[others]), _gap(after[at], after[others])
            if (gaps[1] < np.minimum(least, gaps[0]) - _TOUCH).any():
                return False
            at = int(geometry.parent[at])
        return True

    for axis in (0, 1):
        some = sorted({*wants[axis][1:]}, key=lambda v: abs(v - wants[axis][0]))[:_NEAR]
        wants[axis] = [wants[axis][0], now[axis], *(float(np.floor(v)) for v in some if 0 < v <= wants[axis][0])]
    pairs = [(w, h) for w in dict.fromkeys(wants[0]) for h in dict.fromkeys(wants[1])]
    pairs.sort(key=lambda size: abs(size[0] - width) + abs(size[1] - height))
    return next((size for size in pairs if free(size)), (now[0], now[1]))


def _solid_children(geometry: Geometry, container: int, but: int) -> Int:
    found = np.flatnonzero(geometry.parent == container)
    return np.array([n for n in found.tolist() if n != but and geometry.refs[n].what != "annotations"], dtype=np.int64)


def _gap(one: Float, others: Float) -> Float:
    """How far apart boxes are, negative by how much they lie on each other. : (k,)"""
    x = np.maximum(others[:, 0] - one[0] - one[2], one[0] - others[:, 0] - others[:, 2])
    y = np.maximum(others[:, 1] - one[1] - one[3], one[1] - others[:, 1] - others[:, 3])
    return np.maximum(x, y)


def new_overlaps(geometry: Geometry, edit: Edit) -> frozenset[frozenset[tuple[Address, Ref]]]:
    """Pairs of things that lie on each other after an edit and did not before; none is looked for in large pictures."""
    if len(geometry) > _LARGE:
        return frozenset()
    return overlaps(lay_out(edit.apply(geometry.design), geometry.opened)) - overlaps(geometry)


def overlaps(geometry: Geometry, boxes: Iterable[int] | None = None) -> frozenset[frozenset[tuple[Address, Ref]]]:
    """Pairs of things that are in one container and lie on each other, at least one of them among some boxes."""
    found: set[frozenset[tuple[Address, Ref]]] = set()
    for box in range(len(geometry)) if boxes is None else boxes:
        if geometry.refs[box].what == "annotations":
            continue
        others = _solid_children(geometry, int(geometry.parent[box]), box)
        for other in others[_gap(geometry.rect[box], geometry.rect[others]) < -_TOUCH].tolist():
            found.add(frozenset((geometry.address(box), geometry.address(other))))
    return frozenset(found)
