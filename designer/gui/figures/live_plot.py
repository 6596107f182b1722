"""Curves over the time of a run, with the instant looked at marked."""

from __future__ import annotations

from html import escape
from typing import Any, Final

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QSizePolicy, QWidget

from designer.gui.controls import Label, MarkedLabel
from designer.gui.figures.plot import Plot
from designer.gui.figures.value_axis import ValueAxis
from designer.gui.layouts import in_column
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.plots import Curve
from designer.report.figure import Axis
from designer.units import format_si

_LONGEST: Final = 34


class LivePlot(QWidget):
    """Some curves over the time of a run; a click looks at that instant."""

    def __init__(self, title: str, unit: str, theme: Theme) -> None:
        super().__init__()
        self.theme, self.unit = theme, unit
        self.curves: list[Curve] = []
        self.session: Session | None = None
        self.title = Label(title, role="title")
        self.legend = MarkedLabel()
        self.legend.setWordWrap(True)
        self.legend.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Minimum)
        self.plot = Plot(ValueAxis("bottom", Axis("Time", "s")), ValueAxis("left", Axis(title, unit)))
        self.plot.view.setMouseEnabled(x=True, y=False)
        self.plot.setAccessibleName(title)
        self._lines: list[Any] = []
        self.cursor: Any = pg.InfiniteLine(angle=90, movable=False)
        self.plot.item.addItem(self.cursor, ignoreBounds=True)
        scene: Any = self.plot.scene()
        scene.sigMouseClicked.connect(self._clicked)
        in_column(self.title, self.legend, (self.plot, 1), on=self, margins=(4, 2, 4, 0), spacing=0)
        self.set_theme(theme)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.theme = theme
        self.plot.setBackground(theme.surface)
        self.plot.item.dress(theme, self.font())
        self.cursor.setPen(pg.mkPen(theme.text, width=1))
        self._colour()

    def show_curves(self, curves: list[Curve], end: float) -> None:
        """Show other curves."""
        self.curves = curves
        while len(self._lines) < len(curves):
            line: Any = pg.PlotCurveItem()
            self._lines.append(line)
            self.plot.item.addItem(line)
        for k, line in enumerate(self._lines):
            if k < len(curves):
                line.setData(curves[k].time, curves[k].value)
            line.setVisible(k < len(curves))
        most = max((float(c.value.max()) for c in curves if len(c.value)), default=1.0)
        self.plot.view.setXRange(0.0, max(end, 1e-12), padding=0.01)
        self.plot.view.setYRange(0.0, max(1.0 if self.unit == "1" else most, most) * 1.04 or 1.0, padding=0)
        self.plot.view.setLimits(xMin=0.0, xMax=max(end, 1e-12) * 1.02)
        self._colour()

    def _colour(self) -> None:
        # a width of 1 is many times faster than any other
        for k, line in enumerate(self._lines):
            line.setPen(pg.mkPen(QColor(self.theme.series[k % len(self.theme.series)]), width=1))

    def set_moment(self, moment: float) -> None:
        """Move the line."""
        self.cursor.setValue(moment)

    def tell(self, moment: float) -> None:
        """The values at an instant."""
        told: list[str] = []
        for k, curve in enumerate(self.curves):
            colour = self.theme.series[k % len(self.theme.series)]
            value = curve.at(moment)
            text = f"{value * 100:.0f} %" if self.unit == "1" else format_si(value, self.unit)
            label = curve.label if len(curve.label) <= _LONGEST else curve.label[: _LONGEST - 1] + "…"
            told.append(f"<span style='color:{colour}'>■</span>&nbsp;{escape(label)}&nbsp;<b>{text}</b>")
        self.legend.setText(" &nbsp; ".join(told) if told else "nothing to show in this run")

    def _clicked(self, event: Any) -> None:
        if self.session is None or event.button() != Qt.MouseButton.LeftButton:
            return
        at: QPointF = self.plot.view.mapSceneToView(event.scenePos())
        self.session.set_moment(float(at.x()))
