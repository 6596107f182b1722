"""One widget that draws any figure: lines with bands, bars, ticks and spans, with hover, copying and clicks."""

from __future__ import annotations

import csv
import html
import io
import math
import re
from typing import Any, Final

import numpy as np
import pyqtgraph as pg
from PySide6.QtCore import QBuffer, QEvent, QPointF, Qt, Signal
from PySide6.QtGui import QColor, QFontMetricsF, QGuiApplication, QMouseEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QFileDialog,
    QMenu,
    QMessageBox,
    QSizePolicy,
    QToolTip,
    QWidget,
)

from designer import atomic
from designer.drawing.short_names import shorter
from designer.errors import WriteError
from designer.gui.controls import Label, MarkedLabel, plain
from designer.gui.figures.plot import Plot, ValueAxis, axis_text
from designer.gui.layouts import FLUSH, in_column
from designer.gui.theme import Theme
from designer.plain_text import in_one_line
from designer.report.figure import Axis, BarSeries, Figure, LineSeries, Span, TickSeries

_BAR: Final = 0.52
_LONGEST: Final = 230.0
#: names of rows take no more of the width than this; the bars are what one looks at
_NAMES_SHARE: Final = 0.4
#: what leads to a part, as ``hosts[0]/`` in ``hosts[0]/cpu1``
_LEADING: Final = re.compile(r"[^\s/]+/(?=[^\s/])")
#: what is above and below the rows: title, legend, ticks and the name of the axis [px]
_HEAD: Final = 90.0
#: pixels of the plot that are no bars: right and left margins
_MARGIN: Final = 34.0
#: so many lines are named in the legend
_MOST_NAMED: Final = 6
_PHASES: Final = {
    "compute": 0,
    "communication": 1,
    "input": 2,
    "read": 2,
    "copy": 5,
    "decode": 3,
    "transfer": 0,
}


class FigureView(QWidget):
    """Shows one figure.

    Signals
    -------
    picked : ``str``
        Key of a bar that was clicked.
    """

    picked = Signal(str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.figure: Figure | None = None
        self._theme = theme
        self._plot: Plot | None = None
        self._title = Label(role="title")
        self._legend = MarkedLabel()
        self._legend.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
        head = self._head = QBoxLayout(QBoxLayout.Direction.LeftToRight)
        head.setContentsMargins(8, 4, 10, 0)
        head.setSpacing(2)
        head.addWidget(self._title)
        head.addStretch(1)
        head.addWidget(self._legend)
        self._box = in_column(head, on=self, margins=FLUSH, spacing=2)
        self.setMinimumSize(190, 120)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self._theme = theme
        self._draw()

    def set_figure(self, figure: Figure | None) -> None:
        """Show another figure, or nothing."""
        if figure != self.figure:
            self.figure = figure
            self._draw()

    # ---- drawing

    def _draw(self) -> None:
        figure = self.figure
        self._title.setToolTip(plain(figure.title) if figure else "")
        self._legend.setText(self._legend_text(figure) if figure else "")
        self.setAccessibleName(figure.title if figure else "No figure")
        if self._plot is not None:
            self._plot.view.clear()
            self._plot.setVisible(figure is not None)
        if figure is None:
            return
        plot = self._plot = self._plot or self._new_plot()
        self._prepare(plot, figure)
        for span in figure.spans:
            self._add_span(plot, span, figure)
        for bar in figure.bars:
            self._add_bars(plot, bar, figure)
        for tick in figure.ticks:
            self._add_ticks(plot, tick, figure)
        for number, line in enumerate(figure.lines):
            self._add_line(plot, line, number, figure)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Everything written finds its place again."""
        super().resizeEvent(event)
        self._fit()

    def _fit(self) -> None:
        """Title, legend, names of rows and room for the values at bars, for the width there is."""
        figure, plot = self.figure, self._plot
        if figure is None or plot is None:
            self._title.setText("")
            return
        room = self.width() - 18
        bold = QFontMetricsF(self._title.font())
        self._legend.setWordWrap(False)
        narrow = bold.horizontalAdvance(figure.title) + self._legend.sizeHint().width() + 16 > room
        self._legend.setWordWrap(narrow)
        self._head.setDirection(QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight)
        self._title.setText(bold.elidedText(in_one_line(figure.title), Qt.TextElideMode.ElideMiddle, room))
        for side, axis in (("bottom", figure.x), ("left", figure.y)):
            if axis.categories:
                item = plot.item.getAxis(side)
                names = [(float(at), name) for at, name in enumerate(self._elided(axis.categories))]
                item.setTicks([names[:: self._every(len(names)) if side == "left" else 1]])
                if side == "left":
                    item.setWidth(self._names_width(axis))
            else:
                metrics = QFontMetricsF(self.font())
                names_width = self._names_width(figure.y) if figure.y.categories else 70
                # centred below the plot, not in the whole width
                longest = self.width() - names_width - _MARGIN if side == "bottom" else max(40, self.height() - 80)
                text = metrics.elidedText(axis.title, Qt.TextElideMode.ElideRight, longest)
                plot.item.getAxis(side).setLabel(html.escape(text), color=self._theme.muted)
        self._set_ranges(plot, figure)

    def _new_plot(self) -> Plot:
        plot = Plot(ValueAxis("bottom", Axis("")), ValueAxis("left", Axis("")))
        plot.item.setContentsMargins(6, 2, 14, 4)
        plot.view.setMouseEnabled(False, False)
        plot.view.setDefaultPadding(0.02)
        plot.viewport().installEventFilter(self)
        plot.viewport().setMouseTracking(True)
        self._box.addWidget(plot, 1)
        return plot

    def _prepare(self, plot: Plot, figure: Figure) -> None:
        """The axes of another figure, or other colours."""
        plot.setBackground(self._theme.surface)
        sides = {"bottom": figure.x, "left": figure.y}
        plot.item.dress(self._theme, self.font(), *(side for side, axis in sides.items() if not axis.categories))
        for side, axis in sides.items():
            plot.item.getAxis(side).show_axis(axis)
        plot.view.invertY(figure.sideways)

    def _every(self, rows: int) -> int:
        """Names of rows lower than a line of text are written for every so many of them."""
        high = QFontMetricsF(self.font()).height()
        return max(1, math.ceil(rows * high / max(high, self.height() - _HEAD)))

    def _names_width(self, axis: Axis) -> int:
        metrics = QFontMetricsF(self.font())
        lines = (line for name in self._elided(axis.categories) for line in name.split("\n"))
        return round(max((metrics.horizontalAdvance(line) for line in lines), default=20.0)) + 14

    def _elided(self, names: tuple[str, ...]) -> list[str]:
        metrics = QFontMetricsF(self.font())
        longest = min(_LONGEST, max(60.0, self.width() * _NAMES_SHARE))
        # what leads to the parts goes first; the whole name is read by hovering
        lines = (in_one_line(n) for n in names)
        short = (n if metrics.horizontalAdvance(n) <= longest else _LEADING.sub("", n) for n in lines)
        return [self._broken(n, metrics, longest, len(names)) for n in short]

    def _broken(self, name: str, metrics: QFontMetricsF, longest: float, rows: int) -> str:
        """A name in two lines where it is too long for one and the rows are high enough, else shortened."""
        if metrics.horizontalAdvance(name) > longest and self.height() - _HEAD > rows * 2.2 * metrics.height():
            # of a link each end is on a line
            arrow = " → " in name
            first, _, last = name.partition(" → ") if arrow else name.rpartition(" ")
            halves = (f"{first} →" if arrow else first, last)
            if first and max(map(metrics.horizontalAdvance, halves)) <= longest:
                return "\n".join(halves)
        if " → " in name and metrics.horizontalAdvance(name) > longest:
            # shorter words at both ends; else where a link leads, which says more than both ends cut
            ends = [shorter(end) for end in name.split(" → ")]
            forms = (" → ".join(end[min(n, len(end) - 1)] for end in ends) for n in (1, 2))
            lead = f"→ {name.partition(' → ')[2]}"
            name = next((form for form in forms if metrics.horizontalAdvance(form) <= longest), lead)
        return metrics.elidedText(name, Qt.TextElideMode.ElideMiddle, longest)

    def _label_share(self, figure: Figure) -> float:
        """The share of the plot that the texts at the ends of its bars need."""
        texts = [text for bar in figure.bars for text in bar.labels]
        if not texts:
            return 0.0
        metrics = QFontMetricsF(self.font())
        if not figure.sideways:
            return 0.15
        names = self._names_width(figure.y) if figure.y.categories else 60
        return min(
            0.5, (max(metrics.horizontalAdvance(t) for t in texts) + 8) / max(80.0, self.width() - names - _MARGIN)
        )

    def _colour(self, role: str, number: int = 0) -> QColor:
        theme = self._theme
        fixed = {
            "bound": theme.bad,
            "quiet": theme.quiet,
            "idle": theme.quiet,
            "stun": theme.bad,
            "ideal": theme.faint,
            "second": theme.series[1],
            "measured": theme.text,
            "limit": theme.text,
        }
        if role in fixed:
            return QColor(fixed[role])
        return QColor(theme.series[_PHASES.get(role, number) % len(theme.series)])

    def _add_bars(self, plot: Plot, bar: BarSeries, figure: Figure) -> None:
        start = np.asarray(bar.start or [0.0] * len(bar.value), dtype=float)
        at, value = np.asarray(bar.at, dtype=float), np.asarray(bar.value, dtype=float)
        brush = pg.mkBrush(self._colour(bar.role))
        if figure.sideways:
            item = pg.BarGraphItem(x0=start, width=value, y=at, height=_BAR, pen=None, brush=brush)
        else:
            item = pg.BarGraphItem(x=at, width=_BAR, y0=start, height=value, pen=None, brush=brush)
        plot.item.addItem(item)
        for place, first, length, text in zip(at, start, value, bar.labels or ("",) * len(at), strict=True):
            if text:
                label = pg.TextItem(text, color=self._theme.muted, anchor=(0, 0.5) if figure.sideways else (0.5, 1))
                label.setPos(first + length, place) if figure.sideways else label.setPos(place, first + length)
                plot.item.addItem(label)
        if bar.low:
            middle = start + value
            beam = 0.16
            top, bottom = np.asarray(bar.high) - middle, middle - np.asarray(bar.low)
            pen = pg.mkPen(self._theme.text)
            error = (
                pg.ErrorBarItem(x=middle, y=at, left=bottom, right=top, beam=beam, pen=pen)
                if figure.sideways
                else pg.ErrorBarItem(x=at, y=middle, bottom=bottom, top=top, beam=beam, pen=pen)
            )
            plot.item.addItem(error)

    def _add_ticks(self, plot: Plot, tick: TickSeries, figure: Figure) -> None:
        half = _BAR * 0.75
        along = np.repeat(np.asarray(tick.value, dtype=float), 2)
        across = np.repeat(np.asarray(tick.at, dtype=float), 2)
        across[0::2] -= half
        across[1::2] += half
        x, y = (along, across) if figure.sideways else (across, along)
        plot.item.addItem(pg.PlotCurveItem(x, y, connect="pairs", pen=pg.mkPen(self._colour(tick.role), width=2)))

    def _add_line(self, plot: Plot, line: LineSeries, number: int, figure: Figure) -> None:
        colour = self._line_colour(line, number, figure)
        x, y = _logged(line.x, figure.x.log), _logged(line.y, figure.y.log)
        if line.low and line.high and line.role == "measured":
            low, high = _logged(line.low, figure.y.log), _logged(line.high, figure.y.log)
            faint = QColor(colour)
            faint.setAlpha(110)
            plot.item.addItem(pg.ErrorBarItem(x=x, y=y, bottom=y - low, top=high - y, beam=0, pen=pg.mkPen(faint)))
        elif line.low and line.high:
            soft = QColor(colour)
            soft.setAlpha(46)
            low = pg.PlotCurveItem(x, _logged(line.low, figure.y.log), pen=None)
            high = pg.PlotCurveItem(x, _logged(line.high, figure.y.log), pen=None)
            plot.item.addItem(pg.FillBetweenItem(low, high, brush=pg.mkBrush(soft)))
        if line.role == "measured":
            plot.item.addItem(
                pg.ScatterPlotItem(x, y, size=8, pen=pg.mkPen(self._theme.surface), brush=pg.mkBrush(colour))
            )
            return
        style = Qt.PenStyle.DashLine if line.role == "ideal" else Qt.PenStyle.SolidLine
        pen = pg.mkPen(colour, width=2 if len(x) <= 1200 and style == Qt.PenStyle.SolidLine else 1, style=style)
        plot.item.addItem(pg.PlotCurveItem(x, y, pen=pen, antialias=True))

    def _line_colour(self, line: LineSeries, number: int, figure: Figure) -> QColor:
        """Groups of measured points differ by colour; a single one contrasts with the curves."""
        if line.role == "measured" and sum(other.role == "measured" for other in figure.lines) > 1:
            return self._colour("", number)
        return self._colour(line.role, number)

    def _add_span(self, plot: Plot, span: Span, figure: Figure) -> None:
        colour = self._colour(span.role)
        colour.setAlpha(60)
        region = pg.LinearRegionItem(
            (span.start, span.end),
            movable=False,
            brush=pg.mkBrush(colour),
            pen=pg.mkPen(None),
            orientation="vertical",
        )
        plot.item.addItem(region)

    def _set_ranges(self, plot: Plot, figure: Figure) -> None:
        view = plot.item.getViewBox()
        view.disableAutoRange()
        for side, axis in ((0, figure.x), (1, figure.y)):
            if axis.categories:
                low, high = -0.6, len(axis.categories) - 0.4
            else:
                low, high = _extent(figure, side)
                if axis.log:
                    low, high = math.log10(max(low, 1e-30)), math.log10(max(high, 1e-30))
                elif axis.zero:
                    low = 0.0
                room = (high - low) * 0.06 or abs(high) * 0.1 or 1.0
                along = (side == 0) is figure.sideways
                share = self._label_share(figure) if along else 0.0
                high += max(room, (high - low) * share / (1 - share))
                low -= 0.0 if axis.zero and not axis.log else room * 0.3
            if side == 0:
                view.setXRange(low, high, padding=0)
            else:
                view.setYRange(low, high, padding=0)

    def _legend_text(self, figure: Figure) -> str:
        pieces: list[str] = []
        # what the rows and the whole are called needs no second stating
        rows = {*figure.x.categories, *figure.y.categories, figure.title, figure.title.lower()}
        rows |= {b.name for b in figure.bars if b.name.casefold() == figure.title.casefold()}
        shown = [(b.name, b.role, "■") for b in figure.bars if b.name not in rows] + [
            (t.name, t.role, "┃") for t in figure.ticks
        ]
        shown += [(s.name, s.role, "▒") for s in figure.spans]
        for number, line in enumerate(figure.lines):
            colour = self._line_colour(line, number, figure)
            pieces.append(_mark("●" if line.role == "measured" else "━", colour, line.name))
        if len(pieces) > _MOST_NAMED:
            # all of them would leave no room for the plot; hovering names each
            pieces[_MOST_NAMED:] = [f"and&nbsp;{len(pieces) - _MOST_NAMED}&nbsp;more"]
        banded = [(n, line) for n, line in enumerate(figure.lines) if line.low and line.role != "measured"]
        if banded:
            # stated once: each band has the colour of its line
            colour = self._colour(banded[0][1].role, banded[0][0]) if len(banded) == 1 else QColor(self._theme.faint)
            pieces.append(_mark("▒", colour, "80% band"))
        pieces += [_mark(sign, self._colour(role), name) for name, role, sign in dict.fromkeys(shown)]
        return f"<span style='color:{self._theme.muted}'>{'&nbsp;&nbsp; '.join(pieces)}</span>"

    # ---- what one does with it

    def eventFilter(self, watched: Any, event: QEvent) -> bool:
        """Hover reads values, a click selects, the right button copies."""
        plot = self._plot
        if plot is None or not isinstance(event, QMouseEvent):
            return super().eventFilter(watched, event)
        if event.type() == QEvent.Type.MouseMove:
            text = self.read(event.position())
            if text:
                QToolTip.showText(event.globalPosition().toPoint(), plain(text), plot.viewport())
            else:
                QToolTip.hideText()
        elif event.type() == QEvent.Type.MouseButtonPress and event.button() == Qt.MouseButton.RightButton:
            self._menu().popup(event.globalPosition().toPoint())
            return True
        elif event.type() == QEvent.Type.MouseButtonRelease and event.button() == Qt.MouseButton.LeftButton:
            key = self._key_at(event.position())
            if key:
                self.picked.emit(key)
        return super().eventFilter(watched, event)

    def _point(self, at: QPointF) -> QPointF | None:
        if self._plot is None:
            return None
        view = self._plot.item.getViewBox()
        scene = self._plot.mapToScene(at.toPoint())
        return view.mapSceneToView(scene) if view.sceneBoundingRect().contains(scene) else None

    def read(self, at: QPointF) -> str:
        """What is at a point of the plot, in words."""
        figure, point = self.figure, self._point(at)
        if figure is None or point is None:
            return ""
        place, value_axis = (point.y(), figure.x) if figure.sideways else (point.x(), figure.y)
        said: list[str] = []
        names = figure.y.categories if figure.sideways else figure.x.categories
        row = round(place)
        if names and 0 <= row < len(names) and abs(place - row) <= 0.5:
            said.append(names[row])
            for bar in figure.bars:
                said += _values_at(bar.name, bar.at, bar.value, row, value_axis)
            for tick in figure.ticks:
                said += _values_at(tick.name, tick.at, tick.value, row, value_axis)
        for line in figure.lines:
            x = 10 ** point.x() if figure.x.log else point.x()
            i = int(np.argmin(np.abs(_logged(line.x, figure.x.log) - point.x()))) if line.x else -1
            if i >= 0 and x:
                said.append(f"{line.name} at {axis_text(figure.x, line.x[i])}: {axis_text(figure.y, line.y[i])}")
                if line.low:
                    low, high = axis_text(figure.y, line.low[i]), axis_text(figure.y, line.high[i])
                    said.append(f"80% band: {low} – {high}")
        return "\n".join(said)

    def _key_at(self, at: QPointF) -> str:
        figure, point = self.figure, self._point(at)
        if figure is None or point is None:
            return ""
        place = point.y() if figure.sideways else point.x()
        for bar in figure.bars:
            for a, key in zip(bar.at, bar.keys, strict=False):
                if abs(place - a) <= 0.5:
                    return key
        return ""

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Copy data", self.copy_data)
        menu.addAction("Copy picture", self.copy_picture)
        menu.addAction("Save picture…", self._save)
        return menu

    def copy_data(self) -> None:
        """Put the numbers on the clipboard, tab separated, SI units in the heads."""
        if self.figure is None:
            return
        heads, rows = self.figure.table()
        text = io.StringIO()
        csv.writer(text, delimiter="\t", lineterminator="\n").writerows([heads, *rows])
        QGuiApplication.clipboard().setText(text.getvalue())

    def copy_picture(self) -> None:
        """Put the picture on the clipboard."""
        QGuiApplication.clipboard().setPixmap(self.grab())

    def _save(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Save picture", "figure.png", "PNG (*.png)")
        if not name:
            return
        picture = QBuffer()
        self.grab().save(picture, "PNG")
        try:
            atomic.write(name, bytes(picture.data().data()))
        except WriteError as error:
            stated = QMessageBox(QMessageBox.Icon.Warning, "Save picture", "", parent=self)
            stated.setTextFormat(Qt.TextFormat.PlainText)
            stated.setText(str(error))
            stated.exec()


def _logged(values: tuple[float, ...], log: bool) -> np.ndarray[Any, np.dtype[np.float64]]:
    array = np.asarray(values, dtype=np.float64)
    return np.log10(np.maximum(array, 1e-30)) if log else array


def _extent(figure: Figure, side: int) -> tuple[float, float]:
    """Lowest and highest value on one side: 0 horizontal, 1 vertical."""
    found: list[float] = []
    for line in figure.lines:
        found += line.x if side == 0 else (*line.y, *line.low, *line.high)
    along = 0 if figure.sideways else 1
    if side == along:
        for bar in figure.bars:
            starts = bar.start or (0.0,) * len(bar.value)
            found += [s + v for s, v in zip(starts, bar.value, strict=True)]
            found += (*starts, *bar.high)
        for tick in figure.ticks:
            found += tick.value
    if side == 0:
        for span in figure.spans:
            found += (span.start, span.end)
    finite = [v for v in found if math.isfinite(v)]
    return (min(finite), max(finite)) if finite else (0.0, 1.0)


def _values_at(name: str, at: tuple[float, ...], value: tuple[float, ...], row: int, axis: Axis) -> list[str]:
    return [f"{name}: {axis_text(axis, v)}" for a, v in zip(at, value, strict=True) if round(a) == row]


def _mark(sign: str, colour: QColor, name: str) -> str:
    # a name stays in one line
    whole = html.escape(name).replace(" ", "&nbsp;").replace("/", "/&#8288;")
    return f"<span style='color:{colour.name()}'>{sign}</span>&nbsp;{whole}"
