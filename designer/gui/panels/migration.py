"""The migration dock: the last machine moved by hand with all its numbers, else the migration of the workload."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QSizePolicy, QVBoxLayout, QWidget

from designer.gui.panels._widgets import clear, quiet
from designer.gui.panels.figures import FiguresPanel
from designer.gui.session import Session
from designer.gui.theme import Theme

if TYPE_CHECKING:
    from designer.gui.viewmodels.virtual_machines import Migration
    from designer.report.figure import Figure


class MigrationPanel(FiguresPanel):
    """Figures of a migration, and beside them what the move just made takes."""

    def __init__(self, empty: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("migration", empty, theme, parent)
        self.summary = QWidget()
        self.summary.setFixedWidth(260)
        # while it is hidden it takes no room from the docks beside
        self.summary.hide()
        self.summary.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        self._lines = QVBoxLayout(self.summary)
        self._lines.setContentsMargins(6, 2, 10, 2)
        self._lines.setSpacing(3)
        self._row.insertWidget(0, self.summary)

    @property
    def migration(self) -> Migration | None:
        """The move shown."""
        return self.session.migration if self.session is not None else None

    def watch(self, session: Session) -> None:
        """Follow moves as well."""
        super().watch(session)
        self.wire(session.migration_changed, self.outdate)

    def figures(self) -> list[Figure]:
        """Those of the move, else of the shown workload."""
        session, moved = self.session, self.migration
        if session is None or moved is None:
            return super().figures()
        from designer.report.figure import figure_kinds

        kinds = sorted((k for k in figure_kinds().values() if k.dock == self.dock), key=lambda k: (k.order, k.name))
        made = [k.build(session.design, moved.analysis(), moved.result) for k in kinds]
        return [f for f in made if f is not None]

    def refresh(self) -> None:
        """Draw numbers and figures."""
        moved = self.migration
        clear(self._lines)
        if moved is None:
            self.summary.hide()
        super().refresh()
        self.summary.setVisible(moved is not None)
        if moved is None:
            return
        self._stack.setCurrentIndex(1)
        title = QLabel(f"{moved.title}: {moved.source} → {moved.target}")
        title.setProperty("role", "title")
        title.setWordWrap(True)
        self._lines.addWidget(title)
        for number in moved.numbers:
            line = QLabel(f"{number.title}: <b>{number.text}</b>")
            line.setTextFormat(Qt.TextFormat.RichText)
            line.setToolTip(number.tip)
            self._lines.addWidget(line)
        if moved.bound:
            bound = quiet(f"Bound by {moved.bound}")
            bound.setToolTip(moved.result.binding[0].why)
            self._lines.addWidget(bound)
        self._lines.addStretch(1)
        self.summary.setAccessibleName(moved.text)
