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
from designer.gui.canvas.batches import Batch, Rects
from designer.gui.canvas.compose_overlay import handles, hover, side_points, tip, wire_glow, wire_text
from designer.gui.canvas.compose_virtual_machines import chosen_chips, counts_only, under_pointer
from designer.gui.canvas.editing import Picked, move, wire_picks
from designer.gui.canvas.hit import GRIP, HANDLE_REACH, NOTHING, Area, Hit, container_at
from designer.gui.canvas.levels import Level
from designer.gui.canvas.navigate import first_inside, following, nearest
from designer.gui.canvas.stage import Frame
from designer.gui.canvas.steppers import step_at, steppers
from designer.gui.canvas.together import Together
from designer.gui.canvas.tools.band import Band
from designer.gui.canvas.tools.drag import Drag
from designer.gui.canvas.tools.link import ARROWS, Connect, Rehang
from designer.gui.canvas.tools.move_vm import MoveMachine
from designer.gui.canvas.tools.pan import Hand, Pan
from designer.gui.canvas.tools.replicate import Replicate
from designer.gui.canvas.tools.resize import Resize
from designer.gui.canvas.tools.tool import Host, Pointer, Press, QuickAdd, Tool
from designer.gui.canvas.view import Rect

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
        "Click selects · drag moves, with Ctrl copies · C connects · double-click opens · drag on empty ground selects"
    )

    def __init__(self, host: Host) -> None:
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
        """See `Tool`."""
        self._down, self._over, self._handle, self._chip = None, NOTHING, -1, -1
        self._step = (-1, 0)

    def redrawn(self) -> None:
        """See `Tool`: numbers of boxes may mean others now."""
        self._down, self._hit, self._over, self._handle, self._chip = None, NOTHING, NOTHING, -1, -1
        self._step = (-1, 0)

    @property
    def over(self) -> Hit:
        """What is under the pointer."""
        return self._over

    # ---- pointer

    def press(self, p: Pointer) -> None:
        """See `Tool`."""
        if p.button in (Qt.MouseButton.MiddleButton, Qt.MouseButton.RightButton):
            if p.button is Qt.MouseButton.RightButton:
                self._choose_for_menu(self.host.hit(p))
            self.host.switch(Pan(self.host, p))
            return
        if p.button is not Qt.MouseButton.LeftButton:
            return
        chip = self._chip_at(p)
        if chip >= 0:
            self.host.switch(MoveMachine(self.host, p, chip))
            return
        step = self._step_at(p)
        if step[1]:
            self.host.step_member(*step)
            return
        self._down = p
        handle = self._handle_at(p)
        if handle >= 0:
            self._down = None
            self.host.switch(Connect(self.host, [handle], p))
            return
        grip = self._grip_at(p)
        if grip >= 0:
            self._down = None
            self.host.switch(Resize(self.host, grip, p))
            return
        self._hit = hit = self.host.hit(p)
        picked = self._picked(hit)
        selection = self.host.scenery.selection
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
        geometry = self.host.scenery.geometry
        if hit.is_box:
            return frozenset((geometry.address(hit.number),))
        return wire_picks(geometry, hit.number) if hit.is_wire else frozenset()

    def _choose_for_menu(self, hit: Hit) -> None:
        """A right click means what is under it; a selection it belongs to stays."""
        picked = self._picked(hit)
        if picked and not picked <= self.host.scenery.selection:
            self.host.select(picked)

    def move(self, p: Pointer) -> None:
        """See `Tool`."""
        if self._down is not None:
            if p.far_from(self._down):
                self._begin_drag(p)
            return
        chip = self._chip_at(p)
        handle, over = (-1, NOTHING) if chip >= 0 else (self._handle_at(p), self.host.hit(p))
        step = self._step_at(p)
        if (handle, over, chip, step) != (self._handle, self._over, self._chip, self._step):
            self._handle, self._over, self._chip, self._step = handle, over, chip, step
            self.host.refresh()
        self.host.set_cursor(self._cursor(p))

    def _step_at(self, p: Pointer) -> tuple[int, int]:
        """The group whose arrow is under the pointer, and where that leads; −1 and 0 for none."""
        frame = self.host.frame()
        return step_at(self.host.scenery.stage, frame, p.x * frame.ratio, p.y * frame.ratio)

    def _chip_at(self, p: Pointer) -> int:
        """The chip of a virtual machine under the pointer; −1 for none."""
        frame, scenery = self.host.frame(), self.host.scenery
        if frame.level is Level.FAR or scenery.stage.trays is None:
            return -1
        if counts_only(scenery.stage, frame):
            # no chip is drawn: the tip names the one that is taken
            return scenery.stage.trays.nearest_chip(p.sx, p.sy)
        return scenery.chip_at(p.sx, p.sy)

    def _cursor(self, p: Pointer) -> Qt.CursorShape:
        if self._chip >= 0:
            return Qt.CursorShape.OpenHandCursor
        if self._handle >= 0:
            return Qt.CursorShape.CrossCursor
        if self._grip_at(p) >= 0:
            return Qt.CursorShape.SizeFDiagCursor
        if self._step[1] or self._over.area is Area.FOLD or self._over.is_wire:
            return Qt.CursorShape.PointingHandCursor
        return Qt.CursorShape.ArrowCursor

    def _begin_drag(self, p: Pointer) -> None:
        down, hit = self._down, self._hit
        assert down is not None
        self._down = None
        selected = self.host.scenery.selected
        movable = hit.area in (Area.CARD, Area.HEADER) or (hit.area is Area.BODY and self._was_selected)
        if movable and hit.number in selected and not down.shift:
            tool: Tool = Drag(self.host, down, selected)
        elif hit.area in (Area.WIRE_A, Area.WIRE_B) and self._was_selected:
            tool = Rehang(self.host, hit.number, "a" if hit.area is Area.WIRE_A else "b", down)
        else:
            tool = Band(self.host, down)
        self.host.switch(tool)
        tool.move(p)

    def release(self, p: Pointer) -> None:
        """See `Tool`: a click that did not become a drag."""
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
            self.host.select(self.host.scenery.selection - self._picked(hit))

    def double(self, p: Pointer) -> None:
        """See `Tool`: opens what can be opened; on empty ground parts are offered."""
        step = self._step_at(p)
        if step[1]:
            # the second click of two quick ones
            self.host.step_member(*step)
            return
        hit = self.host.hit(p)
        self._down = None
        geometry = self.host.scenery.geometry
        if hit.area is Area.NOTHING or hit.area is Area.BODY:
            container = container_at(self.host.scenery.stage, p.sx, p.sy)
            inside = geometry.address(container) if container >= 0 else None
            self.host.wish(QuickAdd(p.sx, p.sy, container=inside))
        elif hit.is_box and self._can_fold(hit.number):
            self.fold(hit.number)
        elif hit.is_box:
            self.host.activate(geometry.address(hit.number))
        elif hit.is_wire:
            for picked in sorted(wire_picks(geometry, hit.number)):
                self.host.activate(picked)
                break

    # ---- handles

    def _handle_at(self, p: Pointer) -> int:
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
        box, scenery = self._over.number, self.host.scenery
        if box >= len(scenery.geometry) or not self._has_handles(box):
            return -1
        frame = self.host.frame()
        points = side_points(frame, scenery.geometry.rect[box]) / frame.ratio
        near = np.abs(points - np.array([p.x, p.y])).max(axis=1) <= HANDLE_REACH
        return box if near.any() else -1

    def _has_handles(self, box: int) -> bool:
        """Whether a card is large enough for port handles to leave room for clicks on itself."""
        stage, frame = self.host.scenery.stage, self.host.frame()
        least = float(stage.geometry.rect[box, 2:].min()) * frame.scale
        return not stage.is_note[box] and least > _ROOM_FOR_HANDLES * frame.ratio

    def _grip_at(self, p: Pointer) -> int:
        """The selected box whose lower right corner is under the pointer; −1 for none."""
        selected = self.host.scenery.selected
        if len(selected) != 1 or self.host.scenery.geometry.is_group[selected[0]]:
            return -1
        x, y, w, h = self.host.scenery.geometry.rect[selected[0]].tolist()
        corner = self.host.view.to_view(x + w, y + h)
        return int(selected[0]) if abs(corner[0] - p.x) <= GRIP and abs(corner[1] - p.y) <= GRIP else -1

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        """See `Tool`."""
        scenery = self.host.scenery
        stage, theme = scenery.stage, scenery.theme
        found = steppers(stage, frame, self._step)
        over = self._over
        if over.is_box and over.number < len(stage.geometry) and self._down is None:
            if over.area is not Area.BODY:
                found += hover(stage, frame, over.number)
            if over.area is Area.CARD and frame.level > Level.FAR and self._has_handles(over.number):
                rect = stage.geometry.rect[over.number]
                found += handles(side_points(frame, rect), frame, theme.selection)
        elif over.is_wire and over.number < stage.geometry.n_wires and self._down is None:
            found += wire_glow(stage, frame, np.array([over.number]), theme.hover)
            route = frame.points(stage.geometry.wire_route[over.number])
            x, y = ((route[1] + route[2]) / 2).tolist()
            text = wire_text(stage, over.number)
            found += tip(text, x, y, frame, self.host.measure, theme, True, region)
        found += chosen_chips(stage, frame, {ref.id for _, ref in scenery.selection if ref.what == "vms"})
        if self._chip >= 0 and stage.trays is not None:
            found += under_pointer(stage, frame, self._chip, self.host.measure, region)
        if len(scenery.selected_wires) == 1 and not len(scenery.selected):
            ends = stage.geometry.wire_route[scenery.selected_wires[0]][[0, 3]]
            found += handles(frame.points(ends), frame, theme.selection)
        selected = scenery.selected
        if len(selected) == 1 and not stage.geometry.is_group[selected[0]]:
            x, y, w, h = frame.boxes(stage.geometry.rect[selected])[0].tolist()
            size = round(7 * frame.ratio)
            found.append(Rects(np.array([[x + w - size / 2, y + h - size / 2, size, size]]).round(), theme.selection))
        return found

    # ---- keyboard

    def key(self, press: Press) -> bool:
        """See `Tool`."""
        key = press.key
        if key in ARROWS:
            self._arrow(press)
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._go_in()
        elif key == Qt.Key.Key_C and not press.ctrl:
            self.connect_selected()
        elif key in (Qt.Key.Key_Delete, Qt.Key.Key_Backspace):
            self.delete(heal=press.ctrl)
        elif key == Qt.Key.Key_Space:
            self.host.switch(Hand(self.host))
        elif key == Qt.Key.Key_D and press.ctrl and press.shift:
            self.replicate()
        else:
            return False
        return True

    def cancel(self) -> bool:
        """See `Tool`: a press is forgotten; else the selection goes up to the container, then away."""
        if self._down is not None:
            self._down = None
            return True
        scenery = self.host.scenery
        if not scenery.selection:
            return False
        parents = {int(scenery.geometry.parent[box]) for box in scenery.selected.tolist()}
        if len(parents) == 1 and len(scenery.selected) == len(scenery.selection):
            above = parents.pop()
            self.host.select(scenery.picks([above]) if above >= 0 else ())
        else:
            self.host.select(())
        return True

    def _arrow(self, press: Press) -> None:
        scenery = self.host.scenery
        direction = ARROWS[press.key]
        selected = scenery.selected
        if not len(selected) or press.ctrl:
            start = int(selected[-1]) if len(selected) else -1
            if start < 0:
                self.step(False)
            else:
                self._go_to(nearest(scenery.stage, start, direction))
            return
        step = _NUDGE[1] if press.shift else _NUDGE[2] if press.alt else _NUDGE[0]
        dx, dy = _STEPS[direction]
        last, number, what = self._nudged
        now = time.monotonic()
        if now - last > _NUDGE_PAUSE or what != scenery.selection:
            number += 1
        self._nudged = (now, number, scenery.selection)
        edit = move(scenery.geometry, selected.tolist(), dx * step, dy * step, ("nudge", number))
        if edit is not None:
            self.host.make(edit)

    def step(self, back: bool) -> bool:
        """Select the next thing in the order of the outline; False at its end."""
        scenery = self.host.scenery
        selected = scenery.selected
        start = int(selected[-1]) if len(selected) else None
        if start is not None and start == (0 if back else len(scenery.geometry) - 1):
            return False
        box = following(scenery.stage, start, back)
        if box >= 0:
            self._go_to(box)
        return box >= 0

    def _go_to(self, box: int) -> None:
        scenery = self.host.scenery
        self.host.select(scenery.picks([box]))
        self.host.set_view(self.host.view.revealing(scenery.region(np.array([box], dtype=np.int64))))

    def _go_in(self) -> None:
        scenery = self.host.scenery
        if len(scenery.selected) != 1:
            return
        box = int(scenery.selected[0])
        inner = first_inside(scenery.stage, box)
        if inner is not None:
            self._go_to(inner)
        elif self._can_fold(box):
            self.fold(box)
        else:
            self.host.activate(scenery.geometry.address(box))

    def connect_selected(self) -> None:
        """Begin to connect what is selected."""
        scenery = self.host.scenery
        cards = [int(b) for b in scenery.selected if scenery.stage.is_card[b]]
        if cards:
            self.host.switch(Connect(self.host, cards))
        elif any(ref.what == "parts" for _, ref in scenery.selection):
            self.host.warn("the selected part is inside something closed: open that first, then press C to connect it")
        else:
            self.host.warn("select a part first, then press C to connect it")

    def delete(self, heal: bool = False) -> None:
        """Take the selected things out; with `heal` join the neighbours of parts in a chain."""
        by_block: dict[Address, list[Ref]] = {}
        for within, ref in self.host.scenery.selection:
            by_block.setdefault(within, []).append(ref)
        # innermost first, so that no address is gone before it is used
        order = sorted(by_block, key=len, reverse=True)
        edits: list[Edit] = [Delete(tuple(sorted(by_block[within])), heal, within=within) for within in order]
        if edits:
            self.host.make(edits[0] if len(edits) == 1 else Together(tuple(edits), "Delete things"))

    def replicate(self) -> None:
        """Begin to copy what is selected in rows and columns."""
        if len(self.host.scenery.selected):
            self.host.switch(Replicate(self.host))
        else:
            self.host.warn("select what to copy first")

    # ---- opening and closing

    def _can_fold(self, box: int) -> bool:
        scenery = self.host.scenery
        geometry = scenery.geometry
        if geometry.is_container[box] or geometry.is_group[box]:
            return True
        thing = geometry.thing(box)
        return bool(getattr(thing, "collapsed", False))

    def fold(self, box: int) -> None:
        """Close an open container or group; open a closed one."""
        geometry = self.host.scenery.geometry
        within, ref = geometry.address(box)
        self.host.make(SetCollapsed((ref,), bool(geometry.is_container[box]), within=within))
