"""The history: every step in words; a click goes back or forth to it."""

from __future__ import annotations

from PySide6.QtCore import QModelIndex
from PySide6.QtWidgets import QWidget

from designer.gui.layouts import in_column
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import Table
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import steps


class HistoryPanel(Panel):
    """A list of steps, the present one selected."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.table = Table(steps.COLUMNS, theme, "History of the design")
        self.table.horizontalHeader().hide()
        self.table.setSortingEnabled(False)
        in_column(self.table, on=self, margins=(4, 4, 4, 4))
        self.table.clicked.connect(self._go)
        self.table.activated.connect(self._go)

    def watch(self, session: Session) -> None:
        """Follow the design."""
        self.connect_signal(session.design_changed, self.outdate)

    def refresh(self) -> None:
        """List the steps."""
        self.table.set_theme(self.theme)
        if self.session is None:
            self.table.lines.set_lines([])
            return
        self.table.lines.set_lines(steps.lines(self.session.history))
        self.table.selectRow(self.session.history.done)
        self.table.scrollTo(self.table.lines.index(self.session.history.done, 0))

    def _go(self, index: QModelIndex) -> None:
        if self.session is not None:
            self.session.go_to(index.row())


PANEL = PanelKind("history", "History", Place.PALETTE, 30, lambda s: HistoryPanel(s.theme), "Alt+4")
