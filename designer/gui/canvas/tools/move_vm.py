"""Moving a virtual machine to another host: hosts that take it light up, the others say why they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from PySide6.QtCore import Qt

from designer.design.address import Ref
from designer.drawing.batches import Batch, Rects
from designer.drawing.compose_virtual_machines import floating
from designer.drawing.marks import outline, tip
from designer.drawing.trays import CHIP, Trays
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame
from designer.gui.canvas.hit import box_at
from designer.gui.canvas.tools._tool import Pointer, Press, Rest, Tool, ToolCanvas, ToolKind

if TYPE_CHECKING:
    from designer.gui.viewmodels.virtual_machines import HostVerdict

#: so many hosts are judged while a machine is dragged over them
_MOST_JUDGED: Final = 64
#: letters of a reason next to the pointer
_LONGEST: Final = 96


class MoveMachine(Tool):
    """A chip follows the pointer; a click without a drag selects the machine."""

    hint = "Drop on a host to move the machine there · Esc cancels"
    cursor = Qt.CursorShape.ClosedHandCursor
    scrolls = True

    def __init__(self, host: ToolCanvas, start: Pointer, chip: int) -> None:
        super().__init__(host)
        trays = host.scene.view_state.trays
        assert trays is not None
        self._trays: Trays = trays
        self._chip = trays.chips[chip]
        self._size = (float(trays.chip_rect[chip, 2]), CHIP)
        self._start = self._at = start
        self._dragging = False
        self._verdicts: dict[str, HostVerdict] = {}

    def move(self, p: Pointer) -> None:
        self._at = p
        self._dragging = self._dragging or p.far_from(self._start)
        self.quiet = self._dragging
        if self._dragging:
            self.host.refresh()

    def release(self, p: Pointer) -> None:
        if p.button is not Qt.MouseButton.LeftButton:
            return
        self.move(p)
        if not self._dragging:
            self.host.finish()
            self.host.select([((), Ref("vms", self._chip.id))])
            return
        target = self._host_at(p)
        self.host.finish()
        if not target or target == self._chip.host:
            return
        self.host.move_machine(self._chip.id, target)

    def key(self, press: Press) -> bool:
        """Keys other than Esc wait until the drag is over."""
        return True

    def verdict(self, host: str) -> HostVerdict:
        """Whether a host takes the machine."""
        from designer.gui.viewmodels.virtual_machines import can_move

        found = self._verdicts.get(host)
        if found is None:
            found = self._verdicts[host] = can_move(self._trays.machines, self._chip.id, host)
        return found

    def _host_at(self, p: Pointer) -> str:
        """The host whose row or box is under a point; empty for none."""
        row = self._trays.row_at(p.sx, p.sy)
        if row >= 0:
            return self._trays.rows[row].host
        view_state = self.host.scene.view_state
        box = box_at(view_state, p.sx, p.sy, self.host.view.scale)
        while box >= 0:
            found = self._trays.one_host.get(box)
            if found is not None:
                return found
            box = int(view_state.geometry.parent[box])
        return ""

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        if not self._dragging:
            return []
        view_state = self.host.scene.view_state
        theme, trays = view_state.theme, self._trays
        over = self._host_at(self._at)
        found = self._lit(frame, region, over)
        point = frame.points(np.array([self._at.sx, self._at.sy])).tolist()
        middle = (point[0], point[1])
        found += floating(self._chip.title, self._chip.detail, middle, self._size, theme, frame)
        text, good = "Drop on a host", False
        if over == self._chip.host and over:
            text, good = "It runs here", True
        elif over:
            verdict = self.verdict(over)
            row = next((h.title for h in trays.machines.hosts if h.path == over), over)
            text, good = (f"Move to {row}", True) if verdict.ok else (_short(verdict.reason), False)
        return found + tip(text, middle[0], middle[1], frame, theme, good, region)

    def _lit(self, frame: Frame, region: Rect, over: str) -> list[Batch]:
        """Rows and boxes of hosts in the colour of whether they take the machine."""
        view_state, trays = self.host.scene.view_state, self._trays
        theme, geometry = view_state.theme, view_state.geometry
        x, y, w, h = frame.scene(region)
        rects: dict[bool, list[int]] = {True: [], False: []}
        boxes: dict[int, bool] = {}
        for number, row in enumerate(trays.rows):
            left, top, wide, high = trays.row_rect[number].tolist()
            if not row.host or left > x + w or left + wide < x or top > y + h or top + high < y:
                continue
            if row.host == self._chip.host:
                continue
            if row.host not in self._verdicts and len(self._verdicts) >= _MOST_JUDGED:
                continue
            good = self.verdict(row.host).ok
            rects[good].append(number)
            box = int(trays.box[row.tray])
            boxes[box] = boxes.get(box, False) or good
        found: list[Batch] = []
        for good, numbers in rects.items():
            if numbers:
                shown = frame.boxes(trays.row_rect[numbers])
                found.append(Rects(shown, (theme.good if good else theme.bad) + "26"))
                if good:
                    found.append(outline(shown, max(1, round(frame.ratio)), theme.good, -round(frame.ratio)))
        for good in (False, True):
            chosen = [box for box, fits in boxes.items() if fits is good and box >= 0]
            if chosen:
                shown = frame.boxes(geometry.rect[chosen])
                found.append(outline(shown, round(2 * frame.ratio), theme.good if good else theme.bad, frame.ratio))
        at = next((k for k, row in enumerate(trays.rows) if over and row.host == over), -1)
        if at >= 0:
            good = over == self._chip.host or self.verdict(over).ok
            shown = frame.boxes(trays.row_rect[at : at + 1])
            found.append(outline(shown, round(3 * frame.ratio), theme.good if good else theme.bad))
        return found


def _short(reason: str) -> str:
    """As much of a reason as can be read next to the pointer; all of it is stated on the drop."""
    first = reason.split("; ")[0]
    return first if len(first) <= _LONGEST else first[: _LONGEST - 1].rstrip() + "…"


def _press(rest: Rest, p: Pointer) -> Tool | None:
    """On the chip of a virtual machine."""
    chip = rest.chip_at(p) if p.button is Qt.MouseButton.LeftButton else -1
    return MoveMachine(rest.host, p, chip) if chip >= 0 else None


TOOL = ToolKind("move_vm", 40, _press)
