"""The links: channels by how busy they are; a click selects the link on the canvas."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QLabel, QLineEdit, QVBoxLayout, QWidget

from designer.gui.panels._panel import Panel
from designer.gui.panels._widgets import Table
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import links
from designer.gui.viewmodels.places import picked_of


class LinksPanel(Panel):
    """A sortable table of channels, both directions."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.search = QLineEdit()
        self.search.setPlaceholderText("Filter channels")
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName("Filter channels")
        self.search.setMaximumWidth(240)
        self.idle = QCheckBox("Idle ones too")
        self.headline = QLabel()
        self.headline.setProperty("role", "muted")
        self.table = Table(links.COLUMNS, theme, "Channels by utilisation")
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        head = QHBoxLayout()
        head.setContentsMargins(8, 6, 8, 2)
        head.setSpacing(12)
        head.addWidget(self.search)
        head.addWidget(self.idle)
        head.addWidget(self.headline, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(2)
        box.addLayout(head)
        box.addWidget(self.table, 1)
        self.search.textChanged.connect(self.outdate)
        self.idle.toggled.connect(self.outdate)
        self.table.selectionModel().selectionChanged.connect(self._chosen)
        self._busy = False

    def watch(self, session: Session) -> None:
        """Follow the analysis."""
        self.wire(session.analysis_changed, self.outdate)
        self.wire(session.workload_changed, self.outdate)

    def refresh(self) -> None:
        """List the channels."""
        self.table.set_theme(self.theme)
        session = self.session
        rows = (
            links.lines(session.analysis, session.result, self.search.text(), self.idle.isChecked()) if session else []
        )
        self._busy = True
        self.table.lines.set_lines(rows)
        self._busy = False
        self.headline.setText(links.headline(rows))

    def _chosen(self) -> None:
        if self._busy or self.session is None:
            return
        keys = [str(k) for k in self.table.keys()]  # noqa: SIM118
        picked = [picked_of(self.session.design, key) for key in keys]
        self.session.reveal(p for p in picked if p is not None)
        self.session.set_highlight(keys)
