"""Lanes of a run: tasks by workload and step, and curves of loads below them, under one axis and one playhead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, Qt
from PySide6.QtGui import (
    QBrush,
    QColor,
    QFont,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
    QPen,
    QPixmap,
    QWheelEvent,
)
from PySide6.QtWidgets import QSizePolicy, QWidget

from designer.gui.controls import Label, plain
from designer.gui.layouts import FLUSH, in_column, scrolled
from designer.gui.panels._figures import EmptyPage
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.gantt import (
    GanttRow,
    channels_of,
    interruptions_at,
    rows_of,
    task_text,
    visible,
)
from designer.gui.viewmodels.moments import clock_text, ticks
from designer.gui.viewmodels.plots import Curve, curves_of
from designer.pages.instant import name_of
from designer.pages.simulate import losses

if TYPE_CHECKING:
    from designer.engine.clock.frames import Frames
    from designer.engine.clock.interruptions import Interruption

_ROW, _BAR, _AXIS, _NAMES = 22, 13, 20, 0.24
#: height of a curve, and of the line in it [px]
_CURVE, _LINE = 44, 34
_LEAST_NAMES, _MOST_NAMES = 120.0, 260.0
#: a step of the wheel shows so much less time
_ZOOM: Final = 1.25
_DEEPEST: Final = 1e-6
#: a chart taller than this is drawn again each time instead of being kept as pixels [px]
_KEPT_HEIGHT: Final = 4096
#: least distance of ticks of the axis, half the width of the time at the playhead [px]
_APART: Final = 90.0
_PLATE: Final = 60


class GanttChart(QWidget):
    """Bars over time; painted by hand, since a run has more tasks than widgets can be."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.session: Session | None = None
        self.rows: tuple[GanttRow, ...] = ()
        self.curves: tuple[Curve, ...] = ()
        self.interruptions: tuple[Interruption, ...] = ()
        self.begin, self.end = 0.0, 1.0
        self.chosen = -1
        self.moment = 0.0
        self._picture: QPixmap | None = None
        self._key: object = None
        self.setMouseTracking(True)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName("Tasks of the run over time")
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)

    def sizeHint(self) -> QSize:
        """The size it asks for."""
        return QSize(400, self._curve_top(len(self.curves)) + 6)

    @property
    def frames(self) -> Frames | None:
        """The run shown."""
        return self.session.frames if self.session is not None else None

    def show_run(self, session: Session | None) -> None:
        """Show the run of a session."""
        before = self.frames if session is self.session else None
        self.session = session
        frames = self.frames
        found = session.simulation if session is not None else None
        self.rows = rows_of(frames.run, found.titles if found is not None else {}) if frames is not None else ()
        self.curves = curves_of(frames, session.selection) if frames is not None and session is not None else ()
        self.interruptions = frames.interruptions if frames is not None else ()
        self.chosen, self._picture = -1, None
        if frames is not None and (before is None or before.end != frames.end or self.end > frames.end):
            self.begin, self.end = 0.0, max(frames.end, 1e-12)
        self.moment = session.moment if session is not None else 0.0
        self.setMinimumHeight(self.sizeHint().height())
        self.updateGeometry()
        self.update()

    def set_moment(self, moment: float) -> None:
        """Show where one is; only the line moves."""
        before, self.moment = self.moment, moment
        for at in (before, moment):
            self.update(round(self.x_of(at)) - 3, 0, 7, self.height())
            self.update(round(self.x_of(at)) - _PLATE, 0, 2 * _PLATE, _AXIS)
        top = self._curve_top(0)
        self.update(0, top, round(self.left), self.height() - top)

    def show_curves(self) -> None:
        """Show the loads of what is selected now."""
        if self.session is not None and self.frames is not None:
            self.curves, self._picture = curves_of(self.frames, self.session.selection), None
            self.setMinimumHeight(self.sizeHint().height())
            self.update()

    # ---- places

    def _curve_top(self, number: int) -> int:
        """Where a curve begins [px]."""
        return _AXIS + _ROW * max(1, len(self.rows)) + 6 + number * _CURVE

    @property
    def left(self) -> float:
        """Where the names end [px]."""
        return min(max(self.width() * _NAMES, _LEAST_NAMES), _MOST_NAMES)

    def x_of(self, time: float) -> float:
        """Where a time is [px]."""
        return self.left + (time - self.begin) / (self.end - self.begin) * max(1.0, self.width() - self.left - 8)

    def time_at(self, x: float) -> float:
        """The time at a place [s]."""
        time = self.begin + (x - self.left) / max(1.0, self.width() - self.left - 8) * (self.end - self.begin)
        return min(max(time, 0.0), self.frames.end if self.frames is not None else 0.0)

    def task_at(self, x: float, y: float) -> int:
        """The task under a place; −1 for none."""
        number = int((y - _AXIS) // _ROW)
        if not 0 <= number < len(self.rows) or y < _AXIS or x < self.left:
            return -1
        row, time = self.rows[number], self.time_at(x)
        slack = (self.end - self.begin) / max(1.0, self.width() - self.left - 8)
        inside = (row.begin <= time + slack) & (row.end >= time - slack)
        return int(row.task[int(inside.argmax())]) if inside.any() else -1

    def text_at(self, x: float, y: float) -> str:
        """What is under a place, in words: the task, and what hit its program."""
        number = int((y - _AXIS) // _ROW)
        if self.frames is None or not 0 <= number < len(self.rows) or y < _AXIS or x < self.left:
            return ""
        task = self.task_at(x, y)
        slack = 2 * (self.end - self.begin) / max(1.0, self.width() - self.left - 8)
        hit = interruptions_at(self.interruptions, self.rows[number].program, self.time_at(x), slack)
        return "\n".join([*(one.text for one in hit), *([task_text(self.frames.run, task)] if task >= 0 else [])])

    # ---- drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        """The size it asks for."""
        with QPainter(self) as painter:
            theme, frames = self.theme, self.frames
            if frames is None:
                painter.fillRect(event.rect(), QColor(theme.surface))
                return
            if self.height() > _KEPT_HEIGHT:
                self._draw(painter, event.rect(), frames)
            else:
                # while a run is played only the line moves: the rest is kept as pixels
                key = (self.size(), self.devicePixelRatioF(), self.begin, self.end, self.chosen, theme)
                if self._picture is None or self._key != key:
                    self._picture, self._key = self._rendered(frames), key
                painter.drawPixmap(0, 0, self._picture)
            self._draw_moment(painter, frames)
            if self.hasFocus():
                painter.setPen(QPen(QColor(theme.accent), 1))
                painter.drawRect(QRectF(0.5, 0.5, self.width() - 1, self.height() - 1))

    def _draw_moment(self, painter: QPainter, frames: Frames) -> None:
        """The playhead with its time, and the values of the curves there."""
        theme, metrics = self.theme, painter.fontMetrics()
        painter.setPen(QColor(theme.muted))
        for number, curve in enumerate(self.curves):
            room = QRectF(8, self._curve_top(number) + _CURVE / 2, self.left - 16, _CURVE / 2)
            painter.drawText(room, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft, curve.text_at(self.moment))
        x = self.x_of(self.moment)
        if not self.left <= x <= self.width():
            return
        painter.setPen(QPen(QColor(theme.text), 1.4))
        painter.drawLine(QPointF(x, _AXIS - 4), QPointF(x, self.height()))
        text = clock_text(self.moment, frames.end)
        wide = metrics.horizontalAdvance(text) + 10.0
        plate = QRectF(min(max(x - wide / 2, self.left), self.width() - wide), 1, wide, _AXIS - 3)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.text))
        painter.drawRoundedRect(plate, 3, 3)
        painter.setPen(QColor(theme.surface))
        painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, text)
        painter.setBrush(Qt.BrushStyle.NoBrush)

    def _rendered(self, frames: Frames) -> QPixmap:
        ratio = self.devicePixelRatioF()
        picture = QPixmap(round(self.width() * ratio), round(self.height() * ratio))
        picture.setDevicePixelRatio(ratio)
        with QPainter(picture) as painter:
            painter.setFont(self.font())
            self._draw(painter, self.rect(), frames)
        return picture

    def _draw(self, painter: QPainter, dirty: QRect, frames: Frames) -> None:
        """All but the instant."""
        theme = self.theme
        painter.fillRect(dirty, QColor(theme.surface))
        self._axis(painter, frames)
        colours = {name: theme.series[k % len(theme.series)] for k, name in enumerate(frames.run.programs)}
        width = self.width() - self.left - 8
        names = dirty.left() < self.left
        first = max(0, (dirty.top() - _AXIS) // _ROW)
        for number in range(first, min(len(self.rows), (dirty.bottom() - _AXIS) // _ROW + 1)):
            row, top = self.rows[number], _AXIS + number * _ROW
            if names:
                self._name(painter, row, top, number)
            painter.save()
            painter.setClipRect(QRectF(self.left, top, width + 8, _ROW))
            lit = QColor(colours[row.program])
            pale = QColor(lit)
            pale.setAlphaF(0.34)
            left, right, at = visible(row, self.begin, self.end, width)
            y = top + (_ROW - _BAR) / 2
            for a, b, k in zip(left.tolist(), right.tolist(), at.tolist(), strict=True):
                box = QRectF(self.left + a, y, max(1.0, b - a - (1.0 if b - a > 3 else 0.0)), _BAR)
                painter.fillRect(box, lit if row.critical[k] else pale)
                if row.critical[k]:
                    painter.fillRect(QRectF(box.left(), box.bottom() - 2, box.width(), 2), QColor(theme.bad))
                if int(row.task[k]) == self.chosen:
                    painter.setPen(QPen(QColor(theme.text), 1.5))
                    painter.drawRect(box.adjusted(-0.5, -0.5, 0.5, 0.5))
            for one in self.interruptions:
                if one.program == row.program:
                    first_row = number == 0 or self.rows[number - 1].program != row.program
                    self._interrupted(painter, one, QRectF(self.left, top, width, _ROW), first_row)
            painter.restore()
        for number, curve in enumerate(self.curves):
            self._draw_curve(painter, number, curve)
        self._draw_hits(painter)

    def _draw_curve(self, painter: QPainter, number: int, curve: Curve) -> None:
        """A curve over time with its name and its largest value."""
        theme, top = self.theme, self._curve_top(number)
        painter.setPen(QPen(QColor(theme.border), 1))
        painter.drawLine(QPointF(0, top), QPointF(self.width(), top))
        painter.setPen(QColor(theme.text))
        room = QRectF(8, top + 3, self.left - 16, _CURVE / 2)
        name = painter.fontMetrics().elidedText(
            self._name_of(curve.label), Qt.TextElideMode.ElideMiddle, int(room.width())
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignTop | Qt.AlignmentFlag.AlignLeft, name)
        if not len(curve.time):
            return
        bottom = top + _CURVE - (_CURVE - _LINE) / 2
        points = [
            QPointF(self.x_of(at), bottom - min(value / curve.most, 1.0) * _LINE)
            for at, value in zip(curve.time.tolist(), curve.value.tolist(), strict=True)
        ]
        colour = QColor(theme.series[number % len(theme.series)])
        painter.save()
        painter.setClipRect(QRectF(self.left, top, self.width() - self.left, _CURVE))
        ground = QColor(colour)
        ground.setAlphaF(0.18)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(ground)
        painter.drawPolygon([QPointF(points[0].x(), bottom), *points, QPointF(points[-1].x(), bottom)])
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.setPen(QPen(colour, 1))
        painter.drawPolyline(points)
        painter.restore()

    def _draw_hits(self, painter: QPainter) -> None:
        """What happened to links and parts: a line through all lanes where it began, and its name on the axis."""
        bad, metrics, reached = QColor(self.theme.bad), painter.fontMetrics(), self.left
        for begin, text in dict.fromkeys((one.begin, one.what) for one in self.interruptions if one.what):
            x = self.x_of(begin)
            if not self.left <= x <= self.width():
                continue
            painter.fillRect(QRectF(x - 0.75, _AXIS - 3, 1.5, self.height()), bad)
            name = self._name_of(text)
            wide = metrics.horizontalAdvance(name) + 10.0
            plate = QRectF(min(x, self.width() - wide - 1), 1, wide, _AXIS - 4)
            if plate.left() < reached:
                continue
            reached = plate.right() + 4
            painter.fillRect(plate, QColor(self.theme.surface))
            painter.setPen(bad)
            painter.drawRect(plate)
            painter.drawText(plate, Qt.AlignmentFlag.AlignCenter, name)

    def _name_of(self, what: str) -> str:
        return name_of(self.session.design, what) if self.session is not None else what

    def _interrupted(self, painter: QPainter, one: Interruption, row: QRectF, stated: bool) -> None:
        """What hit a program, over its bars: hatched while it lasts, a line where it began, named where it fits."""
        left, right = self.x_of(one.begin), self.x_of(one.end)
        if right < row.left() or left > row.right():
            return
        bad = QColor(self.theme.bad)
        box = QRectF(left, row.top(), max(2.0, right - left), row.height())
        painter.fillRect(box, QBrush(bad, Qt.BrushStyle.BDiagPattern))
        painter.fillRect(QRectF(left - 1, row.top(), 2, row.height()), bad)
        text = str(one.cause)
        wide = painter.fontMetrics().horizontalAdvance(text) + 8.0
        begin = max(left, row.left())
        if stated and min(right, row.right()) - begin > wide + 4:
            label = QRectF(begin + 3, row.top() + 3, wide, row.height() - 6)
            painter.fillRect(label, QColor(self.theme.surface))
            painter.setPen(bad)
            painter.drawText(label, Qt.AlignmentFlag.AlignCenter, text)

    def _name(self, painter: QPainter, row: GanttRow, top: int, number: int) -> None:
        first = number == 0 or self.rows[number - 1].program != row.program
        painter.setPen(QPen(QColor(self.theme.border), 1))
        if first and number:
            painter.drawLine(QPointF(0, top), QPointF(self.width(), top))
        left = 8.0 if row.is_head else 20.0 + 12.0 * row.depth
        painter.setPen(QColor(self.theme.text if row.is_head or row.depth == 0 else self.theme.muted))
        room = QRectF(left, top, self.left - left - 8, _ROW)
        text = row.title
        painter.setFont(self._head_font() if row.is_head else self.font())
        shown = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideMiddle, int(room.width()))
        painter.drawText(room, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, shown)
        painter.setFont(self.font())
        if row.is_head:
            painter.setPen(QColor(self.theme.muted))
            note_rect = QRectF(self.left + 4, top, self.width() - self.left - 8, _ROW)
            painter.drawText(note_rect, Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft, row.note)

    def _head_font(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        return font

    def _axis(self, painter: QPainter, frames: Frames) -> None:
        for at in ticks(self.begin, self.end, (self.width() - self.left - 8) / _APART):
            x = self.x_of(at)
            painter.setPen(QPen(QColor(self.theme.border), 1))
            painter.drawLine(QPointF(x, _AXIS - 3), QPointF(x, self.height()))
            painter.setPen(QColor(self.theme.muted))
            text = clock_text(at, frames.end)
            wide = painter.fontMetrics().horizontalAdvance(text)
            painter.drawText(QPointF(min(x - wide / 2, self.width() - wide - 4.0), _AXIS - 6), text)

    # ---- hands

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Look at the instant, and at the task there: its way is lit on the canvas."""
        if event.button() != Qt.MouseButton.LeftButton or self.session is None or self.frames is None:
            return
        x, y = event.position().x(), event.position().y()
        if x < self.left:
            return
        task = self.task_at(x, y)
        self.choose(task)
        self.session.set_moment(self.time_at(x))

    def choose(self, task: int) -> None:
        """Light the way of a task; −1 lights none."""
        if self.session is None or self.frames is None:
            return
        self.chosen = task
        self.session.set_highlight(channels_of(self.frames.run, task) if task >= 0 else ())
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Scrub; without a button say what is there."""
        x, y = event.position().x(), event.position().y()
        if event.buttons() & Qt.MouseButton.LeftButton and self.session is not None and x >= self.left:
            self.session.set_moment(self.time_at(x))
        elif self.frames is not None:
            self.setToolTip(plain(self.text_at(x, y)))

    def wheelEvent(self, event: QWheelEvent) -> None:
        """With Ctrl zoom in time at the pointer; else what is around scrolls."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier or self.frames is None:
            event.ignore()
            return
        at, whole = self.time_at(event.position().x()), max(self.frames.end, 1e-12)
        width = (self.end - self.begin) / _ZOOM ** (event.angleDelta().y() / 120)
        width = min(max(width, whole * _DEEPEST), whole)
        share = (at - self.begin) / (self.end - self.begin)
        self.begin = min(max(0.0, at - share * width), whole - width)
        self.end = self.begin + width
        self.update()
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows step in time; Esc lights no task any more."""
        width = self.end - self.begin
        steps = {Qt.Key.Key_Left: -width / 100, Qt.Key.Key_Right: width / 100}
        key = Qt.Key(event.key())
        if key in steps and self.session is not None:
            self.session.set_moment(self.session.moment + steps[key])
        elif key == Qt.Key.Key_Escape and self.chosen >= 0:
            self.choose(-1)
        else:
            super().keyPressEvent(event)


class GanttPanel(Panel):
    """The chart, or what to do to get one."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.empty = EmptyPage("Run workloads over time (F6) to see which task waits for which.")
        self.chart = GanttChart(theme)
        self.area = scrolled(self.chart)
        self.lost = Label(wrap=True)
        self.lost.setContentsMargins(8, 4, 8, 4)
        in_column(self.empty, (self.area, 1), self.lost, on=self, margins=FLUSH, spacing=0)

    def watch(self, session: Session) -> None:
        """Follow runs, and the instant looked at."""
        self.connect_signal(session.simulation_changed, self.outdate)
        self.connect_signal(session.moment_changed, self._moved)
        self.connect_signal(session.selection_changed, self._selected)

    def _selected(self, *_: object) -> None:
        if self.seen:
            self.chart.show_curves()
        else:
            self.outdate()

    def set_session(self, session: Session | None) -> None:
        """Follow another document; out of sight the chart would keep the one before, closed or not."""
        if session is not self.session:
            self.chart.show_run(None)
        super().set_session(session)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.chart.theme = theme
        super().set_theme(theme)

    def _moved(self, moment: float) -> None:
        if self.seen and self.chart.frames is not None:
            self.chart.set_moment(moment)

    def entry(self) -> QWidget | None:
        """The chart takes the keys where there is one."""
        return self.chart if self.chart.frames is not None else None

    def refresh(self) -> None:
        """Show the run there is."""
        session = self.session
        there = session is not None and session.frames is not None
        self.empty.setVisible(not there)
        self.area.setVisible(there)
        self.chart.show_run(session)
        found = session.simulation if session is not None else None
        if found is not None:
            self.lost.setText(" ".join(losses(found)))
        self.lost.setVisible(there and bool(self.lost.text()))


PANEL = PanelKind("gantt", "Lanes", Place.RUN, 10, lambda s: GanttPanel(s.theme))
