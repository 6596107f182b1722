"""Migrations: the last machine moved by hand with all its numbers, else the migration of the workload."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from PySide6.QtWidgets import QSizePolicy, QWidget

from designer.gui.controls import Label, MarkedLabel, plain
from designer.gui.panels._figures import FiguresPanel
from designer.gui.panels._panel import PanelKind, Place
from designer.gui.panels._widgets import column, quiet
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.report.figure_kinds import figure_kinds

if TYPE_CHECKING:
    from designer.gui.viewmodels.virtual_machines import Migration
    from designer.report.figure import Figure


class MigrationPanel(FiguresPanel):
    """Figures of a migration, and next to them what the move just made takes."""

    def __init__(self, empty: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__("migration", empty, theme, parent)
        self.summary = QWidget()
        self.summary.setFixedWidth(260)
        # while it is hidden it takes no room
        self.summary.hide()
        self.summary.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Expanding)
        around, self._lines = column(self.summary)
        around.setContentsMargins(6, 2, 10, 2)
        self._lines.setSpacing(3)
        self._row.insertWidget(0, self.summary)

    @property
    def migration(self) -> Migration | None:
        """The move shown."""
        return self.session.migration if self.session is not None else None

    def watch(self, session: Session) -> None:
        """Follow moves as well."""
        super().watch(session)
        self.connect_signal(session.migration_changed, self.outdate)

    def figures(self) -> list[Figure]:
        """Those of the move, else of the shown workload."""
        session, moved = self.session, self.migration
        if session is None or moved is None:
            return super().figures()

        kinds = sorted((k for k in figure_kinds().values() if k.dock == self.dock), key=lambda k: (k.order, k.name))
        made = [k.build(session.design, moved.analysis(), moved.result) for k in kinds]
        return [f for f in made if f is not None]

    def refresh(self) -> None:
        """Draw numbers and figures."""
        moved = self.migration
        self._lines.let_go()
        if moved is None:
            self.summary.hide()
        super().refresh()
        self.summary.setVisible(moved is not None)
        if moved is None:
            return
        self._stack.setCurrentIndex(1)
        title = Label(f"{moved.title}: {moved.source} → {moved.target}", role="title", wrap=True)
        self._lines.put(title)
        for number in moved.numbers:
            line = MarkedLabel(f"{escape(number.title)}: <b>{escape(number.text)}</b>")
            line.setToolTip(plain(number.tip))
            self._lines.put(line)
        if moved.bottleneck:
            bottleneck = quiet(f"{moved.bottleneck} limits it")
            bottleneck.setToolTip(plain(moved.result.binding[0].why))
            self._lines.put(bottleneck)
        self.summary.setAccessibleName(moved.text)


#: what the panel says where no workload describes a migration
_EMPTY = "The shown workload has no migration. Drag a virtual machine to another host to see what its move takes."


def _has_moves(session: Session) -> bool:
    """True if machines move in the shown workload, or one was moved on the canvas."""
    metrics = session.result.metrics if session.result is not None else {}
    return session.migration is not None or bool({"migration_time", "evacuation_time"} & metrics.keys())


PANEL = PanelKind(
    "migration", "Migration", Place.ANSWER, 50, lambda s: MigrationPanel(_EMPTY, s.theme), wanted=_has_moves
)
