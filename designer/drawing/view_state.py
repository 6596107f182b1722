"""Everything the composers need to know: the picture, its state, its indexes, and the frame it is seen in. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.geometry import Geometry
from designer.drawing.batches import Batch
from designer.drawing.cut import Cut, cut_at
from designer.drawing.levels import Level
from designer.drawing.loads import ConnectionMap, Loads, connection_map, connections_of_channels, link_numbers
from designer.drawing.machines import Machines
from designer.drawing.polylines import along, around, halfway, polylines, straights
from designer.drawing.rect_index import RectIndex
from designer.drawing.theme import CanvasTheme
from designer.drawing.trays import Trays, lay_trays
from designer.drawing.view import Rect, bounds_of

Float = npt.NDArray[np.float64]
Bool = npt.NDArray[np.bool_]


class BoxFacts:
    """What depends on the boxes alone."""

    def __init__(self, geometry: Geometry) -> None:
        self._geometry = geometry

    def hold_for(self, geometry: Geometry) -> bool:
        """True if another picture has the same boxes."""
        return self._geometry.rect is geometry.rect and self._geometry.kind is geometry.kind

    @cached_property
    def index(self) -> RectIndex:
        """Finds boxes."""
        return RectIndex(self._geometry.rect)

    @cached_property
    def codes(self) -> dict[str, int]:
        """Number of each box kind."""
        return {name: i for i, name in enumerate(self._geometry.kinds)}

    @cached_property
    def is_note(self) -> Bool:
        """Which boxes are notes. : (n,)"""
        return self._geometry.kind == self.codes.get("note", -1)

    @cached_property
    def is_frame(self) -> Bool:
        """Which boxes are frames. : (n,)"""
        return self._geometry.kind == self.codes.get("frame", -1)

    @cached_property
    def is_card(self) -> Bool:
        """Which boxes are cards: neither open containers nor annotations. : (n,)"""
        return ~(self._geometry.is_container | self.is_note | self.is_frame)

    @cached_property
    def child_extent(self) -> Float:
        """Mean width of what each open container holds, 0 for others, scene units. : (n,)"""
        geometry = self._geometry
        inside = np.flatnonzero(geometry.parent >= 0)
        n = len(geometry)
        held = np.bincount(geometry.parent[inside], minlength=n)
        wide = np.bincount(geometry.parent[inside], weights=geometry.rect[inside, 2], minlength=n)
        return wide / np.maximum(held, 1)

    @cached_property
    def card_sides(self) -> Float:
        """Left, top, right and bottom of all cards. : (n_cards, 4)"""
        rect = self._geometry.rect[self.is_card]
        return np.concatenate((rect[:, :2], rect[:, :2] + rect[:, 2:]), axis=1)


Int = npt.NDArray[np.int64]
#: rectangles of device pixels that are drawn together
Regions = tuple[Rect, ...]
#: room that a value takes where values begin to be written [scene units]
_VALUE: Final = (130.0, 26.0)
#: shares of a connection's length at which a value may be written, best first
_SHARES: Final = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.12, 0.88)
#: what is reported on boxes is in these fields of a design
_SHOWN_FIELDS: Final = ("parts", "groups", "annotations", "part_types")
#: values keep so far from cards, scene units; among more cards than this they are looked up in the index
_SLACK: Final = 6.0
_MANY_CARDS: Final = 4000


@dataclass(frozen=True, slots=True)
class Frame:
    """How the scene falls on device pixels: ``pixel = scene · scale + (x, y)``; the offset is whole pixels.

    Parameters
    ----------
    ratio
        Device pixels per logical pixel.
    octave
        Power of two the scale is near to; it chooses which containers are closed.
    """

    scale: float
    x: int
    y: int
    level: Level
    ratio: float = 1.0
    octave: int = 0

    def boxes(self, rects: Float) -> Float:
        """Rectangles in whole device pixels, at least one pixel large. : (n, 4)"""
        found = np.empty_like(rects)
        low = np.round(rects[:, :2] * self.scale)
        found[:, 2:] = np.maximum(np.round((rects[:, :2] + rects[:, 2:]) * self.scale) - low, 1.0)
        found[:, 0], found[:, 1] = low[:, 0] + self.x, low[:, 1] + self.y
        return found

    def points(self, points: Float) -> Float:
        """Points in device pixels. : (..., 2)"""
        return points * self.scale + np.array([self.x, self.y], dtype=np.float64)

    def touched(self, touching: Callable[[float, float, float, float], Int], regions: Regions, margin: float) -> Int:
        """What touches one of some rectangles of device pixels, ascending. : (k,)"""
        found = [touching(*self.scene(region, margin * self.ratio)) for region in regions]
        return found[0] if len(found) == 1 else np.unique(np.concatenate(found))

    def scene(self, region: Rect, margin: float = 0.0) -> Rect:
        """The scene rectangle under a rectangle of device pixels, with a margin in pixels."""
        x, y, width, height = region
        return (
            (x - margin - self.x) / self.scale,
            (y - margin - self.y) / self.scale,
            (width + 2 * margin) / self.scale,
            (height + 2 * margin) / self.scale,
        )

    def moved(self, dx: int, dy: int) -> Frame:
        """The frame moved by device pixels."""
        return replace(self, x=self.x + dx, y=self.y + dy)


@dataclass(eq=False)
class ViewState:
    """A picture with its state.

    Parameters
    ----------
    lifted, lifted_connections : (n,), (m,) or None: what is being dragged and drawn on top instead
    stale
        True if the loads belong to an earlier design.
    trays
        Virtual machines next to their hosts; None without, or while they are hidden.
    """

    geometry: Geometry
    loads: Loads
    theme: CanvasTheme
    lifted: Bool | None = None
    lifted_connections: Bool | None = None
    stale: bool = False
    #: what colours of connections mean: ``utilization``, or ``limits`` where only what limits is out
    colours: str = "utilization"
    trays: Trays | None = None
    _label_points: dict[int, list[float]] = field(default_factory=dict[int, list[float]])
    _kept: tuple[object, dict[str, list[Batch]]] | None = None
    #: labels of links stated together, once they were looked for
    bundles: tuple[object, ...] | None = None
    #: where marks stand: for what, and the answer
    marks: tuple[Loads, object, Float, Bool] | None = None
    _busy: tuple[Loads, Int, Float] | None = None
    _cuts: dict[int | None, Cut] = field(default_factory=dict[int | None, Cut])
    _map: ConnectionMap | None = None
    #: what the boxes are, and the scene rectangle around everything
    boxes: BoxFacts = field(init=False)
    bounds: Rect = field(init=False)

    def __post_init__(self) -> None:
        self.boxes = BoxFacts(self.geometry)
        self.set_trays(self.trays)

    @cached_property
    def _straights(self) -> tuple[Int, Float, RectIndex]:
        """The straight pieces of all connections, and what finds them."""
        owner, lines = straights(self.geometry.connection_route)
        return owner, lines, RectIndex(around(lines))

    def straights_touching(self, x: float, y: float, width: float, height: float) -> tuple[Int, Float]:
        """Straight pieces of connections that touch a rectangle: whose each is, and its ends. : (k,), (k, 4)"""
        owner, lines, index = self._straights
        found = index.touching(x, y, width, height)
        return owner[found], lines[found]

    def connections_touching(self, x: float, y: float, width: float = 0.0, height: float = 0.0) -> Int:
        """Connections that may touch a rectangle, ascending. : (k,)"""
        parts, _ = self.straights_touching(x, y, width, height)
        fresh = np.ones(len(parts), dtype=bool)
        fresh[1:] = parts[1:] != parts[:-1]
        return parts[fresh]

    @property
    def connection_map(self) -> ConnectionMap:
        """Which channels the connections represent."""
        if self._map is None:
            self._map = connection_map(self.geometry)
        return self._map

    @property
    def calm(self) -> bool:
        """True if only what limits is coloured: not at an instant of a run, nor where colours mean something else."""
        loads = self.loads
        return self.colours == "limits" and loads.known and loads.box_busy is None and not loads.title

    def learn(self, old: ViewState) -> None:
        """Take over what is known of a picture with the same boxes, or the same connections between others."""
        if self.geometry.connections is old.geometry.connections:
            # things moved: elaborating the design only to find the same channels takes longer than all the rest
            self._map = old._map
        if old.boxes.hold_for(self.geometry):
            self.boxes = old.boxes
            a, b = old.geometry.design, self.geometry.design
            if all(getattr(a, name) is getattr(b, name) for name in _SHOWN_FIELDS):
                self._kept = old._kept

    def kept(self, name: str, frame: Frame, regions: Regions, make: Callable[[], list[Batch]]) -> list[Batch]:
        """Batches that hold whatever the loads are; made once for a frame, but from afar, where all is coloured."""
        if frame.level is Level.FAR or self.lifted is not None:
            return make()
        key = (frame, regions, self.theme)
        if self._kept is None or self._kept[0] != key:
            self._kept = (key, {})
        found = self._kept[1].get(name)
        if found is None:
            found = self._kept[1][name] = make()
        return found

    def warm(self) -> None:
        """Work out in advance what the next zoom would need."""
        self.cut(None)
        self._straights  # noqa: B018

    def show_machines(self, machines: Machines | None) -> None:
        """Show virtual machines next to their hosts, or none."""
        if machines is None:
            self.set_trays(None)
            return
        found = self.connection_map
        cut, fenced = (
            connections_of_channels(found, link_numbers(found, links), links)
            for links in (machines.cut, machines.fenced)
        )
        self.set_trays(lay_trays(machines, self.geometry, self.boxes.index, cut, np.setdiff1d(fenced, cut)))

    def set_trays(self, trays: Trays | None) -> None:
        """Show what was laid out of virtual machines, or nothing of them."""
        own = self.geometry.bounds()
        self.trays, self.marks = trays, None
        self.bounds = own if trays is None else bounds_of(np.array([own, trays.bounds]))

    @cached_property
    def open_groups(self) -> Int:
        """The groups that show a member. : (k,)"""
        return np.flatnonzero(self.geometry.is_group & self.geometry.is_container)

    def saturated(self, least: float) -> tuple[Int, Float]:
        """The connections used to at least a share, most loaded first, and where on them a value is written.

        Returns
        -------
        connections, points : (k,), (k, 2) scene units
        """
        if self._busy is None or self._busy[0] is not self.loads:
            loads = self.loads
            used = np.fmax(loads.used[:, 0], loads.used[:, 1])
            connections = np.flatnonzero(np.nan_to_num(used) >= least)
            if loads.on_route is not None:
                connections = connections[loads.on_route[connections]]
            load = np.nan_to_num(np.fmax(loads.load[connections, 0], loads.load[connections, 1]))
            connections = connections[np.argsort(-load, kind="stable")]
            route = self.geometry.connection_route[connections]
            self._busy = (loads, connections, halfway(route))
        return self._busy[1], self._busy[2]

    def label_points(self, connections: Int) -> Float:
        """Where on connections values are written: near their middles, but not over a card. : (k, 2) scene units"""
        known = self._label_points
        chosen = connections.tolist()
        new = [connection for connection in chosen if connection not in known]
        if new:
            found = self._label_places(np.array(new))
            known.update(zip(new, found.tolist(), strict=True))
        return np.array([known[connection] for connection in chosen], dtype=np.float64).reshape(-1, 2)

    def _label_places(self, connections: Int) -> Float:
        return self.least_covered(self.geometry.connection_route[connections], *_VALUE)[0]

    def routes(self, frame: Frame, connections: Int) -> Float:
        """The corners of connections as they are drawn: from some distance parallel ones run as one. : (k, v, 2)"""
        if frame.level is Level.NEAR:
            return self.geometry.connection_route[connections]
        cut = self.cut(None if frame.level is Level.MIDDLE else frame.octave)
        merged = cut.of_connection[connections]
        return cut.route[merged[merged >= 0]]

    def least_covered(self, routes: Float, wide: float, high: float, taken: Float | None = None) -> tuple[Float, Float]:
        """Where on ways a plate covers least of cards and of what is written, and how much. : (k, 2), (k,)

        Parameters
        ----------
        routes : (k, v, 2)
        wide, high
            Extent of the plate, scene units.
        taken : (p, 4) left, top, right and bottom of what is written
        """
        best, least = np.zeros((len(routes), 2)), np.full(len(routes), np.inf)
        for group in polylines(np.arange(len(routes)), routes):
            left = np.arange(len(group.connections))
            for share in _SHARES:
                points, at = along(group.points[left], share), group.connections[left]
                # what lies right below counts most, wherever the plate ends
                covered = self.cover(points, wide, high, taken) + 8 * wide * high * self._over_card(points)
                better = covered < least[at]
                best[at[better]], least[at[better]] = points[better], covered[better]
                left = left[least[at] > 0]
                if not len(left):
                    break
        return best, least

    def cover(self, points: Float, wide: float, high: float, taken: Float | None = None) -> Float:
        """How much a plate around each point covers of cards and of what is written, which counts four times.

        Returns
        -------
        covered : (k,) scene units squared
        """
        covered = self._covered_by_cards(points, wide, high)
        if taken is not None and len(taken):
            half = np.array((wide / 2, high / 2))
            covered += 4 * _overlap(points - half, points + half, taken)
        return covered

    def clearest(self, points: Float, wide: float, high: float) -> Float:
        """Of several places for each plate, the first that covers least of cards. : (k, places, 2) → (k, 2)"""
        count, places, _ = points.shape
        covered = self._covered_by_cards(points.reshape(-1, 2), wide, high).reshape(count, places)
        # what a plate touches by rounding is not covered
        return points[np.arange(count), covered.round(3).argmin(axis=1)]

    def _over_card(self, points: Float) -> Bool:
        """Which points are over a card or close to one. : (k, 2) → (k,)"""
        cards = self.boxes.card_sides
        if len(cards) > _MANY_CARDS:
            at = self.boxes.index.at
            return np.array([self.boxes.is_card[at(x, y, _SLACK)].any() for x, y in points.tolist()], dtype=bool)
        x, y = points[:, :1], points[:, 1:]
        left, top, right, bottom = cards.T
        return ((left - _SLACK <= x) & (x <= right + _SLACK) & (top - _SLACK <= y) & (y <= bottom + _SLACK)).any(axis=1)

    def _covered_by_cards(self, points: Float, wide: float, high: float) -> Float:
        """How much of the cards a plate around each point covers. : (k, 2) → (k,) scene units squared"""
        half = np.array((wide / 2, high / 2))
        low, up = points - half, points + half
        cards = self.boxes.card_sides
        if len(cards) > _MANY_CARDS:
            under = [self.boxes.index.touching(x, y, wide, high) for x, y in low.tolist()]
            near = [self.geometry.rect[u[self.boxes.is_card[u]]] for u in under]
            sides = [np.concatenate((rect[:, :2], rect[:, :2] + rect[:, 2:]), axis=1) for rect in near]
            return np.array([_overlap(low[k : k + 1], up[k : k + 1], sides[k])[0] for k in range(len(points))])
        return _overlap(low, up, cards)

    def cut(self, octave: int | None) -> Cut:
        """Merged connections at a scale of 2 to the power of `octave`; None merges only parallel ones."""
        found = self._cuts.get(octave)
        if found is None:
            found = self._cuts[octave] = cut_at(self.geometry, None if octave is None else 2.0**octave)
        return found


def _overlap(low: Float, up: Float, sides: Float) -> Float:
    """How much of some rectangles lies within plates from `low` to `up`. : (k, 2), (k, 2), (n, 4) → (k,)"""
    left, top, right, bottom = sides.T
    across = np.minimum(right, up[:, :1]) - np.maximum(left, low[:, :1])
    down = np.minimum(bottom, up[:, 1:]) - np.maximum(top, low[:, 1:])
    return np.asarray((np.maximum(across, 0) * np.maximum(down, 0)).sum(axis=1), dtype=np.float64)
