"""Trees and tables in the look of the panels."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QHeaderView,
    QPushButton,
    QSizePolicy,
    QTableView,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from designer.gui.controls import Label
from designer.gui.itemmodels.table import BarDelegate, TableModel
from designer.gui.itemmodels.tree import DetailDelegate
from designer.gui.theme import Theme
from designer.gui.viewmodels.table import Column

_DEFAULT, _NARROW, _LEAST, _NUMBER, _SHRINK = 110, 40, 70, 110, 0.4
_HEAD_AIR = 14


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
    """A table over a `TableModel`, sorted by clicks on its heads.

    Parameters
    ----------
    shrink
        How far columns of words give way, as a share of the width they want.
    wrap
        True if long texts are broken into lines; for tables of few rows.
    """

    def __init__(
        self, columns: Sequence[Column], theme: Theme, name: str, shrink: float = _SHRINK, wrap: bool = False
    ) -> None:
        super().__init__()
        self.shrink, self.wrap = shrink, wrap
        self.lines = TableModel(columns, theme, self)
        self.bars = BarDelegate(theme, self)
        self.setModel(self.lines)
        self.setItemDelegate(self.bars)
        self.setAccessibleName(name)
        self.setShowGrid(False)
        self.setWordWrap(wrap)
        self.setTabKeyNavigation(False)
        self.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
        self.verticalHeader().hide()
        self.verticalHeader().setDefaultSectionSize(26)
        if wrap:
            self.verticalHeader().setSectionResizeMode(QHeaderView.ResizeMode.ResizeToContents)
            self.setVerticalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
        header = self.horizontalHeader()
        header.setHighlightSections(False)
        header.setSortIndicatorShown(True)
        header.setSortIndicatorClearable(True)
        header.setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
        self.setSortingEnabled(True)
        header.setStretchLastSection(True)
        header.setDefaultAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._own_widths = False
        self._fitting = False
        header.sectionResized.connect(self._resized)
        self.lines.head_text = self._head_text
        self.fit_columns()

    def _head_text(self, section: int, title: str) -> str:
        room = max(20, self.columnWidth(section) - _HEAD_AIR)
        return self.fontMetrics().elidedText(title, Qt.TextElideMode.ElideRight, room)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The columns share the width until one of them is dragged."""
        super().resizeEvent(event)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Spread the columns over the width there is, so that none is out of sight."""
        if not self._own_widths:
            self._fitting = True
            for i, width in enumerate(shared(self.lines.columns, self.viewport().width(), self.shrink)):
                self.setColumnWidth(i, width)
            self._fitting = False

    def _resized(self, at: int, _old: int, _new: int) -> None:
        # the last column is stretched by Qt, not by hand
        if not self._fitting and self.isVisible() and at < len(self.lines.columns) - 1:
            self._own_widths = True

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.bars.theme = theme
        self.lines.set_theme(theme)

    def keys(self) -> list[object]:
        """Keys of the selected rows."""
        rows = self.selectionModel().selectedRows()
        return [self.lines.lines[r.row()].key for r in rows if r.row() < len(self.lines.lines)]


def shared(columns: Sequence[Column], room: int, shrink: float = _SHRINK) -> list[int]:
    """Widths of columns that fill `room`: numbers and icons keep theirs, words give way down to
    `shrink` of theirs and take what is left. [px]
    """
    wanted = [c.width or _DEFAULT for c in columns]
    firm = [w <= _NARROW or c.number for w, c in zip(wanted, columns, strict=True)]
    least = [
        min(w, _NUMBER) if fixed and w > _NARROW else w if fixed else min(w, max(_LEAST, round(w * shrink)))
        for w, fixed in zip(wanted, firm, strict=True)
    ]
    spare = room - sum(wanted)
    if spare >= 0:
        words = sum(w for w, fixed in zip(wanted, firm, strict=True) if not fixed)
        return [w if fixed else w + spare * w // words for w, fixed in zip(wanted, firm, strict=True)]
    give = sum(wanted) - sum(least)
    if shrink > _SHRINK and give < -spare:
        # one has to scroll anyway: then everything can be read
        return wanted
    share = min(1.0, -spare / give) if give else 0.0
    return [int(w - (w - small) * share) for w, small in zip(wanted, least, strict=True)]


class ElidedLink(QPushButton):
    """A link that is shortened in its middle to the width there is."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.full = text
        self.setProperty("link", True)
        self.setAccessibleName(text)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setStyleSheet("text-align: left;")
        self._shorten()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten it anew."""
        super().resizeEvent(event)
        self._shorten()

    def _shorten(self) -> None:
        room = max(40, self.width() - 10)
        self.setText(self.fontMetrics().elidedText(self.full, Qt.TextElideMode.ElideMiddle, room))


def quiet(text: str, role: str = "muted") -> Label:
    """A label in a quiet colour."""
    return Label(text, role=role, wrap=True)


class Lines(QVBoxLayout):
    """A column of widgets that come and go together.

    It knows its widgets itself: asked for its items, Qt makes wrappers of things it deletes without a word, and the
    next object at that address would be taken for one of them.
    """

    def __init__(self, parent: QWidget | None = None) -> None:
        if parent is None:
            super().__init__()
        else:
            super().__init__(parent)
        self.held: list[QWidget] = []

    def put(self, widget: QWidget, alignment: Qt.AlignmentFlag | None = None) -> None:
        """Add a widget below the others."""
        self.held.append(widget)
        if alignment is None:
            self.addWidget(widget)
        else:
            self.addWidget(widget, 0, alignment)

    def let_go(self) -> None:
        """Let all widgets go."""
        for widget in self.held:
            self.removeWidget(widget)
            widget.hide()
            widget.setParent(None)
            widget.deleteLater()
        self.held.clear()


def column(page: QWidget) -> tuple[QVBoxLayout, Lines]:
    """A layout for a page, and in it the column whose widgets stand at the top."""
    around, lines = QVBoxLayout(page), Lines()
    around.addLayout(lines)
    around.addStretch(1)
    return around, lines
