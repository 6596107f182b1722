"""A widget that shows a scene: where the eye is, what is painted, and what wheels and pinches do.

It knows no tools and changes nothing: what is drawn comes from ``scene`` and the composers, pixels from ``tile_cache``.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Final

import numpy as np
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QImage, QPainter, QPaintEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QGridLayout, QLabel, QWidget

from designer.drawing.display_list import Batch
from designer.drawing.picture import full_detail
from designer.drawing.theme import CanvasTheme
from designer.drawing.view import Rect, View
from designer.drawing.view_state import Frame, ViewState
from designer.gui.canvas.batch_painter import BatchPainter, GlyphSource
from designer.gui.canvas.camera import Camera
from designer.gui.canvas.minimap import Minimap
from designer.gui.canvas.scene import Scene, summary_text
from designer.gui.canvas.tile_cache import TileCache
from designer.gui.controls import Label
from designer.gui.layouts import in_column

_WHEEL: Final = 1.0018
#: the slow clock, by which rings open and the view moves at the border [ms]
_TICK: Final = 16
#: after an edit that wants new loads the frame waits for them so long to be drawn once: together with drawing it less
#: than a person notices [ms]
_HOLD: Final = 20


class Viewport(QWidget):
    """Shows a scene.

    Signals
    -------
    view_changed
        The view moved or zoomed.
    """

    view_changed = Signal()

    def __init__(self, scene: Scene, theme: CanvasTheme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.scene = scene
        self.batch_painter = BatchPainter(theme.family, GlyphSource())
        self.tile_cache = TileCache(self.batch_painter, lambda: self.scene.view_state, self._better, self)
        self.camera = Camera(self._view_moved, self)
        self.show_minimap = True
        #: calls to the painter within the last frame
        self.last_calls = 0
        self.minimap = Minimap(theme, lambda: self.camera.view.visible(), self)
        self.minimap.pointed.connect(self._centre)
        self.minimap.scrolled.connect(self._wheel_in_middle)
        self.blank = Blank(theme, self)
        self._fitted = False
        #: what lies over the canvas at its left, top, right and bottom [px]
        self.free = (0, 0, 0, 0)
        #: where the pointer is, in the widget
        self._at = QPointF(-1, -1)
        self._ticker = QTimer(self)
        self._ticker.setInterval(_TICK)
        self._ticker.timeout.connect(self._tick)
        self._hold = QTimer(self)
        self._hold.setSingleShot(True)
        self._hold.setTimerType(Qt.TimerType.PreciseTimer)
        self._hold.setInterval(_HOLD)
        self._hold.timeout.connect(self.update)
        self.setMouseTracking(True)
        self.setAttribute(Qt.WidgetAttribute.WA_OpaquePaintEvent)
        self.setAccessibleDescription(summary_text(self.scene))

    # ---- looks

    def set_theme(self, theme: CanvasTheme) -> None:
        """Other colours."""
        self.scene.set_theme(theme)
        self.minimap.theme = theme
        self.blank.set_theme(theme)
        self.tile_cache.drop()
        self._rethought()

    def _rethought(self) -> None:
        self._hold.stop()
        self._describe()
        if self.blank.isHidden() == (not len(self.scene.geometry)):
            self.blank.show_if(not len(self.scene.geometry), self.free)
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

    def settle(self) -> None:
        """Finish all drawing that is outstanding, now."""
        self.camera.set(self.camera.target)
        self.tile_cache.finish(self.frame())
        self._better()

    def image(self, scale: float = 1.0, selected_only: bool = False, transparent: bool = False) -> QImage:
        """The whole design, or the selection, in full detail."""
        boxes = self.scene.selected if selected_only and len(self.scene.selected) else None
        rect = self.scene.view_state.bounds if boxes is None else self.scene.region(boxes)
        return picture(self.scene.view_state, self.batch_painter, rect, scale, transparent)

    # ---- where the eye is

    @property
    def view(self) -> View:
        """Where the eye is."""
        return self.camera.view

    def frame(self) -> Frame:
        """How the scene falls on device pixels."""
        return self.tile_cache.frame(self.camera.view, self.devicePixelRatioF())

    def set_view(self, view: View) -> None:
        """Look somewhere else at once."""
        self.camera.set(view)

    def glide(self, view: View) -> None:
        """Move the view there, shortly animated."""
        self.camera.glide(view)

    def zoom_to_fit(self, animated: bool = True) -> None:
        """Show the whole design."""
        bounds = self.scene.view_state.bounds
        view = self.camera.view
        target = view.whole(bounds, self.free) if len(self.scene.geometry) else replace(view, scale=1.0, x=40.0, y=40.0)
        self._go(target, animated)

    def shows_all(self) -> bool:
        """True if the view is, or will be, the one that shows the whole design."""
        view, bounds = self.camera.target, self.scene.view_state.bounds
        return view == view.whole(bounds, self.free)

    def sees_all(self) -> bool:
        """True if all of the design is, or will be, in sight; also of an empty one."""
        view, (x, y, width, height) = self.camera.target, self.scene.view_state.bounds
        left, top = view.to_view(x, y)
        right, bottom = view.to_view(x + width, y + height)
        seen = left >= 0 and top >= 0 and right <= view.width and bottom <= view.height
        return seen or not len(self.scene.geometry)

    @contextmanager
    def kept_in_sight(self) -> Generator[None, None, None]:
        """Where all was in sight before an edit, all is afterwards."""
        seen = self.sees_all()
        yield
        if seen and not self.sees_all():
            self.zoom_to_fit()

    def _covers_what_counts(self, left: float, top: float, width: float, height: float) -> bool:
        """True if a rectangle of the view lies on a part that limits or is selected."""
        scene, view = self.scene, self.camera.view
        limits = np.flatnonzero(scene.view_state.loads.box_bottleneck)
        cards = scene.selected[~scene.geometry.is_container[scene.selected]]
        rect = scene.geometry.rect[np.concatenate((limits, cards))]
        x, y = rect[:, 0] * view.scale + view.x, rect[:, 1] * view.scale + view.y
        wide, high = rect[:, 2] * view.scale, rect[:, 3] * view.scale
        return bool(
            ((x < left + width) & (x + wide > left) & (y < top + height) & (y + high > top)).any(),
        )

    def set_free(self, free: tuple[int, int, int, int]) -> None:
        """Keep the whole design clear of other margins; who sees it goes on seeing it.

        The list of parts, at the left, opens over the drawing: it neither moves nor shrinks what was in sight.
        """
        if free != self.free:
            whole = self._fitted and self.shows_all() and free[1:] != self.free[1:]
            self.free = free
            self.blank.show_if(not len(self.scene.geometry), free)
            if whole:
                self.zoom_to_fit(animated=False)

    def zoom_to_selection(self) -> None:
        """Zoom to the selection."""
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
        shown = self.show_minimap and roomy and not whole
        if shown:
            at = self.minimap.geometry()
            shown = not self._covers_what_counts(at.x(), at.y(), at.width(), at.height())
        self.minimap.setVisible(shown)
        self.minimap.update()

    def _centre(self, x: float, y: float) -> None:
        view = self.camera.view
        vx, vy = view.to_view(x, y)
        self.camera.set(view.panned(view.width / 2 - vx, view.height / 2 - vy))

    # ---- painting

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            first = self.batch_painter.calls
            frame = self.frame()
            if frame.ratio != 1.0:
                painter.scale(1 / frame.ratio, 1 / frame.ratio)
            self.tile_cache.paint(painter, frame)
            surface = self.tile_cache.surface
            for batch in self.overlay(frame, (0.0, 0.0, float(surface.width), float(surface.height))):
                self.batch_painter.draw(painter, batch)
        self.last_calls = self.batch_painter.calls - first

    def overlay(self, frame: Frame, region: Rect) -> list[Batch]:
        """What is drawn over the scene in each frame."""
        return []

    # ---- the slow clock

    def _tick(self) -> None:
        if not self.advance():
            self._ticker.stop()

    def advance(self) -> bool:
        """Do the work of one tick of the slow timer; False if there is nothing left to do."""
        return False

    # ---- Qt events

    def sizeHint(self) -> QSize:
        return QSize(1000, 640)

    def resizeEvent(self, event: QResizeEvent) -> None:
        ratio = self.devicePixelRatioF()
        # who sees the whole design goes on seeing it
        whole = self._fitted and bool(len(self.scene.geometry)) and self.shows_all()
        self.camera.view = self.camera.view.sized(self.width(), self.height())
        self.tile_cache.resize(round(self.width() * ratio), round(self.height() * ratio))
        self.minimap.move(self.width() - self.minimap.width() - 12, self.height() - self.minimap.height() - 12)
        self._place_minimap()
        self.blank.show_if(not len(self.scene.geometry), self.free)
        if whole or not self._fitted:
            self._fitted = True
            self.zoom_to_fit(animated=False)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop drawing while the canvas is hidden."""
        self.tile_cache.stop()
        self._hold.stop()
        self.camera.stop()
        self._ticker.stop()

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
        self._wheeled(event.position())

    def _wheeled(self, at: QPointF) -> None:
        """The view moved below the pointer."""

    def event(self, event: QEvent) -> bool:
        """Pinching zooms."""
        if event.type() is QEvent.Type.NativeGesture:
            gesture: Any = event
            if gesture.gestureType() is Qt.NativeGestureType.ZoomNativeGesture:
                at = gesture.position()
                self.camera.set(self.camera.view.zoomed(1 + gesture.value(), at.x(), at.y()))
                return True
        return super().event(event)


# What an empty canvas says: the ways to begin. Clicks and drops go through it.

_WAYS: Final = (
    ("Drag in", "a part or a whole server from the list that + opens"),
    ("Ctrl+P", "search parts and templates, Enter puts the first in"),
    ("Double-click", "add a part right here"),
    ("Ctrl+V", "paste nvidia-smi topo -m, NCCL XML or lstopo XML of a machine"),
    ("Ctrl+K", "search every command"),
)


class Blank(QWidget):
    """A few lines of help in the middle of an empty canvas."""

    def __init__(self, theme: CanvasTheme, over: QWidget) -> None:
        super().__init__(over)
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self.title = Label("Nothing drawn yet")
        self._keys: list[QLabel] = []
        self._words: list[QLabel] = []
        grid = QGridLayout()
        grid.setHorizontalSpacing(14)
        grid.setVerticalSpacing(8)
        for row, (key, words) in enumerate(_WAYS):
            self._keys.append(Label(key))
            self._words.append(Label(words))
            self._keys[-1].setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            grid.addWidget(self._keys[-1], row, 0)
            grid.addWidget(self._words[-1], row, 1)
        in_column((self.title, 0, Qt.AlignmentFlag.AlignHCenter), grid, on=self, margins=(16, 16, 16, 16), spacing=14)
        self.set_theme(theme)
        self.hide()

    def set_theme(self, theme: CanvasTheme) -> None:
        """Other colours."""
        self.title.setStyleSheet(f"color: {theme.text}; font-size: 14pt; font-weight: 600;")
        for label in self._keys:
            label.setStyleSheet(f"color: {theme.text}; font-weight: 600;")
        for label in self._words:
            label.setStyleSheet(f"color: {theme.muted};")

    def show_if(self, empty: bool, free: tuple[int, int, int, int]) -> None:
        """Show it where nothing is drawn and there is room for it clear of the margins `free`."""
        over = self.parentWidget()
        assert over is not None
        self.adjustSize()
        left, top, right, bottom = free
        room = over.rect().adjusted(left, top, -right, -bottom)
        self.setVisible(empty and room.width() >= self.width() and room.height() >= self.height())
        self.move(left + (room.width() - self.width()) // 2, top + max(0, (room.height() - self.height()) // 2))


# The picture as an image, with all detail whatever the zoom is.

#: larger images are made smaller [px]
_LARGEST: Final = 12_000
_MARGIN: Final = 24


def picture(view_state: ViewState, batch_painter: BatchPainter, rect: Rect, scale: float, transparent: bool) -> QImage:
    """A scene rectangle as an image, `scale` pixels per scene unit."""
    x, y, width, height = rect
    scale = min(scale, _LARGEST / max(width, height, 1.0))
    margin = round(_MARGIN * scale)
    wide, high = max(1, round(width * scale) + 2 * margin), max(1, round(height * scale) + 2 * margin)
    image = QImage(wide, high, QImage.Format.Format_ARGB32_Premultiplied)
    image.fill(Qt.GlobalColor.transparent if transparent else batch_painter.colour(view_state.theme.background))
    with QPainter(image) as painter:
        painter.translate(margin - round(x * scale), margin - round(y * scale))
        for batch in full_detail(view_state, scale, rect):
            batch_painter.draw(painter, batch)
    return image
