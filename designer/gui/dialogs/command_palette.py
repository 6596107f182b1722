"""A list to search and run: all commands, or any other choice such as the parts that fit somewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QAbstractListModel, QEvent, QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt
from PySide6.QtGui import QColor, QIcon, QKeyEvent, QPainter
from PySide6.QtWidgets import (
    QDialog,
    QLineEdit,
    QListView,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from designer.gui.layouts import in_column
from designer.gui.theme import Theme
from designer.gui.viewmodels.ranking import Words, ordered

Index = QModelIndex | QPersistentModelIndex
_CHOICE = Qt.ItemDataRole.UserRole
_MOST = 300
#: of what is found equivalent, commands come before parts
_COMMAND = 100.0


def _nothing() -> None:
    """What a line that only states something does."""


def command_words(title: str, names: tuple[str, ...], group: str) -> Words:
    """What a command is found by; `names` are other words for it."""
    return Words(title, names, (group,), weight=_COMMAND, letters=True)


@dataclass(frozen=True, slots=True)
class PaletteEntry:
    """One line: what it is called, what is at its right, and what happens.

    Parameters
    ----------
    words
        What it is found by; by default its title and group.
    """

    title: str
    run: Callable[[], object]
    hint: str = ""
    group: str = ""
    icon: QIcon | None = None
    enabled: bool = True
    words: Words | None = None

    @property
    def found_by(self) -> Words:
        """What it is found by."""
        return self.words or command_words(self.title, (), self.group)


class _Choices(QAbstractListModel):
    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.choices: Sequence[PaletteEntry] = ()

    def show_choices(self, choices: Sequence[PaletteEntry]) -> None:
        self.beginResetModel()
        self.choices = choices
        self.endResetModel()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self.choices)

    def data(self, index: Index, role: int = 0) -> Any:
        choice = self.choices[index.row()]
        if role == Qt.ItemDataRole.DisplayRole:
            return choice.title
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return f"{choice.title}, {choice.group}, {choice.hint}"
        return choice if role == _CHOICE else None


class _Row(QStyledItemDelegate):
    def __init__(self, theme: Theme, parent: QObject) -> None:
        super().__init__(parent)
        self._theme = theme

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        return QSize(100, 32)

    def paint(self, painter: QPainter, option: Any, index: Index) -> None:
        choice = index.data(_CHOICE)
        theme, rect = self._theme, QRect(option.rect).adjusted(2, 1, -2, -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if option.state & QStyle.StateFlag.State_Selected:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.accent_soft))
            painter.drawRoundedRect(rect, 5, 5)
        left = rect.left() + 10
        if choice.icon is not None:
            choice.icon.paint(painter, QRect(left, rect.center().y() - 8, 16, 16))
        left += 26
        metrics = option.fontMetrics
        right = rect.right() - 12
        painter.setPen(QColor(theme.faint))
        tail = "   ".join(x for x in (choice.group, choice.hint) if x)
        width = metrics.horizontalAdvance(tail)
        vertical = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(QRect(right - width, rect.top(), width + 2, rect.height()), vertical, tail)
        painter.setPen(QColor(theme.text if choice.enabled else theme.faint))
        room = right - width - left - 16
        text = metrics.elidedText(choice.title, Qt.TextElideMode.ElideRight, room)
        painter.drawText(QRect(left, rect.top(), room, rect.height()), vertical, text)
        painter.restore()


class CommandPalette(QDialog):
    """A search field over a list; arrows choose, Enter runs, Esc leaves."""

    def __init__(self, choices: Sequence[PaletteEntry], theme: Theme, hint: str, parent: QWidget | None = None) -> None:
        super().__init__(parent, Qt.WindowType.Popup | Qt.WindowType.FramelessWindowHint)
        self.setObjectName("command")
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self._all = choices
        self.search = QLineEdit()
        self.search.setPlaceholderText(hint)
        self.search.setAccessibleName(hint)
        font = self.search.font()
        font.setPointSizeF(font.pointSizeF() * 1.15)
        self.search.setFont(font)
        self.list = QListView()
        self.list.setUniformItemSizes(True)
        self.list.setMouseTracking(True)
        self.list.setAccessibleName("Matches")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._model = _Choices(self)
        self.list.setModel(self._model)
        self.list.setItemDelegate(_Row(theme, self))
        in_column(self.search, self.list, on=self, margins=(1, 1, 1, 6), spacing=4)
        self.search.textChanged.connect(self._filter)
        self.search.installEventFilter(self)
        self.list.clicked.connect(self._run)
        self.list.entered.connect(self.list.setCurrentIndex)
        self._filter("")
        self.resize(600, 420)

    @property
    def shown(self) -> Sequence[PaletteEntry]:
        """The choices that match, best first."""
        return self._model.choices

    def open_over(self, window: QWidget) -> None:
        """Show it near the top of a window."""
        at = window.mapToGlobal(window.rect().topLeft())
        self.resize(min(640, window.width() - 40), min(440, window.height() - 80))
        self.move(at.x() + (window.width() - self.width()) // 2, at.y() + 64)
        self.show()
        self.search.setFocus()

    def _filter(self, text: str) -> None:
        found = ordered(text, self._all, lambda c: c.found_by)
        if not text.strip():
            found = sorted(found, key=lambda c: not c.enabled)
        elif not found:
            found = [PaletteEntry(f"Nothing here is called “{text.strip()}”", _nothing, enabled=False)]
        self._model.show_choices(found[:_MOST])
        self.list.setCurrentIndex(self._model.index(0, 0))

    def _run(self, index: QModelIndex) -> None:
        if not 0 <= index.row() < len(self._model.choices):
            return
        choice = self._model.choices[index.row()]
        if choice.enabled:
            self.close()
            choice.run()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keys of the list work while one types."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            row, last = self.list.currentIndex().row(), len(self._model.choices) - 1
            steps = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1, Qt.Key.Key_PageDown: 9, Qt.Key.Key_PageUp: -9}
            key = Qt.Key(event.key())
            if key in steps:
                self.list.setCurrentIndex(self._model.index(min(last, max(0, row + steps[key])), 0))
                return True
            if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                self._run(self.list.currentIndex())
                return True
        return super().eventFilter(watched, event)
