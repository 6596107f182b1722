"""Marks on what binds: links and parts. No Qt."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.design.arrange.sizes import HEADER
from designer.drawing.batches import Batch, Boxes, Label, Lines
from designer.drawing.compose_boxes import faded
from designer.drawing.compose_text import title
from designer.drawing.compose_values import bundle_plates, value_plates
from designer.drawing.fonts import text_width
from designer.drawing.levels import Level
from designer.drawing.marks import connection_glow, is_free, outline, pill, stacked
from designer.drawing.polylines import along, halfway, pieces, polylines
from designer.drawing.theme import CanvasTheme
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame, ViewState

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
#: of many links and parts so many are considered, the longest links of them at so many places
_MOST_LINKS: Final = 200
_LONGEST: Final = 6
_MOST_PARTS: Final = 24
#: height of the plate, and the distance it keeps from labels [px]
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


def written(view_state: ViewState, frame: Frame) -> Float:
    """Where words stand on connections: what limits, values, and counts of links, device pixels. : (n, 4)"""
    scene = np.concatenate((value_plates(view_state, frame), bundle_plates(view_state, frame)))
    if view_state.marks is None:
        return frame.boxes(scene)
    words = view_state.loads.mark if view_state.calm else _WORD
    at = frame.points(view_state.marks[2][view_state.marks[3]])
    plates = [pill(words, x, y, frame, "", "", "", True)[0].rects for x, y in at.tolist()] if words else []
    return np.concatenate((frame.boxes(scene), *plates))


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
    points = np.concatenate((points, _outer_places(view_state, around, high)))
    taken = np.concatenate((bundle_plates(view_state, frame), _names(view_state, frame, points, (wide, high))))
    taken += np.array([-1, -1, 1, 1]) * _APART * unit
    covered = view_state.cover(points, wide + 2 * unit, high + 2 * unit, taken)
    # beside the picture the window may end
    left, _, extent, _ = view_state.bounds
    outside = np.maximum(left - points[:, 0], points[:, 0] - left - extent) + wide / 2
    covered += np.clip(outside, 0, wide) * high
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
    steps = np.array([[wide / 2 + high / 2, 0], [-wide / 2 - high / 2, 0], [0, high], [0, -high]])
    around = np.concatenate((ways.min(axis=1), np.ptp(ways, axis=1)), axis=1)
    return np.concatenate((points, *(points + step for step in steps))), around


def _outer_places(view_state: ViewState, around: Float, high: float) -> Float:
    """Places below and above the outermost boxes that hold some rectangles, for what has no room within. : (2, 2)"""
    low, up = around[:, :2].min(axis=0), (around[:, :2] + around[:, 2:]).max(axis=0)
    outer = view_state.geometry.rect[view_state.geometry.depth == 0]
    touched = outer[(outer[:, :2] <= up).all(axis=1) & (outer[:, :2] + outer[:, 2:] >= low).all(axis=1)]
    top = min([low[1], *touched[:, 1]])
    bottom = max([up[1], *(touched[:, 1] + touched[:, 3])])
    middle = (low[0] + up[0]) / 2
    return np.array([[middle, bottom + high], [middle, top - high]])


def _names(view_state: ViewState, frame: Frame, points: Float, room: tuple[float, float]) -> Float:
    """What is written next to cards near some points: names of open containers, notes, machines. : (k, 4) sides"""
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


Bool = npt.NDArray[np.bool_]
_WORD: Final = "limits"
#: dots closer than this are one [px]
_DOT: Final = 12
#: so many badges are shown at once, on so many connections
_MOST_BADGES: Final = 24
_MOST_BOTTLENECK: Final = 200
#: so many badges carry their word; of more only the first, the others are dots
_WORDS: Final = 4
#: of so many the one whose word covers least
_CANDIDATES: Final = 6
#: from this height on a card has room for a badge on its upper edge, above its name [px]
_HIGH_CARD: Final = 50


def bottleneck_glow(view_state: ViewState, frame: Frame) -> list[Batch]:
    """The connections that bind, broad below everything that is written; from afar their marks say enough."""
    bottleneck = np.flatnonzero(view_state.loads.bottleneck)[:_MOST_BOTTLENECK]
    if view_state.lifted_connections is not None:
        bottleneck = bottleneck[~view_state.lifted_connections[bottleneck]]
    if frame.level is Level.FAR or not len(bottleneck) or view_state.calm:
        return []
    return connection_glow(view_state, frame, bottleneck, faded(view_state, view_state.theme.bottleneck), "58")


def limit_frames(view_state: ViewState, frame: Frame) -> list[Batch]:
    """A tint and a frame on each card whose part limits, where only that is coloured."""
    boxes = np.flatnonzero(view_state.loads.box_limits)
    if not view_state.calm or frame.level is Level.FAR or not len(boxes):
        return []
    if view_state.lifted is not None:
        boxes = boxes[~view_state.lifted[boxes]]
    colour = faded(view_state, view_state.theme.bottleneck)
    rects, r = frame.boxes(view_state.geometry.rect[boxes]), frame.ratio
    return [
        outline(rects, round(3 * r), colour + "38"),
        Boxes(rects, colour + "1c", colour, max(2, round(2 * r)), round(5 * r)),
    ]


def badges(
    view_state: ViewState,
    frame: Frame,
    region: Rect,
    pulse: float = 0.0,
    named: frozenset[int] = frozenset(),
) -> list[Batch]:
    """Marks on what binds: plates with a word on parts and, where they are few, on connections; else dots and one word.

    `named` are connections that always get the word, as far as they are few; `pulse` from 1 down to 0 is a ring that
    opens around each mark.
    """
    theme = view_state.theme
    if view_state.calm:
        return limit_mark(view_state, frame, pulse) + _draw_failed(view_state, frame, region, [])
    found: list[Batch] = []
    marks = _part_marks(view_state, frame, region) + _connection_marks(view_state, frame, region, named)
    plates: list[Boxes] = []
    labels: list[Label] = []
    taken: list[Rect] = []
    dots: list[tuple[float, float]] = []
    rings: list[Float] = []
    for px, py, word in _distinct_marks(marks, frame):
        plate, label = pill(word, px, py, frame, theme.bottleneck, theme.bottleneck_text, theme.bottleneck, True)
        if word and len(plates) < _MOST_BADGES and is_free(plate, taken):
            plates.append(plate)
            labels.append(label)
            rings.append(plate.rects)
        elif not word:
            dots.append((px, py))
            rings.append(np.array([[px - 5 * frame.ratio, py - 5 * frame.ratio, *(2 * [10 * frame.ratio])]]))
    if pulse > 0 and rings:
        grow = (1 - pulse) * 22 * frame.ratio
        opened = np.concatenate(rings[:_MOST_BADGES]) + np.array([-grow, -grow, 2 * grow, 2 * grow])
        found.append(outline(np.round(opened), round(3 * frame.ratio), theme.bottleneck + f"{int(255 * pulse):02x}"))
    return found + _dots(dots, frame, theme) + stacked(plates, labels) + _draw_failed(view_state, frame, region, taken)


def _draw_failed(view_state: ViewState, frame: Frame, region: Rect, taken: list[Rect]) -> list[Batch]:
    """What has failed: links dashed, parts crossed out, and on each the word on a plate that is not filled.

    What is marked with words of its own has not failed: its parts are outlined.
    """
    loads, theme = view_state.loads, view_state.theme
    links, boxes = np.flatnonzero(loads.failed)[:_MOST_BADGES], np.flatnonzero(loads.box_failed)[:_MOST_BADGES]
    found: list[Batch] = []
    marks: list[tuple[str, Float]] = []
    if len(links):
        ways = view_state.routes(frame, links)
        lines = [pieces(group.points) for group in polylines(np.arange(len(ways)), frame.points(ways))]
        dash = (4 * frame.ratio, 3 * frame.ratio)
        found.append(Lines(np.concatenate(lines), theme.background, 4 * frame.ratio, (), False))
        found.append(Lines(np.concatenate(lines), theme.bad, 2 * frame.ratio, dash, False))
        # the links of a failed part need no word of their own
        usual = "" if len(boxes) and not loads.failed_words else "failed"
        words = [loads.failed_words.get(n, usual) for n in links.tolist()]
        marks += zip(words, frame.points(halfway(ways)), strict=True)
    if len(boxes):
        rect = view_state.geometry.rect[boxes]
        words = [loads.box_failed_words.get(n, "") for n in boxes.tolist()]
        named = np.array([bool(word) for word in words])
        if named.any():
            found.append(outline(frame.boxes(rect[named]), round(2 * frame.ratio), theme.bad, frame.ratio))
        if not named.all():
            found.append(Lines(_crosses(frame, rect[~named]), theme.bad, 2 * frame.ratio, (), True))
        feet = frame.points(rect[:, :2] + rect[:, 2:] * (0.5, 1.0))
        marks += zip([word or "failed" for word in words], feet, strict=True)
    plates: list[Boxes] = []
    labels: list[Label] = []
    for word, at in marks:
        x, y = at.tolist()
        plate, label = pill(word, x, y, frame, theme.pill, theme.bad, theme.bad, True)
        if word and _points_inside(np.array([[x, y]]), region)[0] and is_free(plate, taken):
            plates.append(plate)
            labels.append(label)
    return found + stacked(plates, labels)


def _crosses(frame: Frame, rect: Float) -> Float:
    """The diagonals of boxes. : (2 k, 4)"""
    low, high = frame.points(rect[:, :2]), frame.points(rect[:, :2] + rect[:, 2:])
    down = np.concatenate((low, high), axis=1)
    up = np.stack((low[:, 0], high[:, 1], high[:, 0], low[:, 1]), axis=1)
    return np.concatenate((down, up))


#: where a mark is [device pixels] and its word, empty for a dot
_Mark = tuple[float, float, str]


def _connection_marks(view_state: ViewState, frame: Frame, region: Rect, named: frozenset[int]) -> list[_Mark]:
    """A mark on the line of each connection in sight that binds, those with a word first."""
    bottleneck = np.flatnonzero(view_state.loads.bottleneck)
    if not len(bottleneck):
        return []
    # a little zoom leaves marks where they are
    key = (frame.level, frame.octave, round(4 * np.log2(frame.scale)), frame.ratio, named)
    known = view_state.marks
    if known is None or known[0] is not view_state.loads or known[1] != key:
        known = view_state.marks = (view_state.loads, key, *_places(view_state, frame, bottleneck, named))
    points, worded = frame.points(known[2]), known[3]
    seen = _points_inside(points, region)
    points, worded = points[seen], worded[seen]
    order = np.argsort(~worded, kind="stable")
    return [
        (x, y, _WORD if word else "")
        for (x, y), word in zip(points[order].tolist(), worded[order].tolist(), strict=True)
    ]


def _places(view_state: ViewState, frame: Frame, bottleneck: Int, named: frozenset[int]) -> tuple[Float, Bool]:
    """Where on the lines of what binds marks stand, clear of cards and of values, and which carry the word. :
    (k, 2), (k,)"""
    unit = frame.ratio / frame.scale
    if frame.level is Level.FAR:
        cut = view_state.cut(frame.octave)
        merged = cut.of_connection[bottleneck]
        ways = cut.route[np.unique(merged[merged >= 0])]
        # what binds within a closed container is marked on that
        rects = view_state.geometry.rect[np.unique(cut.stop[view_state.geometry.connection_a[bottleneck[merged < 0]]])]
        points = np.concatenate((halfway(ways), rects[:, :2] + rects[:, 2:] / 2))
        worded = np.zeros(len(points), dtype=bool)
        worded[: len(points) if len(points) <= _WORDS else 1] = True
        return points, worded
    connections = bottleneck[:_MOST_BOTTLENECK]
    ways = view_state.routes(frame, connections)
    taken = np.concatenate((value_plates(view_state, frame), bundle_plates(view_state, frame)))
    word = ((text_width(_WORD, round(11 * frame.ratio), True) / frame.ratio + 12) * unit, 19 * unit)
    points, _ = view_state.least_covered(ways, _DOT * unit, _DOT * unit, taken)
    worded = np.ones(len(connections), dtype=bool)
    if len(connections) > _WORDS:
        worded = np.isin(connections, list(named))
        if not 0 < worded.sum() <= _WORDS:
            # the longest have most room around them
            longest = np.argsort(-np.ptp(ways, axis=1).sum(axis=1), kind="stable")[:_CANDIDATES]
            covered = view_state.least_covered(ways[longest], *word, taken)[1]
            worded = np.arange(len(connections)) == longest[covered.argmin()]
    points[worded] = view_state.least_covered(ways[worded], *word, taken)[0]
    return points, worded


def _distinct_marks(marks: list[_Mark], frame: Frame) -> list[_Mark]:
    """Marks of which no two dots fall on each other: links in a bundle have one for all."""
    found: dict[tuple[int, int, str], _Mark] = {}
    for x, y, word in marks:
        room = _DOT * frame.ratio
        place = (round(x), round(y)) if word else (int(x // room), int(y // room))
        found.setdefault((*place, word), (x, y, word))
    return list(found.values())


def _part_marks(view_state: ViewState, frame: Frame, region: Rect) -> list[_Mark]:
    """A mark at each box in sight whose part binds by itself: a store, a GPU that computes.

    On the upper edge of a high card; above or below a low one, where it covers less of others.
    """
    boxes = np.flatnonzero(view_state.loads.box_bottleneck)[:_MOST_BOTTLENECK]
    if not len(boxes):
        return []
    words = [f"{_WORD} ×{n}" if n > 1 else _WORD for n in view_state.loads.box_bottleneck[boxes].tolist()]
    unit = frame.ratio / frame.scale
    x, y, w, h = view_state.geometry.rect[boxes].T
    low = h < _HIGH_CARD * unit
    wide = (text_width(max(words, key=len), round(11 * frame.ratio), True) / frame.ratio + 12) * unit
    high, lift = 19 * unit, np.where(low, 10 * unit, 0.0)
    above, below = (np.column_stack((x + w / 2, edge)) for edge in (y - lift, y + h + lift))
    above[low] = view_state.clearest(np.stack((above, below), axis=1)[low], wide, high)
    points = frame.points(above)
    seen = _points_inside(points, region)
    return [(x, y, word) for (x, y), word, shown in zip(points.tolist(), words, seen.tolist(), strict=True) if shown]


def _points_inside(points: Float, region: Rect) -> npt.NDArray[np.bool_]:
    """Which points lie in a region. : (k,)"""
    x, y, w, h = region
    seen = (points[:, 0] >= x) & (points[:, 0] <= x + w) & (points[:, 1] >= y) & (points[:, 1] <= y + h)
    return np.asarray(seen, dtype=np.bool_)


def _dots(points: list[tuple[float, float]], frame: Frame, theme: CanvasTheme) -> list[Batch]:
    """Small round marks with a rim that is off from any ground."""
    if not points:
        return []
    size = int(9 * frame.ratio) | 1
    corners = np.floor(np.array(points) - size / 2 + 0.5)
    rects = np.column_stack((corners, np.full((len(points), 2), float(size))))
    return [Boxes(rects, theme.bottleneck, theme.background, max(1, round(frame.ratio)), size // 2)]
