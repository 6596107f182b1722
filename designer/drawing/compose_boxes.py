"""Containers, cards, groups and notes as batches. No Qt."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import part_kinds
from designer.drawing.batches import Batch, Boxes, Glyphs, Rects
from designer.drawing.levels import Level
from designer.drawing.theme import STEPS, mixed
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame, Regions, ViewState

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: boxes inside others are left out below this extent, and containers whose contents are smaller are blocks [px]
_TINY: Final = 3.0
BLOCK: Final = 5.0
#: glyphs are drawn from this extent on [px]
_GLYPH: Final = 9
#: from a middle distance from this extent on [px]
_ROOMY: Final = 15
_GRID: Final = 32
_GRID_GAP: Final = 28.0


def grid_dots(view_state: ViewState, frame: Frame, regions: Regions) -> list[Batch]:
    """Dots of the grid, far enough apart at any scale."""
    step = float(_GRID)
    while step * frame.scale < _GRID_GAP * frame.ratio:
        step *= 4
    return [Rects(np.concatenate([_dots(frame, region, step) for region in regions]), view_state.theme.grid)]


def _dots(frame: Frame, region: Rect, step: float) -> Float:
    x, y, width, height = frame.scene(region)
    columns = np.arange(np.floor(x / step), np.ceil((x + width) / step) + 1) * step
    rows = np.arange(np.floor(y / step), np.ceil((y + height) / step) + 1) * step
    size = max(1.0, round(1.4 * frame.ratio))
    px, py = np.meshgrid(np.round(columns * frame.scale) + frame.x, np.round(rows * frame.scale) + frame.y)
    return np.stack((px.ravel(), py.ravel(), np.full(px.size, size), np.full(px.size, size)), axis=1)


def visible_boxes(view_state: ViewState, frame: Frame, regions: Regions) -> Int:
    """Boxes to draw in regions of device pixels, in painter's order; tiny ones inside others are left out."""
    found = frame.touched(view_state.boxes.index.touching, regions, 8.0)
    rect, parent = view_state.geometry.rect, view_state.geometry.parent
    small = np.maximum(rect[found, 2], rect[found, 3]) * frame.scale < _TINY * frame.ratio
    keep = ~(small & (parent[found] >= 0))
    if view_state.lifted is not None:
        keep &= ~view_state.lifted[found]
    return found[keep]


def is_block(view_state: ViewState, frame: Frame, boxes: Int) -> npt.NDArray[np.bool_]:
    """Which boxes are containers too small to show what they hold. : (k,)"""
    geometry = view_state.geometry
    return geometry.is_container[boxes] & (view_state.boxes.child_extent[boxes] * frame.scale < BLOCK * frame.ratio)


def containers(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:
    """Frames and open containers, outer ones first."""
    geometry, theme = view_state.geometry, view_state.theme
    found: list[Batch] = []
    frames = boxes[view_state.boxes.is_frame[boxes]]
    radius = _radius(frame, 6)
    if len(frames):
        rects = frame.boxes(geometry.rect[frames])
        found.append(Boxes(rects, theme.frame, theme.container_edges[0], _edge(frame), radius))
    block = is_block(view_state, frame, boxes)
    opened = boxes[geometry.is_container[boxes] & ~block]
    for depth in np.unique(geometry.depth[opened]).tolist():
        here = opened[geometry.depth[opened] == depth]
        fill = theme.containers[depth % len(theme.containers)]
        edge = theme.container_edges[depth % len(theme.container_edges)]
        for group in (False, True):
            chosen = here[geometry.is_group[here] == group]
            if len(chosen):
                rects = frame.boxes(geometry.rect[chosen])
                if group and frame.level > Level.FAR:
                    found.append(Boxes(_offset_behind(rects, frame), fill, edge, _edge(frame), radius))
                found.append(Boxes(rects, fill, edge, _edge(frame), radius))
    return found


def cards(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:
    """Cards, closed groups, blocks and notes."""
    return plates(view_state, frame, boxes) + meters(view_state, frame, boxes) + notes(view_state, frame, boxes)


def plates(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:
    """Cards, closed groups and blocks; up close the same whatever the loads are."""
    geometry = view_state.geometry
    found: list[Batch] = []
    card = _cards(view_state, frame, boxes)
    if frame.level is Level.FAR:
        found += _blocks(view_state, frame, card)
    else:
        for kind in np.unique(geometry.kind[card]).tolist():
            found += _kind(view_state, frame, card[geometry.kind[card] == kind], geometry.kinds[kind])
    return found


def notes(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:
    """The paper of notes."""
    chosen, theme = boxes[view_state.boxes.is_note[boxes]], view_state.theme
    if not len(chosen):
        return []
    rects = frame.boxes(view_state.geometry.rect[chosen])
    return [Boxes(rects, theme.note, theme.note_edge, _edge(frame), _radius(frame, 4))]


def _cards(view_state: ViewState, frame: Frame, boxes: Int) -> Int:
    return boxes[view_state.boxes.is_card[boxes] | is_block(view_state, frame, boxes)]


def _blocks(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:
    """Cards from afar: plain rectangles, coloured by heat where loads are known, else by kind."""
    geometry, theme = view_state.geometry, view_state.theme
    rects = frame.boxes(geometry.rect[boxes])
    found: list[Batch] = []
    heat = heat_of(view_state.loads.box_used[boxes])
    if view_state.calm:
        limits = view_state.loads.box_limits[boxes]
        if limits.any():
            found.append(Rects(rects[limits], faded(view_state, theme.bottleneck)))
        heat = np.where(limits, len(theme.heat), -1)
    for step in range(len(theme.heat)):
        chosen = heat == step
        if chosen.any():
            found.append(Rects(rects[chosen], faded(view_state, theme.heat[step])))
    cold = heat < 0
    kinds = geometry.kind[boxes]
    for kind in np.unique(kinds[cold]).tolist():
        share = 0.55 if not view_state.loads.known else 0.25
        colour = mixed(theme.containers[0], theme.accent(geometry.kinds[kind]), share)
        found.append(Rects(rects[cold & (kinds == kind)], colour))
    return found


def _kind(view_state: ViewState, frame: Frame, boxes: Int, kind: str) -> list[Batch]:
    geometry, theme = view_state.geometry, view_state.theme
    rects = frame.boxes(geometry.rect[boxes])
    accent = theme.accent(kind)
    fill = theme.tint(kind, 0.07 if frame.level is Level.NEAR else 0.14)
    edge = mixed(theme.card_edge, accent, 0.45)
    radius, width = _radius(frame, 5), _edge(frame)
    found: list[Batch] = []
    # of one alone nothing is behind
    group = geometry.is_group[boxes] & (geometry.replicas[boxes] > 1)
    if group.any():
        found.append(Boxes(_offset_behind(rects[group], frame, 2), fill, edge, width, radius))
        found.append(Boxes(_offset_behind(rects[group], frame), fill, edge, width, radius))
    found.append(Boxes(rects, fill, edge, width, radius))
    bar = max(2.0, round(3 * frame.scale))
    strip = rects.copy()
    inset = float(radius)
    strip[:, 0] += width
    strip[:, 1] += inset
    strip[:, 2] = bar
    strip[:, 3] = np.maximum(strip[:, 3] - 2 * inset, 0)
    found.append(Rects(strip, accent))
    size, places = glyph_places(frame, rects)
    if size >= _GLYPH * frame.ratio:
        known = part_kinds().get(kind)
        icon = known.icon or kind if known is not None else kind
        found.append(Glyphs(icon, places, size, accent))
    return found


def glyph_places(frame: Frame, rects: Float) -> tuple[int, Float]:
    """Extent of the glyph of cards, and its top left corners. : (k, 2)"""
    most = float(np.minimum(rects[:, 2], rects[:, 3]).min()) if len(rects) else 0.0
    size = int(min(22 * frame.scale, most * 0.6))
    if frame.level is Level.MIDDLE:
        size = int(min(30 * frame.scale, most * 0.72))
        # names state more than glyphs: where only one has room, the colour alone states the kind
        size = size if size >= _ROOMY * frame.ratio else 0
    x = rects[:, 0] + round(9 * frame.scale)
    y = rects[:, 1] + np.floor((rects[:, 3] - size) / 2)
    return size, np.stack((x, y), axis=1)


def meters(view_state: ViewState, frame: Frame, boxes: Int) -> list[Batch]:
    """A bar at the foot of each card: how busy its busiest link is; none from afar."""
    if frame.level is Level.FAR or view_state.calm:
        return []
    boxes = _cards(view_state, frame, boxes)
    used = view_state.loads.box_used[boxes]
    chosen = ~np.isnan(used) & (used > 0)
    if not chosen.any():
        return []
    rects = frame.boxes(view_state.geometry.rect[boxes[chosen]])
    used = used[chosen]
    radius, width = _radius(frame, 5), _edge(frame)
    high = max(2.0, round(3 * frame.scale))
    bars = rects.copy()
    bars[:, 0] += radius
    bars[:, 1] += rects[:, 3] - high - width
    bars[:, 2] = np.maximum(np.round((rects[:, 2] - 2 * radius) * np.minimum(used, 1.0)), 1.0)
    bars[:, 3] = high
    heat = np.searchsorted(STEPS, used, side="right")
    return [Rects(bars[heat == h], faded(view_state, view_state.theme.heat[h])) for h in np.unique(heat).tolist()]


def heat_of(used: Float) -> Int:
    """Class of utilisation, −1 where nothing is known. : (k,)"""
    return np.where(np.isnan(used), -1, np.searchsorted(STEPS, np.nan_to_num(used), side="right"))


def faded(view_state: ViewState, colour: str) -> str:
    """A colour of a result, paler while the result is stale."""
    return mixed(colour, view_state.theme.background, 0.45) if view_state.stale else colour


def _offset_behind(rects: Float, frame: Frame, times: int = 1) -> Float:
    step = max(2.0, round(4 * frame.scale)) * times
    return rects + np.array([step, -step, 0.0, 0.0])


def _radius(frame: Frame, units: float) -> int:
    return int(max(2.0 * frame.ratio, min(units * frame.scale, 10 * frame.ratio)))


def _edge(frame: Frame) -> int:
    return max(1, round(frame.ratio))
