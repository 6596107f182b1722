"""The mark that names what limits, once: its words, their place, and a bracket under parts in a row. No Qt."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.arrange.sizes import HEADER
from designer.drawing.batches import Batch, Lines
from designer.drawing.compose_boxes import faded
from designer.drawing.compose_text import title
from designer.drawing.compose_values import bundle_plates
from designer.drawing.fonts import text_width
from designer.drawing.levels import Level
from designer.drawing.marks import outline, pill, stacked
from designer.drawing.polylines import along, polylines
from designer.drawing.view_state import Frame, ViewState

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
#: of many links and parts so many are considered, the longest links of them at so many places
_MOST_LINKS: Final = 200
_LONGEST: Final = 6
_MOST_PARTS: Final = 24
#: height of the plate, and the distance it keeps from labels and parts [px]
_HIGH: Final = 19
_APART: Final = 4
#: distance of the bracket and of a plate from the parts, and length of its ends [px]
_BELOW: Final = 14
_ENDS: Final = 10
#: shares of a bracket or a link at which the words may be, best first
_SHARES: Final = np.array(sorted(np.linspace(0.05, 0.95, 19), key=lambda share: (round(abs(share - 0.5), 6), share)))
#: share of the plate that may cover something before a place outside of everything is taken
_TOUCHED: Final = 0.02
#: names of more containers than this are not avoided
_MOST_NAMES: Final = 48


def limit_mark(view_state: ViewState, frame: Frame, pulse: float) -> list[Batch]:
    """The words of what limits on a plate that covers no label, part or count of links where there is such a place.

    `pulse` from 1 down to 0 is a ring that opens around the plate.
    """
    loads, theme = view_state.loads, view_state.theme
    boxes, links = np.flatnonzero(loads.box_limits), np.flatnonzero(loads.bottleneck)[:_MOST_LINKS]
    if not loads.mark or not (len(boxes) or len(links)):
        return []
    colour = faded(view_state, theme.bottleneck)
    bracket = _bracket(view_state, frame, boxes)
    found: list[Batch] = []
    if bracket is not None:
        x0, x1, y = frame.points(bracket).round()[[0, 1, 0], [0, 0, 1]].tolist()
        up = y - round(_ENDS * frame.ratio)
        sides = np.array([[x0, y, x1, y], [x0, y, x0, up], [x1, y, x1, up]])
        found.append(Lines(sides, colour, 1.5 * frame.ratio))
    # panning leaves the mark where it is
    key = (frame.level, frame.octave, frame.scale, frame.ratio, view_state.lifted_connections is None)
    known = view_state.marks
    if known is None or known[0] is not loads or known[1] != key:
        point = _place(view_state, frame, boxes, links, bracket)
        known = view_state.marks = (loads, key, point[None], np.ones(1, dtype=bool))
    x, y = frame.points(known[2])[0].tolist()
    plate, label = pill(loads.mark, x, y, frame, colour, theme.bottleneck_text, colour, True)
    if pulse > 0:
        grow = (1 - pulse) * 22 * frame.ratio
        opened = plate.rects + np.array([-grow, -grow, 2 * grow, 2 * grow])
        found.append(outline(np.round(opened), round(3 * frame.ratio), theme.bottleneck + f"{int(255 * pulse):02x}"))
    return found + stacked([plate], [label])


def _bracket(view_state: ViewState, frame: Frame, boxes: Int) -> Float | None:
    """The ends of the line below several parts in a row, scene units; None for parts that are in no row. : (2, 2)"""
    if len(boxes) < 2:
        return None
    x, y, wide, high = view_state.geometry.rect[boxes].T
    if np.ptp(y + high) >= high.min() / 2:
        return None
    below = (y + high).max() + _BELOW * frame.ratio / frame.scale
    return np.array([[x.min(), below], [(x + wide).max(), below]])


def _place(view_state: ViewState, frame: Frame, boxes: Int, links: Int, bracket: Float | None) -> Float:
    """The middle of the plate: the first of the places where it covers least, scene units. : (2,)"""
    unit = frame.ratio / frame.scale
    wide = (text_width(view_state.loads.mark, round(11 * frame.ratio), True) / frame.ratio + 12) * unit
    high = _HIGH * unit
    if bracket is not None:
        # the words end where the bracket does
        ends = bracket[0, 0] + wide / 2, max(bracket[1, 0] - wide / 2, bracket[0, 0] + wide / 2)
        middle = bracket[:, 0].mean()
        across = np.clip(bracket[0, 0] + _SHARES * np.ptp(bracket[:, 0]), *ends) if ends[1] > ends[0] else [middle]
        points = np.column_stack((across, np.full(len(across), bracket[0, 1])))
        around = view_state.geometry.rect[boxes]
    elif len(boxes):
        around = view_state.geometry.rect[boxes[:_MOST_PARTS]]
        x, y, w, h = around.T
        points = np.stack([np.column_stack((x + w / 2, e)) for e in (y + h + _BELOW * unit, y - _BELOW * unit)], axis=1)
        points = points.reshape(-1, 2)
    else:
        points, around = _on_links(view_state, frame, links, wide, high)
    points = np.concatenate((points, _beyond(view_state, around, high)))
    room = (wide + 2 * _APART * unit, high + 2 * _APART * unit)
    taken = np.concatenate((bundle_plates(view_state, frame), _names(view_state, frame, points, room)))
    covered = view_state.cover(points, *room, taken)
    # a plate far from what limits is worse than one that touches something
    covered[-2:] += _TOUCHED * wide * high
    # what lies within rounding of a plate is not covered
    return points[int((covered / unit**2).round(1).argmin())]


def _on_links(view_state: ViewState, frame: Frame, links: Int, wide: float, high: float) -> tuple[Float, Float]:
    """Places on the longest links, then next to them, and the rectangles of the links. : (k, 2), (n, 4)"""
    ways = view_state.routes(frame, links)
    if not len(ways):
        # from afar, links within a closed container are marked on that
        inside = view_state.cut(frame.octave).stop[view_state.geometry.connection_a[links]]
        rects = view_state.geometry.rect[np.unique(inside)]
        return rects[:, :2] + rects[:, 2:] / 2, rects
    ways = ways[np.argsort(-np.ptp(ways, axis=1).sum(axis=1), kind="stable")[:_LONGEST]]
    on = [along(group.points, share) for share in _SHARES for group in polylines(np.arange(len(ways)), ways)]
    points = np.concatenate(on)
    beside = np.array([[wide / 2 + high / 2, 0], [-wide / 2 - high / 2, 0], [0, high], [0, -high]])
    around = np.concatenate((ways.min(axis=1), np.ptp(ways, axis=1)), axis=1)
    return np.concatenate((points, *(points + step for step in beside))), around


def _beyond(view_state: ViewState, around: Float, high: float) -> Float:
    """Places below and above the outermost boxes that hold some rectangles, for what has no room within. : (2, 2)"""
    low, up = around[:, :2].min(axis=0), (around[:, :2] + around[:, 2:]).max(axis=0)
    outer = view_state.geometry.rect[view_state.geometry.depth == 0]
    touched = outer[(outer[:, :2] <= up).all(axis=1) & (outer[:, :2] + outer[:, 2:] >= low).all(axis=1)]
    top = min([low[1], *touched[:, 1]])
    bottom = max([up[1], *(touched[:, 1] + touched[:, 3])])
    middle = (low[0] + up[0]) / 2
    return np.array([[middle, bottom + high], [middle, top - high]])


def _names(view_state: ViewState, frame: Frame, points: Float, room: tuple[float, float]) -> Float:
    """What is written beside cards near some points: names of open containers, notes, machines. : (k, 4) sides"""
    geometry, rect = view_state.geometry, view_state.geometry.rect
    half = np.array(room) / 2
    low, up = points.min(axis=0) - half, points.max(axis=0) + half
    near = (rect[:, :2] < up).all(axis=1) & (rect[:, :2] + rect[:, 2:] > low).all(axis=1)
    notes = rect[near & view_state.boxes.is_note]
    found = [np.concatenate((notes[:, :2], notes[:, :2] + notes[:, 2:]), axis=1)]
    named = np.flatnonzero(near & (geometry.is_container | view_state.boxes.is_frame))
    if frame.level is not Level.FAR and len(named) <= _MOST_NAMES:
        px = max(view_state.theme.header_px, 11 * frame.ratio / frame.scale)
        for box in named.tolist():
            x, y, wide, _ = rect[box].tolist()
            indent = 24 + px
            long = min(wide, text_width(title(geometry, box), round(px), True) + 2 * indent)
            found.append(np.array([[x, y, x + long, y + max(HEADER, 1.5 * px)]]))
    if view_state.trays is not None:
        trays = view_state.trays.rect
        found.append(np.concatenate((trays[:, :2], trays[:, :2] + trays[:, 2:]), axis=1))
    return np.concatenate(found)
