"""The rubber band: from left to right it selects what it encloses, from right to left what it touches."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt

from designer.drawing.batches import Batch
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame
from designer.gui.canvas.compose_overlay import band, selection
from designer.gui.canvas.editing import Picked
from designer.gui.canvas.hit import Hit, inside
from designer.gui.canvas.tools._tool import Pointer, Rest, Tool, ToolCanvas, ToolKind


class Band(Tool):
    """Selects by dragging over empty ground; Shift adds to the selection, Ctrl takes out of it or adds."""

    hint = "To the right selects what is inside, to the left what is touched · Shift adds · Esc cancels"
    cursor = Qt.CursorShape.CrossCursor
    scrolls = True

    def __init__(self, host: ToolCanvas, start: Pointer) -> None:
        super().__init__(host)
        self._start, self._at = start, start
        self._base = host.scene.selection
        self._found = np.empty(0, dtype=np.int64)

    def move(self, p: Pointer) -> None:
        self._at = p
        self._found = inside(self.host.scene.view_state, *self._rect(), touch=self._touch)
        self.host.refresh()

    def release(self, p: Pointer) -> None:
        self.move(p)
        picked: frozenset[Picked] = self.host.scene.picks(self._found)
        if p.ctrl:
            picked = self._base ^ picked
        elif p.shift:
            picked = self._base | picked
        self.host.finish()
        self.host.select(picked)

    @property
    def _touch(self) -> bool:
        return self._at.sx < self._start.sx

    def _rect(self) -> Rect:
        a, b = self._start, self._at
        return min(a.sx, b.sx), min(a.sy, b.sy), abs(a.sx - b.sx), abs(a.sy - b.sy)

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        view_state = self.host.scene.view_state
        found = selection(view_state, frame, region, self._found, np.empty(0, dtype=np.int64))
        return found + band(self._rect(), frame, view_state.theme, self._touch)


def _drag(rest: Rest, down: Pointer, hit: Hit) -> Tool | None:
    """From anywhere else."""
    del hit
    return Band(rest.host, down)


TOOL = ToolKind("band", 90, drag=_drag)
