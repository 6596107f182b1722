"""Marks that stand on the picture: frames around things, glowing connections, texts on plates, remarks. No Qt."""

from __future__ import annotations

from math import floor

import numpy as np
import numpy.typing as npt

from designer.drawing.batches import Batch, Boxes, Label, Labels, Lines, Rects
from designer.drawing.fonts import text_width
from designer.drawing.polylines import pieces, polylines
from designer.drawing.theme import CanvasTheme
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame, ViewState

Float = npt.NDArray[np.float64]
Int = npt.NDArray[np.int64]


def outline(rects: Float, width: float, colour: str, gap: float = 0.0) -> Rects:
    """Frames around rectangles. : (n, 4)"""
    x, y = rects[:, 0] - gap - width, rects[:, 1] - gap - width
    w, h = rects[:, 2] + 2 * (gap + width), rects[:, 3] + 2 * (gap + width)
    t = np.full_like(x, width)
    sides = (
        np.stack((x, y, w, t), axis=1),
        np.stack((x, y + h - t, w, t), axis=1),
        np.stack((x, y + t, t, h - 2 * t), axis=1),
        np.stack((x + w - t, y + t, t, h - 2 * t), axis=1),
    )
    return Rects(np.concatenate(sides), colour)


def connection_glow(
    view_state: ViewState, frame: Frame, connections: Int, colour: str, strength: str = "90"
) -> list[Batch]:
    """Connections drawn broad and translucent over themselves."""
    route = frame.points(view_state.routes(frame, connections))
    lines = [pieces(group.points) for group in polylines(np.arange(len(route)), route)]
    found: list[Batch] = []
    if lines:
        found.append(Lines(np.concatenate(lines), colour + strength, 6.0 * frame.ratio, (), False))
    return found


def pill(
    text: str, x: float, y: float, frame: Frame, fill: str, colour: str, edge: str, bold: bool = False
) -> tuple[Boxes, Label]:
    """A text on a small plate, its middle at a point in device pixels."""
    px = round(11 * frame.ratio)
    wide = round(text_width(text, px, bold) + 12 * frame.ratio)
    high = round(px * 1.7)
    # halves always go the same way: a plate must not jump by a pixel while the view moves
    left, top = floor(x - wide / 2 + 0.5), floor(y - high / 2 + 0.5)
    plate = Boxes(np.array([[left, top, wide, high]], dtype=np.float64), fill, edge, 1, int(high // 3))
    return plate, Label(left, top, wide + 2, high, text, px, colour, bold, "center")


def tip(text: str, x: float, y: float, frame: Frame, theme: CanvasTheme, good: bool, region: Rect) -> list[Batch]:
    """A remark next to the pointer, kept inside the region."""
    px = round(11 * frame.ratio)
    wide = text_width(text, px, False) + 12 * frame.ratio
    x = min(max(x + 18 * frame.ratio + wide / 2, region[0] + wide / 2), region[0] + region[2] - wide / 2)
    y = min(y + 26 * frame.ratio, region[1] + region[3] - px * 1.5)
    edge = theme.good if good else theme.bad
    plate, label = pill(text, x, y, frame, theme.pill, theme.pill_text, edge)
    return [plate, Labels((label,))]


def is_free(plate: Boxes, taken: list[Rect]) -> bool:
    """True if a plate covers none of those taken; then it is one of them."""
    x, y, w, h = plate.rects[0].tolist()
    for ox, oy, ow, oh in taken:
        if x < ox + ow + 4 and ox < x + w + 4 and y < oy + oh + 2 and oy < y + h + 2:
            return False
    taken.append((x, y, w, h))
    return True


def stacked(plates: list[Boxes], labels: list[Label]) -> list[Batch]:
    """Plates of one style as one batch, their texts on top."""
    if not plates:
        return []
    first = plates[0]
    rects = np.concatenate([p.rects for p in plates])
    return [Boxes(rects, first.fill, first.edge, first.edge_width, first.radius), Labels(tuple(labels))]
