"""Plots of a sweep, one below the other over the same value: zoom, log axes, lines to switch off, values to read."""

from __future__ import annotations

import math
from functools import partial
from typing import Any, Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QEvent, QPointF, Qt
from PySide6.QtGui import QColor, QFontMetricsF, QMouseEvent, QWheelEvent
from PySide6.QtWidgets import QCheckBox, QSizePolicy, QToolTip, QVBoxLayout, QWidget

from designer.gui.controls import Label, plain
from designer.gui.figures.plot import PlotItem, ValueAxis
from designer.gui.layouts import FLUSH, Wrap, in_column
from designer.gui.theme import Theme
from designer.gui.viewmodels.sweep import SweepLine, SweepPlot, SweepView
from designer.report.figure import Axis

#: a point is read from this far away [px]
_NEAR: Final = 40.0
#: a line is switched on and off from two on
_TWO: Final = 2
#: answers that differ by more than this factor are plotted on a log axis from the start
_FAR: Final = 100.0
#: up to so many values have a tick each
_TICKS: Final = 12
#: heights at which marks may have their texts, and what the axis takes of the width [px]
_LEVELS: Final = 7
_MARGIN: Final = 100
#: room between the names of two values, and the narrowest a name is cut to [px]
_GAP: Final = 8.0
_NARROWEST: Final = 48.0


class SweepPlots(QWidget):
    """The plots, with switches for metrics, lines and log axes above them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme
        self.view: SweepView | None = None
        self.plots: dict[str, PlotItem] = {}
        #: metrics and lines that are switched off
        self.hidden: set[str] = set()
        #: x of the run looked at; None for none
        self._at: float | None = None
        self._pointers: list[Any] = []
        #: somebody chose the axes
        self._chosen = False
        self.log_x, self.log_y = QCheckBox("Log x"), QCheckBox("Log y")
        self.log_x.setToolTip("Equal distances for equal factors of the value that varies")
        self.log_y.setToolTip("Equal distances for equal factors of the answers")
        for box in (self.log_x, self.log_y):
            box.toggled.connect(self._choose)
        self._head = Wrap(self.log_x, self.log_y, margins=(8, 4, 8, 0), spacing=12)
        self.switches: dict[str, QCheckBox] = {}
        #: lines to switch on and off, where there are several
        self.legend = QWidget()
        self.legend.setObjectName("panel")
        around, self._line_switches = QVBoxLayout(self.legend), QVBoxLayout()
        around.setContentsMargins(4, 6, 10, 6)
        self._line_title = Label(role="muted")
        around.addWidget(self._line_title)
        around.addLayout(self._line_switches)
        around.addStretch(1)
        self.legend.hide()
        self._area: Any = pg.GraphicsLayoutWidget()
        self._area.setFrameShape(self._area.Shape.NoFrame)
        self._area.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Expanding)
        self._area.viewport().setMouseTracking(True)
        self._area.viewport().installEventFilter(self)
        self.stated = Label(role="muted", wrap=True)
        self.stated.setContentsMargins(8, 0, 8, 4)
        self.stated.hide()
        in_column(self._head, (self._area, 1), self.legend, self.stated, on=self, margins=FLUSH, spacing=4)
        self._area.setMinimumWidth(200)
        self.setMinimumSize(220, 240)
        self._draw()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.theme = theme
        self._draw()

    def set_view(self, view: SweepView | None, fresh: bool = False) -> None:
        """Show other rows; `fresh` for another sweep, whose axes are chosen again."""
        self.view = view
        if fresh:
            self._chosen = False
            self.hidden.clear()
        if view is not None and not self._chosen:
            # rows come one by one: until somebody chooses, axes follow what has come
            for box, on in (
                (self.log_x, _by_factors(_all_x(view)) and not view.named),
                (self.log_y, any(_spans(plot) for plot in view.plots)),
            ):
                box.blockSignals(True)
                box.setChecked(on)
                box.blockSignals(False)
        self._draw()

    def _choose(self, _on: bool) -> None:
        self._chosen = True
        self._draw()

    def show_all(self) -> None:
        """Back from any zoom to everything."""
        if self.view is None:
            return
        places = [at for at, _ in self.view.places]
        for shown in self.view.plots:
            plot = self.plots.get(shown.metric)
            lines = [line for line in shown.lines if f"line:{line.name}" not in self.hidden]
            ys = [y for line in lines for y in (*line.low, *line.high)]
            if plot is not None and ys:
                plot.getViewBox().setXRange(*_reach(places, plot.getAxis("bottom").axis.log, 0.04), padding=0)
                plot.getViewBox().setYRange(*_reach(ys, plot.getAxis("left").axis.log, 0.08), padding=0)

    def point_at(self, at: float | None) -> None:
        """Mark a run in all plots."""
        self._at = at
        log = self.log_x.isChecked() and self.view is not None and not self.view.named
        for pointer in self._pointers:
            pointer.setVisible(at is not None)
            if at is not None:
                pointer.setValue(math.log10(max(at, 1e-30)) if log else at)

    # ---- drawing

    def _draw(self, *_: object) -> None:
        view = self.view
        self._area.setBackground(self.theme.surface)
        self._area.clear()
        self.plots, self._pointers = {}, []
        self.stated.setText(view.missing if view is not None else "")
        self.stated.setVisible(bool(view is not None and view.missing))
        if view is None:
            self.setAccessibleName("No rows yet")
            return
        self.setAccessibleName(f"{view.title} over {view.x_title}")
        self._fill_switches(view)
        shown = [plot for plot in view.plots if plot.metric not in self.hidden]
        for row, plot in enumerate(shown):
            made = self._add(plot, row, row == len(shown) - 1)
            made.getViewBox().sigXRangeChanged.connect(self._together)
        self.show_all()
        self.point_at(self._at)

    def _together(self, box: Any, reach: tuple[float, float]) -> None:
        """Zoomed in one, zoomed in all; pyqtgraph's own link goes by pixels, which are not known before the first."""
        for plot in self.plots.values():
            other = plot.getViewBox()
            if other is not box and not np.allclose(other.viewRange()[0], reach, rtol=1e-9, atol=0):
                other.setXRange(*reach, padding=0)

    def _fill_switches(self, view: SweepView) -> None:
        wanted = {plot.metric: plot.title for plot in view.plots}
        names = list(dict.fromkeys(line.name for plot in view.plots for line in plot.lines))
        lines = {f"line:{name}": name for name in names} if len(names) >= _TWO else {}
        self.legend.setVisible(bool(lines))
        self._line_title.setText(view.line_title)
        if [*wanted, *lines] == list(self.switches):
            return
        for key, box in self.switches.items():
            if key.startswith("line:"):
                self._line_switches.removeWidget(box)
            box.hide()
            box.deleteLater()
        self.switches = {}
        for key, title in wanted.items():
            self._new_switch(key, title)
        self._head.set_widgets(*self.switches.values(), self.log_x, self.log_y)
        for number, (key, title) in enumerate(lines.items()):
            box = self._new_switch(key, title)
            box.setStyleSheet(f"QCheckBox {{ color: {self._colour(number).name()}; }}")
            self._line_switches.addWidget(box)

    def _new_switch(self, key: str, title: str) -> QCheckBox:
        box = self.switches[key] = QCheckBox(title)
        box.setChecked(key not in self.hidden)
        box.toggled.connect(partial(self._switch, key))
        return box

    def _switch(self, key: str, on: bool) -> None:
        (self.hidden.discard if on else self.hidden.add)(key)
        self._draw()

    def _add(self, plot: SweepPlot, row: int, last: bool) -> PlotItem:
        view = self.view
        assert view is not None
        log_x, log_y = self.log_x.isChecked() and not view.named, self.log_y.isChecked()
        bottom, left = (
            ValueAxis("bottom", Axis("", view.unit, log_x)),
            ValueAxis("left", Axis("", plot.unit, log_y)),
        )
        made = PlotItem(bottom, left)
        self._area.addItem(made, row=row, col=0)
        made.dress(self.theme, self.font(), "bottom", "left")
        if view.named or len(view.places) <= _TICKS:
            # where values are, ticks are: people look for what they asked for
            places = [
                (math.log10(at) if log_x else at, text if view.named else bottom.spelled(at))
                for at, text in view.places
            ]
            bottom.setTicks([self._apart(places, view.named)])
        metrics = QFontMetricsF(self.font())
        left.setWidth(round(metrics.horizontalAdvance("000.0 kW/s")) + 14)
        made.set_title(_html(plot.title, self.theme.text))
        if last:
            bottom.setLabel(_html(view.x_title, self.theme.muted))
        for number, line in enumerate(plot.lines):
            if f"line:{line.name}" not in self.hidden:
                self._add_line(made, line, self._colour(number), log_x, log_y)
        marks = [(math.log10(at) if log_x and at > 0 else at, text) for at, text in view.marks]
        for (at, text), level in zip(marks, self._levels(marks, log_x), strict=True):
            self._add_mark(made, at, text if row == 0 else "", level)
        pointer: Any = pg.InfiniteLine(0, angle=90, pen=pg.mkPen(self.theme.accent, width=2))
        pointer.hide()
        made.addItem(pointer, ignoreBounds=True)
        self._pointers.append(pointer)
        self.plots[plot.metric] = made
        return made

    def _apart(self, places: list[tuple[float, str]], named: bool) -> list[tuple[float, str]]:
        """Values that have room next to each other; of long names the beginning, of numbers all or nothing."""
        low, high = _reach([at for at, _ in places], False, 0.04)
        metrics, wide = QFontMetricsF(self.font()), max(self._area.width() - _MARGIN, 1)
        most = wide / min(len(places), _TICKS) - _GAP
        found: list[tuple[float, str]] = []
        end = -math.inf
        for at, text in places:
            short = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(most, _NARROWEST)) if named else text
            x, half = (at - low) / (high - low) * wide, metrics.horizontalAdvance(short) / 2
            if x - half >= end:
                found.append((at, short))
                end = x + half + _GAP
        return found

    def _add_line(self, plot: Any, line: SweepLine, colour: QColor, log_x: bool, log_y: bool) -> None:
        x, y = _logged(line.x, log_x), _logged(line.y, log_y)
        soft = QColor(colour)
        soft.setAlpha(46)
        low = pg.PlotCurveItem(x, _logged(line.low, log_y), pen=None)
        high = pg.PlotCurveItem(x, _logged(line.high, log_y), pen=None)
        plot.addItem(pg.FillBetweenItem(low, high, brush=pg.mkBrush(soft)))
        plot.addItem(pg.PlotCurveItem(x, y, pen=pg.mkPen(colour, width=2), antialias=True))
        plot.addItem(pg.ScatterPlotItem(x, y, size=7, pen=pg.mkPen(self.theme.surface), brush=pg.mkBrush(colour)))

    def _levels(self, marks: list[tuple[float, str]], log_x: bool) -> list[int]:
        """The height at which each mark's text covers no other, counted from above; −1 where there is no room."""
        assert self.view is not None
        low, high = _reach([at for at, _ in self.view.places], log_x, 0.04)
        metrics, wide = QFontMetricsF(self.font()), max(self._area.width() - _MARGIN, 1)
        taken: list[list[tuple[float, float]]] = [[] for _ in range(_LEVELS)]
        found: list[int] = []
        for at, text in marks:
            x, extent = (at - low) / (high - low) * wide, metrics.horizontalAdvance(f"→ {text}") + 8
            begin = x if x + extent <= wide else x - extent
            free = (k for k, row in enumerate(taken) if all(begin >= b or begin + extent <= a for a, b in row))
            level = next(free, -1)
            if level >= 0:
                taken[level].append((begin, begin + extent))
            found.append(level)
        return found

    def _add_mark(self, plot: Any, at: float, text: str, level: int) -> None:
        pen = pg.mkPen(self.theme.bad, width=1, style=Qt.PenStyle.DashLine)
        mark: Any = pg.InfiniteLine(at, angle=90, pen=pen)
        if text and level >= 0:
            high = 0.94 - 0.12 * level
            sides: Any = [(0, 0.5), (1, 0.5)]
            mark.label = pg.InfLineLabel(mark, f"→ {text}", position=high, anchors=sides, color=self.theme.bad)
            mark.label.setFont(self.font())
        plot.addItem(mark, ignoreBounds=True)

    def _colour(self, number: int) -> QColor:
        return QColor(self.theme.series[number % len(self.theme.series)])

    # ---- reading

    def eventFilter(self, watched: Any, event: QEvent) -> bool:
        """Hover reads values, a double click shows everything again; without Ctrl the wheel scrolls what is around."""
        if isinstance(event, QWheelEvent) and not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            event.ignore()
            return True
        if isinstance(event, QMouseEvent):
            if event.type() == QEvent.Type.MouseMove:
                text = self.read(event.position())
                if text:
                    QToolTip.showText(event.globalPosition().toPoint(), plain(text), self._area.viewport())
                else:
                    QToolTip.hideText()
            elif event.type() == QEvent.Type.MouseButtonDblClick:
                self.show_all()
                return True
        return super().eventFilter(watched, event)

    def read(self, at: QPointF) -> str:
        """What is at the nearest point, in words; empty where none is near."""
        scene = self._area.mapToScene(at.toPoint())
        best, said = _NEAR, ""
        for plot in self.view.plots if self.view is not None else ():
            made = self.plots.get(plot.metric)
            if made is None or not made.getViewBox().sceneBoundingRect().contains(scene):
                continue
            log_x, log_y = made.getAxis("bottom").axis.log, made.getAxis("left").axis.log
            for line in plot.lines:
                if f"line:{line.name}" in self.hidden:
                    continue
                for x, y, text in zip(_logged(line.x, log_x), _logged(line.y, log_y), line.texts, strict=True):
                    point = made.getViewBox().mapViewToScene(QPointF(float(x), float(y)))
                    far = math.hypot(point.x() - scene.x(), point.y() - scene.y())
                    if far < best:
                        best, said = far, text
        return said


def _html(text: str, colour: str) -> str:
    import html

    return f"<span style='color:{colour}'>{html.escape(text)}</span>"


def _logged(values: tuple[float, ...], log: bool) -> Any:
    array = np.asarray(values, dtype=np.float64)
    return np.log10(np.maximum(array, 1e-30)) if log else array


def _all_x(view: SweepView) -> list[float]:
    return [x for plot in view.plots for line in plot.lines for x in line.x]


def _spans(plot: SweepPlot) -> bool:
    """True if the answers are too far apart for equal distances to show them."""
    ys = [y for line in plot.lines for y in line.y]
    return bool(ys) and min(ys) > 0 and max(ys) / min(ys) > _FAR


def _reach(values: list[float], log: bool, more: float) -> tuple[float, float]:
    """From the least to the most, and a little more."""
    found = [math.log10(max(v, 1e-30)) if log else v for v in values if math.isfinite(v)] or [0.0]
    low, high = min(found), max(found)
    margin = (high - low) * more or abs(high) * 0.1 or 1.0
    return low - margin, high + margin


def _by_factors(values: list[float]) -> bool:
    """True if values are spread more evenly on a log axis than on a plain one."""
    known = np.unique(np.asarray(values, dtype=np.float64))
    if len(known) <= _TWO or known[0] <= 0:
        return False
    plain_, logged = np.diff(known), np.diff(np.log(known))
    return bool(plain_.std() / plain_.mean() > logged.std() / logged.mean())
