"""The canvas: a widget that shows a session's design and hands pointer and key events to tools.

It computes nothing and changes nothing itself: what is drawn comes from ``scene`` and the composers, pixels from
``screen``, gestures from ``tools``, and every change is one edit given to the session.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import (
    QContextMenuEvent,
    QDragEnterEvent,
    QDragLeaveEvent,
    QDragMoveEvent,
    QDropEvent,
    QFocusEvent,
    QGuiApplication,
    QHideEvent,
    QImage,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QWidget

from designer.catalog.loader import load_catalog
from designer.catalog.parttype import PartType
from designer.design.address import Address, Ref
from designer.design.diff import Diff
from designer.design.edit import Edit
from designer.design.edits.clipboard import is_clip
from designer.drawing.compose_badges import badges
from designer.drawing.loads import ChannelState
from designer.drawing.theme import LIGHT, CanvasTheme
from designer.drawing.view import Rect, View
from designer.drawing.view_state import Frame
from designer.errors import CatalogError
from designer.gui.canvas.adding import add, item_of
from designer.gui.canvas.batch_painter import BatchPainter
from designer.gui.canvas.blank import Blank
from designer.gui.canvas.camera import Camera
from designer.gui.canvas.compose_overlay import selection
from designer.gui.canvas.editing import Linked, Picked, insert
from designer.gui.canvas.glyphs import GlyphSource
from designer.gui.canvas.hit import NOTHING, Hit, pick
from designer.gui.canvas.legend_plate import LegendPlate
from designer.gui.canvas.machine_moves import MachineMoves
from designer.gui.canvas.minimap import Minimap
from designer.gui.canvas.picture import picture
from designer.gui.canvas.scene import Scene, region_of, summary_text, union
from designer.gui.canvas.tile_cache import TileCache
from designer.gui.canvas.together import Together
from designer.gui.canvas.tools.drop import PART_MIME, TEMPLATE_MIME, Drop, dragged_part
from designer.gui.canvas.tools.link import Connect
from designer.gui.canvas.tools.pan import Hand, Pan
from designer.gui.canvas.tools.select import Select
from designer.gui.canvas.tools.tool import Pointer, Press, QuickAdd, Tool
from designer.gui.session import Session

if TYPE_CHECKING:
    from designer.drawing.machines import Machines

Bool = npt.NDArray[np.bool_]
#: width and height that the legend takes in its corner, with its margin [px]
_LEGEND: Final = (260, 94)
_WHEEL: Final = 1.0018
#: what is added by key keeps this far from all there is [scene units]
_APART: Final = 64
#: the view moves while a tool is this near to the border [view px], by so much each tick
_EDGE: Final = (28, 14, 16)
#: the ring around a binding link opens once, in so many ticks
_PULSE: Final = 26
#: after an edit that wants new loads the frame waits for them so long to be drawn once: together with drawing it less
#: than a person notices [ms]
_HOLD: Final = 20


class Canvas(QWidget):
    """Draws and edits the design of a session.

    Signals
    -------
    view_changed
        The view moved or zoomed.
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
    member_changed
        An open group shows another of its members.
    step_wanted : ``Picked, int``
        Show the next member of an open group, or the one before for −1.
    """

    view_changed = Signal()
    hint_changed = Signal(str)
    activated = Signal(object)
    quick_add_requested = Signal(object)
    context_requested = Signal(object, object)
    template_dropped = Signal(str, float, float)
    member_changed = Signal()
    step_wanted = Signal(object, int)

    def __init__(
        self,
        session: Session,
        theme: CanvasTheme = LIGHT,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self.session = session
        self.scene = Scene(session.design, theme)
        self.batch_painter = BatchPainter(theme.family, GlyphSource())
        self.tile_cache = TileCache(self.batch_painter, lambda: self.scene.view_state, self._better, self)
        self.camera = Camera(self._view_moved, self)
        self.show_minimap = True
        #: calls to the painter within the last frame
        self.last_calls = 0
        self._fitted = False
        self._pulse = 0
        self.legend = LegendPlate(self.batch_painter)
        self._at = QPointF(-1, -1)
        self._rest = Select(self)
        self.tool: Tool = self._rest
        self.minimap = Minimap(theme, lambda: self.camera.view.visible(), self)
        self.blank = Blank(theme, self)
        self._moves = MachineMoves(self, self)
        self._ticker = QTimer(self)
        self._ticker.setInterval(_EDGE[2])
        self._ticker.timeout.connect(self._tick)
        self._hold = QTimer(self)
        self._hold.setSingleShot(True)
        self._hold.setTimerType(Qt.TimerType.PreciseTimer)
        self._hold.setInterval(_HOLD)
        self._hold.timeout.connect(self.update)
        self._dress()
        self._listen()

    def _dress(self) -> None:
        self.setMouseTracking(True)
        self.setAcceptDrops(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleName("Canvas")
        self.setAccessibleDescription(summary_text(self.scene))
        self.minimap.pointed.connect(self._centre)
        self.minimap.scrolled.connect(self._wheel_in_middle)

    def _listen(self) -> None:
        session = self.session
        session.design_changed.connect(self._design_changed)
        session.selection_changed.connect(self._selection_changed)
        session.stale_changed.connect(self.set_stale)
        session.highlight_changed.connect(self.highlight_route)
        session.reveal_requested.connect(self.reveal)
        self.scene.select(session.selection)
        self.scene.set_stale(session.stale)

    # ---- results and looks

    def set_theme(self, theme: CanvasTheme) -> None:
        """Other colours."""
        self.scene.set_theme(theme)
        self.minimap.theme = theme
        self.blank.set_theme(theme)
        self.tile_cache.drop()
        self._rethought()

    def set_loads(self, loads: ChannelState | Mapping[str, float | tuple[float, float]] | None) -> None:
        """Colour the connections: loads of all channels as arrays, or by channel id utilisation or (load,
        utilisation)."""
        self.scene.set_loads(loads)
        self._relit()

    def set_binding(self, ids: Iterable[str]) -> None:
        """Mark the channels that bind; a ring opens around each once."""
        ids = tuple(ids)
        self.scene.set_binding(ids)
        self._bottleneck(ids)
        self._relit()

    def show_result(
        self, loads: ChannelState | None, binding: tuple[str, ...], parts: tuple[tuple[str, int], ...] = ()
    ) -> None:
        """ChannelState and what binds, at once; nothing is drawn where all are as shown.

        `binding` are channels, `parts` parts that bind by themselves, each with how many equal ones it stands for.
        """
        if self.scene.set_result(loads, binding, parts):
            self._bottleneck((*binding, *(path for path, _ in parts)))
            self._relit()
        elif self._hold.isActive():
            self._rethought()

    def show_moment(
        self, loads: ChannelState | None, binding: tuple[str, ...], parts: tuple[tuple[str, int], ...] = ()
    ) -> None:
        """The same for an instant of a run over time: no ring opens, since what binds changes all the time."""
        before = self.scene.view_state.loads
        if self.scene.set_result(loads, binding, parts):
            region = self.scene.lit_region(before)
            if region is not None:
                self.tile_cache.changed(region)
                self._rethought()
        elif self._hold.isActive():
            self._rethought()

    def _bottleneck(self, ids: tuple[str, ...]) -> None:
        self._pulse = _PULSE if ids and self.camera.animated else 0
        if self._pulse:
            self._ticker.start()

    def set_machines(self, machines: Machines | None) -> None:
        """Show where virtual machines stand; a view that showed all goes on doing so."""
        self._show_machines(machines, self.scene.show_machines)

    @property
    def machines_shown(self) -> bool:
        """True if virtual machines are shown."""
        return self.scene.show_machines

    def toggle_machines(self) -> None:
        """Show or hide virtual machines."""
        self._show_machines(self.scene.machines, not self.scene.show_machines)

    def _show_machines(self, machines: Machines | None, show: bool) -> None:
        if machines is None and self.scene.machines is None and show == self.scene.show_machines:
            return
        bounds, whole = self.scene.view_state.bounds, self.shows_all()
        self.scene.set_machines(machines, show)
        self.tool.redrawn()
        self._relit()
        if whole and self.scene.view_state.bounds != bounds:
            self.zoom_to_fit(animated=False)

    def highlight_route(self, ids: Iterable[str]) -> None:
        """Light up channels and dim the rest; none lights nothing."""
        self.scene.highlight(ids)
        self._relit()

    def set_stale(self, stale: bool) -> None:
        """Whether the loads belong to an earlier design: they fade until new ones come."""
        self.scene.set_stale(stale)
        if self.scene.view_state.loads.known:
            self.tile_cache.changed(None)
            self._frame_soon(stale)

    def show_member(self, within: Any, group: str, member: int | None) -> None:
        """Let an open group show one member, or None for what all share."""
        self.scene.show_member(within, group, member)
        self.tool.redrawn()
        self._relit()
        self.member_changed.emit()

    @property
    def members(self) -> Mapping[Address, int]:
        """Member shown by the address of each group that shows one."""
        return self.scene.members

    def _relit(self) -> None:
        self.tile_cache.changed(None)
        self._rethought()

    def _rethought(self) -> None:
        self._hold.stop()
        self._describe()
        if self.blank.isHidden() == (not len(self.scene.geometry)):
            self.blank.show_if(not len(self.scene.geometry))
        self.update()

    def _describe(self) -> None:
        text = summary_text(self.scene)
        if text != self.accessibleDescription():
            self.setAccessibleDescription(text)

    def _frame_soon(self, wait: bool) -> None:
        """Draw a frame: at once, or when the loads that are being worked out are there, but then soon as well."""
        if not wait:
            self._rethought()
        elif not self._hold.isActive():
            self._hold.start()

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
        self._rethought()

    def reveal(self, picked: Iterable[Picked]) -> None:
        """Bring things into sight; zooms in if they are too small to see."""
        scene = self.scene
        picked = list(picked)
        for within, _ in picked:
            self._show_members_of(within)
        found = [box for box in (scene.box_of(p) for p in picked) if box is not None]
        connections = scene.selected_connections
        if found or len(connections):
            rect = scene.region(np.array(found, dtype=np.int64), connections)
            view = self.camera.view
            if max(rect[2], rect[3]) * view.scale < 24:
                self.camera.glide(view.fitted(rect, margin=120.0))
            else:
                self.camera.glide(view.revealing(rect, 48.0))

    def _show_members_of(self, within: Address) -> None:
        """Let the groups of an address show the members it names."""
        for depth, (group, member) in enumerate(within):
            outer: Address = tuple((g, None) for g, _ in within[:depth])
            if member is not None and self.members.get((*outer, (group, None))) != member:
                self.show_member(outer, group, member)

    # ---- the host of tools

    @property
    def view(self) -> View:
        """Where the eye is."""
        return self.camera.view

    def frame(self) -> Frame:
        """How the scene falls on device pixels."""
        return self.tile_cache.frame(self.camera.view, self.devicePixelRatioF())

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
        return self.session.apply(edit, select_new)

    def select(self, picked: Iterable[Picked]) -> None:
        """Select exactly these."""
        self.session.select(picked)

    def set_view(self, view: View) -> None:
        """Look somewhere else at once."""
        self.camera.set(view)

    def glide(self, view: View) -> None:
        """Move the view there, shortly animated."""
        self.camera.glide(view)

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
        """Tell what can be done now."""
        self.hint_changed.emit(hint)

    def move_machine(self, vm_id: str, host: str) -> bool:
        """Move a virtual machine to another host as one step, and tell what the migration takes; or why it cannot."""
        return self._moves.move(vm_id, host)

    def warn(self, text: str) -> None:
        """Tell why something was refused."""
        self.session.warned.emit(text)

    def wish(self, wanted: QuickAdd) -> None:
        """Ask the window to offer parts."""
        self.quick_add_requested.emit(wanted)

    def step_member(self, box: int, by: int) -> None:
        """Ask the window for the next member of an open group, or the one before."""
        self.step_wanted.emit(self.scene.geometry.address(box), by)

    def activate(self, picked: Picked) -> None:
        """Tell that something was double-clicked."""
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

    def zoom_to_fit(self, animated: bool = True) -> None:
        """Show the whole design."""
        bounds = self.scene.view_state.bounds
        view = self.camera.view
        target = self._beside_legend(bounds) if len(self.scene.geometry) else replace(view, scale=1.0, x=40.0, y=40.0)
        self._go(target, animated)

    def shows_all(self) -> bool:
        """True if the view is, or will be, the one that shows the whole design."""
        view, bounds = self.camera.target, self.scene.view_state.bounds
        return view in (view.fitted(bounds), self._beside_legend(bounds))

    def _beside_legend(self, bounds: Rect) -> View:
        """The view of the whole design; above the legend where that would lie on it and there is room to spare."""
        view = self.camera.view
        target = view.fitted(bounds)
        left, _ = target.to_view(bounds[0], bounds[1])
        _, bottom = target.to_view(bounds[0], bounds[1] + bounds[3])
        if left > _LEGEND[0] or bottom < view.height - _LEGEND[1] or view.height < 4 * _LEGEND[1]:
            return target
        return replace(view.sized(view.width, view.height - _LEGEND[1] + 24).fitted(bounds), height=view.height)

    def zoom_to_selection(self) -> None:
        """Show what is selected, as large as fits."""
        scene = self.scene
        if len(scene.selected) or len(scene.selected_connections):
            rect = scene.region(scene.selected, scene.selected_connections)
            self._go(self.camera.view.fitted(rect, margin=80.0, largest=1.5), True)

    def zoom_by(self, factor: float) -> None:
        """Zoom at the middle."""
        view = self.camera.target
        self._go(view.zoomed(factor, view.width / 2, view.height / 2), True)

    def zoom_to(self, scale: float) -> None:
        """Zoom to a scale at the middle."""
        self.zoom_by(scale / self.camera.target.scale)

    def zoom_back(self) -> None:
        """Show what was in sight before the last jump."""
        self.camera.back()

    def _go(self, view: View, animated: bool) -> None:
        if animated:
            self.camera.glide(view)
        else:
            self.camera.set(view)

    def start_connecting(self) -> None:
        """Connect what is selected: the C key."""
        self._rest.connect_selected()

    def start_replicating(self) -> None:
        """Copy what is selected in rows and columns."""
        self._rest.replicate()

    def delete_selected(self, heal: bool = False) -> None:
        """Take out what is selected; with `heal` join the neighbours of parts in a chain."""
        self._rest.delete(heal)

    def use_hand(self) -> None:
        """Move the view with the left button until Esc."""
        self.switch(Hand(self, held=False))

    def use_select(self) -> None:
        """Back to selecting, whatever is going on."""
        while self.tool is not self._rest and self.tool.cancel():
            pass

    def add_part(self, kind: str, type_id: str = "", wanted: QuickAdd | None = None) -> bool:
        """Add a part where it was asked for, linked to what it was asked from; as one step."""
        part_type = self.part_type(type_id) if type_id else None
        geometry = self.scene.geometry
        item = item_of(kind, part_type)
        if wanted is None:
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
        return self.make(Together((offer.edit, linked), f"Add {part.id}"), select_new=True)

    def free_point(self, width: float = 208.0, height: float = 80.0) -> tuple[float, float]:
        """Where the middle of something so large may stand: the middle of the view, or beside or below all there is,
        whichever lets the whole be seen larger.
        """
        x, y = self.view.to_scene(self.width() / 2, self.height() / 2)
        rect = self.scene.geometry.rect
        if not len(rect):
            return x, y
        apart_x = np.abs(rect[:, 0] + rect[:, 2] / 2 - x) >= (rect[:, 2] + width) / 2
        apart_y = np.abs(rect[:, 1] + rect[:, 3] / 2 - y) >= (rect[:, 3] + height) / 2
        if (apart_x | apart_y).all():
            return x, y
        left, top, wide, high = self.scene.view_state.bounds
        beside = (wide + _APART + width, max(high, height))
        below = (max(wide, width), high + _APART + height)
        if self._fit(*below) > self._fit(*beside):
            return left + width / 2, top + high + _APART + height / 2
        return left + wide + _APART + width / 2, top + height / 2

    def _fit(self, width: float, height: float) -> float:
        """How large something is shown when all of it is."""
        return min(self.width() / max(width, 1.0), self.height() / max(height, 1.0))

    def insert_part(self, connection: int, kind: str, type_id: str = "") -> bool:
        """Put a part into a link."""
        route = self.scene.geometry.connection_route[connection].mean(axis=0)
        part_type = self.part_type(type_id) if type_id else None
        offer = insert(self.scene.geometry, connection, kind, part_type, float(route[0]), float(route[1]))
        if offer.edit is None:
            self.warn(offer.reason)
            return False
        return self.make(offer.edit, select_new=True)

    def paste_here(self, text: str | None = None) -> bool:
        """Paste at the pointer if it is over the canvas, else beside the originals."""
        at = self._at
        if self.underMouse() and self.rect().contains(at.toPoint()):
            x, y = self.view.to_scene(at.x(), at.y())
            return self.session.paste(text, at=(round(x / 8) * 8, round(y / 8) * 8))
        return self.session.paste(text)

    def image(self, scale: float = 1.0, selected_only: bool = False, transparent: bool = False) -> QImage:
        """The whole design, or what is selected, with all detail."""
        boxes = self.scene.selected if selected_only and len(self.scene.selected) else None
        rect = self.scene.view_state.bounds if boxes is None else self.scene.region(boxes)
        return picture(self.scene.view_state, self.batch_painter, rect, scale, transparent)

    def settle(self) -> None:
        """Finish all drawing that is outstanding, now."""
        self.camera.set(self.camera.target)
        self.tile_cache.finish(self.frame())
        self._better()

    # ---- view

    def _view_moved(self) -> None:
        self._place_minimap()
        self.view_changed.emit()
        self.update()

    def _better(self) -> None:
        overview = self.tile_cache.overview
        self.minimap.show_picture(overview.pixmap, overview.frame)
        self.update()

    def _place_minimap(self) -> None:
        """The minimap helps where there is room for it and more to see than what is in sight."""
        x, y, w, h = self.camera.view.visible()
        bx, by, bw, bh = self.scene.view_state.bounds
        whole = bx >= x and by >= y and bx + bw <= x + w and by + bh <= y + h
        roomy = self.width() > 480 and self.height() > 320
        self.minimap.setVisible(self.show_minimap and roomy and not whole)
        self.minimap.update()

    def _centre(self, x: float, y: float) -> None:
        view = self.camera.view
        vx, vy = view.to_view(x, y)
        self.camera.set(view.panned(view.width / 2 - vx, view.height / 2 - vy))

    def _tick(self) -> None:
        """The slow clock: the view moves while a tool is at the border, and the ring of a binding link opens."""
        busy = False
        if self._pulse:
            self._pulse -= 1
            busy = True
            self.update()
        if self.tool.scrolls:
            busy = True
            dx, dy = _edge(self._at.x(), self.width()), _edge(self._at.y(), self.height())
            if (dx or dy) and self.rect().contains(self._at.toPoint()):
                self.camera.set(self.camera.view.panned(dx, dy))
                self.tool.move(self._pointer(self._at))
        if not busy:
            self._ticker.stop()

    # ---- Qt events

    def sizeHint(self) -> QSize:
        return QSize(1000, 640)

    def resizeEvent(self, event: QResizeEvent) -> None:
        ratio = self.devicePixelRatioF()
        self.camera.view = self.camera.view.sized(self.width(), self.height())
        self.tile_cache.resize(round(self.width() * ratio), round(self.height() * ratio))
        self.minimap.move(self.width() - self.minimap.width() - 12, self.height() - self.minimap.height() - 12)
        self._place_minimap()
        self.blank.show_if(not len(self.scene.geometry))
        if not self._fitted:
            self._fitted = True
            self.zoom_to_fit(animated=False)

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        first = self.batch_painter.calls
        frame = self.frame()
        if frame.ratio != 1.0:
            painter.scale(1 / frame.ratio, 1 / frame.ratio)
        self.tile_cache.paint(painter, frame)
        self._paint_overlay(painter, frame)
        painter.end()
        self.last_calls = self.batch_painter.calls - first

    def _paint_overlay(self, painter: QPainter, frame: Frame) -> None:
        view_state, scene = self.scene.view_state, self.scene
        region: Rect = (0.0, 0.0, float(self.tile_cache.surface.width), float(self.tile_cache.surface.height))
        found = (
            selection(view_state, frame, region, scene.selected, scene.selected_connections) if not self._busy() else []
        )
        if not self.tool.quiet:
            named = frozenset(scene.selected_connections.tolist())
            if self.tool is self._rest and self._rest.over.is_connection:
                named = frozenset((self._rest.over.number,))
            found += badges(view_state, frame, region, self._pulse / _PULSE, named)
        found += self.tool.overlay(frame, region)
        for batch in found:
            self.batch_painter.draw(painter, batch)
        self.legend.paint(painter, view_state, frame, self.tile_cache.surface.height)

    def _look_under_legend(self) -> None:
        if self.legend.point(self._at, self.height(), self.devicePixelRatioF()):
            self.update()

    def _busy(self) -> bool:
        return self.scene.view_state.lifted is not None

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
        self._look_under_legend()
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
        self._look_under_legend()
        if self.tool is self._rest:
            self._rest.enter()
            self.update()

    def wheelEvent(self, event: QWheelEvent) -> None:
        self._wheel(event, event.position().x(), event.position().y())
        event.accept()

    def _wheel_in_middle(self, event: QWheelEvent) -> None:
        self._wheel(event, self.width() / 2, self.height() / 2)

    def _wheel(self, event: QWheelEvent, x: float, y: float) -> None:
        """Touchpads scroll, wheels zoom at the pointer; with Ctrl both zoom, with Shift both scroll."""
        keys, pixels, angle = event.modifiers(), event.pixelDelta(), event.angleDelta()
        view = self.camera.view
        ctrl = bool(keys & Qt.KeyboardModifier.ControlModifier)
        if keys & Qt.KeyboardModifier.ShiftModifier:
            self.camera.set(view.panned(angle.x() or angle.y(), 0))
        elif not pixels.isNull() and not ctrl:
            self.camera.set(view.panned(pixels.x(), pixels.y()))
        else:
            self.camera.set(view.zoomed(_WHEEL ** (angle.y() or angle.x()), x, y))
        if self.tool is not self._rest and not isinstance(self.tool, Pan):
            self.tool.move(self._pointer(event.position()))

    def event(self, event: QEvent) -> bool:
        """Pinching zooms."""
        if event.type() is QEvent.Type.NativeGesture:
            gesture: Any = event
            if gesture.gestureType() is Qt.NativeGestureType.ZoomNativeGesture:
                at = gesture.position()
                self.camera.set(self.camera.view.zoomed(1 + gesture.value(), at.x(), at.y()))
                return True
        return super().event(event)

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

    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing is drawn for nobody."""
        self.tile_cache.stop()
        self._hold.stop()
        self.camera.stop()
        self._ticker.stop()

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


def _press(event: QKeyEvent) -> Press:
    keys = event.modifiers()
    return Press(
        event.key(),
        bool(keys & Qt.KeyboardModifier.ShiftModifier),
        bool(keys & Qt.KeyboardModifier.ControlModifier),
        bool(keys & Qt.KeyboardModifier.AltModifier),
    )


def _edge(at: float, extent: int) -> float:
    border, step, _ = _EDGE
    if at < border:
        return step * (1 - max(at, 0) / border)
    if at > extent - border:
        return -step * (1 - max(extent - at, 0) / border)
    return 0.0


#: (ctrl, shift, key) → command
_KEYS: Final[dict[tuple[bool, bool, int], Callable[[Canvas], object]]] = {
    (True, False, int(Qt.Key.Key_D)): lambda c: c.session.duplicate(),
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
    (False, False, int(Qt.Key.Key_Home)): lambda c: c.zoom_to_fit(),
    (False, False, int(Qt.Key.Key_F)): lambda c: c.zoom_to_fit(),
    (False, True, int(Qt.Key.Key_F)): lambda c: c.zoom_to_selection(),
}
