"""A Qt tree over branches of a view-model, which can be dragged out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from PySide6.QtCore import QAbstractItemModel, QByteArray, QMimeData, QModelIndex, QObject, QPersistentModelIndex, Qt
from PySide6.QtGui import QColor, QIcon, QPainter
from PySide6.QtWidgets import QApplication, QStyle, QStyledItemDelegate, QStyleOptionViewItem

from designer.gui.controls import plain
from designer.gui.theme import Theme
from designer.gui.viewmodels.table import Branch
from designer.plain_text import in_one_line

Index = QModelIndex | QPersistentModelIndex
KEY = Qt.ItemDataRole.UserRole + 1
DETAIL = Qt.ItemDataRole.UserRole + 2


class TreeModel(QAbstractItemModel):
    """Branches in one column; `DetailDelegate` draws the detail behind the title."""

    def __init__(
        self, theme: Theme, find_icon: Callable[[str], QIcon | None] | None = None, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._theme = theme
        self._icon = find_icon
        self._roots: list[Branch] = []
        #: branches by number, and for each its parent (0 for none) and row. Qt carries numbers, not branches: it does
        #: not keep a branch alive, and an index may outlive the one it was made for
        self._branches: dict[int, Branch] = {}
        self._above: dict[int, tuple[int, int]] = {}
        self._number: dict[int, int] = {}
        self._next = 1

    @property
    def roots(self) -> Sequence[Branch]:
        """The outermost branches."""
        return self._roots

    def set_roots(self, roots: list[Branch]) -> None:
        """Show other branches."""
        self.beginResetModel()
        self._roots = roots
        self._branches, self._above, self._number = {}, {}, {}
        self._learn(0, roots)
        self.endResetModel()

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        if theme is self._theme:
            return
        self._theme = theme
        self.beginResetModel()
        self.endResetModel()

    def _learn(self, parent: int, branches: list[Branch]) -> None:
        for row, branch in enumerate(branches):
            # never used again, so that an old index finds nothing rather than another branch
            number, self._next = self._next, self._next + 1
            self._branches[number] = branch
            self._above[number] = (parent, row)
            self._number[id(branch)] = number
            self._learn(number, branch.children)

    def _index(self, row: int, branch: Branch, column: int = 0) -> QModelIndex:
        return self.createIndex(row, column, self._number[id(branch)])

    def branch(self, index: Index) -> Branch | None:
        """The branch at an index."""
        return self._branches.get(index.internalId()) if index.isValid() else None

    def walk(self) -> Iterator[tuple[Branch, QModelIndex]]:
        """All branches with their indexes, from the top."""
        todo = [(b, self._index(i, b)) for i, b in enumerate(self._roots)]
        while todo:
            branch, index = todo.pop(0)
            yield branch, index
            todo += [(b, self._index(i, b)) for i, b in enumerate(branch.children)]

    def index_of(self, key: object) -> QModelIndex:
        """Index of the branch with a key; an invalid one if there is none."""
        return next((index for branch, index in self.walk() if branch.key == key), QModelIndex())

    def index(self, row: int, column: int, parent: Index = QModelIndex()) -> QModelIndex:  # noqa: B008
        above = self.branch(parent)
        branches = above.children if above is not None else self._roots
        return self._index(row, branches[row], column) if 0 <= row < len(branches) else QModelIndex()

    def parent(self, index: Index = QModelIndex()) -> QModelIndex:  # type: ignore[override]  # noqa: B008
        above = self._above.get(index.internalId(), (0, 0))[0] if index.isValid() else 0
        return self.createIndex(self._above[above][1], 0, above) if above else QModelIndex()

    def rowCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        if parent.column() > 0:
            return 0
        branch = self.branch(parent)
        return len(branch.children) if branch is not None else len(self._roots)

    def columnCount(self, parent: Index = QModelIndex()) -> int:  # noqa: B008
        return 1

    def data(self, index: Index, role: int = 0) -> Any:
        branch = self.branch(index)
        if branch is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return in_one_line(branch.title)
        if role == Qt.ItemDataRole.AccessibleTextRole:
            return in_one_line(f"{branch.title}, {branch.detail}" if branch.detail else branch.title)
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain(branch.tip or branch.title)
        if role == DETAIL:
            return in_one_line(branch.detail)
        if role == Qt.ItemDataRole.DecorationRole and branch.icon and self._icon is not None:
            return self._icon(branch.icon)
        return branch.key if role == KEY else None

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = super().flags(index)
        branch = self.branch(index)
        if branch is not None and branch.drag[0]:
            flags |= Qt.ItemFlag.ItemIsDragEnabled
        return flags

    def mimeTypes(self) -> list[str]:
        return ["text/plain"]

    def mimeData(self, indexes: Sequence[QModelIndex]) -> QMimeData:
        data = QMimeData()
        for index in indexes:
            branch = self.branch(index)
            if branch is not None and branch.drag[0]:
                data.setData(branch.drag[0], QByteArray(branch.drag[1].encode()))
        return data


class DetailDelegate(QStyledItemDelegate):
    """Draws the detail of a branch quietly behind its title, where there is room."""

    def __init__(self, theme: Theme, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.theme = theme

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        detail = index.data(DETAIL)
        if not detail:
            return
        shown = QStyleOptionViewItem(option)
        self.initStyleOption(shown, index)
        style = QApplication.style()
        room = style.subElementRect(QStyle.SubElement.SE_ItemViewItemText, shown, None)
        metrics = shown.fontMetrics  # type: ignore[attr-defined]
        room.setLeft(room.left() + metrics.horizontalAdvance(index.data()) + 16)
        if room.width() < 24:
            return
        painter.save()
        painter.setPen(QColor(self.theme.faint))
        text = metrics.elidedText(detail, Qt.TextElideMode.ElideRight, room.width() - 4)
        painter.drawText(room, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter, text)
        painter.restore()
