"""The whole picture, small, with a frame around what is in sight; drag the frame to move the view."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPen, QPixmap, QWheelEvent
from PySide6.QtWidgets import QWidget

from designer.drawing.theme import CanvasTheme
from designer.drawing.view import Rect
from designer.drawing.view_state import Frame

SIZE: Final = QSize(200, 132)
_MARGIN: Final = 6


class Minimap(QWidget):
    """Shows a small picture and the part of it in sight.

    Signals
    -------
    pointed : ``float, float``
        The scene point to bring to the middle.
    scrolled : ``QWheelEvent``
    """

    pointed = Signal(float, float)
    scrolled = Signal(object)

    def __init__(self, theme: CanvasTheme, seen: Callable[[], Rect], parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme
        self._seen = seen
        self._pixmap: QPixmap | None = None
        self._frame: Frame | None = None
        #: all but the frame of what is in sight, kept: scaling the picture takes as long as the rest of a small step
        self._ground: tuple[object, QPixmap] | None = None
        self.setFixedSize(SIZE)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)

    def show_picture(self, pixmap: QPixmap | None, frame: Frame | None) -> None:
        """Another picture, and how the scene falls on its pixels."""
        self._pixmap, self._frame = pixmap, frame
        self.update()

    def _scale(self) -> float:
        """Widget pixels per pixel of the picture."""
        assert self._pixmap is not None
        room = SIZE.width() - 2 * _MARGIN, SIZE.height() - 2 * _MARGIN
        return min(room[0] / self._pixmap.width(), room[1] / self._pixmap.height())

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            # what lies below it shows through
            painter.setOpacity(0.88)
            painter.drawPixmap(0, 0, self._kept_ground())
            if self._pixmap is not None and self._frame is not None:
                scale = self._scale()
                x, y, w, h = self._seen()
                f = self._frame
                frame = QRectF(
                    _MARGIN + (x * f.scale + f.x) * scale,
                    _MARGIN + (y * f.scale + f.y) * scale,
                    w * f.scale * scale,
                    h * f.scale * scale,
                )
                painter.setPen(QPen(QColor(self.theme.selection), 1.5))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(frame.intersected(QRectF(self.rect()).adjusted(1, 1, -1, -1)))

    def _kept_ground(self) -> QPixmap:
        """Plate, border and picture, in device pixels."""
        ratio = self.devicePixelRatioF()
        key = (self.theme, ratio, self._pixmap.cacheKey() if self._pixmap is not None else 0)
        if self._ground is not None and self._ground[0] == key:
            return self._ground[1]
        made = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        made.setDevicePixelRatio(ratio)
        with QPainter(made) as painter:
            painter.setRenderHint(QPainter.RenderHint.SmoothPixmapTransform)
            painter.fillRect(self.rect(), QColor(self.theme.pill))
            painter.setPen(QColor(self.theme.container_edges[0]))
            painter.drawRect(self.rect().adjusted(0, 0, -1, -1))
            if self._pixmap is not None and self._frame is not None:
                scale = self._scale()
                target = QRectF(_MARGIN, _MARGIN, self._pixmap.width() * scale, self._pixmap.height() * scale)
                painter.drawPixmap(target, self._pixmap, QRectF(self._pixmap.rect()))
        self._ground = (key, made)
        return made

    def mousePressEvent(self, event: QMouseEvent) -> None:
        self._point(event)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self._point(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        self.scrolled.emit(event)
        event.accept()

    def _point(self, event: QMouseEvent) -> None:
        if self._pixmap is None or self._frame is None:
            return
        scale = self._scale()
        at = event.position()
        x, y = (at.x() - _MARGIN) / scale, (at.y() - _MARGIN) / scale
        self.pointed.emit((x - self._frame.x) / self._frame.scale, (y - self._frame.y) / self._frame.scale)
        event.accept()
