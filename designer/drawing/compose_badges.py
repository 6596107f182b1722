"""Marks on what binds: links and parts. No Qt."""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from designer.drawing.batches import Batch, Boxes, Label
from designer.drawing.compose_boxes import faded
from designer.drawing.fonts import text_width
from designer.drawing.levels import Level
from designer.drawing.marks import connection_glow, is_free, outline, pill, stacked
from designer.drawing.polylines import halfway
from designer.drawing.theme import CanvasTheme
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame, ViewState

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]
#: dots closer than this are one [px]
_DOT: Final = 12
#: so many badges are shown at once, on so many connections
_MOST_BADGES: Final = 24
_MOST_BOTTLENECK: Final = 200
#: so many badges carry their word; of more only the first, the others are dots
_WORDS: Final = 4
#: of so many the one whose word covers least
_CANDIDATES: Final = 6
#: from this height on a card has room for a badge on its upper edge [px]
_HIGH_CARD: Final = 40


def bottleneck_glow(view_state: ViewState, frame: Frame) -> list[Batch]:
    """The connections that bind, broad below everything that is written; from afar their marks say enough."""
    bottleneck = np.flatnonzero(view_state.loads.bottleneck)[:_MOST_BOTTLENECK]
    if view_state.lifted_connections is not None:
        bottleneck = bottleneck[~view_state.lifted_connections[bottleneck]]
    if frame.level is Level.FAR or not len(bottleneck):
        return []
    return connection_glow(view_state, frame, bottleneck, faded(view_state, view_state.theme.bottleneck), "58")


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
    found: list[Batch] = []
    marks = _part_marks(view_state, frame, region) + _connection_marks(view_state, frame, region, named)
    plates: list[Boxes] = []
    labels: list[Label] = []
    taken: list[Rect] = []
    dots: list[tuple[float, float]] = []
    rings: list[Float] = []
    for px, py, word in _apart(marks, frame):
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
    return found + _dots(dots, frame, theme) + stacked(plates, labels)


#: where a mark stands [device pixels] and its word, empty for a dot
_Mark = tuple[float, float, str]


def _connection_marks(view_state: ViewState, frame: Frame, region: Rect, named: frozenset[int]) -> list[_Mark]:
    """A mark on each connection in sight that binds, those with a word first."""
    bottleneck = np.flatnonzero(view_state.loads.bottleneck)
    if not len(bottleneck):
        return []
    if frame.level is Level.FAR:
        cut = view_state.cut(frame.octave)
        merged = cut.of_connection[bottleneck]
        ways = cut.route[np.unique(merged[merged >= 0])]
        # what binds within a closed container is marked on that
        boxes = np.unique(cut.stop[view_state.geometry.connection_a[bottleneck[merged < 0]]])
        rects = view_state.geometry.rect[boxes]
        points = frame.points(np.concatenate((halfway(ways), rects[:, :2] + rects[:, 2:] / 2)))
        connections = np.full(len(points), -1)
    else:
        connections = bottleneck[:_MOST_BOTTLENECK]
        points = _points(view_state, frame, connections)
    seen = _inside(points, region)
    points, connections = points[seen], connections[seen]
    worded = _worded(view_state, frame, connections, named)
    shift = 16 * frame.ratio if frame.level is Level.NEAR else 0.0
    marks: list[_Mark] = []
    for k in np.argsort(~worded, kind="stable").tolist():
        px, py = points[k].tolist()
        if worded[k] and connections[k] >= 0 and frame.level is not Level.NEAR:
            px, py = frame.points(np.array(_freest(view_state, frame, int(connections[k]))[:2])).tolist()
        marks.append((px, py - shift, "bound" if worded[k] else ""))
    return marks


def _apart(marks: list[_Mark], frame: Frame) -> list[_Mark]:
    """Marks of which no two dots fall upon each other: links in a bundle have one for all."""
    found: dict[tuple[int, int, str], _Mark] = {}
    for x, y, word in marks:
        room = _DOT * frame.ratio
        place = (round(x), round(y)) if word else (int(x // room), int(y // room))
        found.setdefault((*place, word), (x, y, word))
    return list(found.values())


def _part_marks(view_state: ViewState, frame: Frame, region: Rect) -> list[_Mark]:
    """A mark on the upper edge of each box in sight whose part binds by itself: a store, a GPU that computes."""
    boxes = np.flatnonzero(view_state.loads.box_bottleneck)[:_MOST_BOTTLENECK]
    if not len(boxes):
        return []
    rects = frame.boxes(view_state.geometry.rect[boxes])
    # clear of the text of a low card, on the edge of a high one
    lift = np.where(rects[:, 3] < _HIGH_CARD * frame.ratio, 7 * frame.ratio, 0.0)
    points = np.column_stack((rects[:, 0] + rects[:, 2] / 2, rects[:, 1] - lift))
    seen = _inside(points, region)
    return [
        (x, y, f"bound ×{alike}" if alike > 1 else "bound")
        for (x, y), alike in zip(
            points[seen].tolist(), view_state.loads.box_bottleneck[boxes[seen]].tolist(), strict=True
        )
    ]


def _inside(points: Float, region: Rect) -> npt.NDArray[np.bool_]:
    """Which points lie in a region. : (k,)"""
    x, y, w, h = region
    seen = (points[:, 0] >= x) & (points[:, 0] <= x + w) & (points[:, 1] >= y) & (points[:, 1] <= y + h)
    return np.asarray(seen, dtype=np.bool_)


def _freest(view_state: ViewState, frame: Frame, connection: int) -> tuple[float, float, float]:
    """Where the word covers least of any card, and how much."""
    wide = (text_width("bound", round(11 * frame.ratio), True) + 12 * frame.ratio) / frame.scale
    return view_state.free_point(connection, wide, 19 * frame.ratio / frame.scale, round(4 * np.log2(frame.scale)))


def _worded(view_state: ViewState, frame: Frame, connections: Int, named: frozenset[int]) -> npt.NDArray[np.bool_]:
    """Which marks carry the word."""
    if len(connections) <= _WORDS:
        return np.ones(len(connections), dtype=bool)
    chosen = np.isin(connections, list(named)) if named else np.zeros(len(connections), dtype=bool)
    if not 0 < chosen.sum() <= _WORDS:
        # the longest has most room around it
        spread = (
            np.ptp(view_state.geometry.connection_route[connections], axis=1).sum(axis=1)
            if connections[0] >= 0
            else np.zeros(len(connections))
        )
        chosen[:] = False
        longest: list[int] = np.argsort(-spread, kind="stable")[:_CANDIDATES].tolist()
        if connections[0] >= 0:
            longest.sort(key=lambda k: _freest(view_state, frame, int(connections[k]))[2])
        chosen[longest[0]] = True
    return chosen


def _dots(points: list[tuple[float, float]], frame: Frame, theme: CanvasTheme) -> list[Batch]:
    """Small round marks with a rim that stands off from any ground."""
    if not points:
        return []
    size = int(9 * frame.ratio) | 1
    corners = np.round(np.array(points) - size / 2)
    rects = np.column_stack((corners, np.full((len(points), 2), float(size))))
    return [Boxes(rects, theme.bottleneck, theme.background, max(1, round(frame.ratio)), size // 2)]


def _points(view_state: ViewState, frame: Frame, connections: Int) -> Float:
    """Where on connections values are written, device pixels. : (k, 2)"""
    return frame.points(view_state.label_points(connections))
