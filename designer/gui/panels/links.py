"""The links by how busy they are; a click selects the link on the canvas."""

from __future__ import annotations

from PySide6.QtCore import QItemSelection, QItemSelectionModel, Qt
from PySide6.QtWidgets import QCheckBox, QLineEdit, QWidget

from designer.gui.controls import Label
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import Table
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import links
from designer.gui.viewmodels.answer_state import empty_text
from designer.gui.viewmodels.places import picked_of
from designer.present.blocks import State


class LinksPanel(Panel):
    """A sortable table of links, both directions."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Filter links")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Filter links")
        self.idle = QCheckBox("Idle too")
        self.headline = Label(role="muted", wrap=True)
        self.table = Table(links.COLUMNS, theme, "Links by utilization")
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        head = in_row((self.search, 1), self.idle, margins=(10, 8, 10, 2), spacing=12)
        self.headline.setContentsMargins(12, 0, 10, 2)
        in_column(head, self.headline, (self.table, 1), on=self, margins=FLUSH, spacing=2)
        self.search.textChanged.connect(self.outdate)
        self.search.returnPressed.connect(self._take_first)
        self.idle.toggled.connect(self.outdate)
        self.table.selectionModel().selectionChanged.connect(self._chosen)
        self._busy = False
        self._dressed: Theme | None = None

    def watch(self, session: Session) -> None:
        """Follow the analysis."""
        self.connect_signal(session.analysis_changed, self.outdate)
        self.connect_signal(session.workload_changed, self.outdate)
        self.connect_signal(session.state_changed, self.outdate)
        self.connect_signal(session.selection_changed, self._show_selection)

    def refresh(self) -> None:
        """List the links."""
        if self._dressed is not self.theme:
            # it builds the table again, which loses what is selected in it
            self._dressed = self.theme
            self.table.set_theme(self.theme)
        session = self.session
        rows = (
            links.lines(session.analysis, session.result, self.search.text(), self.idle.isChecked(), session.design)
            if session
            else []
        )
        self._busy = True
        self.table.lines.set_lines(rows)
        self._busy = False
        state = session.state if session is not None else State.ANSWERED
        self.headline.setText(links.headline(rows) if rows else empty_text(state, links.headline(rows)))
        self._show_selection()

    def _take_first(self) -> None:
        """Enter in the filter: on to the busiest channel that matches."""
        self.flush()
        if self.table.lines.lines:
            self.table.setFocus()
            self.table.selectRow(0)

    def _chosen(self) -> None:
        if self._busy or self.session is None:
            return
        keys = [str(k) for k in self.table.keys()]  # noqa: SIM118
        picked = [picked_of(self.session.design, key) for key in keys]
        self._busy = True
        self.session.reveal(p for p in picked if p is not None)
        self._busy = False
        self.session.set_highlight(keys)

    def _show_selection(self, *_: object) -> None:
        """Select the rows of the links that are selected elsewhere, and bring the busiest of them into sight."""
        if self._busy or self.session is None or not self.isVisible():
            return
        table, model = self.table, self.table.lines
        rows = links.rows_of(model.lines, self.session.selection)
        chosen = {r.row() for r in table.selectionModel().selectedRows()}
        if set(rows) == chosen or (chosen and chosen <= set(rows)):
            return
        wanted = QItemSelection()
        for row in rows:
            wanted.select(model.index(row, 0), model.index(row, len(model.columns) - 1))
        self._busy = True
        table.selectionModel().select(wanted, QItemSelectionModel.SelectionFlag.ClearAndSelect)
        if rows:
            first = model.index(rows[0], 0)
            table.selectionModel().setCurrentIndex(first, QItemSelectionModel.SelectionFlag.NoUpdate)
            table.scrollTo(first)
        self._busy = False


PANEL = PanelKind("links", "Links", Place.LINKS, 10, lambda s: LinksPanel(s.theme), "Alt+6")
