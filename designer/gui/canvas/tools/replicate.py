"""Copies in rows and columns: the pointer, the arrow keys or a number say how many."""

from __future__ import annotations

import itertools
import math
import re
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import Qt

from designer.design.address import Ref
from designer.design.edits.clipboard import Replicate as ReplicateEdit
from designer.design.geometry import Geometry
from designer.drawing.batches import Batch
from designer.drawing.marks import tip
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame
from designer.gui.canvas.compose_overlay import ghosts
from designer.gui.canvas.snapping import gridded
from designer.gui.canvas.tools._tool import ARROWS, Pointer, Press, Rest, Tool, ToolCanvas, ToolKind

_GAP = 24.0
_MOST = 200
#: so many of the things in the way influence the distance of the copies
_NEAR = 24
#: 16, 4x4, and 4x on the way there
_TYPED: Final = re.compile(r"(\d{1,3})(?:x(\d{0,3}))?")
_TIMES: Final = frozenset((int(Qt.Key.Key_X), int(Qt.Key.Key_Asterisk)))


class Replicate(Tool):
    """Shows where the copies would be placed; a click or Enter makes them as one step.

    Rows and columns are spaced so that no copy covers what is there already.
    """

    hint = "Move, use the arrow keys or type 16 or 4x4 for rows and columns · Enter or click makes them · Esc cancels"
    cursor = Qt.CursorShape.DragCopyCursor
    scrolls = True
    quiet = True

    def __init__(self, host: ToolCanvas) -> None:
        super().__init__(host)
        scene = host.scene
        self._boxes = scene.selected
        self._rect = scene.region(self._boxes)
        self._least = (max(gridded(self._rect[2] + _GAP), 8.0), max(gridded(self._rect[3] + _GAP), 8.0))
        self._taken = _in_the_way(host.scene.geometry, self._boxes)
        self._typed = ""
        self._set(2, 1)

    def _set(self, columns: int, rows: int) -> None:
        self.columns, self.rows = min(max(columns, 1), _MOST), min(max(rows, 1), _MOST)
        self.dx, self.dy = pitch(self._rect, self.columns, self.rows, self._least, self._taken)
        self.host.refresh()

    def move(self, p: Pointer) -> None:
        x, y, width, height = self._rect
        self._typed = ""
        self._set(_count((p.sx - x - width) / self._least[0]), _count((p.sy - y - height) / self._least[1]))

    def release(self, p: Pointer) -> None:
        if p.button is Qt.MouseButton.LeftButton:
            self.commit()

    def key(self, press: Press) -> bool:
        if press.key in ARROWS:
            direction = ARROWS[press.key]
            columns = self.columns + {"right": 1, "left": -1}.get(direction, 0)
            self._typed = ""
            self._set(columns, self.rows + {"down": 1, "up": -1}.get(direction, 0))
            return True
        if not press.ctrl and (Qt.Key.Key_0 <= press.key <= Qt.Key.Key_9 or press.key in _TIMES):
            self._type("x" if press.key in _TIMES else chr(press.key))
            return True
        if press.key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.commit()
            return True
        return False

    def _type(self, letter: str) -> None:
        """So many in all, or columns × rows; what makes no sense begins again."""
        typed = next((t for t in (self._typed + letter, letter) if _TYPED.fullmatch(t)), "")
        match = _TYPED.fullmatch(typed)
        self._typed = typed
        if match is not None:
            first = int(match[1])
            self._set(*((first, int(match[2])) if match[2] else squarish(first)))

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


def squarish(count: int) -> tuple[int, int]:
    """Columns and rows that make so many in all, as near to a square as can be, wider than high."""
    rows = next((r for r in range(math.isqrt(max(count, 1)), 0, -1) if count % r == 0), 1)
    return max(count, 1) // rows, rows


def _in_the_way(geometry: Geometry, boxes: npt.NDArray[np.int64]) -> npt.NDArray[np.float64]:
    """Rectangles next to things in their container, without frames behind all. : (n, 4)"""
    if not len(boxes):
        return np.empty((0, 4))
    neighbours = geometry.parent == geometry.parent[boxes[0]]
    neighbours[boxes] = False
    neighbours &= np.array([ref.what != "annotations" for ref in geometry.refs], dtype=bool)
    return geometry.rect[neighbours]


def pitch(
    rect: Rect, columns: int, rows: int, least: tuple[float, float], taken: npt.NDArray[np.float64]
) -> tuple[float, float]:
    """Distance of columns and of rows, at least `least` and so that no copy covers what is there. [scene units]

    Parameters
    ----------
    taken : (n, 4) what is there
    """
    if not len(taken):
        return least
    x, y, _, _ = rect
    near = taken[np.argsort(np.hypot(taken[:, 0] - x, taken[:, 1] - y))[:_NEAR]]
    # past the outermost there is always room
    ends = np.concatenate((near[:, :2] + near[:, 2:], [(taken[:, :2] + taken[:, 2:]).max(axis=0)]))
    wide = {least[0], *(_from(end, x, least[0]) for end in ends[:, 0].tolist())}
    high = {least[1], *(_from(end, y, least[1]) for end in ends[:, 1].tolist())}
    for dx, dy in sorted(itertools.product(wide, high), key=sum):
        if not _covers(rect, columns, rows, dx, dy, taken):
            return dx, dy
    return least


def _from(end: float, start: float, least: float) -> float:
    """The step from `start` that leads past `end`."""
    return max(float(np.ceil((end + _GAP - start) / 8) * 8), least)


def _covers(rect: Rect, columns: int, rows: int, dx: float, dy: float, taken: npt.NDArray[np.float64]) -> bool:
    """True if one of the copies lies on something."""
    steps = [
        _over(taken[:, k], taken[:, k] + taken[:, k + 2], rect[k], rect[k + 2], step, many)
        for k, step, many in ((0, dx, columns), (1, dy, rows))
    ]
    (low_x, high_x), (low_y, high_y) = steps
    # the first place is that of the original
    only_first = (high_x == 0) & (high_y == 0)
    return bool(((low_x <= high_x) & (low_y <= high_y) & ~only_first).any())


def _over(
    start: npt.NDArray[np.float64], end: npt.NDArray[np.float64], own: float, size: float, step: float, many: int
) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """The first and the last of the places that lie over each interval."""
    low = np.floor((start - own - size) / step) + 1
    high = np.ceil((end - own) / step) - 1
    return np.maximum(low, 0), np.minimum(high, many - 1)


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
