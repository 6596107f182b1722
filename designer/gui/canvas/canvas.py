"""The canvas: a widget that shows a session's design and hands pointer and key events to tools.

It computes nothing and changes nothing itself: what is drawn comes from ``scene`` and the composers, pixels from
``tile_cache``, gestures from ``tools``, and every change is one edit given to the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, Qt, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QGuiApplication,
    QKeyEvent,
    QMouseEvent,
)
from PySide6.QtWidgets import QWidget

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import PartType
from designer.design.address import Ref
from designer.design.diff import Diff
from designer.design.edit import Edit
from designer.design.edits.clipboard import is_clip
from designer.drawing.compose_badges import badges
from designer.drawing.display_list import Batch
from designer.drawing.theme import LIGHT, CanvasTheme
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame
from designer.errors import CatalogError
from designer.gui.canvas.adding import add, free_point, holder, item_of, place_in
from designer.gui.canvas.compose_overlay import selection, strays
from designer.gui.canvas.editing import Linked, Picked
from designer.gui.canvas.hit import NOTHING, Hit, pick
from designer.gui.canvas.machine_moves import MachineMoves
from designer.gui.canvas.renaming import NameEditor
from designer.gui.canvas.results_view import ResultsView
from designer.gui.canvas.scene import Scene, region_of, union
from designer.gui.canvas.together import Together
from designer.gui.canvas.tools._tool import Pointer, Press, QuickAdd, Tool
from designer.gui.canvas.tools.drop import PART_MIME, TEMPLATE_MIME, Drop, dragged_part
from designer.gui.canvas.tools.link import Connect
from designer.gui.canvas.tools.pan import Hand, Pan
from designer.gui.canvas.tools.select import Select
from designer.gui.session import Session
from designer.present.blocks import State

Bool = npt.NDArray[np.bool_]
#: the view moves while a tool is this near to the border [view px], by so much each tick
_EDGE: Final = (28, 14)

#: states in which the loads drawn are those of an earlier design
_FADED = (State.STALE, State.COMPUTING)


class Canvas(ResultsView):
    """Draws and edits the design of a session.

    Signals
    -------
    hint_changed : ``str``
        What can be done now, for the status bar.
    activated : ``Picked``
        Something was double-clicked, or entered by key.
    quick_add_requested : ``QuickAdd``
        Offer parts at a point; answer with `add_part`.
    context_requested : ``QPoint, Picked | None``
        Show a menu at a global point.
    template_dropped : ``str, float, float``
        A template was dropped at a point of the scene.
    step_wanted : ``Picked, int``
        Show the next member of an open group, or the one before for −1.
    """

    hint_changed = Signal(str)
    activated = Signal(object)
    quick_add_requested = Signal(object)
    context_requested = Signal(object, object)
    template_dropped = Signal(str, float, float)
    step_wanted = Signal(object, int)

    def __init__(self, session: Session, theme: CanvasTheme = LIGHT, parent: QWidget | None = None) -> None:
        super().__init__(Scene(session.design, theme), theme, parent)
        self.session = session
        self._rest = Select(self)
        self._strays: tuple[tuple[str, str, str], ...] = ()
        self.tool: Tool = self._rest
        self._moves = MachineMoves(self, self)
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Canvas")
        self._listen()

    def _listen(self) -> None:
        session = self.session
        session.design_changed.connect(self._design_changed)
        session.selection_changed.connect(self._selection_changed)
        session.state_changed.connect(self._show_state)
        session.highlight_changed.connect(self.highlight_route)
        session.reveal_requested.connect(self.reveal)
        self.scene.select(session.selection)
        self.scene.set_stale(session.state in _FADED)

    def _show_state(self, state: State) -> None:
        """Loads of an earlier design fade."""
        self.set_stale(state in _FADED)

    # ---- what the session says

    def _design_changed(self, changes: Diff) -> None:
        old = self.scene.view_state
        region = self.scene.update(changes)
        if region is not None and old.lifted is not None:
            # what was dragged is missing in the pixels, whether it changed or not
            region = union(region, region_of(old, old.lifted, old.lifted_connections))
        self.tool.redrawn()
        self.tile_cache.changed(region)
        self._describe()
        self._frame_soon(self.session.stale and not changes.only_placement)

    def _selection_changed(self, selected: frozenset[Picked]) -> None:
        self.scene.select(selected)
        self._place_minimap()
        self._rethought()

    def _redrawn(self) -> None:
        self.tool.redrawn()

    # ---- the host of tools

    def hit(self, p: Pointer) -> Hit:
        """What is under the pointer."""
        if not self.rect().contains(int(p.x), int(p.y)):
            return NOTHING
        return pick(self.scene.view_state, p.sx, p.sy, self.view.scale, self.tile_cache.level)

    def switch(self, tool: Tool) -> None:
        """Take up another tool."""
        old, self.tool = self.tool, tool
        old.leave()
        tool.enter()
        self.set_cursor(tool.cursor)
        self.hint_changed.emit(tool.hint)
        if tool.scrolls:
            self._ticker.start()
        self.update()

    def finish(self) -> None:
        """Go back to the resting tool."""
        if self.tool is not self._rest:
            self.switch(self._rest)

    def make(self, edit: Edit, select_new: bool = False) -> bool:
        """Make an edit; False if it was refused."""
        with self.kept_in_sight() if select_new else nullcontext():
            return self.session.apply(edit, select_new)

    def select(self, picked: Iterable[Picked]) -> None:
        """Select exactly these."""
        self.session.select(picked)

    def lift(self, boxes: Bool | None, connections: Bool | None) -> None:
        """Take boxes and connections out of the picture, to be drawn by the tool; None puts all back."""
        view_state = self.scene.view_state
        before = (view_state.lifted, view_state.lifted_connections)
        view_state.lifted, view_state.lifted_connections = boxes, connections
        shown = boxes if boxes is not None else before[0]
        strung = connections if connections is not None else before[1]
        if shown is not None and len(shown) == len(view_state.geometry):
            self.tile_cache.repair(region_of(view_state, shown, strung))
        self.update()

    def refresh(self) -> None:
        """Draw the overlay again."""
        self.update()

    def set_cursor(self, cursor: Qt.CursorShape) -> None:
        """Show another pointer."""
        if self.cursor().shape() is not cursor:
            self.setCursor(cursor)

    def say(self, hint: str) -> None:
        """State what can be done now."""
        self.hint_changed.emit(hint)

    def move_machine(self, vm_id: str, host: str) -> bool:
        """Move a virtual machine to another host as one step; report what the migration takes, or why it is refused."""
        return self._moves.move(vm_id, host)

    def warn(self, text: str) -> None:
        """State why something was refused."""
        self.session.warned.emit(text)

    def wish(self, wanted: QuickAdd) -> None:
        """Ask the window to offer parts."""
        self.quick_add_requested.emit(wanted)

    def step_member(self, box: int, by: int) -> None:
        """Ask the window for the next member of an open group, or the one before."""
        self.step_wanted.emit(self.scene.geometry.address(box), by)

    def rename_selected(self) -> bool:
        """Open an editor over the name of the one part or group selected; False if there is none."""
        chosen = self.scene.selected
        if len(chosen) != 1:
            return False
        return self.rename(int(chosen[0]))

    def rename(self, box: int) -> bool:
        """Open an editor over the name of a part or group; False if a box shows neither."""
        if self.scene.geometry.refs[box].what not in ("parts", "groups"):
            return False
        editor = NameEditor(self, self.session, self.scene.geometry, self.view, box)
        editor.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        return True

    def activate(self, picked: Picked) -> None:
        """State that something was double-clicked."""
        self.activated.emit(picked)

    def ask_context(self, p: Pointer, hit: Hit) -> None:
        """Ask for a context menu."""
        picked = self.scene.geometry.address(hit.number) if hit.is_box else None
        if hit.is_connection:
            within, links = self.scene.geometry.connection_links(hit.number)
            picked = next(((within, ref) for w, ref in sorted(self.session.selection) if w == within and links), None)
        self.context_requested.emit(self.mapToGlobal(QPointF(p.x, p.y).toPoint()), picked)

    def part_type(self, type_id: str) -> PartType | None:
        """A part type of the design or catalog; None if neither has it."""
        found = self.session.design.part_types.get(type_id)
        if found is not None:
            return found
        try:
            return load_catalog().get(type_id)
        except CatalogError:
            return None

    # ---- commands

    def use_select(self) -> None:
        """Back to selecting, whatever is going on."""
        while self.tool is not self._rest and self.tool.cancel():
            pass

    def add_part(self, kind: str, type_id: str = "", wanted: QuickAdd | None = None) -> bool:
        """Add a part at the requested place, linked to the part the request came from, as one step."""
        part_type = self.part_type(type_id) if type_id else None
        geometry = self.scene.geometry
        item = item_of(kind, part_type)
        within = -1 if wanted is not None else holder(geometry, self.scene.selected.tolist(), kind)
        if within >= 0:
            wanted = QuickAdd(*place_in(geometry, within, kind), container=geometry.address(within))
        elif wanted is None:
            x, y = self.free_point(*item.size)
            wanted = QuickAdd(x - item.size[0] / 2, y - item.size[1] / 2)
        container = self.scene.box_of(wanted.container) if wanted.container is not None else None
        landing = add(geometry, item, -1 if container is None else container, wanted.x, wanted.y)
        offer, part = landing.offer, landing.part
        if offer.edit is None:
            self.warn(offer.reason)
            return False
        if not wanted.sources or part is None:
            return self.make(offer.edit, select_new=True)
        picked = (() if container is None else geometry.content_address(container), Ref("parts", part.id))
        linked = Linked(picked, wanted.sources, geometry.opened)
        return self.make(Together((offer.edit, linked), f"Add {part.label}"), select_new=True)

    def free_point(self, width: float = 208.0, height: float = 80.0) -> tuple[float, float]:
        """Where the middle of something so large may be placed."""
        return free_point(self.view, self.scene.view_state.bounds, self.scene.geometry.rect, width, height)

    def paste_here(self, text: str | None = None) -> bool:
        """Paste at the pointer if it is over the canvas, else next to the originals."""
        at = self._at
        if self.underMouse() and self.rect().contains(at.toPoint()):
            x, y = self.view.to_scene(at.x(), at.y())
            return self.session.paste(text, at=(round(x / 8) * 8, round(y / 8) * 8))
        with self.kept_in_sight():
            return self.session.paste(text)

    def duplicate(self) -> None:
        """Copy what is selected next to itself."""
        with self.kept_in_sight():
            self.session.duplicate()

    # ---- what is over the scene

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        """The selection, the bottlenecks, and what the active tool draws."""
        view_state, scene = self.scene.view_state, self.scene
        found: list[Batch] = []
        if view_state.lifted is None:
            found += selection(view_state, frame, region, scene.selected, scene.selected_connections)
        if not self.tool.quiet:
            named = frozenset(scene.selected_connections.tolist())
            if self.tool is self._rest and self._rest.over.is_connection:
                named = frozenset((self._rest.over.number,))
            found += badges(view_state, frame, region, self.pulse, named)
            found += strays(view_state, frame, self._strays)
        return found + self.tool.overlay(frame, region)

    def show_strays(self, cables: tuple[tuple[str, str, str], ...]) -> None:
        """Show cables that are not drawn: paths of both ends, and a word."""
        if cables != self._strays:
            self._strays = cables
            self.update()

    def advance(self) -> bool:
        """Move the view while a tool is at the border."""
        busy = super().advance()
        if not self.tool.scrolls:
            return busy
        dx, dy = _edge(self._at.x(), self.width()), _edge(self._at.y(), self.height())
        if (dx or dy) and self.rect().contains(self._at.toPoint()):
            self.camera.set(self.camera.view.panned(dx, dy))
            self.tool.move(self._pointer(self._at))
        return True

    def _wheeled(self, at: QPointF) -> None:
        if self.tool is not self._rest and not isinstance(self.tool, Pan):
            self.tool.move(self._pointer(at))

    # ---- Qt events

    def _pointer(self, at: QPointF, event: QMouseEvent | None = None) -> Pointer:
        sx, sy = self.camera.view.to_scene(at.x(), at.y())
        keys = event.modifiers() if event is not None else QGuiApplication.keyboardModifiers()
        return Pointer(
            at.x(),
            at.y(),
            sx,
            sy,
            event.button() if event is not None else Qt.MouseButton.NoButton,
            bool(keys & Qt.KeyboardModifier.ShiftModifier),
            bool(keys & Qt.KeyboardModifier.ControlModifier),
            bool(keys & Qt.KeyboardModifier.AltModifier),
        )

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self.setFocus(Qt.FocusReason.MouseFocusReason)
        self.camera.stop()
        self._at = event.position()
        p = self._pointer(self._at, event)
        # whatever is going on, the middle button moves the view
        if p.button is Qt.MouseButton.MiddleButton and self.tool is not self._rest:
            return
        self.tool.press(p)
        event.accept()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._at = event.position()
        self.tool.move(self._pointer(self._at, event))

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        self._at = event.position()
        self.tool.release(self._pointer(self._at, event))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton:
            self.tool.double(self._pointer(event.position(), event))

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """With the mouse the tool decides; here the menu key."""
        if event.reason() is QContextMenuEvent.Reason.Keyboard:
            selected = sorted(self.session.selection)
            self.context_requested.emit(self.mapToGlobal(self.rect().center()), selected[0] if selected else None)
        event.accept()

    def leaveEvent(self, event: QEvent) -> None:
        self._at = QPointF(-1, -1)
        if self.tool is self._rest:
            self._rest.enter()
            self.update()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        press = _press(event)
        if press.key == Qt.Key.Key_Escape:
            used = self.tool.cancel()
        else:
            used = self.tool.key(press) or self._own_key(press)
        if used:
            event.accept()
        else:
            super().keyPressEvent(event)

    def keyReleaseEvent(self, event: QKeyEvent) -> None:
        if event.isAutoRepeat() or not self.tool.key_up(_press(event)):
            super().keyReleaseEvent(event)

    def _own_key(self, press: Press) -> bool:
        """Keys that work where no menu has them."""
        command = _KEYS.get((press.ctrl, press.shift, press.key))
        if command is None:
            return False
        command(self)
        return True

    def focusNextPrevChild(self, next: bool) -> bool:
        """Tab goes from thing to thing, and on to the next widget behind the last one."""
        if isinstance(self.tool, Connect):
            self.tool.key(Press(int(Qt.Key.Key_Tab)))
            return True
        if self.hasFocus() and self.tool is self._rest and self._rest.step(not next):
            return True
        return super().focusNextPrevChild(next)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """A held Space is let go."""
        if isinstance(self.tool, Hand):
            self.finish()
        super().focusOutEvent(event)

    # ---- drag and drop

    def dragEnterEvent(self, event: QDragEnterEvent) -> None:
        data = event.mimeData()
        if data.hasFormat(PART_MIME):
            dragged = dragged_part(bytes(data.data(PART_MIME).data()))
            if dragged is not None:
                self.switch(Drop(self, dragged))
                event.acceptProposedAction()
        elif data.hasFormat(TEMPLATE_MIME) or (data.hasText() and is_clip(data.text())):
            event.acceptProposedAction()

    def dragMoveEvent(self, event: QDragMoveEvent) -> None:
        self._at = event.position()
        if isinstance(self.tool, Drop):
            self.tool.move(self._dragging(event))
        event.acceptProposedAction()

    def dragLeaveEvent(self, event: QDragLeaveEvent) -> None:
        if isinstance(self.tool, Drop):
            self.finish()

    def dropEvent(self, event: QDropEvent) -> None:
        p = self._dragging(event)
        data = event.mimeData()
        if isinstance(self.tool, Drop):
            self.tool.release(p)
        elif data.hasFormat(TEMPLATE_MIME):
            self.template_dropped.emit(bytes(data.data(TEMPLATE_MIME).data()).decode("utf-8", "replace"), p.sx, p.sy)
        elif data.hasText():
            self.session.paste(data.text(), at=(round(p.sx), round(p.sy)))
        event.acceptProposedAction()
        self.setFocus(Qt.FocusReason.OtherFocusReason)

    def _dragging(self, event: QDropEvent) -> Pointer:
        at = event.position()
        sx, sy = self.camera.view.to_scene(at.x(), at.y())
        alt = bool(event.modifiers() & Qt.KeyboardModifier.AltModifier)
        return Pointer(at.x(), at.y(), sx, sy, alt=alt)


def _edge(at: float, extent: int) -> float:
    border, step = _EDGE
    if at < border:
        return step * (1 - max(at, 0) / border)
    if at > extent - border:
        return -step * (1 - max(extent - at, 0) / border)
    return 0.0


def _press(event: QKeyEvent) -> Press:
    keys = event.modifiers()
    return Press(
        event.key(),
        bool(keys & Qt.KeyboardModifier.ShiftModifier),
        bool(keys & Qt.KeyboardModifier.ControlModifier),
        bool(keys & Qt.KeyboardModifier.AltModifier),
    )


#: (ctrl, shift, key) → command
_KEYS: Final[dict[tuple[bool, bool, int], Callable[[Canvas], object]]] = {
    (True, False, int(Qt.Key.Key_D)): lambda c: c.duplicate(),
    (True, False, int(Qt.Key.Key_A)): lambda c: c.session.select_all(),
    (True, False, int(Qt.Key.Key_C)): lambda c: c.session.copy(),
    (True, False, int(Qt.Key.Key_X)): lambda c: c.session.cut(),
    (True, False, int(Qt.Key.Key_V)): lambda c: c.paste_here(),
    (True, False, int(Qt.Key.Key_Z)): lambda c: c.session.undo(),
    (True, True, int(Qt.Key.Key_Z)): lambda c: c.session.redo(),
    (True, False, int(Qt.Key.Key_Y)): lambda c: c.session.redo(),
    (True, False, int(Qt.Key.Key_Equal)): lambda c: c.zoom_by(1.25),
    (True, False, int(Qt.Key.Key_Plus)): lambda c: c.zoom_by(1.25),
    (True, False, int(Qt.Key.Key_Minus)): lambda c: c.zoom_by(0.8),
    (True, False, int(Qt.Key.Key_0)): lambda c: c.zoom_to(1.0),
    (False, False, int(Qt.Key.Key_F2)): lambda c: c.rename_selected(),
    (False, False, int(Qt.Key.Key_Home)): lambda c: c.zoom_to_fit(),
    (False, False, int(Qt.Key.Key_F)): lambda c: c.zoom_to_fit(),
    (False, True, int(Qt.Key.Key_F)): lambda c: c.zoom_to_selection(),
}
