"""Changes as cards: a small drawing, what it brings with its band and cost, and a button that makes it."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import QFrame, QGridLayout, QSizePolicy, QWidget

from designer.gui import icons
from designer.gui.controls import Button, Label, plain
from designer.gui.layouts import in_column, in_row
from designer.gui.panels._widgets import dress
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.apart import Apart
from designer.gui.viewmodels.improve import added_words
from designer.plain_text import in_one_line
from designer.present.blocks import Change, Sketch, Tone

#: gain that is the tone of each change
_ROLES: Final = {Tone.GOOD: "good", Tone.BAD: "bad", Tone.WARNING: "warn", Tone.BOUND: "bad"}
#: the box of a sketch, a dot in it and the gap between two [px]; dots drawn, each for as many parts as it takes
_BOX_HIGH, _DOT, _GAP = 34, 9, 4
_DOTS: Final = 8
#: the least width of a card where several are in a row, at text of 100 % [px]
_LEAST: Final = 230
_POINTS: Final = 9.5


class Drawing(QWidget):
    """What is kept and what is added, as boxes with a dot for each part."""

    def __init__(self) -> None:
        super().__init__()
        self._sketch: tuple[Sketch, ...] = ()
        self._theme: Theme | None = None
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_sketch(self, sketch: tuple[Sketch, ...], theme: Theme) -> None:
        """Show other parts."""
        self._sketch, self._theme = sketch, theme
        self.setVisible(bool(sketch))
        self.setAccessibleName(", ".join(one.caption for one in sketch))
        self.setToolTip(plain("\n".join(one.caption for one in sketch)))
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(120, _BOX_HIGH + self.fontMetrics().height() + 8)

    def paintEvent(self, event: QPaintEvent) -> None:
        theme = self._theme
        if theme is None:
            return
        metrics, x = self.fontMetrics(), 1.0
        with QPainter(self) as painter:
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            for number, one in enumerate(self._sketch):
                if number:
                    painter.setPen(QColor(theme.accent))
                    painter.drawText(QPointF(x, _BOX_HIGH / 2 + 6), "+")
                    x += metrics.horizontalAdvance("+") + 8
                columns = min(max((min(one.count, _DOTS) + 1) // 2, 1), _DOTS // 2)
                wide = 30.0 + columns * (_DOT + _GAP)
                self._box(painter, QRectF(x, 2, wide, _BOX_HIGH - 2), one, theme)
                painter.setPen(QColor(theme.accent if one.new else theme.muted))
                painter.drawText(QPointF(x, _BOX_HIGH + metrics.ascent() + 3), one.caption)
                x += max(wide, metrics.horizontalAdvance(one.caption)) + 10

    def _box(self, painter: QPainter, box: QRectF, one: Sketch, theme: Theme) -> None:
        colour = QColor(theme.accent if one.new else theme.muted)
        painter.setPen(QPen(colour, 1.4, Qt.PenStyle.DashLine if one.new else Qt.PenStyle.SolidLine))
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawRoundedRect(box, 4, 4)
        icon = icons.kind_icon(one.kind, theme.is_dark)
        icon.paint(painter, QRectF(box.left() + 5, box.center().y() - 9, 18, 18).toRect())
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(colour)
        shown = min(one.count, _DOTS)
        rows = 1 if shown < 2 else 2
        for k in range(shown):
            column, row = k // rows, k % rows
            top = box.center().y() - (rows * (_DOT + _GAP) - _GAP) / 2 + row * (_DOT + _GAP)
            painter.drawRoundedRect(QRectF(box.left() + 28 + column * (_DOT + _GAP), top, _DOT, _DOT), 2, 2)


class ChangeCard(QFrame):
    """A change or a next question: what it brings, and a button that makes it or leads to it.

    Signals
    -------
    chosen : ``Change``
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("fix")
        self._change: Change | None = None
        self.drawing = Drawing()
        self.title = Label(role="title", wrap=True)
        self.detail, self.gain = Label(wrap=True), Label(wrap=True)
        self.rows: list[tuple[Label, Label]] = []
        self._grid = QGridLayout()
        self._grid.setContentsMargins(0, 2, 0, 2)
        self._grid.setVerticalSpacing(1)
        self._grid.setColumnStretch(0, 1)
        self.button = Button("Apply", self._choose)
        self._head = in_row((self.title, 1), spacing=8)
        self._foot = in_row((self.gain, 1), (self.button, 0, Qt.AlignmentFlag.AlignBottom), spacing=8)
        in_column(
            self.drawing,
            self._head,
            self.detail,
            self._grid,
            1,
            self._foot,
            on=self,
            margins=(10, 8, 8, 8),
            spacing=2,
        )

    def show_change(self, change: Change, first: bool, theme: Theme) -> None:
        """Show another change; the first one that can be applied has the main button."""
        dress(self.button, "primary", first and change.edit is not None)
        self.drawing.show_sketch(change.sketch, theme)
        if change == self._change:
            return
        self._change = change
        self.title.setText(change.title)
        makes = "Apply" if change.edit is not None else "Open" if change.design is not None else "Show"
        self.button.setText(makes)
        self.button.setVisible(makes != "Show" or bool(change.place))
        self.button.setAccessibleName(f"{self.button.text()}: {in_one_line(change.title)}")
        self._show_rows(change.rows)
        # without a gain of its own the detail says what the change brings
        gain = " · ".join(x for x in (change.gain, change.price) if x)
        # a question has its button next to it, a change at its foot
        short = not (change.detail or gain or change.rows or change.sketch)
        plain_ = "muted" if gain or change.rows or change.edit is None else "good"
        for label, text, role in (
            (self.detail, change.detail, "bad" if change.tone is Tone.BAD else plain_),
            (self.gain, gain, _ROLES.get(change.tone, "muted") if change.gain else "muted"),
        ):
            label.setText(text)
            # the foot keeps its place next to the button
            label.setVisible(bool(text) or (label is self.gain and not short))
            dress(label, "role", role)
        beside, below = (self._head, self._foot) if short else (self._foot, self._head)
        below.removeWidget(self.button)
        beside.addWidget(self.button, 0, Qt.AlignmentFlag.AlignBottom if not short else Qt.AlignmentFlag.AlignTop)

    def mark(self, on: bool) -> None:
        """Mark the card as the one that is looked at."""
        dress(self, "selected", on)
        dress(self.button, "primary", on)

    def _show_rows(self, rows: tuple[tuple[str, str], ...]) -> None:
        while len(self.rows) < len(rows):
            pair = (Label(role="muted"), Label(wrap=True))
            pair[1].setAlignment(Qt.AlignmentFlag.AlignRight)
            for column, label in enumerate(pair):
                self._grid.addWidget(label, len(self.rows), column)
            self.rows.append(pair)
        for number, pair in enumerate(self.rows):
            for label, text in zip(pair, rows[number] if number < len(rows) else ("", ""), strict=True):
                label.setText(text)
                label.setVisible(number < len(rows))

    def _choose(self, *_: object) -> None:
        if self._change is not None:
            self.chosen.emit(self._change)


class Cards(QWidget):
    """Cards below each other, or next to each other where there is room.

    Signals
    -------
    chosen : ``Change``
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__()
        self.held: list[ChangeCard] = []
        self._columns = 1
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setSpacing(8)

    def show_changes(self, changes: tuple[Change, ...] | list[Change], theme: Theme) -> None:
        """Show other changes."""
        while len(self.held) < len(changes):
            card = ChangeCard()
            card.chosen.connect(self.chosen)
            self.held.append(card)
            self._grid.addWidget(card, len(self.held) - 1, 0)
        first = next((n for n, c in enumerate(changes) if c.edit is not None), 0)
        for number, card in enumerate(self.held):
            card.setVisible(number < len(changes))
            if number < len(changes):
                card.show_change(changes[number], number == first, theme)
        self.setVisible(bool(changes))
        self._arrange(True)

    @property
    def shown(self) -> list[ChangeCard]:
        """Cards with a change."""
        return [card for card in self.held if not card.isHidden()]

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def _arrange(self, again: bool = False) -> None:
        count = len(self.shown)
        least = _LEAST * max(1.0, self.font().pointSizeF() / _POINTS)
        columns = max(1, min(int(self.width() // least), max(count, 1)))
        if not again and columns == self._columns:
            return
        self._columns = columns
        for number, card in enumerate(self.held):
            self._grid.removeWidget(card)
            self._grid.addWidget(card, number // columns, number % columns)
        for column in range(4):
            self._grid.setColumnStretch(column, int(column < columns))


def apply_change(session: Session, change: Change) -> bool:
    """Make the edit of a change as one step; what it adds covers nothing, is selected, brought into sight and named."""
    before = session.design
    if not session.apply(Apart(change.edit), select_new=True):
        return False
    new = added_words(before, session.design)
    if new:
        session.reveal(session.selection)
        session.message.emit(new)
    return True
