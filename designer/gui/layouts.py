"""Rows, columns and pages that scroll: what is in them, how far apart, and the widget they lay out, in one call."""

from __future__ import annotations

from typing import Final, TypeVar

from PySide6.QtCore import QEvent, QSize, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QScrollArea, QSizePolicy, QVBoxLayout, QWidget

Margins = tuple[int, int, int, int]
#: a widget or layout, how far it stretches and its alignment; a number is empty room that stretches
Item = QWidget | QLayout | int | tuple[QWidget | QLayout, int] | tuple[QWidget, int, Qt.AlignmentFlag]
#: up to the edges
FLUSH: Final[Margins] = (0, 0, 0, 0)

_Box = TypeVar("_Box", bound=QBoxLayout)


def in_row(
    *items: Item, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QHBoxLayout:
    """Things next to each other.

    Parameters
    ----------
    on
        The widget that is laid out; None for a part of another layout.
    margins, spacing
        Left, top, right and bottom, and between two things [pixels]; those of the style where left out.
    """
    return _filled(QHBoxLayout(), items, on, margins, spacing)


def in_column(
    *items: Item, on: QWidget | None = None, margins: Margins | None = None, spacing: int | None = None
) -> QVBoxLayout:
    """Things below each other, as in `in_row`."""
    return _filled(QVBoxLayout(), items, on, margins, spacing)


def _filled(
    box: _Box, items: tuple[Item, ...], on: QWidget | None, margins: Margins | None, spacing: int | None
) -> _Box:
    if margins is not None:
        box.setContentsMargins(*margins)
    if spacing is not None:
        box.setSpacing(spacing)
    for item in items:
        if isinstance(item, int):
            box.addStretch(item)
            continue
        what, stretch, *aligned = item if isinstance(item, tuple) else (item, 0)
        if isinstance(what, QLayout):
            box.addLayout(what, stretch)
        else:
            box.addWidget(what, stretch, *aligned)
    # last: added to the layout of a widget, a filled layout gets Python wrappers of its items, which Qt deletes
    if on is not None:
        on.setLayout(box)
    return box


def scrolled(page: QWidget) -> QScrollArea:
    """A page as wide as there is room for it, which scrolls up and down."""
    area = QScrollArea()
    area.setWidgetResizable(True)
    area.setWidget(page)
    area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    return area


class Wrap(QWidget):
    """Widgets in a row that goes on in the next line where the width ends."""

    def __init__(self, *widgets: QWidget, margins: Margins = FLUSH, spacing: int = 8) -> None:
        super().__init__()
        self._widgets, self._margins, self._spacing = widgets, margins, spacing
        for widget in widgets:
            widget.setParent(self)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def set_widgets(self, *widgets: QWidget) -> None:
        """Lay out other widgets; those left out are the caller's to delete."""
        self._widgets = widgets
        for widget in widgets:
            if widget.parentWidget() is not self:
                widget.setParent(self)
                widget.show()
        self._place()

    def event(self, event: QEvent) -> bool:
        """One of the widgets came, went, or wants another size."""
        if event.type() in (QEvent.Type.LayoutRequest, QEvent.Type.FontChange, QEvent.Type.Show):
            self._place()
        return super().event(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._place()

    def _place(self) -> None:
        left, top, right, bottom = self._margins
        x, y, high = left, top, 0
        line: list[tuple[QWidget, int, QSize]] = []
        for widget in (w for w in self._widgets if not w.isHidden()):
            size = widget.sizeHint().expandedTo(widget.minimumSize())
            if x > left and x + size.width() > self.width() - right:
                x, y, high, line = left, y + high + self._spacing // 2, 0, []
            line.append((widget, x, size))
            x, high = x + size.width() + self._spacing, max(high, size.height())
            for one, at, extent in line:
                one.setGeometry(at, y + (high - extent.height()) // 2, extent.width(), extent.height())
        if self.minimumHeight() != y + high + bottom:
            self.setFixedHeight(y + high + bottom)
