"""Racks from the front, drawn as the report draws them: units are chosen, dragged and moved by keys."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import Final

from PySide6.QtCore import QEvent, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen, QWheelEvent
from PySide6.QtWidgets import QApplication, QWidget

from designer.design.edit import Edit
from designer.errors import DocumentError
from designer.gui.controls import plain
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.report.charts.elevation import GUTTER, HEAD, UNIT, front
from designer.report.drawing.elements import Label, Panel, Picture, Stroke
from designer.report.inks import INKS, recoloured
from designer.report.inventory import inventory
from designer.report.rack_moves import move, nearest_place, next_place, placed, why_not
from designer.report.tables.racks import Placed, Plan, plan_of
from designer.report.wording import quantity

#: one rack in units of its drawing, and the room between two of them
_WIDTH: Final = 190.0
_GAP: Final = 18.0
_BELOW: Final = 26.0
#: pixels of one unit of the drawing: at first, least and most, and one notch of the wheel
_ZOOM: Final = 1.3
_LEAST, _MOST, _NOTCH = 0.7, 4.0, 1.15
_EDGE: Final = 24


@dataclass(frozen=True, slots=True)
class Target:
    """Position a dragged unit would get, and why it cannot; no reason if it can."""

    rack: int
    at: int
    reason: str


class Elevations(QWidget):
    """All racks of a document, as many next to each other as there is room for.

    Signals
    -------
    chosen : nothing
        Another unit or rack was chosen.
    stated : ``str, bool``
        What to say about a move, and whether it is a refusal.
    reached : ``QRectF``
        Bring this into sight.
    """

    chosen = Signal()
    stated = Signal(str, bool)
    reached = Signal(QRectF)

    def __init__(self, session: Session, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session, self.theme = session, theme
        self.zoom = _ZOOM
        self.plan: Plan = plan_of(session.design)
        #: path of the unit chosen, and number of the rack
        self.unit, self.rack = "", 0
        self.target: Target | None = None
        self._grip: tuple[QPointF, float] | None = None
        self._drag = False
        self._pictures: dict[int, Picture] = {}
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setAccessibleName("Rack elevations")
        self.resized()

    # ---- what is shown

    def refresh(self) -> None:
        """Follow the design."""
        self.plan = plan_of(self.session.design)
        self._pictures.clear()
        self.drop()
        if self.member is None:
            self.unit = ""
        self.rack = min(self.rack, max(0, len(self.plan.racks) - 1))
        self.resized()
        self._say_what_is_chosen()
        self.chosen.emit()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.theme = theme
        self._pictures.clear()
        self.update()

    @property
    def member(self) -> int | None:
        """Number of the part that is chosen."""

        if not self.unit:
            return None
        try:
            found = inventory(self.session.design).net.index_of(self.unit)
        except DocumentError:
            return None
        return found if found in self.plan.of_unit else None

    @property
    def placed(self) -> Placed | None:
        """The unit that is chosen."""
        member = self.member
        return placed(self.plan, member) if member is not None else None

    def choose(self, path: str, rack: int) -> None:
        """Choose a unit, or with an empty path only a rack."""
        if (path, rack) == (self.unit, self.rack):
            return
        self.unit, self.rack = path, rack
        self._say_what_is_chosen()
        self.update()
        self.chosen.emit()

    def _say_what_is_chosen(self) -> None:
        unit = self.placed
        if unit is not None:
            self.setAccessibleDescription(f"{unit.name}, {self.plan.racks[self.rack].name}, unit {unit.at:g}")
        else:
            self.setAccessibleDescription(self.plan.racks[self.rack].name if self.plan.racks else "no racks")

    # ---- where things are

    @property
    def _tallest(self) -> float:
        return max((rack.height for rack in self.plan.racks), default=42.0)

    @property
    def _cell(self) -> tuple[float, float]:
        return (_WIDTH + _GAP) * self.zoom, (HEAD + self._tallest * UNIT + _BELOW) * self.zoom

    @property
    def columns(self) -> int:
        """How many are drawn next to each other."""
        return max(1, min(len(self.plan.racks), int((self.width() - _GAP) // self._cell[0])))

    def place_of(self, rack: int) -> QRectF:
        """The frame of a rack, without its numbers and head."""
        across, down = self._cell
        row, column = divmod(rack, self.columns)
        high = self.plan.racks[rack].height * UNIT * self.zoom
        bottom = row * down + (HEAD + self._tallest * UNIT + 10) * self.zoom
        left = _GAP / 2 + column * across + GUTTER * self.zoom
        return QRectF(left, bottom - high, (_WIDTH - GUTTER - 1) * self.zoom, high)

    def box(self, rack: int, at: float, height: float) -> QRectF:
        """The rectangle of some rack units."""
        frame = self.place_of(rack)
        unit = UNIT * self.zoom
        return QRectF(frame.left(), frame.bottom() - (at - 1 + height) * unit, frame.width(), height * unit)

    def box_of(self, path: str) -> QRectF:
        """The rectangle of a unit."""
        member = inventory(self.session.design).net.index_of(path)
        unit = placed(self.plan, member)
        return self.box(self.plan.of_unit[member], unit.at, unit.height)

    def rack_at(self, point: QPointF) -> int:
        """The rack at a point, its numbers and head included; −1 for none."""
        across, down = self._cell
        column, row = int((point.x() - _GAP / 2) // across), int(point.y() // down)
        rack = row * self.columns + column
        return rack if 0 <= column < self.columns and 0 <= rack < len(self.plan.racks) else -1

    def unit_at(self, point: QPointF) -> tuple[str, int]:
        """Path of the unit at a point and number of its rack; empty and −1 where there is none."""
        rack = self.rack_at(point)
        if rack < 0:
            return "", -1
        for unit in self.plan.racks[rack].units:
            if self.box(rack, unit.at, unit.height).contains(point):
                return inventory(self.session.design).net.path(unit.part), rack
        return "", rack

    def sizeHint(self) -> QSize:
        """All racks."""
        across, down = self._cell
        rows = -(-len(self.plan.racks) // self.columns) if self.plan.racks else 1
        return QSize(round(across + _GAP), round(rows * down))

    def resized(self) -> None:
        """Take as much height as the racks need at this width."""
        hint = self.sizeHint()
        self.setMinimumSize(min(hint.width(), 400), hint.height())
        self.updateGeometry()
        self.update()

    def resizeEvent(self, event: object) -> None:
        """Other rows."""
        self.resized()

    # ---- drawing

    def paintEvent(self, event: QPaintEvent) -> None:
        """The size it asks for."""
        with QPainter(self) as painter:
            painter.fillRect(event.rect(), QColor(self.theme.surface))
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for number in range(len(self.plan.racks)):
                frame = self.place_of(number)
                around = frame.adjusted(-GUTTER * self.zoom, -HEAD * self.zoom, self.zoom, 8 * self.zoom)
                if around.intersects(QRectF(event.rect())):
                    self._rack(painter, number, around.topLeft())
            self._marks(painter)

    def _rack(self, painter: QPainter, number: int, corner: QPointF) -> None:
        picture = self._pictures.get(number)
        if picture is None:
            picture = recoloured(front(self.plan.racks[number], _WIDTH), partial(_ink, dark=self.theme.is_dark))
            self._pictures[number] = picture
        painter.save()
        painter.translate(corner)
        paint(painter, picture, self.zoom, self.font())
        painter.restore()

    def _marks(self, painter: QPainter) -> None:
        accent, bad = QColor(self.theme.accent), QColor(self.theme.bad)
        unit, member = self.placed, self.member
        if unit is not None and member is not None:
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.setPen(QPen(accent, 2.0 if self.hasFocus() else 1.2))
            painter.drawRoundedRect(self.box_of(self.unit).adjusted(2, 0, -2, 0), 3, 3)
        elif self.plan.racks and self.hasFocus():
            painter.setPen(QPen(accent, 1.2))
            painter.drawRect(self.place_of(self.rack).adjusted(-2, -2, 2, 2))
        if self.target is None or unit is None:
            return
        box = self.box(self.target.rack, self.target.at, unit.height).adjusted(3, 1, -3, -1)
        ink = bad if self.target.reason else accent
        pale = QColor(ink)
        pale.setAlphaF(0.22)
        painter.setBrush(pale)
        painter.setPen(QPen(ink, 1.6, Qt.PenStyle.DashLine if self.target.reason else Qt.PenStyle.SolidLine))
        painter.drawRoundedRect(box, 3, 3)

    # ---- hands

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Choose what is there; a drag may begin."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        point = event.position()
        path, rack = self.unit_at(point)
        if rack < 0:
            return
        self.choose(path, rack)
        self.stated.emit("", False)
        if path:
            self._grip = point, self.box_of(path).bottom() - point.y()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Drag the unit, or say what is under the pointer."""
        point = event.position()
        if self._grip is None:
            path, _ = self.unit_at(point)
            self.setToolTip(plain(self._tip(path)) if path else "")
            self.setCursor(Qt.CursorShape.OpenHandCursor if path else Qt.CursorShape.ArrowCursor)
            return
        start, below = self._grip
        if not self._drag and (point - start).manhattanLength() < QApplication.startDragDistance():
            return
        self._drag = True
        self.setCursor(Qt.CursorShape.ClosedHandCursor)
        self.reached.emit(QRectF(point.x() - _EDGE, point.y() - _EDGE, 2 * _EDGE, 2 * _EDGE))
        self._aim(point, below)

    def _aim(self, point: QPointF, below: float) -> None:
        member, rack = self.member, self.rack_at(point)
        if member is None or rack < 0:
            self.target = None
            self.update()
            return
        frame = self.place_of(rack)
        at = round((frame.bottom() - (point.y() + below)) / (UNIT * self.zoom)) + 1
        reason = why_not(self.session.design, self.plan, member, rack, at)
        self.target = Target(rack, at, reason)
        unit = placed(self.plan, member)
        self.stated.emit(
            f"{unit.name} does not fit here: {reason}." if reason else f"{self.plan.racks[rack].name}, unit {at}",
            bool(reason),
        )
        self.update()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Leave the unit where it is, if it fits there."""
        target, dragged = self.target, self._drag
        self.drop()
        if dragged and target is not None and not target.reason:
            self.put(target.rack, target.at)

    def drop(self) -> None:
        """End a drag; nothing moves."""
        self._grip, self._drag, self.target = None, False, None
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.update()

    def put(self, rack: int, at: int, gesture: Hashable | None = None) -> bool:
        """Move the chosen unit; False if that would change nothing or cannot be."""
        member = self.member
        if member is None or (self.plan.of_unit[member] == rack and placed(self.plan, member).at == at):
            return False
        return self._apply(move(self.session.design, self.plan, member, rack, at, gesture=gesture), rack)

    def _apply(self, edit: Edit, rack: int) -> bool:
        self.rack = rack
        if not self.session.apply(edit):
            return False
        member = self.member
        if member is not None:
            self.rack = self.plan.of_unit[member]
            self.reached.emit(self.box_of(self.unit))
            unit = placed(self.plan, member)
            self.stated.emit(f"{unit.name} is in {self.plan.racks[self.rack].name}, unit {unit.at:g}.", False)
        return True

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move the chosen unit, with Shift they choose another one; Esc ends a drag."""
        key, shift = Qt.Key(event.key()), bool(event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
        if key == Qt.Key.Key_Escape and self._grip is not None:
            self.drop()
            self.stated.emit("", False)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down) and (shift or not self.unit):
            self._step(1 if key == Qt.Key.Key_Up else -1)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right) and (shift or not self.unit):
            self._neighbour(1 if key == Qt.Key.Key_Right else -1)
        elif key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
            self._nudge(1 if key == Qt.Key.Key_Up else -1)
        elif key in (Qt.Key.Key_Left, Qt.Key.Key_Right):
            self._carry(1 if key == Qt.Key.Key_Right else -1)
        else:
            super().keyPressEvent(event)

    def _nudge(self, by: int) -> None:
        member = self.member
        if member is None:
            return
        at = next_place(self.session.design, self.plan, member, by)
        if at is None:
            way = "above" if by > 0 else "below"
            self.stated.emit(f"{placed(self.plan, member).name} finds no free units {way} it.", True)
            return
        self.put(self.rack, at, gesture=("rack unit", self.unit))

    def _carry(self, by: int) -> None:
        member, to = self.member, self.rack + by
        if member is None or not 0 <= to < len(self.plan.racks):
            return
        at, reason = nearest_place(self.session.design, self.plan, member, to)
        if at:
            self.session.seal()
            self.put(to, at)
        else:
            stated = f"{placed(self.plan, member).name} does not fit in {self.plan.racks[to].name}: {reason}."
            self.stated.emit(stated, True)

    def _step(self, by: int) -> None:
        """The next unit up or down in the rack."""
        if not self.plan.racks:
            return
        units = sorted(self.plan.racks[self.rack].units, key=lambda u: u.at)
        member = self.member
        parts = [u.part for u in units]
        at = parts.index(member) + by if member in parts else (0 if by > 0 else len(units) - 1)
        if 0 <= at < len(units):
            self._take(units[at].part, self.rack)

    def _neighbour(self, by: int) -> None:
        """The rack next to it, and in it the unit about as high."""
        to = self.rack + by
        if not 0 <= to < len(self.plan.racks):
            return
        now = self.placed
        units = self.plan.racks[to].units
        if not units:
            self.choose("", to)
            self.reached.emit(self.place_of(to))
            return
        level = now.at if now is not None else 1.0
        self._take(min(units, key=lambda u: (abs(u.at - level), u.at)).part, to)

    def _take(self, part: int, rack: int) -> None:
        self.choose(inventory(self.session.design).net.path(part), rack)
        self.reached.emit(self.box_of(self.unit))

    def focusInEvent(self, event: object) -> None:
        """Show where the keys go."""
        self.update()

    focusOutEvent = focusInEvent

    def wheelEvent(self, event: QWheelEvent) -> None:
        """With Ctrl larger or smaller; else what is around scrolls."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return
        self.zoom = min(_MOST, max(_LEAST, self.zoom * _NOTCH ** (event.angleDelta().y() / 120)))
        self.resized()
        event.accept()

    def event(self, event: QEvent) -> bool:
        """Arrows and Esc belong to the racks before they belong to the dialog."""
        if event.type() == QEvent.Type.ShortcutOverride and isinstance(event, QKeyEvent):
            arrows = (Qt.Key.Key_Up, Qt.Key.Key_Down, Qt.Key.Key_Left, Qt.Key.Key_Right)
            if Qt.Key(event.key()) in arrows or (event.key() == Qt.Key.Key_Escape and self._grip is not None):
                event.accept()
                return True
        return super().event(event)

    def _tip(self, path: str) -> str:
        member = inventory(self.session.design).net.index_of(path)
        unit = placed(self.plan, member)
        lines = [unit.name, f"{unit.height:g} U{'' if unit.height_known else ', assumed'}"]
        lines += [f"{quantity(unit.watts, 'W')} rated"] if unit.watts is not None else []
        lines += [f"{unit.weight:,.0f} kg"] if unit.weight is not None else []
        lines += [f"feed {unit.feed} alone"] if unit.feed else []
        return "\n".join(lines)


def _ink(name: str, dark: bool) -> str:
    return INKS[name][dark] if name in INKS else name


def paint(painter: QPainter, picture: Picture, zoom: float, font: QFont) -> None:
    """A chart of the report: its panels, lines and texts."""
    for element in picture.elements:
        if isinstance(element, Panel):
            pen = QPen(Qt.PenStyle.NoPen)
            if element.stroke:
                pen = QPen(QColor(element.stroke), element.stroke_width)
                pen.setStyle(Qt.PenStyle.DashLine if element.dashed else Qt.PenStyle.SolidLine)
            painter.setPen(pen)
            painter.setBrush(QColor(element.fill) if element.fill else Qt.BrushStyle.NoBrush)
            radius = element.radius * zoom
            box = QRectF(element.x * zoom, element.y * zoom, element.width * zoom, element.height * zoom)
            painter.drawRoundedRect(box, radius, radius)
        elif isinstance(element, Stroke):
            painter.setPen(QPen(QColor(element.colour), element.width))
            painter.drawPolyline([QPointF(x * zoom, y * zoom) for x, y in element.points])
        elif isinstance(element, Label):
            face = QFont(font)
            face.setPixelSize(max(1, round(element.size * zoom)))
            face.setWeight(QFont.Weight.DemiBold if element.bold else QFont.Weight.Normal)
            painter.setFont(face)
            painter.setPen(QColor(element.colour))
            wide = painter.fontMetrics().horizontalAdvance(element.text)
            left = element.x * zoom - {"start": 0.0, "middle": wide / 2, "end": float(wide)}[element.anchor]
            painter.drawText(QPointF(left, element.y * zoom), element.text)
