"""What lies over the picture: selection, hover, guides, ghosts, remarks at the pointer. No Qt."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np
import numpy.typing as npt

from designer.catalog.parttype import Domain, link_kinds
from designer.design.address import block_at
from designer.design.geometry import Geometry
from designer.drawing.batches import Batch, Boxes, Glyphs, Labels, Lines, Rects
from designer.drawing.compose_values import amount
from designer.drawing.levels import Level
from designer.drawing.loads import box_of_path
from designer.drawing.marks import connection_glow, outline, pill
from designer.drawing.theme import CanvasTheme
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame, ViewState
from designer.gui.canvas.bending import bendable, follows_pattern
from designer.gui.canvas.snapping import Guide
from designer.gui.viewmodels.cables import let_through
from designer.units import format_line_rate, format_quantity

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]

#: more selected boxes than this are drawn as plates without an outline of their own
_MOST_OUTLINES: Final = 1500
#: pieces of a connection shorter than this have no grip [px]
_ROOM_FOR_GRIP: Final = 40.0
#: where on a piece a grip may be, best first
_PLACES: Final = np.array((0.5, 0.25, 0.75))
_NO_RECTS: Final = np.empty((0, 4))


def selection(view_state: ViewState, frame: Frame, region: Rect, boxes: Int, connections: Int) -> list[Batch]:
    """Outlines of the selected boxes in view."""
    found: list[Batch] = []
    theme = view_state.theme
    if len(boxes):
        rect = view_state.geometry.rect[boxes]
        x, y, width, height = frame.scene(region, 8 * frame.ratio)
        seen = (rect[:, 0] <= x + width) & (rect[:, 0] + rect[:, 2] >= x)
        seen &= (rect[:, 1] <= y + height) & (rect[:, 1] + rect[:, 3] >= y)
        rects = frame.boxes(rect[seen])
        if len(rects) > _MOST_OUTLINES:
            found.append(Rects(rects, theme.selection + "66"))
        elif len(rects):
            found.append(outline(rects, round(2 * frame.ratio), theme.selection, frame.ratio))
    if len(connections):
        found += connection_glow(view_state, frame, connections[:_MOST_OUTLINES], theme.selection)
    return found


def hover(view_state: ViewState, frame: Frame, box: int, colour: str | None = None) -> list[Batch]:
    """A thin frame around the box under the pointer."""
    rects = frame.boxes(view_state.geometry.rect[box : box + 1])
    return [outline(rects, round(1.5 * frame.ratio), colour or view_state.theme.hover, frame.ratio)]


def handles(points: Float, frame: Frame, colour: str, size: float = 9.0) -> list[Batch]:
    """Round handles at points in device pixels. : (k, 2)"""
    extent = int(size * frame.ratio) | 1
    return [Glyphs("ring", np.round(points - extent / 2), extent, colour)]


def grips(geometry: Geometry, connection: int, frame: Frame, colour: str, words: Float = _NO_RECTS) -> list[Batch]:
    """Short bars on the pieces of a connection by which it can be bent, where they have room, clear of words.

    Parameters
    ----------
    words
        Rectangles of what is written, device pixels. : (n, 4)
    """
    may_bend = frame.level is not Level.FAR and not follows_pattern(geometry, connection)
    bent = bendable(geometry, connection) if may_bend else None
    if bent is None:
        return []
    points = frame.points(bent.points)
    high, wide = 6 * frame.ratio, 14 * frame.ratio
    rects: list[Float] = []
    for k in np.flatnonzero(np.abs(np.diff(points, axis=0)).max(axis=1) >= _ROOM_FOR_GRIP * frame.ratio).tolist():
        extent = np.array((wide, high) if bent.is_level(k) else (high, wide))
        middles = points[k] + (points[k + 1] - points[k]) * _PLACES[:, None]
        corner = middles[:, None] - extent / 2
        over = (corner < words[None, :, :2] + words[None, :, 2:]) & (words[None, :, :2] < corner + extent)
        clear = np.flatnonzero(~over.all(axis=2).any(axis=1))
        if len(clear):
            rects.append(np.concatenate((corner[clear[0], 0], extent)))
    return [Boxes(np.round(rects), "#ffffff", colour, max(1, round(frame.ratio)), int(high // 2))] if rects else []


def side_points(frame: Frame, rect: Float) -> Float:
    """The middles of the four sides of a box in device pixels: left, top, right, bottom. : (4, 2)"""
    x, y, w, h = frame.boxes(rect.reshape(1, 4))[0].tolist()
    return np.array([(x, y + h / 2), (x + w / 2, y), (x + w, y + h / 2), (x + w / 2, y + h)])


def guides(lines: Iterable[Guide], frame: Frame, colour: str) -> list[Batch]:
    """Alignment guides."""
    data = np.array(list(lines), dtype=np.float64).reshape(-1, 2, 2)
    if not len(data):
        return []
    return [Lines(np.round(frame.points(data)).reshape(-1, 4), colour, max(1.0, round(frame.ratio)))]


def band(rect: Rect, frame: Frame, theme: CanvasTheme, touch: bool) -> list[Batch]:
    """The rubber band; dashed where it selects what it touches."""
    rects = frame.boxes(np.array([rect], dtype=np.float64))
    x, y, w, h = rects[0].tolist()
    edge = np.array([[x, y, x + w, y], [x, y + h, x + w, y + h], [x, y, x, y + h], [x + w, y, x + w, y + h]])
    dash = (4.0 * frame.ratio, 3.0 * frame.ratio) if touch else ()
    return [Rects(rects, theme.selection + "22"), Lines(edge, theme.selection, max(1.0, round(frame.ratio)), dash)]


def ghosts(rects: Float, frame: Frame, theme: CanvasTheme, good: bool = True) -> list[Batch]:
    """Places where something would be put. : (n, 4) scene units"""
    found = frame.boxes(rects)
    colour = theme.selection if good else theme.bad
    return [Rects(found, colour + "2c"), outline(found, max(1.0, round(frame.ratio)), colour)]


def strays(view_state: ViewState, frame: Frame, cables: Iterable[tuple[str, str, str]]) -> list[Batch]:
    """Cables that are not drawn: dashed lines between the boxes that show their ends, each with its word.

    Parameters
    ----------
    cables
        Paths of both ends, and the word.
    """
    shown, theme = view_state.connection_map, view_state.theme
    ends: list[tuple[int, int]] = []
    words: list[str] = []
    for a, b, word in cables:
        first, second = box_of_path(shown, a), box_of_path(shown, b)
        if first >= 0 and second >= 0:
            ends.append((first, second))
            words.append(word)
    if not ends:
        return []
    rect = view_state.geometry.rect[np.array(ends, dtype=np.int64)]
    middles = frame.points(rect[:, :, :2] + rect[:, :, 2:] / 2)
    dash = (6 * frame.ratio, 4 * frame.ratio)
    found: list[Batch] = [
        Lines(middles.reshape(-1, 4), theme.background, 5 * frame.ratio, (), True),
        Lines(middles.reshape(-1, 4), theme.bad, 2 * frame.ratio, dash, True),
    ]
    for word, (x, y) in zip(words, middles.mean(axis=1).tolist(), strict=True):
        plate, label = pill(word, x, y, frame, theme.pill, theme.bad, theme.bad, True)
        found += [plate, Labels((label,))]
    return found


def connection_text(view_state: ViewState, connection: int) -> str:
    """Kind, count and both directions of a connection, for hovering."""
    geometry, loads = view_state.geometry, view_state.loads
    kind = geometry.connection_kinds[int(geometry.connection_kind[connection])]
    count = int(geometry.connection_count[connection])
    drawn = link_kinds().get(kind)
    name = f"{drawn.title if drawn else kind.replace('_', ' ')}{f' ×{count}' if count > 1 else ''}"
    capacity = format_quantity(float(geometry.connection_capacity[connection]), "rate")
    if drawn is not None and drawn.domain is Domain.NETWORK:
        capacity = format_line_rate(float(geometry.connection_capacity[connection]))
    card = _card_of(view_state, connection)
    if card is not None:
        capacity = f"{format_line_rate(card[0])} ({card[1]}; drawn with {capacity})"
    assumed = " assumed" if loads.assumed[connection] else ""
    if not (loads.heat[connection] >= 0).any():
        return f"{name}   {capacity} per direction{assumed}"
    there, back = (amount(float(loads.load[connection, d]), float(loads.limit[connection, d])) for d in (0, 1))
    return f"{name}   → {there}   ← {back}{assumed}"


def _card_of(view_state: ViewState, connection: int) -> tuple[float, str] | None:
    """The card that lets less through than the one link a connection represents is drawn with."""
    within, links = view_state.geometry.connection_links(connection)
    if len(links) != 1:
        return None
    design = view_state.geometry.design
    block = block_at(design, within)
    link = block.links.get(links[0].id)
    return let_through(design, block, link) if link is not None else None
