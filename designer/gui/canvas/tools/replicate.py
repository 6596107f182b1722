"""Copies in rows and columns: the pointer or the arrow keys say how many."""

from __future__ import annotations

import numpy as np
from PySide6.QtCore import Qt

from designer.design.address import Ref
from designer.design.edits.clipboard import Replicate as ReplicateEdit
from designer.drawing.batches import Batch
from designer.drawing.marks import tip
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame
from designer.gui.canvas.compose_overlay import ghosts
from designer.gui.canvas.snapping import gridded
from designer.gui.canvas.tools._tool import ARROWS, Pointer, Press, Rest, Tool, ToolCanvas, ToolKind

_GAP = 24.0
_MOST = 200


class Replicate(Tool):
    """Shows where the copies would stand; a click or Enter makes them as one step."""

    hint = "Move or use the arrow keys to set rows and columns · Enter or click makes them · Esc cancels"
    cursor = Qt.CursorShape.DragCopyCursor
    scrolls = True
    quiet = True

    def __init__(self, host: ToolCanvas) -> None:
        super().__init__(host)
        scene = host.scene
        self._boxes = scene.selected
        self._rect = scene.region(self._boxes)
        self.dx = max(gridded(self._rect[2] + _GAP), 8.0)
        self.dy = max(gridded(self._rect[3] + _GAP), 8.0)
        self.columns, self.rows = 2, 1

    def move(self, p: Pointer) -> None:
        x, y, width, height = self._rect
        self.columns = _count((p.sx - x - width) / self.dx)
        self.rows = _count((p.sy - y - height) / self.dy)
        self.host.refresh()

    def release(self, p: Pointer) -> None:
        if p.button is Qt.MouseButton.LeftButton:
            self.commit()

    def key(self, press: Press) -> bool:
        if press.key in ARROWS:
            direction = ARROWS[press.key]
            self.columns = min(max(self.columns + {"right": 1, "left": -1}.get(direction, 0), 1), _MOST)
            self.rows = min(max(self.rows + {"down": 1, "up": -1}.get(direction, 0), 1), _MOST)
            self.host.refresh()
            return True
        if press.key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.commit()
            return True
        return False

    def commit(self) -> None:
        """Make the copies."""
        geometry = self.host.scene.geometry
        picked = [geometry.address(int(box)) for box in self._boxes]
        self.host.finish()
        if not picked or self.columns * self.rows < 2:
            return
        within = picked[0][0]
        refs: tuple[Ref, ...] = tuple(ref for own, ref in picked if own == within)
        self.host.make(
            ReplicateEdit(refs, self.columns, self.rows, round(self.dx), round(self.dy), within=within), True
        )

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        x, y, width, height = self._rect
        cells = np.array(
            [
                [x + c * self.dx, y + r * self.dy, width, height]
                for r in range(self.rows)
                for c in range(self.columns)
                if r or c
            ]
        ).reshape(-1, 4)
        theme = self.host.scene.theme
        found = ghosts(cells, frame, theme) if len(cells) else []
        corner = frame.points(
            np.array([x + (self.columns - 1) * self.dx + width, y + (self.rows - 1) * self.dy + height])
        )
        text = f"{self.columns} × {self.rows} = {self.columns * self.rows}"
        return found + tip(text, float(corner[0]), float(corner[1]), frame, theme, True, region)


def _count(steps: float) -> int:
    return int(min(max(np.ceil(steps) + 1, 1), _MOST))


def replicate(host: ToolCanvas) -> None:
    """Start copying the selection into rows and columns."""
    if len(host.scene.selected):
        host.switch(Replicate(host))
    else:
        host.warn("select what to copy first")


def _key(rest: Rest, press: Press) -> bool:
    if press.key != Qt.Key.Key_D or not (press.ctrl and press.shift):
        return False
    replicate(rest.host)
    return True


TOOL = ToolKind(
    "replicate",
    70,
    key=_key,
    take_up=replicate,
    title="Replicate in rows and columns…",
    shortcut=("Ctrl+Shift+D",),
    menu="edit",
    section=3,
    on_selection=True,
)
