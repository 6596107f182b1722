"""Bending a connection: dragging one of its pieces aside."""

from __future__ import annotations

from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt

from designer.drawing.batches import Batch, Lines
from designer.drawing.compose_connections import near
from designer.drawing.levels import Level
from designer.drawing.marks import tip
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame
from designer.gui.canvas.bending import Bendable, bend, bendable, pulled, way_of
from designer.gui.canvas.hit import Area, Hit
from designer.gui.canvas.tools._tool import Pointer, Press, Rest, Tool, ToolCanvas, ToolKind

Float = npt.NDArray[np.float64]
#: so near to another piece of the link a piece comes into line with it [view px]
_REACH: Final = 7.0


class Bend(Tool):
    """The piece follows the pointer; its neighbours stretch along."""

    hint = "Drop where the link shall run · Alt: not in line · Esc cancels"
    scrolls = True
    quiet = True

    def __init__(self, host: ToolCanvas, bent: Bendable, start: Pointer) -> None:
        super().__init__(host)
        self._bent, self._at = bent, start
        self._piece = bent.piece_at(start.sx, start.sy)
        level = bent.is_level(self._piece)
        self.cursor = Qt.CursorShape.SizeVerCursor if level else Qt.CursorShape.SizeHorCursor
        self._grip = float(bent.points[self._piece, 1 if level else 0]) - (start.sy if level else start.sx)
        self._corners: Float | None = None

    def enter(self) -> None:
        connections = np.zeros(self.host.scene.geometry.n_connections, dtype=bool)
        connections[self._bent.connection] = True
        self.host.lift(np.zeros(len(self.host.scene.geometry), dtype=bool), connections)

    def leave(self) -> None:
        self.host.lift(None, None)

    def move(self, p: Pointer) -> None:
        self._at = p
        to = (p.sy if self._bent.is_level(self._piece) else p.sx) + self._grip
        reach = 0.0 if p.alt else _REACH / self.host.view.scale
        self._corners = pulled(self.host.scene.geometry, self._bent, self._piece, to, reach)
        self.host.refresh()

    def release(self, p: Pointer) -> None:
        self.move(p)
        assert self._corners is not None
        offer = bend(self.host.scene.geometry, self._bent, self._corners)
        if offer.edit is not None:
            # the edit comes first, so that nothing is drawn at its old place in between
            self.host.make(offer.edit)
        self.host.finish()
        if offer.reason:
            self.host.warn(offer.reason)

    def key(self, press: Press) -> bool:
        """Keys other than Esc wait until the drag is over."""
        return True

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        if self._corners is None:
            return []
        geometry, theme = self.host.scene.geometry, self.host.scene.theme
        way, free = way_of(geometry, self._bent, self._corners)
        found: list[Batch] = []
        whole = self._whole(way)
        if frame.level is not Level.FAR:
            found += near(self.host.scene.view_state, frame, np.array([self._bent.connection]), whole[None])
        points = frame.points(whole)
        lines = np.concatenate((points[:-1], points[1:]), axis=1)
        found.append(Lines(lines, (theme.selection if free else theme.bad) + "90", 6.0 * frame.ratio, (), False))
        offer = bend(geometry, self._bent, self._corners)
        if offer.reason:
            x, y = frame.points(np.array([self._at.sx, self._at.sy])).tolist()
            found += tip(offer.reason, x, y, frame, theme, False, region)
        return found

    def _whole(self, way: Float) -> Float:
        """The way with what leads to it out of the boxes at its ends."""
        route = self.host.scene.geometry.connection_route[self._bent.connection]
        one, other = self._bent.points[0], self._bent.points[-1]
        head = [] if self._bent.direct[0] else _until(route, one)
        tail = [] if self._bent.direct[1] else _until(route[::-1], other)[::-1]
        return np.array([*head, *way, *tail])


def _until(route: Float, point: Float) -> list[Float]:
    """The corners of a way in front of a point on it."""
    found = [route[0]]
    for before, here in pairwise(route):
        low, high = np.minimum(before, here) - 1e-6, np.maximum(before, here) + 1e-6
        if ((point >= low) & (point <= high)).all():
            break
        found.append(here)
    return found


def _drag(rest: Rest, down: Pointer, hit: Hit) -> Tool | None:
    """By a piece of a selected connection; where several are merged there is none to take hold of."""
    if hit.area is not Area.CONNECTION or not rest.was_selected or down.shift or down.ctrl:
        return None
    if rest.host.frame().level is Level.FAR:
        rest.host.say("Zoom in to bend this link")
        return None
    bent = bendable(rest.host.scene.geometry, hit.number)
    return Bend(rest.host, bent, down) if bent is not None else None


TOOL = ToolKind("bend", 30, drag=_drag)
