"""A slider with marks at some of its places."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPolygonF
from PySide6.QtWidgets import QStyle, QStyleOptionSlider, QWidget

from designer.gui.controls import Slider

#: half the width of a mark, and its height [px]
_HALF, _HIGH = 4.0, 6.0


class MarkedSlider(Slider):
    """Goes in steps of one; marks point at the places named."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(Qt.Orientation.Horizontal, parent)
        self.marks: tuple[int, ...] = ()
        self.colour = "#b91c1c"
        self.setPageStep(1)

    def set_marks(self, marks: Sequence[int], colour: str) -> None:
        """Mark other places."""
        self.marks, self.colour = tuple(marks), colour
        self.update()

    def place_of(self, value: int) -> float:
        """Position of a value [px]."""
        option = QStyleOptionSlider()
        self.initStyleOption(option)
        style = self.style()
        handle = style.subControlRect(
            QStyle.ComplexControl.CC_Slider, option, QStyle.SubControl.SC_SliderHandle, self
        ).width()
        room = self.width() - handle
        at = QStyle.sliderPositionFromValue(self.minimum(), self.maximum(), value, room)
        return at + handle / 2

    def paintEvent(self, event: QPaintEvent) -> None:
        """The slider, and the marks above its groove."""
        super().paintEvent(event)
        if not self.marks:
            return
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.colour))
            for mark in self.marks:
                x = self.place_of(mark)
                painter.drawPolygon(QPolygonF([QPointF(x - _HALF, 0), QPointF(x + _HALF, 0), QPointF(x, _HIGH)]))
