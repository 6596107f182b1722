"""The palette: templates and parts to drag in, with a search; Enter inserts."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, QModelIndex, QObject, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QIcon, QKeyEvent
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QMenu, QWidget

from designer.catalog.loader import load_catalog
from designer.design.address import block_at
from designer.design.diff import Diff
from designer.gui.controls import Label
from designer.gui.itemmodels.tree import DetailDelegate, TreeModel
from designer.gui.layouts import in_column
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import make_tree
from designer.gui.session import Session
from designer.gui.settings import Settings
from designer.gui.theme import Theme
from designer.gui.viewmodels import palette
from designer.interchange.templates import list_templates


class PartsPanel(Panel):
    """Searchable parts and templates.

    Signals
    -------
    insert_requested : ``str, str``
        ``part`` or ``template``, and its id.
    dropped : nothing
        Something was dragged out and dropped.
    """

    insert_requested = Signal(str, str)
    dropped = Signal()

    def __init__(
        self, theme: Theme, settings: Settings, find_icon: Callable[[str], QIcon | None], parent: QWidget | None = None
    ) -> None:
        super().__init__(theme, parent)
        self._settings = settings
        self.search = QLineEdit()
        self.search.setPlaceholderText("Search parts and templates")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Search parts and templates")
        self.tree = make_tree("Parts and templates", theme)
        self.tree.setDragEnabled(True)
        self.tree.dropped.connect(self.dropped)
        self.tree.setDragDropMode(QAbstractItemView.DragDropMode.DragOnly)
        self.model = TreeModel(theme, find_icon, self)
        self.tree.setModel(self.model)
        box = in_column(self.search, on=self, margins=(8, 8, 4, 4), spacing=6)
        self.nothing = Label("", role="muted", wrap=True)
        self.nothing.hide()
        box.addWidget(self.nothing)
        box.addWidget(self.tree, 1)
        self._later = QTimer(self, singleShot=True, interval=80)
        self._later.timeout.connect(self.flush)
        self.search.textChanged.connect(lambda: self._later.start())
        self.search.installEventFilter(self)
        self.tree.installEventFilter(self)
        self.tree.doubleClicked.connect(self._insert)
        self.tree.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        self.tree.customContextMenuRequested.connect(self._offer)

    def watch(self, session: Session) -> None:
        """Remember which parts are used, however they came into the design."""
        self.connect_signal(session.design_changed, self._used)

    def _used(self, changes: Diff) -> None:
        types = {
            block_at(changes.after, within).parts[part].type
            for within, block in changes.blocks.items()
            for part in block["parts"].added
        }
        # what brings parts of several types at once is a template or a paste
        if len(types) == 1 and "" not in types and self._settings.used_parts[:1] != list(types):
            self._settings.add_used_part(types.pop())
            self.outdate()

    def _offer(self, at: QPoint) -> None:
        """Right click: insert, or mark as a favourite."""
        index = self.tree.indexAt(at)
        key = self._key(index)
        if key is None:
            return
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction("Insert", lambda: self._insert(index))
        title = "Remove from favourites" if key in self._settings.favourites else "Add to favourites"
        menu.addAction(f"{title}\tCtrl+B", lambda: self._mark(key))
        menu.popup(self.tree.viewport().mapToGlobal(at))

    def _key(self, index: QModelIndex) -> tuple[str, str] | None:
        branch = self.model.branch(index)
        return branch.key if branch is not None and isinstance(branch.key, tuple) else None

    def _mark(self, key: tuple[str, str] | None) -> None:
        """Make a favourite, or no longer one."""
        if key is not None:
            self._settings.set_favourite(*key, key not in self._settings.favourites)
            self.outdate()

    def refresh(self) -> None:
        """Fill the tree."""

        query = self.search.text()
        delegate = self.tree.itemDelegate()
        if isinstance(delegate, DetailDelegate):
            delegate.theme = self.theme
        settings = self._settings
        known = {branch.title for branch in self.model.roots}
        opened = {
            branch.title
            for row, branch in enumerate(self.model.roots)
            if self.tree.isExpanded(self.model.index(row, 0))
        }
        scrolled = self.tree.verticalScrollBar().value()
        # both make the model again, which closes everything
        self.model.set_theme(self.theme)
        self.model.set_roots(
            palette.tree(load_catalog(), list_templates(), query, settings.used_parts, settings.favourites)
        )
        for row, branch in enumerate(self.model.roots):
            # favourites are there to be seen
            if branch.title in opened or (branch.title == palette.FAVOURITES and branch.title not in known):
                self.tree.expand(self.model.index(row, 0))
        self.tree.verticalScrollBar().setValue(scrolled)
        self.nothing.setVisible(not self.model.roots)
        self.nothing.setText(f"Nothing is called “{query.strip()}”. Try a kind, a maker or fewer words.")
        if query.strip() and self.model.roots:
            self.tree.expandAll()
            first = self.model.index(0, 0, self.model.index(0, 0))
            self.tree.setCurrentIndex(first)

    def _insert(self, index: QModelIndex) -> None:
        chosen = self._key(index)
        if chosen is not None:
            what, key = chosen
            if what == "part":
                self._settings.add_used_part(key)
            self.insert_requested.emit(what, key)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Enter inserts, arrows go from the search into the tree, Esc goes back to the canvas."""
        if event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
                if watched is self.search and self._later.isActive():
                    self._later.stop()
                    self.flush()
                self._insert(self.tree.currentIndex())
                return True
            if event.key() == Qt.Key.Key_B and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
                self._mark(self._key(self.tree.currentIndex()))
                return True
            if event.key() == Qt.Key.Key_Escape:
                self.canvas_wanted.emit()
                return True
            if watched is self.search and event.key() == Qt.Key.Key_Down:
                self.tree.setFocus()
                return True
        return super().eventFilter(watched, event)


PANEL = PanelKind("parts", "Parts", Place.PALETTE, 10, lambda s: PartsPanel(s.theme, s.settings, s.find_icon), "Alt+1")
