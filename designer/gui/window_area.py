"""Arrangement of the window: canvas, side panel, palette, run, legend; the canvas gets all that is left.

Places are given by arithmetic in one pass: nested layouts and docks would move the canvas several times with each edit.
"""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QMouseEvent, QResizeEvent
from PySide6.QtWidgets import QWidget

#: points of the text at 100 %
_POINTS: Final = 9.5
#: extents at text of 100 % [px]: side panel, on large windows, its least and most; the window from which it is shown
#: next to the canvas; legend, palette, tools upright, room at an edge
_SIDE, _LARGE, _LEAST, _MOST = 340, 400, 300, 1100
_NARROW, _BROAD = 1180, 1800
_LEGEND: Final = 30
_BRIEF: Final = 76
_PALETTE: Final = 308
_AIR: Final = 12
_EDGE: Final = 5
#: share of the height that the pages of a run take, and of the width that a wide panel takes
_RUN: Final = 0.44
_WIDE: Final = 0.62


class Edge(QWidget):
    """The edge of the side panel, to be dragged.

    Signals
    -------
    dragged : ``int``
        Where the pointer is, in the parent [px].
    """

    dragged = Signal(int)

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.setCursor(Qt.CursorShape.SplitHCursor)

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        self.dragged.emit(self.mapToParent(event.position().toPoint()).x())


class WindowArea(QWidget):
    """Lays out the window below its head.

    Parameters
    ----------
    pages
        The canvases and other pages.
    tools, legend
        What floats over the canvas, and the strip below it.

    Signals
    -------
    arranged
        Things have new places.
    """

    arranged = Signal()

    def __init__(self, pages: QWidget, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.pages = pages
        pages.setParent(self)
        self.side: QWidget | None = None
        self.palette_: QWidget | None = None
        self.run: QWidget | None = None
        self.bar: QWidget | None = None
        self.tools: QWidget | None = None
        self.corner: QWidget | None = None
        self.legend: QWidget | None = None
        self.brief: QWidget | None = None
        self._edge = Edge(self)
        self._edge.hide()
        self._edge.dragged.connect(self._dragged)
        #: False on pages that are no document
        self.document = False
        #: which of them are wanted; where the window is narrow the side panel lies over the canvas
        self.side_shown = True
        self.side_over = False
        self.palette_shown = False
        self.run_shown = False
        self.wide = False
        #: width that the side panel was dragged to at text of 100 %; 0 for its own
        self.side_width = 0
        self._now: tuple[object, ...] = ()

    def hold(self, widget: QWidget) -> QWidget:
        """Take in a widget that this lays out."""
        widget.setParent(self)
        widget.hide()
        widget.installEventFilter(self)
        return widget

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """The bar of a run comes and goes by itself."""
        if watched is self.bar and event.type() in (QEvent.Type.ShowToParent, QEvent.Type.HideToParent):
            self.arrange()
        return False

    def changeEvent(self, event: QEvent) -> None:
        """Larger text needs more room."""
        super().changeEvent(event)
        if event.type() in (QEvent.Type.FontChange, QEvent.Type.StyleChange):
            self.arrange()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()

    @property
    def unit(self) -> float:
        """How much larger than at text of 100 % things are."""
        return max(1.0, self.font().pointSizeF() / _POINTS)

    @property
    def narrow(self) -> bool:
        """True where the side panel has no room next to the canvas."""
        return self.width() < _NARROW * self.unit

    @property
    def canvas_rect(self) -> QRect:
        """Where the canvas is."""
        return self.pages.geometry()

    def width_of_side(self) -> int:
        """How wide the side panel is [px]."""
        unit, room = self.unit, self.width()
        if self.wide:
            return round(min(max(room * _WIDE, _SIDE * unit), room))
        own = self.side_width or (_LARGE if room >= _BROAD * unit else _SIDE)
        return round(min(own * unit, room))

    def arrange(self) -> None:
        """Give everything its place."""
        wide, high = self.width(), self.height()
        shown = self.document
        legend = round(_LEGEND * self.unit) if shown and self.legend is not None else 0
        over = self.narrow
        side = self.width_of_side() if shown and self.side is not None and self._side_open() else 0
        right = wide - (0 if over else side)
        bar = self.bar.sizeHint().height() if shown and self.bar is not None and not self.bar.isHidden() else 0
        run = round(high * _RUN) if shown and self.run is not None and self.run_shown else 0
        # where the window is small, the lanes of a run take the room of the short answer
        brief = round(_BRIEF * self.unit) if shown and over and not run and self.brief is not None else 0
        low = high - legend - brief - bar - run
        self._put(self.legend, QRect(0, high - legend, right, legend), bool(legend))
        self._put(self.brief, QRect(0, high - legend - brief, right, brief), bool(brief))
        self._put(self.run, QRect(0, high - legend - brief - run, right, run), bool(run))
        if bar and self.bar is not None:
            self.bar.setGeometry(0, low, right, bar)
        self.pages.setGeometry(0, 0, right, max(low, 1))
        top = 0
        self._put(self.side, QRect(wide - side, top, side, high - legend - brief if over else high), bool(side))
        self._put(self._edge, QRect(wide - side - _EDGE // 2, 0, _EDGE, high), bool(side) and not self.wide)
        self._stand_tools(shown, right, low)
        palette = QRect(_AIR, self._below_tools(), round(_PALETTE * self.unit), low - self._below_tools() - _AIR)
        self._put(self.palette_, palette, shown and self.palette_shown)
        for widget in (self.tools, self.corner, self.palette_, self.side, self._edge):
            if widget is not None and widget.isVisible():
                widget.raise_()
        self.arranged.emit()

    def _side_open(self) -> bool:
        return self.side_over if self.narrow else self.side_shown

    def _below_tools(self) -> int:
        if self.tools is None:
            return _AIR
        return self.tools.geometry().bottom() + 6 if not self.narrow else _AIR

    def _stand_tools(self, shown: bool, right: int, low: int) -> None:
        if self.tools is not None:
            stand = getattr(self.tools, "stand", None)
            if stand is not None:
                stand(self.narrow)
                self.tools.adjustSize()
                if self.narrow and self.tools.sizeHint().height() + 2 * _AIR > low:
                    stand(False)
            self.tools.adjustSize()
            left = _AIR if not (self.narrow and self.palette_shown) else 2 * _AIR + round(_PALETTE * self.unit)
            self._put(self.tools, QRect(QPoint(left, _AIR - 2), self.tools.sizeHint()), shown)
        if self.corner is not None:
            layout = self.corner.layout()
            if layout is not None:
                layout.activate()
            size = self.corner.sizeHint()
            self._put(self.corner, QRect(QPoint(right - size.width() - _AIR, _AIR - 2), size), shown)

    @staticmethod
    def _put(widget: QWidget | None, place: QRect, shown: bool) -> None:
        if widget is None:
            return
        if shown:
            widget.setGeometry(place)
        if shown == widget.isHidden():
            widget.setVisible(shown)

    def _dragged(self, x: int) -> None:
        self.side_width = round(min(max((self.width() - x) / self.unit, _LEAST), _MOST))
        self.arrange()

    def margins(self) -> tuple[int, int, int, int]:
        """Left, top, right and bottom of the canvas that tools and the list of parts lie on [px]."""
        if self.tools is None or not self.document:
            return 0, 0, 0, 0
        if self.narrow:
            return self.tools.sizeHint().width() + _AIR, 0, 0, 0
        palette = _AIR + round(_PALETTE * self.unit) if self.palette_shown and self.palette_ is not None else 0
        return palette, self.tools.sizeHint().height() + _AIR, 0, 0
