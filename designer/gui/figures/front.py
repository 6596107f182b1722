"""The best designs of a search as points that can be clicked: the goal over what is spent for it, with bands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QWidget

from designer.contrib.proposals.goal import MONEY, PORTS, POWER
from designer.gui.figures.plot import Plot, ValueAxis
from designer.gui.layouts import FLUSH, in_column
from designer.gui.theme import Theme
from designer.report.figure import Axis

if TYPE_CHECKING:
    from designer.contrib.proposals.results import Proposals

#: how near a click has to be, and the size of a point and of the chosen one [px]
_NEAR, _POINT, _CHOSEN = 14.0, 10, 15


class FrontPlot(QWidget):
    """Points of the best designs, joined from the cheapest on.

    Signals
    -------
    picked : ``int``
        Number of the design whose point was clicked.
    """

    picked = Signal(int)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self._found: Proposals | None = None
        #: number of each design and its point
        self.points: list[tuple[int, float, float]] = []
        self.chosen = 0
        self.plot = Plot(ValueAxis("bottom", Axis("")), ValueAxis("left", Axis("")))
        self.plot.view.setMouseEnabled(False, False)
        scene: Any = self.plot.scene()
        scene.sigMouseClicked.connect(self._clicked)
        in_column(self.plot, on=self, margins=FLUSH)
        self.setFixedHeight(230)

    def show_found(self, found: Proposals | None, theme: Theme) -> None:
        """Show the best of another search."""
        self._found, self.theme = found, theme
        self._draw()

    def choose(self, number: int) -> None:
        """Mark a design."""
        self.chosen = number
        self._draw()

    def _draw(self) -> None:
        found, view = self._found, self.plot.view
        view.clear()
        self.points = []
        names = {m.name: m for m in found.measures} if found is not None else {}
        main = next((m for m in names.values() if m.counts and m.name not in (MONEY, POWER, PORTS, "racks")), None)
        self.setVisible(found is not None and bool(found.best) and main is not None)
        if found is None or main is None or not found.best:
            return
        spent = names.get(MONEY) or names[POWER]
        sides = {
            "bottom": Axis(spent.title, "" if spent.name == MONEY else spent.unit),
            "left": Axis(main.title.capitalize(), "" if main.unit == "1" else main.unit),
        }
        self.plot.setBackground(self.theme.surface)
        self.plot.item.dress(self.theme, self.font(), *sides)
        for side, axis in sides.items():
            self.plot.item.getAxis(side).show_axis(axis)
            title = f"{axis.title}, {spent.unit}" if side == "bottom" and spent.name == MONEY else axis.title
            self.plot.item.getAxis(side).setLabel(title, color=self.theme.muted)
        rows = [
            (n, one.worth.values[spent.name].value, one.worth.values[main.name]) for n, one in enumerate(found.best)
        ]
        rows.sort(key=lambda row: row[1])
        self.points = [(n, x, y.value) for n, x, y in rows]
        colour = QColor(self.theme.accent)
        xs, ys = [x for _, x, _ in self.points], [y for _, _, y in self.points]
        for _, x, y in rows:
            view.addItem(pg.PlotCurveItem([x, x], [y.low, y.high], pen=pg.mkPen(self.theme.accent, width=1)))
        view.addItem(pg.PlotCurveItem(xs, ys, pen=pg.mkPen(colour, width=1)))
        for n, x, y in self.points:
            full = n == self.chosen
            brush = pg.mkBrush(colour if full else QColor(self.theme.surface))
            dot: Any = pg.ScatterPlotItem(
                [x], [y], size=_CHOSEN if full else _POINT, pen=pg.mkPen(colour, width=2), brush=brush
            )
            view.addItem(dot)
        lows, highs = [y.low for *_, y in rows], [y.high for *_, y in rows]
        for reach, at in ((xs, view.setXRange), ([*lows, *highs], view.setYRange)):
            low, high = min(0.0, *reach), max(reach)
            at(low, high + (high - low) * 0.08 if high > low else high + 1.0, padding=0.02)
        stated = ", ".join(found.best[n].title for n, _, _ in self.points)
        self.setAccessibleName(f"{sides['left'].title} over {sides['bottom'].title}: {stated}")

    def _clicked(self, event: Any) -> None:
        self.click_at(event.scenePos())

    def click_at(self, at: QPointF) -> None:
        """Choose the point nearest to a place of the scene, if one is near."""
        best, number = _NEAR, -1
        for n, x, y in self.points:
            point = self.place_of(x, y)
            far = (point - at).manhattanLength()
            if far < best:
                best, number = far, n
        if number >= 0:
            self.choose(number)
            self.picked.emit(number)

    def place_of(self, x: float, y: float) -> QPointF:
        """Where a point of the plot is in the scene."""
        return self.plot.view.mapViewToScene(QPointF(x, y))
