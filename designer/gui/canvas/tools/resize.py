"""Giving a container, card or note another size by its lower right corner."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt

from designer.design.edits.placement import Resize as ResizeEdit
from designer.design.room import largest
from designer.drawing.batches import Batch
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame
from designer.gui.canvas.compose_overlay import ghosts
from designer.gui.canvas.snapping import gridded
from designer.gui.canvas.tools._tool import Pointer, Rest, Tool, ToolCanvas, ToolKind

_SMALLEST = (48.0, 32.0)


class Resize(Tool):
    """The corner follows the pointer until it meets a neighbour; a container never gets smaller than its contents."""

    hint = "Alt: without the grid · Esc cancels"
    cursor = Qt.CursorShape.SizeFDiagCursor
    scrolls = True

    def __init__(self, host: ToolCanvas, box: int, start: Pointer) -> None:
        super().__init__(host)
        self._box, self._start = box, start
        geometry = host.scene.geometry
        self._rect = geometry.rect[box].copy()
        #: positions of the contents count from here, and so does the size of a container
        self._origin = geometry.origin[box].copy() if geometry.is_container[box] else self._rect[:2]
        inner = np.arange(box + 1, int(geometry.last[box]))
        self._least = np.array(_SMALLEST)
        if geometry.is_container[box] and len(inner):
            corner = (geometry.rect[inner, :2] + geometry.rect[inner, 2:]).max(axis=0) + 24.0
            self._least = np.maximum(self._least, corner - self._origin)
        self._size = self._rect[2:] - (self._origin - self._rect[:2])

    def move(self, p: Pointer) -> None:
        corner = self._rect[:2] + self._rect[2:] + np.array([p.sx - self._start.sx, p.sy - self._start.sy])
        if not p.alt:
            corner = np.array([gridded(float(corner[0])), gridded(float(corner[1]))])
        width, height = np.maximum(corner - self._origin, self._least).tolist()
        self._size = np.array(largest(self.host.scene.geometry, self._box, round(width), round(height)))
        self.host.refresh()

    def release(self, p: Pointer) -> None:
        self.move(p)
        within, ref = self.host.scene.geometry.address(self._box)
        width, height = (round(float(v)) for v in self._size)
        self.host.finish()
        if p.far_from(self._start, 1.0):
            self.host.make(ResizeEdit(ref, (width, height), within=within))

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        rect = np.array([[*self._rect[:2], *(self._origin - self._rect[:2] + self._size)]])
        return ghosts(rect, frame, self.host.scene.theme)


def _press(rest: Rest, p: Pointer) -> Tool | None:
    """On the lower right corner of what is selected."""
    grip = rest.grip_at(p) if p.button is Qt.MouseButton.LeftButton else -1
    return Resize(rest.host, grip, p) if grip >= 0 else None


TOOL = ToolKind("resize", 50, _press)
