"""What a field may say, offered below it while one types.

The list is part of the window the field is in. Qt's own completer opens a window instead, which takes the keyboard on
X: who types on at once after Tab or Enter still writes into the field that was left.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QFocusEvent, QHideEvent, QKeyEvent, QMoveEvent, QResizeEvent
from PySide6.QtWidgets import QAbstractItemView, QComboBox, QLineEdit, QListView, QWidget

from designer.gui.controls import ChoiceBox
from designer.gui.itemmodels.choices import SearchedModel

#: so many lines are shown, the others by scrolling
_LINES: Final = 8
#: border and padding, as the style sheet has them
_EDGES: Final = 8
_STEPS: Final = {
    Qt.Key.Key_Down: 1,
    Qt.Key.Key_Up: -1,
    Qt.Key.Key_PageDown: _LINES,
    Qt.Key.Key_PageUp: -_LINES,
}
_ENTER: Final = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


class OfferedList(QListView):
    """A list below a field that shows what holds the words typed; the keys stay with the field.

    Parameters
    ----------
    field
        The field it belongs to, which gives it the keys (`take_key`) and closes it when it is left.
    choices
        Ids and titles.

    Signals
    -------
    chosen
        Id and title of what was taken.
    """

    chosen = Signal(str, str)

    def __init__(self, field: QWidget, choices: Sequence[tuple[str, str]]) -> None:
        super().__init__(field)
        self.hide()
        self._field = field
        self._found = SearchedModel(choices, self)
        self.setModel(self._found)
        self.setAccessibleName("Offered")
        self.setObjectName("offered")
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setUniformItemSizes(True)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self.clicked.connect(self._take)
        # in the window it would outlive its field
        field.destroyed.connect(self.deleteLater)

    def look_for(self, text: str) -> None:
        """Offer what holds every word of the text; nothing where that is the text itself, or none was typed.

        What differs from the text only in large and small letters is highlighted at once.
        """
        self._found.look_for(text)
        titles, typed = [self._title(row) for row in range(self._found.rowCount())], text.strip()
        if not typed or not titles or titles == [typed]:
            self.hide()
            return
        self.clearSelection()
        equal = [t.casefold() == typed.casefold() for t in titles]
        same = True in equal and typed not in titles
        self.setCurrentIndex(self._found.index(equal.index(True), 0) if same else QModelIndex())
        self.place()
        self.show()
        self.raise_()
        # what is said about the text may move the field yet
        QTimer.singleShot(0, self, self.follow)

    def place(self) -> None:
        """Open below the field, or above it where there is more room."""
        window = self._field.window()
        if self.parent() is not window:
            self.setParent(window)
            window.installEventFilter(self)
        corner = self._field.mapTo(window, QPoint(0, 0))
        below, above = window.height() - corner.y() - self._field.height(), corner.y()
        line = max(self.sizeHintForRow(0), self.fontMetrics().lineSpacing())
        wanted = min(self._found.rowCount(), _LINES) * line + _EDGES
        under = below >= min(wanted, above)
        high = min(wanted, below if under else above)
        wide = min(max(self._field.width(), self.sizeHintForColumn(0) + 2 * line), window.width() - corner.x() - 4)
        y = corner.y() + self._field.height() if under else corner.y() - high
        self.setGeometry(corner.x(), y, wide, high)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """A click next to it in its window closes it; in a window of another size it stays with its field."""
        if self.isVisible():
            if event.type() == QEvent.Type.MouseButtonPress:
                self.hide()
            elif event.type() == QEvent.Type.Resize:
                QTimer.singleShot(0, self, self.follow)
        return super().eventFilter(watched, event)

    def take_key(self, event: QKeyEvent) -> bool:
        """Take a key of the field, where the list is open and the key is meant for it; True if it was taken."""
        if not self.isVisible():
            return False
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Escape:
            self.hide()
        elif key in _STEPS:
            self._step(_STEPS[key])
        elif key in _ENTER and self.currentIndex().isValid():
            self._take(self.currentIndex())
        else:
            if key in _ENTER:
                self.hide()
            return False
        event.accept()
        return True

    def leave(self) -> None:
        """The field is left by Tab: the highlighted choice is taken, and the list closes."""
        if self.isVisible():
            if self.currentIndex().isValid():
                self._take(self.currentIndex())
            self.hide()

    def _step(self, by: int) -> None:
        last = self._found.rowCount() - 1
        at = self.currentIndex().row()
        if abs(by) == 1:
            # one more line represents the text as it was typed
            row = at + by if at >= 0 else (0 if by > 0 else last)
            self.setCurrentIndex(self._found.index(row, 0) if 0 <= row <= last else QModelIndex())
        else:
            self.setCurrentIndex(self._found.index(min(max(at + by, 0), last), 0))

    def follow(self) -> None:
        """Go with the field, and close where it is scrolled out of sight."""
        if self._field.visibleRegion().isEmpty():
            self.hide()
        elif self.isVisible():
            self.place()

    def _title(self, row: int) -> str:
        return str(self._found.index(row, 0).data() or "")

    def _take(self, index: QModelIndex) -> None:
        name, title = str(index.data(Qt.ItemDataRole.UserRole)), str(index.data())
        self.hide()
        self.chosen.emit(name, title)


if TYPE_CHECKING:
    _Field = QWidget
else:
    _Field = object


class _Offering(_Field):
    """What a field does with what it offers; precedes Qt's class among the bases.

    Attributes
    ----------
    offers
        What is offered; None where nothing is.
    """

    offers: OfferedList | None = None

    def focusNextPrevChild(self, forwards: bool) -> bool:
        """Tab takes the highlighted choice."""
        if self.offers is not None:
            self.offers.leave()
        return super().focusNextPrevChild(forwards)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """The keys of the list go to it."""
        if self.offers is None or not self.offers.take_key(event):
            super().keyPressEvent(event)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Close the list of a field that is left."""
        super().focusOutEvent(event)
        if self.offers is not None:
            self.offers.hide()

    def hideEvent(self, event: QHideEvent) -> None:
        """Close the list of a field that is folded away."""
        super().hideEvent(event)
        if self.offers is not None:
            self.offers.hide()

    def moveEvent(self, event: QMoveEvent) -> None:
        """The list goes with the field."""
        super().moveEvent(event)
        if self.offers is not None:
            self.offers.follow()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The list goes with the field."""
        super().resizeEvent(event)
        if self.offers is not None:
            self.offers.follow()


class CompletedLine(_Offering, QLineEdit):
    """A line that offers what it may say."""

    def __init__(self, text: str, known: Sequence[str] = (), parent: QWidget | None = None) -> None:
        super().__init__(text, parent)
        if known:
            self.offers = OfferedList(self, [(name, name) for name in known])
            self.textEdited.connect(self.offers.look_for)
            self.offers.chosen.connect(self._take)

    def _take(self, name: str, _: str) -> None:
        self.setText(name)


class CompletedChoice(_Offering, ChoiceBox):
    """A list of choices that is searched by typing words of a title; what is typed need not be one of them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setEditable(True)
        self.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.setCompleter(None)  # type: ignore[arg-type]

    def offer(self, known: Sequence[tuple[str, str]]) -> None:
        """Offer these ids and titles while one types."""
        if self.offers is not None:
            self.offers.hide()
            self.offers.deleteLater()
        self.offers = OfferedList(self, known)
        line = self.lineEdit()
        if line is not None:
            line.textEdited.connect(self.offers.look_for)
        self.offers.chosen.connect(self._choose)

    def _choose(self, name: str, title: str) -> None:
        at = self.findData(name)
        self.setCurrentIndex(at)
        if at < 0:
            self.setEditText(title)
        self.activated.emit(at)
