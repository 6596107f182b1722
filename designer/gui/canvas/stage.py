"""Everything the composers need to know: the picture, its state, its indexes, and the frame it is seen in. No Qt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.geometry import Geometry
from designer.gui.canvas.canvas_theme import CanvasTheme
from designer.gui.canvas.cut import Cut, cut_at
from designer.gui.canvas.levels import Level
from designer.gui.canvas.live import Live
from designer.gui.canvas.rect_index import RectIndex
from designer.gui.canvas.trays import Trays
from designer.gui.canvas.view import Rect, bounds_of
from designer.gui.canvas.ways import along, boxes_along, ways

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]
#: rectangles of device pixels that are drawn together
Regions = tuple[Rect, ...]
#: room that a value takes where values begin to be written [scene units]
_VALUE: Final = (130.0, 26.0)
#: shares of a wire's length at which a value may be written, best first
_SHARES: Final = (0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.12, 0.88)


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
class Stage:
    """A picture with its state.

    Parameters
    ----------
    lifted, lifted_wires : (n,), (m,) or None: what is being dragged and drawn on top instead
    stale
        Whether the loads belong to an earlier design.
    trays
        Virtual machines beside their hosts; None without, or while they are hidden.
    """

    geometry: Geometry
    live: Live
    theme: CanvasTheme
    lifted: Bool | None = None
    lifted_wires: Bool | None = None
    stale: bool = False
    trays: Trays | None = None
    _free_points: dict[tuple[int, float], tuple[float, float, float]] = field(
        default_factory=dict[tuple[int, float], tuple[float, float, float]]
    )
    _label_points: dict[int, tuple[float, float]] = field(default_factory=dict[int, tuple[float, float]])
    _busy: tuple[Live, Int, Float] | None = None
    _cuts: dict[int | None, Cut] = field(default_factory=dict[int | None, Cut])

    @cached_property
    def box_index(self) -> RectIndex:
        """Finds boxes."""
        return RectIndex(self.geometry.rect)

    @cached_property
    def _wire_parts(self) -> RectIndex:
        """Finds the quarters of wires."""
        return RectIndex(boxes_along(self.geometry.wire_route, self.geometry.wire_shape))

    def wire_parts_touching(self, x: float, y: float, width: float, height: float) -> Int:
        """Quarters of wires that may touch a rectangle: part 4·i + k is quarter k of wire i. : (k,)"""
        return self._wire_parts.touching(x, y, width, height)

    def wires_touching(self, x: float, y: float, width: float = 0.0, height: float = 0.0) -> Int:
        """Wires that may touch a rectangle, ascending. : (k,)"""
        parts = self.wire_parts_touching(x, y, width, height) // 4
        fresh = np.ones(len(parts), dtype=bool)
        fresh[1:] = parts[1:] != parts[:-1]
        return parts[fresh]

    def warm(self) -> None:
        """Work out in advance what the next zoom would need."""
        self.cut(None)
        self._wire_parts  # noqa: B018

    @cached_property
    def bounds(self) -> Rect:
        """The scene rectangle around everything."""
        own = self.geometry.bounds()
        return own if self.trays is None else bounds_of(np.array([own, self.trays.bounds]))

    def set_trays(self, trays: Trays | None) -> None:
        """Show virtual machines, or hide them."""
        self.trays = trays
        self.__dict__.pop("bounds", None)

    @cached_property
    def codes(self) -> dict[str, int]:
        """Number of each box kind."""
        return {name: i for i, name in enumerate(self.geometry.kinds)}

    @cached_property
    def is_note(self) -> Bool:
        """Which boxes are notes. : (n,)"""
        return self.geometry.kind == self.codes.get("note", -1)

    @cached_property
    def is_frame(self) -> Bool:
        """Which boxes are frames. : (n,)"""
        return self.geometry.kind == self.codes.get("frame", -1)

    @cached_property
    def is_card(self) -> Bool:
        """Which boxes are cards: neither open containers nor annotations. : (n,)"""
        return ~(self.geometry.is_container | self.is_note | self.is_frame)

    @cached_property
    def open_groups(self) -> Int:
        """The groups that show a member. : (k,)"""
        return np.flatnonzero(self.geometry.is_group & self.geometry.is_container)

    @cached_property
    def child_extent(self) -> Float:
        """Mean width of what each open container holds, 0 for others, scene units. : (n,)"""
        geometry = self.geometry
        inside = np.flatnonzero(geometry.parent >= 0)
        n = len(geometry)
        held = np.bincount(geometry.parent[inside], minlength=n)
        wide = np.bincount(geometry.parent[inside], weights=geometry.rect[inside, 2], minlength=n)
        return wide / np.maximum(held, 1)

    def saturated(self, least: float) -> tuple[Int, Float]:
        """The wires used to at least a share, most loaded first, and where on them a value is written.

        Returns
        -------
        wires, points : (k,), (k, 2) scene units
        """
        if self._busy is None or self._busy[0] is not self.live:
            live = self.live
            used = np.fmax(live.used[:, 0], live.used[:, 1])
            wires = np.flatnonzero(np.nan_to_num(used) >= least)
            if live.on_route is not None:
                wires = wires[live.on_route[wires]]
            load = np.nan_to_num(np.fmax(live.load[wires, 0], live.load[wires, 1]))
            wires = wires[np.argsort(-load, kind="stable")]
            route = self.geometry.wire_route[wires]
            self._busy = (live, wires, (route[:, 1] + route[:, 2]) / 2)
        return self._busy[1], self._busy[2]

    def label_point(self, wire: int) -> tuple[float, float]:
        """Where on a wire a value is written: near its middle, but not over a card. Scene units."""
        found = self._label_points.get(wire)
        if found is None:
            found = self._label_points[wire] = self._labelled(wire)
        return found

    def _labelled(self, wire: int) -> tuple[float, float]:
        x, y, _ = self._freest(wire, *_VALUE)
        return x, y

    def free_point(self, wire: int, wide: float, high: float, octave: int) -> tuple[float, float, float]:
        """Where on a wire a plate covers least of any card, and how much it covers there; scene units.

        Parameters
        ----------
        wide, high
            Extent of the plate, scene units; about the same within an `octave`.
        """
        found = self._free_points.get((wire, octave))
        if found is None:
            found = self._free_points[wire, octave] = self._freest(wire, wide, high)
        return found

    def _freest(self, wire: int, wide: float, high: float) -> tuple[float, float, float]:
        one = np.array([wire])
        way = ways(one, self.geometry.wire_route[one], self.geometry.wire_shape[one])[0].points
        best = (0.0, 0.0, np.inf)
        for share in _SHARES:
            x, y = along(way, share)[0].tolist()
            # what lies right below counts most, wherever the plate ends
            beside = self._covered(x - wide / 2, y - high / 2, wide, high)
            below = 8 * wide * high * bool(self.is_card[self.box_index.at(x, y, 6.0)].any())
            if beside + below < best[2]:
                best = (x, y, beside + below)
            if not best[2]:
                break
        return best

    def _covered(self, x: float, y: float, wide: float, high: float) -> float:
        """How much of the cards a rectangle covers, scene units squared."""
        under = self.box_index.touching(x, y, wide, high)
        rect = self.geometry.rect[under[self.is_card[under]]]
        across = np.minimum(rect[:, 0] + rect[:, 2], x + wide) - np.maximum(rect[:, 0], x)
        down = np.minimum(rect[:, 1] + rect[:, 3], y + high) - np.maximum(rect[:, 1], y)
        return float((np.maximum(across, 0) * np.maximum(down, 0)).sum())

    def cut(self, octave: int | None) -> Cut:
        """Merged wires at a scale of 2 to the power of `octave`; None merges only parallel ones."""
        found = self._cuts.get(octave)
        if found is None:
            found = self._cuts[octave] = cut_at(self.geometry, None if octave is None else 2.0**octave)
        return found
