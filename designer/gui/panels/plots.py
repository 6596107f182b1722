"""The Plots dock: loads, bytes left and busy share over time, with the instant looked at marked in all of them."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Final

import pyqtgraph as pg
from PySide6.QtCore import QPointF, Qt, QTimer
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QSizePolicy, QWidget

from designer.gui.controls import Label, MarkedLabel
from designer.gui.figures.plot import Plot
from designer.gui.figures.value_axis import ValueAxis
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.panels._empty import EmptyPage
from designer.gui.panels._panel import Panel, PanelKind, Side
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.plots import Curve, busy_curve, chosen_resources, left_curves, load_curves
from designer.report.figure import Axis
from designer.units import format_si

if TYPE_CHECKING:
    from designer.analysis.clock.frames import Frames

#: values at the instant are told anew this often while it plays [ms]
_TOLD_MS: Final = 100
#: lines of the instant move this often: each move draws all three plots again, canvas frames come first [ms]
_MOVED_MS: Final = 50
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


class PlotsPanel(Panel):
    """Three plots side by side, or what to do to get them."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.empty = EmptyPage("Run workloads over time (F6); select links or parts to see their load here.")
        self.load = LivePlot("Load of capacity", "1", theme)
        self.left = LivePlot("Bytes left", "B", theme)
        self.busy = LivePlot("Busy share of what computes", "1", theme)
        self.page = QWidget()
        in_row((self.load, 2), (self.left, 1), (self.busy, 1), on=self.page, margins=(2, 2, 2, 2), spacing=4)
        in_column(self.empty, self.page, on=self, margins=FLUSH)
        self._of: Frames | None = None
        self._later = QTimer(self, singleShot=True, interval=_TOLD_MS)
        self._later.timeout.connect(self._tell)
        self._soon = QTimer(self, singleShot=True, interval=_MOVED_MS)
        self._soon.timeout.connect(self._move)

    @property
    def plots(self) -> tuple[LivePlot, ...]:
        """All of them."""
        return self.load, self.left, self.busy

    def watch(self, session: Session) -> None:
        """Follow runs, the instant looked at, and what is selected."""
        self.connect_signal(session.simulation_changed, self.outdate)
        self.connect_signal(session.selection_changed, self.outdate)
        self.connect_signal(session.moment_changed, self._moved)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        for plot in self.plots:
            plot.set_theme(theme)
        super().set_theme(theme)

    def _moved(self, moment: float) -> None:
        if not self.seen or self._of is None:
            return
        del moment
        for timer in (self._soon, self._later):
            if not timer.isActive():
                timer.start()

    def _move(self) -> None:
        if self.session is not None and self._of is not None:
            for plot in self.plots:
                plot.set_moment(self.session.moment)

    def _tell(self) -> None:
        if self.session is not None and self._of is not None:
            for plot in self.plots:
                plot.tell(self.session.moment)

    def refresh(self) -> None:
        """Draw the curves of the run there is."""
        session = self.session
        frames = session.frames if session is not None else None
        self.empty.setVisible(frames is None)
        self.page.setVisible(frames is not None)
        for plot in self.plots:
            plot.session = session
        if session is None or frames is None:
            self._of = None
            for plot in self.plots:
                plot.show_curves([], 1.0)
            return
        end = frames.end
        self.load.show_curves(load_curves(frames, chosen_resources(frames, session.selection), 0.0, end), end)
        if frames is not self._of:
            left, busy = left_curves(frames), busy_curve(frames, 0.0, end)
            self.left.show_curves(left, end)
            self.busy.show_curves(busy, end)
            self.left.setVisible(bool(left))
            self.busy.setVisible(bool(busy))
        self._of = frames
        for plot in self.plots:
            plot.set_moment(session.moment)
        self._tell()


PANEL = PanelKind("plots", "Plots", Side.BOTTOM, 80, lambda s: PlotsPanel(s.theme))
