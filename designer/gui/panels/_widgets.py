"""Trees and tables in the look of the panels."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QPoint, QSize, Qt, Signal
from PySide6.QtGui import QDrag, QFontMetrics, QIcon, QResizeEvent
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
from designer.plain_text import in_one_line

_DEFAULT, _NARROW, _LEAST, _NUMBER, _SHRINK = 110, 40, 70, 110, 0.4
_HEAD_AIR = 14
_WORD = 200
#: in a table narrower than this only the columns that count are shown [px]
_ROOMY = 560
#: points of the text at 100 %
_POINTS = 9.5


class Tree(QTreeView):
    """A tree whose rows can be dragged.

    Signals
    -------
    dropped : nothing
        A row was dropped somewhere.
    """

    dropped = Signal()

    def startDrag(self, actions: Qt.DropAction) -> None:
        """Only the icon goes with the pointer: a whole row would hide the drawing it is to be dropped on."""
        data = self.model().mimeData(self.selectedIndexes())
        if not data.formats():
            return
        drag = QDrag(self)
        drag.setMimeData(data)
        icon = self.currentIndex().data(Qt.ItemDataRole.DecorationRole)
        if isinstance(icon, QIcon):
            drag.setPixmap(icon.pixmap(self.iconSize() if self.iconSize().isValid() else QSize(16, 16)))
            # next to the pointer, where its tip is not
            drag.setHotSpot(QPoint(-10, 20))
        if drag.exec(actions, Qt.DropAction.CopyAction) is not Qt.DropAction.IgnoreAction:
            self.dropped.emit()


def make_tree(name: str, theme: Theme) -> Tree:
    """A tree without heads."""
    tree = Tree()
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
    spare
        True if columns with nothing in them give their room to the others, and lines of one text have all of it.
    """

    def __init__(
        self,
        columns: Sequence[Column],
        theme: Theme,
        name: str,
        shrink: float = _SHRINK,
        wrap: bool = False,
        spare: bool = False,
    ) -> None:
        super().__init__()
        self._heads: list[str] = []
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
        #: columns with nothing in them, of a table that leaves them out
        self._empty = set[int]()
        self._fitting = False
        header.sectionResized.connect(self._resized)
        self.lines.head_text = self._head_text
        if spare:
            self.lines.modelReset.connect(self._spare)
        self.fit_columns()

    def _head_text(self, section: int, title: str) -> str:
        return broken(title, max(20, self.columnWidth(section) - _HEAD_AIR), self.fontMetrics())

    def _spare(self) -> None:
        """Hide columns with nothing in them, and let the only text of a line run over all columns."""
        lines, many = self.lines.lines, len(self.lines.columns)
        used = {n for line in lines for n, cell in enumerate(line.cells) if cell.text or cell.icon}
        self._empty = set(range(many)) - used if lines else set[int]()
        self.clearSpans()
        for row, line in enumerate(lines):
            if many > 1 and line.cells[0].text and not any(cell.text for cell in line.cells[1:]):
                self.setSpan(row, 0, 1, many)
        self.fit_columns()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """The columns share the width until one of them is dragged."""
        super().resizeEvent(event)
        self.fit_columns()

    def fit_columns(self) -> None:
        """Spread the columns over the width there is, so that none is out of sight."""
        narrow = self.viewport().width() < _ROOMY * max(1.0, self.font().pointSizeF() / _POINTS)
        self._fitting = True  # a column that comes or goes is not dragged by hand
        for i, column in enumerate(self.lines.columns):
            hidden = i in self._empty or (narrow and column.spare)
            if hidden != self.isColumnHidden(i):
                self.setColumnHidden(i, hidden)
        self._fitting = False
        if not self._own_widths:
            self._fitting = True
            shown = [i for i in range(len(self.lines.columns)) if not self.isColumnHidden(i)]
            columns = [self.lines.columns[i] for i in shown]
            heads = [max(map(self._word, column.title.split()), default=0) for column in columns]
            cells = [max(map(self._word, self._words(i)), default=0) for i in shown]
            words = [max(both) for both in zip(heads, cells, strict=True)]
            if sum(words) > self.viewport().width():
                words = heads
            for i, width in zip(shown, shared(columns, self.viewport().width(), self.shrink, words), strict=True):
                self.setColumnWidth(i, width)
            self._fitting = False
        self._fit_head()

    def _words(self, column: int) -> set[str]:
        """Words in the cells of a table that breaks lines: a line ends at a space that may be broken."""
        lines = self.lines.lines if self.wrap else []
        # the only text of a line has the whole width
        lines = [line for line in lines if column or any(cell.text for cell in line.cells[1:])]
        return {word for line in lines for cell in line.cells[column : column + 1] for word in cell.text.split(" ")}

    def _word(self, word: str) -> int:
        """How wide a column of one word is, of which those that are names can be cut."""
        return min(self.fontMetrics().horizontalAdvance(word) + _HEAD_AIR + 2, _WORD)

    def _fit_head(self) -> None:
        """As many lines for the heads as they need at these widths; Qt asks only once how high they are."""
        heads = [self._head_text(i, column.title) for i, column in enumerate(self.lines.columns)]
        if heads != self._heads:
            self._heads = heads
            if heads:
                self.horizontalHeader().headerDataChanged(Qt.Orientation.Horizontal, 0, len(heads) - 1)
            self.updateGeometries()

    def _resized(self, at: int, _old: int, _new: int) -> None:
        # the last column that is shown is stretched by Qt, not by hand
        last = max((n for n in range(len(self.lines.columns)) if not self.isColumnHidden(n)), default=0)
        if not self._fitting and self.isVisible() and at < last:
            self._own_widths = True

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.bars.theme = theme
        self.lines.set_theme(theme)

    def keys(self) -> list[object]:
        """Keys of the selected rows."""
        rows = self.selectionModel().selectedRows()
        return [self.lines.lines[r.row()].key for r in rows if r.row() < len(self.lines.lines)]


def broken(title: str, room: int, metrics: QFontMetrics) -> str:
    """A title on one line where that has room for it, else on two, shortened where these have not [px]."""
    if metrics.horizontalAdvance(title) <= room:
        return title
    words = title.split(" ")
    fit = max((n for n in range(1, len(words)) if metrics.horizontalAdvance(" ".join(words[:n])) <= room), default=1)
    lines = (" ".join(words[:fit]), " ".join(words[fit:]))
    return "\n".join(metrics.elidedText(line, Qt.TextElideMode.ElideRight, room) for line in lines if line)


def shared(
    columns: Sequence[Column], room: int, shrink: float = _SHRINK, heads: Sequence[int] | None = None
) -> list[int]:
    """Widths of columns that fill `room`: numbers and icons keep theirs, words give way down to
    `shrink` of theirs and take what is left. [px]

    Parameters
    ----------
    heads
        No column is narrower than the longest word of its head.
    """
    heads = heads or [0] * len(columns)
    wanted = [max(c.width or _DEFAULT, head) for c, head in zip(columns, heads, strict=True)]
    firm = [w <= _NARROW or c.number for w, c in zip(wanted, columns, strict=True)]
    least = [
        min(w, _NUMBER) if fixed and w > _NARROW else w if fixed else min(w, max(_LEAST, round(w * shrink)))
        for w, fixed in zip(wanted, firm, strict=True)
    ]
    least = [max(w, head) for w, head in zip(least, heads, strict=True)]
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
        self.setAccessibleName(in_one_line(text))
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setStyleSheet("text-align: left;")
        self._shorten()

    def set_full(self, text: str) -> None:
        """Show another text."""
        self.full = text
        self.setAccessibleName(in_one_line(text))
        self._shorten()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Shorten it again."""
        super().resizeEvent(event)
        self._shorten()

    def _shorten(self) -> None:
        room = max(40, self.width() - 10)
        short = self.fontMetrics().elidedText(in_one_line(self.full), Qt.TextElideMode.ElideMiddle, room)
        # a single one would be a key of the window
        self.setText(short.replace("&", "&&"))


def quiet(text: str, role: str = "muted") -> Label:
    """A label in a quiet colour."""
    return Label(text, role=role, wrap=True)


class WidgetColumn(QVBoxLayout):
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


def column(page: QWidget) -> tuple[QVBoxLayout, WidgetColumn]:
    """A layout for a page, and in it the column whose widgets are aligned to the top."""
    around, lines = QVBoxLayout(page), WidgetColumn()
    around.addLayout(lines)
    around.addStretch(1)
    return around, lines


def dress(widget: QWidget, name: str, value: object) -> None:
    """Give a widget another look, which Qt takes over only when asked."""
    if widget.property(name) != value:
        widget.setProperty(name, value)
        widget.style().unpolish(widget)
        widget.style().polish(widget)
