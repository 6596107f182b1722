"""A Qt table over lines of a view-model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from PySide6.QtCore import QAbstractTableModel, QModelIndex, QObject, QPersistentModelIndex, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem, QWidget

from designer.gui import icons
from designer.gui.controls import plain
from designer.gui.theme import Theme
from designer.gui.viewmodels.table import Cell, Column, LazyLines, Line
from designer.plain_text import in_one_line

Index = QModelIndex | QPersistentModelIndex
#: so many spaces in front of a text are kept
_INSET: Final = 8
KEY = Qt.ItemDataRole.UserRole + 1
BAR = Qt.ItemDataRole.UserRole + 2


class TableModel(QAbstractTableModel):
    """Lines under columns; sorting happens here, over the lines, so that keys and rows stay together."""

    def __init__(self, columns: Sequence[Column], theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._columns = tuple(columns)
        self._given: Sequence[Line] = ()
        self._lines: Sequence[Line] = ()
        self._theme = theme
        self._order: tuple[int, Qt.SortOrder] | None = None
        #: shortens the title of a column to the room there is
        self.head_text: Callable[[int, str], str] = lambda _section, title: title

    @property
    def columns(self) -> Sequence[Column]:
        """The columns."""
        return self._columns

    @property
    def lines(self) -> Sequence[Line]:
        """The lines as shown."""
        return self._lines

    def set_lines(self, lines: Sequence[Line], columns: Sequence[Column] | None = None) -> None:
        """Show other lines; nothing happens if they are as before. Lines that are made one by one stay so."""
        given = lines if isinstance(lines, LazyLines) else tuple(lines)
        if columns is None and given == self._given:
            return
        self.beginResetModel()
        if columns is not None:
            self._columns = tuple(columns)
        self._given = given
        self._lines = self._sorted()
        self.endResetModel()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        if theme is self._theme:
            return
        self._theme = theme
        self.beginResetModel()
        self.endResetModel()

    def row_of(self, key: object) -> int | None:
        """Row whose line has a key."""
        return next((i for i, line in enumerate(self._lines) if line.key == key), None)

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._lines)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 0 if parent.isValid() else len(self._columns)

    def headerData(self, section: int, orientation: Qt.Orientation, role: int = 0) -> Any:
        if orientation != Qt.Orientation.Horizontal or not 0 <= section < len(self._columns):
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return self.head_text(section, self._columns[section].title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(self._columns[section].title) or None
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(section)
        return None

    def data(self, index: Index, role: int = 0) -> Any:
        line = self._lines[index.row()]
        cell = line.cells[index.column()]
        if role in (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole):
            # spaces in front say what a line belongs to
            inset = min(len(cell.text) - len(cell.text.lstrip(" ")), _INSET)
            return " " * inset + in_one_line(cell.text)
        if role == Qt.ItemDataRole.TextAlignmentRole:
            return self._alignment(index.column())
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(cell.tip) or None
        if role == Qt.ItemDataRole.ForegroundRole:
            return self._colour(cell)
        if role == Qt.ItemDataRole.FontRole and cell.tone == "title":
            font = QFont()
            font.setWeight(QFont.Weight.DemiBold)
            return font
        if role == Qt.ItemDataRole.DecorationRole and cell.icon:
            return icons.icon(cell.icon, tone_colour(self._theme, cell.tone))
        if role == KEY:
            return line.key
        if role == BAR:
            return cell.bar
        return None

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; −1 gives the order of the view-model."""
        self.beginResetModel()
        self._order = None if column < 0 else (column, order)
        self._lines = self._sorted()
        self.endResetModel()

    def _sorted(self) -> Sequence[Line]:
        if self._order is None or not 0 <= self._order[0] < len(self._columns):
            return self._given
        column, order = self._order

        def key(line: Line) -> tuple[int, float, str]:
            value = line.cells[column].sort
            if isinstance(value, int | float):
                return 0, float(value), ""
            return 1, 0.0, str(value if value is not None else line.cells[column].text).casefold()

        return sorted(self._given, key=key, reverse=order == Qt.SortOrder.DescendingOrder)

    def _alignment(self, column: int) -> Qt.AlignmentFlag:
        side = Qt.AlignmentFlag.AlignRight if self._columns[column].number else Qt.AlignmentFlag.AlignLeft
        return side | Qt.AlignmentFlag.AlignVCenter

    def _colour(self, cell: Cell) -> QColor | None:
        return QColor(tone_colour(self._theme, cell.tone)) if cell.tone and cell.tone != "title" else None


def tone_colour(theme: Theme, tone: str) -> str:
    """Colour of a tone."""
    return {
        "muted": theme.muted,
        "good": theme.good,
        "warn": theme.warn,
        "bad": theme.bad,
        "assumed": theme.assumed,
    }.get(tone, theme.text)


class BarDelegate(QStyledItemDelegate):
    """Draws the bar of a cell behind its text, and gives rows air."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        bar = index.data(BAR)
        if isinstance(bar, float):
            rect = option.rect.adjusted(6, 5, -62, -5)  # type: ignore[attr-defined]
            painter.fillRect(rect, QColor(self.theme.border))
            rect.setWidth(max(1, round(rect.width() * bar)))
            painter.fillRect(rect, QColor(bar_colour(self.theme, bar)))
        super().paint(painter, option, index)

    def sizeHint(self, option: QStyleOptionViewItem, index: Index) -> QSize:
        size = super().sizeHint(option, index)
        size.setHeight(max(size.height(), 26))
        return size


def bar_colour(theme: Theme, share: float) -> str:
    """Colour of a utilisation bar: quiet, busy, saturated."""
    return theme.bad if share >= 0.95 else theme.warn if share >= 0.8 else theme.accent
