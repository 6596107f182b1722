"""A plot for figures: two axes around a view, kept and filled again.

pyqtgraph's own plot brings forms for its options, sixty widgets that nobody sees, and making them takes longer than a
frame; so plots here consist of the parts of it that are shown.
"""

from __future__ import annotations

from typing import Any, Final

import pyqtgraph as pg
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsItem, QSizePolicy

from designer.gui.figures.value_axis import ValueAxis
from designer.gui.theme import Theme

#: rows of the layout: title, view, axis below
_TITLE, _VIEW, _BELOW = range(3)
_TITLE_HEIGHT: Final = 30
#: how strong grid lines are, on light and dark
_GRID: Final = (0.16, 0.22)


class PlotItem(pg.GraphicsWidget):
    """An axis on the left, one below, and between them the view that items are added to; a title if it is given one.

    It is called as pyqtgraph's own, so that one who knows that finds the way.
    """

    def __init__(self, bottom: ValueAxis, left: ValueAxis) -> None:
        super().__init__()
        both = QSizePolicy.Policy.Expanding
        self.setSizePolicy(both, both)
        self._axes = {"bottom": bottom, "left": left}
        self._view: Any = pg.ViewBox(parent=self, enableMenu=False)
        self._title: Any = None
        self._grid = QGraphicsGridLayout()
        self._grid.setContentsMargins(1, 1, 1, 1)
        self._grid.setSpacing(0)
        self._grid.addItem(self._view, _VIEW, 1)
        self._grid.setRowStretchFactor(_VIEW, 100)
        self._grid.setColumnStretchFactor(1, 100)
        for axis, row, column in ((bottom, _BELOW, 1), (left, _VIEW, 0)):
            axis.linkToView(self._view)
            axis.show_axis(axis.axis)
            self._grid.addItem(axis, row, column)
            axis.setZValue(0.5)
            axis.setFlag(QGraphicsItem.GraphicsItemFlag.ItemNegativeZStacksBehindParent)
        self.setLayout(self._grid)

    def getAxis(self, side: str) -> ValueAxis:
        """The axis ``bottom`` or ``left``."""
        return self._axes[side]

    def getViewBox(self) -> Any:
        """What items are shown in."""
        return self._view

    def addItem(self, item: Any, ignoreBounds: bool = False) -> None:
        """Show an item."""
        self._view.addItem(item, ignoreBounds=ignoreBounds)

    def set_title(self, markup: str) -> None:
        """Write a title above."""
        if self._title is None:
            self._title = pg.LabelItem("", size="11pt", justify="left", parent=self)
            self._title.setMaximumHeight(_TITLE_HEIGHT)
            self._grid.setRowFixedHeight(_TITLE, _TITLE_HEIGHT)
            self._grid.addItem(self._title, _TITLE, 1)
        self._title.setText(markup)

    def dress(self, theme: Theme, font: Any, *grid: str) -> None:
        """Colours and font; `grid` are the axes that lines across the plot are drawn for."""
        for side, axis in self._axes.items():
            axis.setPen(pg.mkPen(theme.border))
            axis.setTextPen(pg.mkPen(theme.muted))
            axis.setTickFont(font)
            axis.tick_font = font
            axis.setGrid(int(255 * _GRID[theme.is_dark]) if side in grid else False)


class Plot(pg.GraphicsView):
    """A widget with one plot."""

    def __init__(self, bottom: ValueAxis, left: ValueAxis) -> None:
        super().__init__()
        both = QSizePolicy.Policy.Expanding
        self.setSizePolicy(both, both)
        self.enableMouse(False)
        self.item = PlotItem(bottom, left)
        self.setCentralItem(self.item)

    @property
    def view(self) -> Any:
        """What items are shown in."""
        return self.item.getViewBox()
