"""Trees and tables in the look of the panels."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QAbstractItemView, QLabel, QTableView, QTreeView, QWidget

from designer.gui.itemmodels.table import BarDelegate, TableModel
from designer.gui.itemmodels.tree import DetailDelegate
from designer.gui.theme import Theme
from designer.gui.viewmodels.table import Column


def make_tree(name: str, theme: Theme) -> QTreeView:
    """A tree without heads."""
    tree = QTreeView()
    tree.setHeaderHidden(True)
    tree.setUniformRowHeights(True)
    tree.setAccessibleName(name)
    tree.setIndentation(14)
    tree.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    tree.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
    tree.setTextElideMode(Qt.TextElideMode.ElideRight)
    tree.setItemDelegate(DetailDelegate(theme, tree))
    return tree


class Table(QTableView):
    """A table over a `TableModel`, sorted by clicks on its heads."""

    def __init__(self, columns: Sequence[Column], theme: Theme, name: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.lines = TableModel(columns, theme, self)
        self.bars = BarDelegate(theme, self)
        self.setModel(self.lines)
        self.setItemDelegate(self.bars)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(False)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        header.setStretchLastSection(True)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        for i, column in enumerate(columns):
            if column.width:
                self.setColumnWidth(i, column.width)

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.bars.theme = theme
        self.lines.set_theme(theme)

    def keys(self) -> list[object]:
        """Keys of the selected rows."""
        rows = self.selectionModel().selectedRows()
        return [self.lines.lines[r.row()].key for r in rows if r.row() < len(self.lines.lines)]


def quiet(text: str, role: str = "muted") -> QLabel:
    """A label in a quiet colour."""
    label = QLabel(text)
    label.setProperty("role", role)
    label.setWordWrap(True)
    return label


def clear(layout: object) -> None:
    """Take every widget out of a layout and let it go."""
    from PySide6.QtWidgets import QLayout

    assert isinstance(layout, QLayout)
    while layout.count():
        item = layout.takeAt(0)
        if item is None:
            break
        widget, inner = item.widget(), item.layout()
        if widget is not None:
            widget.hide()
            widget.setParent(None)
            widget.deleteLater()
        elif inner is not None:
            clear(inner)
