"""Connections as batches of lines: width is capacity, colour utilisation, dashes an assumed capacity. No Qt."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from designer.drawing.batches import Batch, Lines
from designer.drawing.compose_boxes import faded
from designer.drawing.cut import Cut
from designer.drawing.levels import Level
from designer.drawing.polylines import level, offset, phases, pieces, polylines
from designer.drawing.theme import DASH, mixed
from designer.drawing.view_state import Frame, Regions, ViewState

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
Bool = npt.NDArray[np.bool_]

#: width at 1 GB/s, growth per tenfold capacity, and the widest connection, scene units
_WIDTH: Final = (1.0, 1.15, 5.5)
_GAP: Final = 1.4
#: so many lines are drawn as they are; among more, those that fall on the same pixels are drawn once
_MANY: Final = 4000
#: more merged connections than this are drawn without smoothing from afar
_SMOOTH: Final = 400


#: tones where only what limits is coloured: idle, carrying traffic, limiting
_IDLE, _CARRIES, _LIMITS = 100, 101, 102
#: a limiting connection is at least so wide [px], and traffic is drawn in this share of the colour of quiet text
_LIMIT_WIDTH: Final = 4.0
_QUIET: Final = 0.62


class _Style(NamedTuple):
    """How a line is drawn; ``tone`` is a class of utilisation, or −1 − link kind where no load is known."""

    tone: int
    width: float
    assumed: bool


def width_of(capacity: Float) -> Float:
    """Width of connections by their capacity per direction, scene units. : (k,) [B/s] → (k,)"""
    least, growth, most = _WIDTH
    return np.clip(least + growth * np.log10(np.maximum(capacity, 1e8) / 1e9), 0.8, most)


def connections(view_state: ViewState, frame: Frame, regions: Regions, only: Bool | None = None) -> list[Batch]:
    """The connections in regions of device pixels; with `only` no others."""
    if frame.level is Level.FAR:
        return _distant_lines(view_state, frame, regions, only)
    found = visible_connections(view_state, frame, regions)
    if only is not None:
        found = found[only[found]]
    elif view_state.lifted_connections is not None:
        found = found[~view_state.lifted_connections[found]]
    if frame.level is Level.NEAR:
        return near(view_state, frame, found, view_state.geometry.connection_route[found], regions)
    return _middle(view_state, frame, found, regions)


def visible_connections(view_state: ViewState, frame: Frame, regions: Regions) -> Int:
    """Numbers of the connections that may touch regions of device pixels."""
    x, y, width, height = view_state.bounds
    for region in regions:
        left, top, wide, high = frame.scene(region)
        if left <= x and top <= y and left + wide >= x + width and top + high >= y + height:
            # all is in sight: the index, which is made again after each edit of connections, would say the same
            return np.arange(view_state.geometry.n_connections)
    return frame.touched(view_state.connections_touching, regions, 10.0)


def near(view_state: ViewState, frame: Frame, chosen: Int, route: Float, regions: Regions = ()) -> list[Batch]:
    """Connections in full: a stroke for each direction where loads are known, else one.

    Parameters
    ----------
    route : (k, v, 2) their corners, scene units; those of the picture, or of a drag
    regions
        Rectangles of device pixels outside of which nothing is needed; none of them: everything is.
    """
    if not len(chosen):
        return []
    loads, geometry = view_state.loads, view_state.geometry
    size = min(max(frame.scale / frame.ratio, 0.7), 1.6) * frame.ratio
    width = np.round(width_of(geometry.connection_capacity[chosen]) * size * 2) / 2
    heat = loads.heat[chosen]
    both: Bool = np.any(heat >= 0, axis=1)
    idle = -1 - geometry.connection_kind[chosen]
    if view_state.calm:
        idle, both = _calm_tones(view_state, chosen), np.zeros_like(both)
        width = _calm_widths(idle, width, frame)
    found: dict[_Style, list[Float]] = {}
    for group in polylines(np.arange(len(chosen)), frame.points(route)):
        at = group.connections
        two = both[at]
        _collect(found, group.points[~two], idle[at[~two]], width[at[~two]], loads.assumed[chosen[at[~two]]])
        if two.any():
            rows = at[two]
            thin = np.maximum(np.round(width[rows] * 0.62 * 2) / 2, 1.0)
            gap = (thin + _GAP * frame.ratio) / 2
            for direction, sign in ((0, 1.0), (1, -1.0)):
                # traffic keeps to the right, so the two directions never swap sides
                moved = offset(group.points[two], -sign * gap)
                _collect(found, moved, np.maximum(heat[rows, direction], 0), thin, loads.assumed[chosen[rows]])
    return _batches(view_state, frame, found, regions)


def _middle(view_state: ViewState, frame: Frame, visible: Int, regions: Regions) -> list[Batch]:
    """Parallel connections as one, in the way of one of them."""
    cut, loads, geometry = view_state.cut(None), view_state.loads, view_state.geometry
    merged = np.unique(cut.of_connection[visible])
    merged = merged[merged >= 0]
    if not len(merged):
        return []
    heat = _tones(view_state, cut, merged)
    size = max(0.55, frame.scale / frame.ratio * 1.2) * frame.ratio
    width = np.maximum(np.round(width_of(cut.total(geometry.connection_capacity)[merged]) * size), 1.0)
    if view_state.calm:
        width = _calm_widths(heat, width, frame)
    assumed = cut.most(loads.assumed.astype(np.float64))[merged] > 0
    found: dict[_Style, list[Float]] = {}
    for group in polylines(np.arange(len(merged)), frame.points(cut.route[merged])):
        at = group.connections
        _collect(found, group.points, heat[at], width[at], assumed[at])
    return _batches(view_state, frame, found, regions, smooth=len(cut) <= 15 * _SMOOTH)


def _distant_lines(view_state: ViewState, frame: Frame, regions: Regions, only: Bool | None) -> list[Batch]:
    """Lines between what is still distinguished."""
    cut, geometry = view_state.cut(frame.octave), view_state.geometry
    if not len(cut):
        return []
    points = frame.points(cut.route)
    low, high = points.min(axis=1), points.max(axis=1)
    seen = np.zeros(len(points), dtype=bool)
    for x, y, width, height in regions:
        across = (high[:, 0] >= x - 4) & (low[:, 0] <= x + width + 4)
        seen |= across & (high[:, 1] >= y - 4) & (low[:, 1] <= y + height + 4)
    # shorter than a pixel is nothing to see
    seen &= (high - low).max(axis=1) >= frame.ratio
    if only is not None:
        seen &= cut.most(only.astype(np.float64)) > 0
    elif view_state.lifted_connections is not None:
        seen &= cut.most((~view_state.lifted_connections).astype(np.float64)) > 0
    at = np.flatnonzero(seen)
    heat = _tones(view_state, cut, at)
    few = len(cut) <= _SMOOTH
    thick = np.full(len(at), float(max(1, round(frame.ratio))))
    if few:
        thick = np.maximum(np.round(width_of(cut.total(geometry.connection_capacity)[at]) * 0.55 * frame.ratio), 1.0)
    points = points[at]
    if len(cut) > _MANY:
        kept = _distinct_lines(points[:, (0, -1)].reshape(-1, 4), heat)
        points, heat, thick = points[kept], heat[kept], thick[kept]
    found: dict[_Style, list[Float]] = {}
    for group in polylines(np.arange(len(points)), points):
        chosen = group.connections
        _collect(found, group.points, heat[chosen], thick[chosen], np.zeros(len(chosen), dtype=bool))
    return _batches(view_state, frame, found, (), smooth=few)


def _distinct_lines(lines: Float, heat: Int) -> Int:
    """Lines that do not fall on the same pixels as a hotter or earlier one. : (k,)"""
    grid = np.clip(np.round(lines / 2), -16_000, 16_000).astype(np.int64) + 16_384
    key = (grid[:, 0] << 48) | (grid[:, 1] << 32) | (grid[:, 2] << 16) | grid[:, 3]
    order = np.lexsort((-heat, key))
    first = np.ones(len(order), dtype=bool)
    first[1:] = key[order][1:] != key[order][:-1]
    return order[first]


def _tones(view_state: ViewState, cut: Cut, merged: Int) -> Int:
    """Class of utilisation of merged connections, or −1 − kind of their first one. : (k,)"""
    loads, geometry = view_state.loads, view_state.geometry
    kinds = geometry.connection_kind[cut.connections[cut.first[merged]]]
    if not loads.known:
        return -1 - kinds
    if view_state.calm:
        every = _calm_tones(view_state, np.arange(geometry.n_connections)).astype(np.float64)
        return cut.most(every)[merged].astype(np.int64)
    heat = cut.most(loads.heat.max(axis=1).astype(np.float64))[merged].astype(np.int64)
    return np.where(heat >= 0, heat, -1 - kinds)


def _calm_tones(view_state: ViewState, chosen: Int) -> Int:
    """Whether connections are idle, carry traffic, or limit. : (k,)"""
    loads = view_state.loads
    carries = np.nan_to_num(loads.load[chosen]).max(axis=1) > 0
    return np.where(loads.bottleneck[chosen], _LIMITS, np.where(carries, _CARRIES, _IDLE))


def _calm_widths(tone: Int, width: Float, frame: Frame) -> Float:
    """Limiting connections are broad, idle ones thin. : (k,)"""
    broad = np.where(tone == _LIMITS, np.maximum(width, _LIMIT_WIDTH * frame.ratio), width)
    return np.where(tone == _IDLE, np.minimum(broad, round(frame.ratio)), broad)


def _lines_in_regions(lines: Float, regions: Regions, margin: float) -> Float:
    """The lines that touch one of some regions; all where there are none. : (n, 5)"""
    if not regions:
        return lines
    low, high = np.minimum(lines[:, :2], lines[:, 2:4]), np.maximum(lines[:, :2], lines[:, 2:4])
    kept = np.zeros(len(lines), dtype=bool)
    for x, y, width, height in regions:
        across = (high[:, 0] >= x - margin) & (low[:, 0] <= x + width + margin)
        kept |= across & (high[:, 1] >= y - margin) & (low[:, 1] <= y + height + margin)
    return lines[kept]


def _collect(found: dict[_Style, list[Float]], points: Float, tone: Int, width: Float, assumed: Bool) -> None:
    if not len(points):
        return
    code = (tone + 512) * 4096 + (width * 4).astype(np.int64) * 2 + assumed
    for value in np.unique(code).tolist():
        style = _Style(value // 4096 - 512, (value % 4096 // 2) / 4, bool(value & 1))
        chosen = points[code == value]
        lines = np.zeros((len(chosen) * (chosen.shape[1] - 1), 5))
        lines[:, :4] = pieces(chosen)
        if style.assumed:
            lines[:, 4] = phases(chosen)  # where dashes go on
        found.setdefault(style, []).append(lines)


def _batches(
    view_state: ViewState, frame: Frame, found: dict[_Style, list[Float]], regions: Regions, smooth: bool = True
) -> list[Batch]:
    """Idle connections first, the busiest on top."""
    theme, kinds = view_state.theme, view_state.geometry.connection_kinds
    made: list[Batch] = []
    for style in sorted(found):
        lines = _lines_in_regions(np.concatenate(found[style]), regions, style.width / 2 + 2 * frame.ratio)
        if not len(lines):
            continue
        if style.tone >= _IDLE:
            traffic = mixed(theme.containers[0], theme.muted, _QUIET)
            colour = faded(view_state, (theme.card_edge, traffic, theme.bottleneck)[style.tone - _IDLE])
        elif style.tone >= 0:
            colour = faded(view_state, theme.heat[style.tone])
        else:
            colour = theme.link(kinds[-1 - style.tone])
        dash = tuple(d * frame.ratio for d in DASH) if style.assumed else ()
        lines, phase = lines[:, :4], lines[:, 4]
        if style.assumed and style.tone != _LIMITS:
            made.append(Lines(lines, colour, style.width, dash, smooth, phase))
            continue
        straight = level(lines)
        if straight.any():
            made.append(Lines(lines[straight], colour, style.width))
        if not straight.all():
            made.append(Lines(lines[~straight], colour, style.width, (), smooth))
    return made
