"""Blocks of a page as widgets: figures with their band, stacks, limits and changes; each shows another block in place.

They write no words of their own about an answer: all texts come from the blocks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, Generic, TypeVar

from PySide6.QtCore import QPoint, QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QContextMenuEvent, QFont, QFontMetricsF, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from designer.gui.controls import Label, plain
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.panels._widgets import ElidedLink
from designer.gui.theme import Theme
from designer.present.blocks import Figure, Limit, Stack

W = TypeVar("W", bound=QWidget)
#: sizes of text as shares of the base: the value of a figure, bands and notes
_VALUE, _NOTE = 1.37, 0.86
#: the strip under a value, a bar of a stack, a sample of a legend, gaps [px]
_STRIP, _BAR, _SAMPLE, _GAP = 14, 13, 8, 6
#: how far beyond band and target a strip goes
_BEYOND: Final = 0.25


def sized(font: QFont, share: float, bold: bool = False) -> QFont:
    """A font of another size."""
    made = QFont(font)
    made.setPointSizeF(font.pointSizeF() * share)
    if bold:
        made.setWeight(QFont.Weight.DemiBold)
    return made


class FigureCell(QWidget):
    """A figure: its name, value and unit, the band and target on a strip, and both in words.

    Signals
    -------
    menu_wanted : `Figure`, ``QPoint``
        A right press on the figure, and where on the screen.
    """

    menu_wanted = Signal(object, QPoint)

    def __init__(self) -> None:
        super().__init__()
        self.figure = Figure("", "", "")
        #: how it changed, and whether that is ``good`` or ``bad``
        self.change, self.change_tone = "", ""
        self.faded = False
        self.theme: Theme | None = None
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_figure(self, figure: Figure, theme: Theme, faded: bool, change: str = "", tone: str = "") -> None:
        """Show another figure."""
        new = (figure, theme, faded, change, tone)
        if new == (self.figure, self.theme, self.faded, self.change, self.change_tone):
            return
        self.figure, self.theme, self.faded, self.change, self.change_tone = new
        words = ", ".join(x for x in (f"{figure.title} {figure.text}", figure.band, *self._below(), change) if x)
        self.setAccessibleName(words)
        self.setToolTip(plain("\n".join(x for x in (f"{figure.title}: {figure.text}", *self._tips()) if x)))
        self.updateGeometry()
        self.update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        if self.figure.name:
            self.menu_wanted.emit(self.figure, event.globalPos())
            event.accept()

    def _tips(self) -> tuple[str, ...]:
        figure = self.figure
        band = f"80% band: {figure.band}" if figure.band else ""
        rests = ", ".join(figure.sources[:8])
        return band, figure.note, figure.target, f"Rests on: {rests}" if rests else ""

    def _below(self) -> tuple[str, str]:
        """What is written at the left and right under the strip."""
        figure = self.figure
        return figure.band, figure.target or figure.note

    @property
    def _has_band(self) -> bool:
        return bool(self.figure.band) or self.figure.bound is not None

    def sizeHint(self) -> QSize:
        line = self.fontMetrics().height()
        value = QFontMetricsF(sized(self.font(), _VALUE, True)).height()
        note = QFontMetricsF(sized(self.font(), _NOTE)).height()
        high = line + value + (_STRIP if self._has_band else 2) + note * (1 + bool(self.change)) + 2
        return QSize(120, round(high))

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self.theme
        if theme is None:
            return
        figure, wide = self.figure, float(self.width())
        ink = theme.faint if self.faded else theme.text
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            y = self._line(painter, 0.0, figure.title, self.font(), theme.muted)
            large = sized(self.font(), _VALUE, True)
            metrics = QFontMetricsF(large)
            painter.setFont(large)
            painter.setPen(QColor(ink))
            painter.drawText(QPointF(0, y + metrics.ascent()), figure.value)
            painter.setFont(self.font())
            painter.setPen(QColor(theme.faint if self.faded else theme.muted))
            after = metrics.horizontalAdvance(figure.value) + 5
            unit = self.fontMetrics().elidedText(figure.unit, Qt.TextElideMode.ElideRight, int(max(wide - after, 0)))
            painter.drawText(QPointF(after, y + metrics.ascent()), unit)
            y += metrics.height()
            if self._has_band:
                self._draw_band(painter, y + _STRIP / 2, wide, theme)
                y += _STRIP
            else:
                y += 2
            left, right = self._below()
            small = sized(self.font(), _NOTE)
            tone = {"good": theme.good, "bad": theme.bad, "warning": theme.warn}.get(str(figure.tone), theme.muted)
            used = QFontMetricsF(small).horizontalAdvance(left) + 8 if left else 0.0
            if left:
                self._line(painter, y, left, small, theme.muted)
            y = self._line(painter, y, right, small, tone, wide - used, right=bool(left))
            if self.change:
                self._line(painter, y, self.change, small, getattr(theme, self.change_tone or "muted"))

    def _line(
        self,
        painter: QPainter,
        y: float,
        text: str,
        font: QFont,
        colour: str,
        room: float | None = None,
        right: bool = False,
    ) -> float:
        """Write a line, and say where the next begins."""
        metrics = QFontMetricsF(font)
        wide = self.width() if room is None else room
        shown = metrics.elidedText(text, Qt.TextElideMode.ElideRight, max(wide, 0.0))
        painter.setFont(font)
        painter.setPen(QColor(colour))
        x = self.width() - metrics.horizontalAdvance(shown) if right else 0.0
        painter.drawText(QPointF(x, y + metrics.ascent()), shown)
        return y + metrics.height()

    def _draw_band(self, painter: QPainter, y: float, wide: float, theme: Theme) -> None:
        """The band, the value in it, and the target dashed."""
        figure = self.figure
        ends = [figure.low, figure.high, figure.at, *([figure.bound] if figure.bound is not None else [])]
        low, high = min(ends), max(ends)
        reach = (high - low) * (1 + 2 * _BEYOND) or abs(high) or 1.0
        begin = low - (high - low) * _BEYOND

        def x(value: float) -> float:
            return min(max((value - begin) / reach, 0.0), 1.0) * wide

        colour = QColor(theme.faint if self.faded else theme.accent)
        soft = QColor(colour)
        soft.setAlpha(90)
        painter.fillRect(QRectF(0, y - 0.5, wide, 1), QColor(theme.border))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(soft)
        painter.drawRoundedRect(QRectF(x(figure.low), y - 3, max(x(figure.high) - x(figure.low), 2), 6), 3, 3)
        painter.fillRect(QRectF(x(figure.at) - 1, y - 5, 2, 10), colour)
        if figure.bound is not None:
            painter.setPen(QPen(QColor(theme.text), 1.5, Qt.PenStyle.DashLine))
            painter.drawLine(QPointF(x(figure.bound), y - 6), QPointF(x(figure.bound), y + 6))


class StackBar(QWidget):
    """A whole and its parts as one bar with a legend."""

    def __init__(self) -> None:
        super().__init__()
        self._stack = Stack("", "", ())
        self._theme: Theme | None = None
        self._faded = False
        self._titles: tuple[str, ...] = ()
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_stack(self, stack: Stack, theme: Theme, faded: bool, beside: Sequence[Stack] = ()) -> None:
        """Show another whole; a part has the colour that it has in the stacks `beside` it."""
        titles = (share.title for one in (*beside, stack) for share in one.shares if not share.limits)
        new = (stack, theme, faded, tuple(dict.fromkeys(titles)))
        if new != (self._stack, self._theme, self._faded, self._titles):
            self._stack, self._theme, self._faded, self._titles = new
            parts = [f"{share.title} {share.text}" for share in stack.shares]
            self.setAccessibleName(", ".join((f"{stack.title} {stack.total}", *parts)))
            self.setToolTip(plain("\n".join((f"{stack.title}: {stack.total}", *parts))))
            self.setFixedHeight(self._height())
            self.update()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.setFixedHeight(self._height())

    def _legend(self) -> list[tuple[float, int, str]]:
        """Where each word of the legend is: offset, line, text."""
        metrics, found = QFontMetricsF(self.font()), list[tuple[float, int, str]]()
        x, line = 0.0, 0
        for share in self._stack.shares:
            text = f"{share.title} {share.text}".strip()
            extent = _SAMPLE + 4 + metrics.horizontalAdvance(text)
            if x and x + extent > self.width():
                x, line = 0.0, line + 1
            found.append((x, line, text))
            x += extent + 12
        return found

    def _height(self) -> int:
        line = self.fontMetrics().height() + 2
        words = self._legend()
        return round(line + _BAR + 4 + (line * (words[-1][1] + 1) if words else 0))

    def _colours(self, theme: Theme) -> list[QColor]:
        """The limiting part as what limits is drawn, others in turn, the rest quiet."""
        named = (title for title in self._titles if title.casefold() != "other")
        colours = dict(zip(named, theme.series, strict=False))
        return [
            QColor(theme.quiet if self._faded else theme.bad if share.limits else colours.get(share.title, theme.quiet))
            for share in self._stack.shares
        ]

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        if theme is None:
            return
        stack, wide, metrics = self._stack, float(self.width()), self.fontMetrics()
        line = metrics.height() + 2
        colours = self._colours(theme)
        with QPainter(self) as painter:
            painter.setPen(QColor(theme.text))
            total = metrics.horizontalAdvance(stack.total)
            title = metrics.elidedText(stack.title, Qt.TextElideMode.ElideRight, int(wide - total - 8))
            painter.drawText(QPointF(0, metrics.ascent()), title)
            painter.setPen(QColor(theme.muted))
            painter.drawText(QPointF(wide - total, metrics.ascent()), stack.total)
            whole, x = sum(share.share for share in stack.shares) or 1.0, 0.0
            for share, colour in zip(stack.shares, colours, strict=True):
                extent = share.share / max(whole, 1.0) * wide
                painter.fillRect(QRectF(x, line, max(extent - 1, 1), _BAR), colour)
                x += extent
            for (left, row, text), colour in zip(self._legend(), colours, strict=True):
                top = line + _BAR + 4 + row * line
                painter.fillRect(QRectF(left, top + (metrics.height() - _SAMPLE) / 2, _SAMPLE, _SAMPLE), colour)
                painter.setPen(QColor(theme.muted))
                painter.drawText(QPointF(left + _SAMPLE + 4, top + metrics.ascent()), text)


class LimitRow(QWidget):
    """What limits now, or would next: a press shows it on the canvas.

    Signals
    -------
    wanted : ``tuple[str, ...]``
        Ids to show.
    """

    wanted = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self._limit: Limit | None = None
        #: the gain is below the name next to the number, else next to the name
        self.dot, self.gain, self.beside = Label("●"), Label(role="muted"), Label(role="muted")
        self.name = ElidedLink("")
        self.name.setCursor(Qt.CursorShape.PointingHandCursor)
        self.name.clicked.connect(self._show)
        self.detail = Label(role="muted", wrap=True)
        self.detail.setContentsMargins(18, 0, 0, 0)
        in_column(
            in_row(self.dot, (self.name, 1), self.beside, spacing=4),
            in_row((self.detail, 1), self.gain, spacing=6),
            on=self,
            margins=FLUSH,
            spacing=0,
        )

    def show_limit(self, limit: Limit, theme: Theme) -> None:
        """Show another limit."""
        colour = theme.bad if limit.now else theme.quiet
        self.dot.setStyleSheet(f"color: {colour};")
        if limit == self._limit:
            return
        self._limit = limit
        name = f"{limit.title}, {limit.when}" if limit.when not in ("now", "then", "") else limit.title
        self.name.set_full(name)
        self.name.setToolTip(plain(f"{name}\nShow on the canvas"))
        gain = f"twice: {limit.gain}" if limit.gain else ("" if limit.now else "next")
        for label, text in ((self.gain, gain if limit.detail else ""), (self.beside, "" if limit.detail else gain)):
            label.setText(text)
            label.setVisible(bool(text))
        self.detail.setText(limit.detail)
        self.detail.setVisible(bool(limit.detail))

    def _show(self) -> None:
        if self._limit is not None and self._limit.ids:
            self.wanted.emit(self._limit.ids)


class Pool(QWidget, Generic[W]):
    """As many widgets of one kind below each other as there are blocks, made when first needed and used again."""

    def __init__(self, make: Callable[[], W], spacing: int = 8) -> None:
        super().__init__()
        self._make = make
        self.held: list[W] = []
        self._lines = in_column(on=self, margins=FLUSH, spacing=spacing)

    def shown(self, count: int) -> Sequence[W]:
        """So many of them; the others are hidden, and all of it where there are none."""
        while len(self.held) < count:
            made = self._make()
            self.held.append(made)
            self._lines.addWidget(made)
        for number, widget in enumerate(self.held):
            if widget.isHidden() == (number < count):
                widget.setVisible(number < count)
        self.setVisible(count > 0)
        return self.held[:count]


class Grid(QWidget):
    """Figure cells, as many next to each other as there is room for.

    Parameters
    ----------
    one_line
        True if those are left out that have no room in the first line.

    Signals
    -------
    menu_wanted : `Figure`, ``QPoint``
        A right press on a figure, and where on the screen.
    """

    menu_wanted = Signal(object, QPoint)

    def __init__(self, one_line: bool = False) -> None:
        super().__init__()
        self.cells: list[FigureCell] = []
        self._count, self._one_line = 0, one_line
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def shown(self, count: int) -> Sequence[FigureCell]:
        """So many of them."""
        while len(self.cells) < count:
            cell = FigureCell()
            cell.setParent(self)
            cell.menu_wanted.connect(self.menu_wanted)
            self.cells.append(cell)
        for number, cell in enumerate(self.cells):
            cell.setVisible(number < count)
        self._count = count
        self.setVisible(count > 0)
        return self.cells[:count]

    def arrange(self) -> None:
        """Give the cells their places."""
        if not self._count:
            return
        least = 140 * max(1.0, self.font().pointSizeF() / 9.5)
        columns = max(1, min(int(self.width() // least), self._count, 4))
        if self._count == columns + 1 and columns > 2 and not self._one_line:
            columns -= 1
        wide = (self.width() - (columns - 1) * 16) // columns
        count = columns if self._one_line else self._count
        for number, cell in enumerate(self.cells):
            cell.setVisible(number < count)
        y = 0
        for begin in range(0, count, columns):
            row = self.cells[begin : min(begin + columns, count)]
            high = max(cell.sizeHint().height() for cell in row)
            for number, cell in enumerate(row):
                cell.setGeometry(number * (wide + 16), y, wide, high)
            y += high + 6
        self.setFixedHeight(max(y - 6, 1))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.arrange()
