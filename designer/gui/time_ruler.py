"""The ruler of the time bar: the load over time, what happens when, and the instant that is looked at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QFontMetricsF,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QPolygonF,
    QResizeEvent,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from designer.drawing.theme import STEPS, canvas_theme
from designer.gui.controls import plain
from designer.gui.theme import Theme
from designer.gui.viewmodels.moments import clock_text, ticks
from designer.gui.viewmodels.scenario import Event

if TYPE_CHECKING:
    from designer.engine.clock.frames import Frames


#: a double click goes to what happens within so many pixels
_NEAR: Final = 8.0
#: more ends of a step than this are no instants one looks for
_MARKS: Final = 60
#: the ruler can be zoomed in to this part of the run
_DEEPEST: Final = 1e-6
_ZOOM: Final = 1.25
_RULER, _HEAD = 30, 15
#: size of the times as a share of other text, and the least distance of two [px]
_SMALL: Final = 0.86
_APART: Final = 80.0
#: what holds a program up is a bar so high [px]
_HIT: Final = 4.0


class TimeRuler(QWidget):
    """The load over time; dragging scrubs, the wheel zooms, keys step.

    Signals
    -------
    sought : ``float``
        An instant somebody wants to look at [s].
    key_pressed : ``int``
        A key that is not about the instant.
    """

    sought = Signal(float)
    key_pressed = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.frames: Frames | None = None
        self.moment = 0.0
        self.begin, self.end = 0.0, 1.0
        self.events: tuple[Event, ...] = ()
        self.marks: tuple[tuple[float, str], ...] = ()
        #: what hit programs: from when to when, and what
        self.hits: tuple[tuple[float, float, str], ...] = ()
        self.stale = False
        self._picture: QPixmap | None = None
        self.setMinimumHeight(_RULER + _HEAD + 4)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName("Time of the run")
        self.setCursor(Qt.CursorShape.PointingHandCursor)

    def sizeHint(self) -> QSize:
        return QSize(400, _RULER + _HEAD + 4)

    # ---- what is shown

    def show_run(self, frames: Frames | None, events: tuple[Event, ...], stale: bool) -> None:
        """Show another run."""
        same = frames is self.frames and events == self.events and stale == self.stale
        if frames is not self.frames:
            self.begin, self.end = 0.0, max(frames.end, 1e-12) if frames is not None else 1.0
            self.marks = _marks(frames) if frames is not None else ()
            hits = frames.interruptions if frames is not None else ()
            self.hits = tuple((one.begin, one.end, f"{one.program}: {one.text}") for one in hits)
        self.frames, self.events, self.stale = frames, events, stale
        if not same:
            self._drop()

    def set_moment(self, moment: float) -> None:
        """Show where one is; the ruler follows where that would be out of sight."""
        self.moment = moment
        if not self.begin <= moment <= self.end and self.frames is not None:
            width = self.end - self.begin
            begin = min(max(0.0, moment - width / 4), max(0.0, self.frames.end - width))
            self.begin, self.end = begin, begin + width
            self._drop()
        self.update()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.theme = theme
        self._drop()

    def _drop(self) -> None:
        self._picture = None
        self.update()

    def x_of(self, time: float) -> float:
        """Where a time is [px]."""
        return 1 + (time - self.begin) / (self.end - self.begin) * max(1, self.width() - 2)

    def time_at(self, x: float) -> float:
        """The time at a place [s]."""
        time = self.begin + (x - 1) / max(1, self.width() - 2) * (self.end - self.begin)
        most = self.frames.end if self.frames is not None else 0.0
        return min(max(time, 0.0), most)

    def zoom(self, factor: float, x: float) -> None:
        """Show a shorter or longer time around a place."""
        if self.frames is None:
            return
        whole = max(self.frames.end, 1e-12)
        at = self.begin + (x - 1) / max(1, self.width() - 2) * (self.end - self.begin)
        width = min(max((self.end - self.begin) / factor, whole * _DEEPEST), whole)
        share = (at - self.begin) / (self.end - self.begin)
        self.begin = min(max(0.0, at - share * width), whole - width)
        self.end = self.begin + width
        self._drop()

    # ---- drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        with QPainter(self) as painter:
            if self._picture is None:
                self._picture = self._rendered()
            painter.drawPixmap(0, 0, self._picture)
            if self.frames is None:
                return
            x = self.x_of(self.moment)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(QPen(QColor(self.theme.text), 1.6))
            painter.drawLine(QPointF(x, _HEAD - 1), QPointF(x, self.height() - 1))
            painter.setBrush(QColor(self.theme.text))
            painter.setPen(Qt.PenStyle.NoPen)
            top = _HEAD - 8
            painter.drawPolygon(QPolygonF([QPointF(x - 4.5, top), QPointF(x + 4.5, top), QPointF(x, _HEAD)]))
            if self.hasFocus():
                painter.setPen(QPen(QColor(self.theme.accent), 1))
                painter.setBrush(Qt.BrushStyle.NoBrush)
                painter.drawRect(QRectF(0.5, _HEAD + 0.5, self.width() - 1, self.height() - _HEAD - 1))

    def _rendered(self) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        picture.setDevicePixelRatio(ratio)
        picture.fill(Qt.GlobalColor.transparent)
        with QPainter(picture) as painter:
            ground = QRectF(0, _HEAD, self.width(), self.height() - _HEAD)
            painter.fillRect(ground, QColor(self.theme.sunken))
            frames = self.frames
            if frames is not None and self.width() > 2:
                import numpy as np

                count = max(1, round((self.width() - 2) * ratio))
                share, _ = frames.fullest(self.begin, self.end, count)
                step, room = 1 / ratio, ground.height() - 2
                heat = [QColor(c) for c in canvas_theme(self.theme.name).heat]
                painter.setOpacity(0.4 if self.stale else 1.0)
                classes = np.searchsorted(STEPS, share, side="right").tolist()
                for k, (value, tone) in enumerate(zip(share.tolist(), classes, strict=True)):
                    if value > 0:
                        high = max(step, value * room)
                        painter.fillRect(QRectF(1 + k * step, self.height() - 1 - high, step, high), heat[tone])
                painter.setOpacity(1.0)
                for time, _name in self.marks:
                    self._tick(painter, time, self.theme.faint, 4)
                bad = QColor(self.theme.bad)
                for begin, end, _ in self.hits:
                    left, right = max(1.0, self.x_of(begin)), min(self.width() - 1.0, self.x_of(end))
                    if right > 1 and left < self.width() - 1:
                        box = QRectF(left, _HEAD + 1, max(2.0, right - left), _HIT)
                        painter.fillRect(box.adjusted(-1, 0, 1, 1), QColor(self.theme.surface))
                        painter.fillRect(box, bad)
                for one in self.events:
                    self._tick(painter, one.at, self.theme.bad if one.share < 1 else self.theme.good, ground.height())
                self._draw_axis(painter, frames)
            painter.setPen(QPen(QColor(self.theme.border), 1))
            painter.drawRect(ground.adjusted(0.5, 0.5, -0.5, -0.5))
        return picture

    def _draw_axis(self, painter: QPainter, frames: Frames) -> None:
        """Times above the load."""
        font = QFont(self.font())
        font.setPointSizeF(font.pointSizeF() * _SMALL)
        painter.setFont(font)
        painter.setPen(QColor(self.theme.muted))
        metrics = QFontMetricsF(font)
        for at in ticks(self.begin, self.end, self.width() / _APART):
            text = clock_text(at, frames.end)
            wide = metrics.horizontalAdvance(text)
            x = min(max(self.x_of(at) - wide / 2, 0.0), self.width() - wide)
            painter.drawText(QPointF(x, _HEAD - 3), text)

    def _tick(self, painter: QPainter, time: float, colour: str, high: float) -> None:
        if self.begin <= time <= self.end:
            painter.fillRect(QRectF(self.x_of(time) - 0.75, _HEAD, 1.5, high), QColor(colour))

    # ---- hands

    def resizeEvent(self, event: QResizeEvent) -> None:
        self._drop()
        super().resizeEvent(event)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Look at the instant under the pointer."""
        if event.button() == Qt.MouseButton.LeftButton:
            self.sought.emit(self.time_at(event.position().x()))

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub; without a button say what is there."""
        time = self.time_at(event.position().x())
        if event.buttons() & Qt.MouseButton.LeftButton:
            self.sought.emit(time)
        elif self.frames is not None:
            near = self.near(event.position().x())
            text = clock_text(time, self.frames.end) + (f": {near[1]}" if near is not None else "")
            self.setToolTip(plain(text))

    def mouseDoubleClickEvent(self, event: QMouseEvent) -> None:
        """Go to what happens there."""
        near = self.near(event.position().x())
        if near is not None:
            self.sought.emit(near[0])

    def near(self, x: float) -> tuple[float, str] | None:
        """What happens near a place: when, and what."""
        # what was let happen comes before ends of steps, which are everywhere
        hits = [(begin, text) for begin, _, text in self.hits]
        for known in ([(e.at, e.text) for e in self.events], hits, list(self.marks)):
            found = min(known, key=lambda one: abs(self.x_of(one[0]) - x), default=None)
            if found is not None and abs(self.x_of(found[0]) - x) <= _NEAR:
                return found
        return None

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Zoom in time; sideways moves along."""
        turns = event.angleDelta()
        if turns.x() and abs(turns.x()) > abs(turns.y()) and self.frames is not None:
            width = self.end - self.begin
            by = -turns.x() / 120 * width / 10
            self.begin = min(max(0.0, self.begin + by), max(0.0, self.frames.end - width))
            self.end = self.begin + width
            self._drop()
        elif turns.y():
            self.zoom(_ZOOM ** (turns.y() / 120), event.position().x())
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows step by a hundredth of what is in sight, with Ctrl from change to change; Home, End, page keys."""
        width, far = self.end - self.begin, self.frames.end if self.frames is not None else 0.0
        steps = {
            Qt.Key.Key_Left: -width / 100,
            Qt.Key.Key_Right: width / 100,
            Qt.Key.Key_PageUp: -width / 10,
            Qt.Key.Key_PageDown: width / 10,
        }
        key = Qt.Key(event.key())
        if event.modifiers() & Qt.KeyboardModifier.ControlModifier and key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self.key_pressed.emit(int(key))
        elif key in steps:
            self.sought.emit(min(max(0.0, self.moment + steps[key]), far))
        elif key in (Qt.Key.Key_Home, Qt.Key.Key_End):
            self.sought.emit(0.0 if key == Qt.Key.Key_Home else far)
        elif key in (Qt.Key.Key_Space, Qt.Key.Key_Plus, Qt.Key.Key_Equal, Qt.Key.Key_Minus, Qt.Key.Key_L):
            self.key_pressed.emit(int(key))
        else:
            super().keyPressEvent(event)


def _marks(frames: Frames) -> tuple[tuple[float, str], ...]:
    """Ends of steps that are rare enough to be looked for."""
    found: list[tuple[float, str]] = []
    for name, times in frames.run.marks.items():
        if len(times) <= _MARKS:
            found += [(time, f"{name} {k + 1} ends") for k, time in enumerate(times)]
    return tuple(sorted(found))
