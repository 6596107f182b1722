"""A plot for figures: two axes around a view, kept and filled again.

pyqtgraph's own plot brings forms for its options, sixty widgets that nobody sees, and making them takes longer than a
frame; so plots here consist of the parts of it that are shown.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

import pyqtgraph as pg
from PySide6.QtGui import QFont, QFontMetricsF
from PySide6.QtWidgets import QGraphicsGridLayout, QGraphicsItem, QSizePolicy

from designer.gui.theme import Theme
from designer.present.numbers import shown
from designer.report.figure import Axis
from designer.report.ticks import ticks
from designer.units import DIMENSION_OF_UNIT

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


# An axis of a figure whose numbers are spelled in the units of its quantity.

#: least distance of labelled ticks [px]
_APART: Final = 14.0
#: more than these say nothing more
_MOST_TICKS: Final = 7
#: ends of a logarithmic axis, in powers of ten, that numbers can hold
_DECADES: Final = 300.0
_THOUSAND: Final = 1e3


class ValueAxis(pg.AxisItem):
    """An axis whose ticks are spelled with the unit that fits."""

    def __init__(self, orientation: str, axis: Axis) -> None:
        super().__init__(orientation)
        self.axis = axis
        self.tick_font = QFont()
        self.enableAutoSIPrefix(False)
        self.setStyle(tickLength=0, autoExpandTextSpace=True)

    def show_axis(self, axis: Axis) -> None:
        """Show other values, or categories; whose names, and titles, are set by who knows the room there is."""
        self.axis = axis
        log: Any = axis.log
        self.setLogMode(log)
        self.setTicks([[]] if axis.categories else None)
        if self.orientation == "left":
            self.setWidth(None)
        if axis.categories:
            self.setLabel("")

    def tickValues(self, minVal: float, maxVal: float, size: float) -> Any:
        """The ticks there is room to write."""
        span = max(maxVal - minVal, 1e-300)

        def places(values: Sequence[float]) -> list[float]:
            return [math.log10(v) for v in values] if self.axis.log else list(values)

        def inside(values: Sequence[float]) -> list[float]:
            """Those whose text does not reach past the end."""
            if self.orientation == "left":
                return list(values)
            at = zip(values, places(values), strict=True)
            return [v for v, p in at if (maxVal - p) / span * size >= self._width(v) / 2]

        def fits(values: Sequence[float]) -> bool:
            if len(values) > _MOST_TICKS or not any(inside(values)):
                return False
            upright = QFontMetricsF(self.tick_font).height() * 1.3
            need = upright if self.orientation == "left" else max(map(self._width, values)) + _APART
            return _least_step(places(values), span) / span * size >= need

        ends = (10.0 ** max(minVal, -_DECADES), 10.0 ** min(maxVal, _DECADES)) if self.axis.log else (minVal, maxVal)
        found = ticks(*ends, fits, unit=self.axis.unit, log=self.axis.log)
        kept = places(inside(found) or found[-1:])
        return [(_least_step(kept, span), kept)]

    def _width(self, value: float) -> float:
        return QFontMetricsF(self.tick_font).horizontalAdvance(self.spelled(value))

    def tickStrings(self, values: list[float], scale: float, spacing: float) -> list[str]:
        """The spelled values."""
        return [self.spelled(10**v if self.axis.log else v) for v in values]

    def spelled(self, value: float) -> str:
        """A value with its unit."""
        return axis_text(self.axis, value)


def _least_step(places: Sequence[float], alone: float) -> float:
    return min((b - a for a, b in pairwise(places)), default=alone)


def axis_text(axis: Axis, value: float) -> str:
    """A value of an axis for people."""
    if axis.unit == "1" and not axis.log:
        return f"{value * 100:.3g}%"
    if axis.unit == "B" and axis.log:
        return binary_text(value)
    if axis.unit in DIMENSION_OF_UNIT and axis.unit != "1":
        return shown(value, axis.unit, axis.counts)
    return f"{value:,.0f}" if _THOUSAND <= abs(value) < _THOUSAND**3 else f"{value:.4g}"


def binary_text(value: float) -> str:
    """A size in binary units, as messages of collectives are counted."""
    for unit, factor in (("GiB", 2.0**30), ("MiB", 2.0**20), ("KiB", 2.0**10)):
        if value >= factor * (1 - 1e-9):
            return f"{value / factor:.3g} {unit}"
    return f"{value:.3g} B"
