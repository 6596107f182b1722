"""The outline: the design as a tree; it mirrors the canvas, so everything can be reached by keyboard."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from PySide6.QtCore import QItemSelection, QItemSelectionModel, QTimer
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QAbstractItemView, QLineEdit, QWidget

from designer.gui.itemmodels.tree import DetailDelegate, TreeModel
from designer.gui.layouts import in_column
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import make_tree
from designer.gui.session import Picked, Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import outline

_OPEN_UP_TO = 60


class OutlinePanel(Panel):
    """A searchable tree of parts, groups, workloads and notes, with the selection of the session."""

    def __init__(self, theme: Theme, find_icon: Callable[[str], QIcon | None], parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Find in the design")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Find in the design")
        self.tree = make_tree("Outline of the design", theme)
        self.tree.setSelectionMode(QAbstractItemView.SelectionMode.ExtendedSelection)
        self.model = TreeModel(theme, find_icon, self)
        self.tree.setModel(self.model)
        in_column(self.search, (self.tree, 1), on=self, margins=(8, 8, 4, 4), spacing=6)
        self._busy = False
        self._later = QTimer(self, singleShot=True, interval=120)
        self._later.timeout.connect(self.flush)
        self.search.textChanged.connect(lambda: self._later.start())
        self.tree.selectionModel().selectionChanged.connect(self._chosen)
        self.tree.activated.connect(lambda: self._reveal())

    def watch(self, session: Session) -> None:
        """Follow design and selection."""
        self.connect_signal(session.design_changed, self._design_changed)
        self.connect_signal(session.selection_changed, self._show_selection)

    def _design_changed(self, changes: object) -> None:
        if not getattr(changes, "only_placement", False):
            self.outdate()

    def refresh(self) -> None:
        """Fill the tree."""

        self._busy = True
        opened = {b.key for b, i in self.model.walk() if self.tree.isExpanded(i) and b.key is not None}
        self.model.set_theme(self.theme)
        delegate = self.tree.itemDelegate()
        if isinstance(delegate, DetailDelegate):
            delegate.theme = self.theme
        roots = outline.tree(self.session.design, self.search.text()) if self.session is not None else []
        self.model.set_roots(roots)
        if self.search.text().strip():
            self.tree.expandAll()
        else:
            small = sum(len(b.children) for b in roots) <= _OPEN_UP_TO
            for branch, index in self.model.walk():
                if branch.key in opened or (small and not index.parent().isValid()):
                    self.tree.expand(index)
        self._busy = False
        self._show_selection()

    def _show_selection(self, _selection: object = None) -> None:
        if self._busy or self.session is None:
            return
        if not self.seen:
            self.outdate()
            return
        self._busy = True
        chosen = QItemSelection()
        first = None
        for branch, index in self.model.walk() if self.session.selection else ():
            if branch.key in self.session.selection:
                chosen.select(index, index)
                first = first or index
        self.tree.selectionModel().select(chosen, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if first is not None:
            self.tree.scrollTo(first)
        self._busy = False

    def _chosen(self) -> None:
        if self._busy or self.session is None:
            return
        self._busy = True
        self.session.select(self._picked())
        self._busy = False

    def _picked(self) -> list[Picked]:
        branches = [self.model.branch(i) for i in self.tree.selectionModel().selectedRows()]
        return [cast("Picked", b.key) for b in branches if b is not None and isinstance(b.key, tuple)]

    def _reveal(self) -> None:
        if self.session is not None:
            self.session.reveal(self._picked())


PANEL = PanelKind("outline", "Outline", Place.PALETTE, 20, lambda s: OutlinePanel(s.theme, s.find_icon), "Alt+2")
