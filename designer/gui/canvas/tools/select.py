"""The resting hand: clicks select, drags begin other tools, keys edit and move about."""

from __future__ import annotations

import time
from typing import Final

import numpy as np
from PySide6.QtCore import Qt

from designer.design.address import Address, Ref
from designer.design.edit import Edit
from designer.design.edits.placement import SetCollapsed
from designer.design.edits.structure import Delete
from designer.design.room import Room
from designer.drawing.batches import Batch, Rects
from designer.drawing.compose_badges import written
from designer.drawing.compose_virtual_machines import chosen_chips, counts_only, under_pointer
from designer.drawing.levels import Level
from designer.drawing.marks import connection_glow, tip
from designer.drawing.polylines import halfway
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame
from designer.gui.canvas.bending import bendable, follows_pattern
from designer.gui.canvas.compose_overlay import connection_text, grips, handles, hover, side_points
from designer.gui.canvas.editing import Picked, connection_picks, movable, move
from designer.gui.canvas.hit import GRIP, HANDLE_REACH, NOTHING, Area, Hit, container_at
from designer.gui.canvas.navigate import first_inside, following, nearest
from designer.gui.canvas.steppers import step_at, steppers
from designer.gui.canvas.together import Together
from designer.gui.canvas.tools._tool import ARROWS, Pointer, Press, QuickAdd, Tool, ToolCanvas, ToolKind, tool_kinds

#: arrow keys move by this, with Shift by that, with Alt by one [scene units]
_NUDGE: Final = (8, 64, 1)
#: nudges that follow each other within this time are one step of undo [s]
_NUDGE_PAUSE: Final = 1.5
_STEPS: Final = {"left": (-1, 0), "right": (1, 0), "up": (0, -1), "down": (0, 1)}
#: a card smaller than this has no port handles: there would be nothing else to click on [view px]
_ROOM_FOR_HANDLES: Final = 24


class Select(Tool):
    """Nothing is going on: the pointer shows what a press would do."""

    hint = (
        "Click selects · drag moves, with Ctrl copies, and bends a selected link · C connects · double-click opens · "
        "drag on empty ground selects"
    )

    def __init__(self, host: ToolCanvas) -> None:
        super().__init__(host)
        self._down: Pointer | None = None
        self._hit: Hit = NOTHING
        self._over: Hit = NOTHING
        self._handle = -1
        self._chip = -1
        self._step = (-1, 0)
        self._was_selected = False
        self._nudged = (0.0, 0, frozenset[Picked]())

    def enter(self) -> None:
        self._down, self._over, self._handle, self._chip = None, NOTHING, -1, -1
        self._step = (-1, 0)

    def redrawn(self) -> None:
        """Numbers of boxes may mean others now."""
        self._down, self._hit, self._over, self._handle, self._chip = None, NOTHING, NOTHING, -1, -1
        self._step = (-1, 0)

    @property
    def over(self) -> Hit:
        """What is under the pointer."""
        return self._over

    # ---- pointer

    @property
    def was_selected(self) -> bool:
        """True if what was pressed on was selected before."""
        return self._was_selected

    def press(self, p: Pointer) -> None:
        left = p.button is Qt.MouseButton.LeftButton
        step = self._step_at(p) if left and self.chip_at(p) < 0 else (-1, 0)
        if step[1]:
            self.host.step_member(*step)
            return
        for kind in tool_kinds():
            tool = kind.press(self, p) if kind.press is not None else None
            if tool is not None:
                self._down = None
                self.host.switch(tool)
                return
        if not left:
            return
        self._down = p
        self._hit = hit = self.host.hit(p)
        picked = self._picked(hit)
        selection = self.host.scene.selection
        self._was_selected = bool(picked) and picked <= selection
        if hit.area is Area.FOLD or not picked:
            return
        if p.ctrl:
            # what is selected may be about to be copied: a click takes it away when the button is let go
            self.host.select(selection if self._was_selected else selection ^ picked)
        elif p.shift:
            self.host.select(selection | picked)
        elif not self._was_selected and hit.area is not Area.BODY:
            self.host.select(picked)

    def _picked(self, hit: Hit) -> frozenset[Picked]:
        geometry = self.host.scene.geometry
        if hit.is_box:
            return frozenset((geometry.address(hit.number),))
        return connection_picks(geometry, hit.number) if hit.is_connection else frozenset()

    def choose_for_menu(self, hit: Hit) -> None:
        """A right click means what is under it; a selection it belongs to stays."""
        picked = self._picked(hit)
        if picked and not picked <= self.host.scene.selection:
            self.host.select(picked)

    def move(self, p: Pointer) -> None:
        if self._down is not None:
            if p.far_from(self._down):
                self._begin_drag(p)
            return
        chip = self.chip_at(p)
        handle, over = (-1, NOTHING) if chip >= 0 else (self.handle_at(p), self.host.hit(p))
        step = self._step_at(p)
        if (handle, over, chip, step) != (self._handle, self._over, self._chip, self._step):
            self._handle, self._over, self._chip, self._step = handle, over, chip, step
            self.host.refresh()
        self.host.set_cursor(self._cursor(p))

    def _step_at(self, p: Pointer) -> tuple[int, int]:
        """The group whose arrow is under the pointer, and where that leads; −1 and 0 for none."""
        frame = self.host.frame()
        return step_at(self.host.scene.view_state, frame, p.x * frame.ratio, p.y * frame.ratio)

    def chip_at(self, p: Pointer) -> int:
        """The chip of a virtual machine under the pointer; −1 for none."""
        frame, scene = self.host.frame(), self.host.scene
        if frame.level is Level.FAR or scene.view_state.trays is None:
            return -1
        if counts_only(scene.view_state, frame):
            # no chip is drawn: the tip names the one that is taken
            return scene.view_state.trays.nearest_chip(p.sx, p.sy)
        return scene.chip_at(p.sx, p.sy)

    def _cursor(self, p: Pointer) -> Qt.CursorShape:
        if self._chip >= 0:
            return Qt.CursorShape.OpenHandCursor
        if self._handle >= 0:
            return Qt.CursorShape.CrossCursor
        if self.grip_at(p) >= 0:
            return Qt.CursorShape.SizeFDiagCursor
        on_selected = self._over.is_connection and self._over.number in self.host.scene.selected_connections
        if on_selected and self._over.area is Area.CONNECTION and self.host.frame().level is not Level.FAR:
            geometry = self.host.scene.geometry
            bent = bendable(geometry, self._over.number)
            if bent is not None and not follows_pattern(geometry, self._over.number):
                level = bent.is_level(bent.piece_at(p.sx, p.sy))
                return Qt.CursorShape.SizeVerCursor if level else Qt.CursorShape.SizeHorCursor
        if self._step[1] or self._over.area is Area.FOLD or self._over.is_connection:
            return Qt.CursorShape.PointingHandCursor
        return Qt.CursorShape.ArrowCursor

    def _begin_drag(self, p: Pointer) -> None:
        down, hit = self._down, self._hit
        assert down is not None
        self._down = None
        for kind in tool_kinds():
            tool = kind.drag(self, down, hit) if kind.drag is not None else None
            if tool is not None:
                self.host.switch(tool)
                tool.move(p)
                return

    def release(self, p: Pointer) -> None:
        """A click that did not become a drag."""
        down, hit = self._down, self._hit
        self._down = None
        if down is None or p.button is not Qt.MouseButton.LeftButton:
            return
        if hit.area is Area.FOLD:
            self.fold(hit.number)
        elif hit.area is Area.NOTHING:
            if not (p.shift or p.ctrl):
                self.host.select(())
        elif not (p.shift or p.ctrl):
            self.host.select(self._picked(hit))
        elif down.ctrl and self._was_selected:
            self.host.select(self.host.scene.selection - self._picked(hit))

    def double(self, p: Pointer) -> None:
        """Opens what can be opened; on empty ground parts are offered."""
        step = self._step_at(p)
        if step[1]:
            # the second click of two quick ones
            self.host.step_member(*step)
            return
        hit = self.host.hit(p)
        self._down = None
        geometry = self.host.scene.geometry
        if hit.area is Area.NOTHING or hit.area is Area.BODY:
            container = container_at(self.host.scene.view_state, p.sx, p.sy)
            inside = geometry.address(container) if container >= 0 else None
            self.host.wish(QuickAdd(p.sx, p.sy, container=inside))
        elif hit.is_box and self._can_fold(hit.number):
            self.fold(hit.number)
        elif hit.is_box:
            if not (self._is_on_name(p, hit.number) and self.host.rename(hit.number)):
                self.host.activate(geometry.address(hit.number))
        elif hit.is_connection:
            for picked in sorted(connection_picks(geometry, hit.number)):
                self.host.activate(picked)
                break

    def _is_on_name(self, p: Pointer, box: int) -> bool:
        """True on the upper half of a card right of its glyph, where its name is."""
        x, y, wide, high = self.host.scene.geometry.rect[box].tolist()
        return p.sx > x + min(40.0, wide / 4) and p.sy < y + high / 2

    # ---- handles

    def handle_at(self, p: Pointer) -> int:
        """The card one of whose port handles is under the pointer; −1 for none.

        With Shift or Ctrl a click adds to the selection, whatever is under it.
        """
        if (
            p.shift
            or p.ctrl
            or not self._over.is_box
            or self._over.area is not Area.CARD
            or self.host.frame().level is Level.FAR
        ):
            return -1
        box, scene = self._over.number, self.host.scene
        if box >= len(scene.geometry) or not self._has_handles(box):
            return -1
        frame = self.host.frame()
        points = side_points(frame, scene.geometry.rect[box]) / frame.ratio
        near = np.abs(points - np.array([p.x, p.y])).max(axis=1) <= HANDLE_REACH
        return box if near.any() else -1

    def _has_handles(self, box: int) -> bool:
        """True if a card is large enough for port handles to leave room for clicks on itself."""
        view_state, frame = self.host.scene.view_state, self.host.frame()
        least = float(view_state.geometry.rect[box, 2:].min()) * frame.scale
        return not view_state.boxes.is_note[box] and least > _ROOM_FOR_HANDLES * frame.ratio

    def grip_at(self, p: Pointer) -> int:
        """The selected box whose lower right corner is under the pointer; −1 for none."""
        selected = self.host.scene.selected
        if len(selected) != 1 or self.host.scene.geometry.is_group[selected[0]]:
            return -1
        x, y, w, h = self.host.scene.geometry.rect[selected[0]].tolist()
        corner = self.host.view.to_view(x + w, y + h)
        return int(selected[0]) if abs(corner[0] - p.x) <= GRIP and abs(corner[1] - p.y) <= GRIP else -1

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        scene = self.host.scene
        view_state, theme = scene.view_state, scene.theme
        found = steppers(view_state, frame, self._step)
        over = self._over
        if over.is_box and over.number < len(view_state.geometry) and self._down is None:
            if over.area is not Area.BODY:
                found += hover(view_state, frame, over.number)
            if over.area is Area.CARD and frame.level > Level.FAR and self._has_handles(over.number):
                rect = view_state.geometry.rect[over.number]
                found += handles(side_points(frame, rect), frame, theme.selection)
        elif over.is_connection and over.number < view_state.geometry.n_connections and self._down is None:
            found += connection_glow(view_state, frame, np.array([over.number]), theme.hover)
            route = frame.points(view_state.geometry.connection_route[over.number])
            x, y = halfway(route[None])[0].tolist()
            text = connection_text(view_state, over.number)
            if over.number in scene.selected_connections and follows_pattern(view_state.geometry, over.number):
                text += "   follows a pattern: ungroup it to bend its links"
            found += tip(text, x, y, frame, theme, True, region)
        found += chosen_chips(view_state, frame, {ref.id for _, ref in scene.selection if ref.what == "vms"})
        if self._chip >= 0 and view_state.trays is not None:
            found += under_pointer(view_state, frame, self._chip, region)
        if len(scene.selected_connections) == 1 and not len(scene.selected):
            ends = view_state.geometry.connection_route[scene.selected_connections[0]][[0, -1]]
            found += handles(frame.points(ends), frame, theme.selection)
            one = int(scene.selected_connections[0])
            found += grips(view_state.geometry, one, frame, theme.selection, written(view_state, frame))
        selected = scene.selected
        if len(selected) == 1 and not view_state.geometry.is_group[selected[0]]:
            x, y, w, h = frame.boxes(view_state.geometry.rect[selected])[0].tolist()
            size = round(7 * frame.ratio)
            found.append(Rects(np.array([[x + w - size / 2, y + h - size / 2, size, size]]).round(), theme.selection))
        return found

    # ---- keyboard

    def key(self, press: Press) -> bool:
        key = press.key
        if key in ARROWS:
            self._arrow(press)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._go_in()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete(heal=press.ctrl)
        else:
            return any(kind.key(self, press) for kind in tool_kinds() if kind.key is not None)
        return True

    def cancel(self) -> bool:
        """A press is forgotten; else the selection goes up to the container, then away."""
        if self._down is not None:
            self._down = None
            return True
        scene = self.host.scene
        if not scene.selection:
            return False
        parents = {int(scene.geometry.parent[box]) for box in scene.selected.tolist()}
        if len(parents) == 1 and len(scene.selected) == len(scene.selection):
            above = parents.pop()
            self.host.select(scene.picks([above]) if above >= 0 else ())
        else:
            self.host.select(())
        return True

    def _arrow(self, press: Press) -> None:
        scene = self.host.scene
        direction = ARROWS[press.key]
        selected = scene.selected
        if not len(selected) or press.ctrl:
            start = int(selected[-1]) if len(selected) else -1
            if start < 0:
                self.step(False)
            else:
                self._go_to(nearest(scene.view_state, start, direction))
            return
        step = _NUDGE[1] if press.shift else _NUDGE[2] if press.alt else _NUDGE[0]
        dx, dy = _STEPS[direction]
        last, number, what = self._nudged
        now = time.monotonic()
        if now - last > _NUDGE_PAUSE or what != scene.selection:
            number += 1
        self._nudged = (now, number, scene.selection)
        boxes = movable(scene.geometry, selected.tolist())
        room = Room(scene.geometry, boxes)
        dx, dy = room.along(round(dx * step), round(dy * step))
        edit = move(scene.geometry, boxes, dx, dy, ("nudge", number))
        if edit is None or room.spoils(edit, dx, dy):
            self.host.warn("There is no room on that side")
        else:
            self.host.make(edit)

    def step(self, back: bool) -> bool:
        """Select the next thing in the order of the outline; False at its end."""
        scene = self.host.scene
        selected = scene.selected
        start = int(selected[-1]) if len(selected) else None
        if start is not None and start == (0 if back else len(scene.geometry) - 1):
            return False
        box = following(scene.view_state, start, back)
        if box >= 0:
            self._go_to(box)
        return box >= 0

    def _go_to(self, box: int) -> None:
        scene = self.host.scene
        self.host.select(scene.picks([box]))
        self.host.set_view(self.host.view.revealing(scene.region(np.array([box], dtype=np.int64))))

    def _go_in(self) -> None:
        scene = self.host.scene
        if len(scene.selected) != 1:
            return
        box = int(scene.selected[0])
        inner = first_inside(scene.view_state, box)
        if inner is not None:
            self._go_to(inner)
        elif self._can_fold(box):
            self.fold(box)
        else:
            self.host.activate(scene.geometry.address(box))

    def delete(self, heal: bool = False) -> None:
        """Take the selected things out; with `heal` join the neighbours of parts in a chain."""
        by_block: dict[Address, list[Ref]] = {}
        for within, ref in self.host.scene.selection:
            by_block.setdefault(within, []).append(ref)
        # innermost first, so that no address is gone before it is used
        order = sorted(by_block, key=len, reverse=True)
        edits: list[Edit] = [Delete(tuple(sorted(by_block[within])), heal, within=within) for within in order]
        if edits:
            self.host.make(edits[0] if len(edits) == 1 else Together(tuple(edits), "Delete things"))

    # ---- opening and closing

    def _can_fold(self, box: int) -> bool:
        scene = self.host.scene
        geometry = scene.geometry
        if geometry.is_container[box] or geometry.is_group[box]:
            return True
        thing = geometry.thing(box)
        return bool(getattr(thing, "collapsed", False))

    def fold(self, box: int) -> None:
        """Close an open container or group; open a closed one."""
        geometry = self.host.scene.geometry
        within, ref = geometry.address(box)
        self.host.make(SetCollapsed((ref,), bool(geometry.is_container[box]), within=within))


TOOL = ToolKind("select", 10, take_up=lambda host: host.use_select(), title="Select", shortcut=("V",), icon="select")
