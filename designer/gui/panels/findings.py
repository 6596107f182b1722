"""The findings: what to look at, worst first; a click shows where."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QStackedLayout, QVBoxLayout, QWidget

from designer.findings import Severity
from designer.gui.panels._panel import Panel
from designer.gui.panels._widgets import Table, quiet
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import findings
from designer.gui.viewmodels.places import picked_of


class FindingsPanel(Panel):
    """A table of findings.

    Signals
    -------
    counted : ``int, str``
        How many need attention, and a text about it.
    """

    counted = Signal(int, str)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.table = Table(findings.COLUMNS, theme, "Findings", wrap=True)
        self.empty = quiet("Nothing to mend.")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.empty)
        self.remarks = QCheckBox("Remarks too")
        self.remarks.setToolTip("Show what is good to know, beside errors and warnings")
        self.remarks.setChecked(True)
        self.remarks.toggled.connect(self.outdate)
        page = QWidget()
        page.setObjectName("panel")
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 4, 0, 0)
        box.setSpacing(2)
        head = QHBoxLayout()
        head.setContentsMargins(10, 0, 8, 0)
        head.addWidget(self.remarks)
        box.addLayout(head)
        box.addWidget(self.table, 1)
        self._stack.addWidget(page)
        self.table.selectionModel().selectionChanged.connect(self._chosen)
        self._busy = False

    def watch(self, session: Session) -> None:
        """Follow the analysis."""
        self.wire(session.analysis_changed, self._count)
        self._count()

    def _gathered(self) -> list[findings.Finding]:
        session = self.session
        if session is None:
            return []
        return findings.gather(session.findings, session.analysis, session.failure, session.workload)

    def _count(self, *_: object) -> None:
        self.counted.emit(*findings.summary(self._gathered()))
        self.outdate()

    def entry(self) -> QWidget | None:
        """The list itself."""
        return self.table if self._stack.currentIndex() else None

    def refresh(self) -> None:
        """List the findings."""
        self.table.set_theme(self.theme)
        found = self._gathered()
        self._busy = True
        shown = [f for f in found if self.remarks.isChecked() or f.severity is not Severity.INFO]
        self.table.lines.set_lines(findings.lines(shown))
        self._busy = False
        self._stack.setCurrentIndex(1 if found else 0)

    def _chosen(self) -> None:
        if self._busy or self.session is None:
            return
        places = [p for key in self.table.keys() if isinstance(key, tuple) for p in key]  # noqa: SIM118
        picked = [picked_of(self.session.design, str(place)) for place in places]
        chosen = [p for p in picked if p is not None]
        if chosen:
            self.session.reveal(chosen)
