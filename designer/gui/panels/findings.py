"""The findings: what to look at, worst first; a click shows where."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QCheckBox, QHBoxLayout, QPushButton, QStackedLayout, QVBoxLayout, QWidget

from designer.findings import Severity
from designer.gui.controls import plain
from designer.gui.panels._panel import Panel
from designer.gui.panels._widgets import Table, quiet
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import findings, fixes
from designer.gui.viewmodels.places import picked_of

#: what can be shown or left out
_SHOWN: Final = {
    Severity.ERROR: ("Errors", "Show what does not work"),
    Severity.WARNING: ("Warnings", "Show what is probably wrong"),
    Severity.INFO: ("Remarks", "Show what is good to know"),
}


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
        self.kinds: dict[Severity, QCheckBox] = {}
        for severity, (title, tip) in _SHOWN.items():
            box = self.kinds[severity] = QCheckBox(title)
            box.setToolTip(plain(tip))
            box.setChecked(True)
            box.toggled.connect(self.outdate)
        self.mend = QPushButton("Mend")
        self.mend.setAccessibleName("Mend the selected finding")
        self.mend.clicked.connect(self._mend)
        page = QWidget()
        page.setObjectName("panel")
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 4, 0, 0)
        box.setSpacing(2)
        head = QHBoxLayout()
        head.setContentsMargins(10, 0, 8, 0)
        head.setSpacing(14)
        for kind in self.kinds.values():
            head.addWidget(kind)
        head.addStretch(1)
        head.addWidget(self.mend)
        box.addLayout(head)
        box.addWidget(self.table, 1)
        self._stack.addWidget(page)
        self.table.selectionModel().selectionChanged.connect(self._chosen)
        self._busy = False
        self._listed: list[findings.Finding] = []

    def watch(self, session: Session) -> None:
        """Follow the analysis."""
        self.connect_signal(session.analysis_changed, self._count)
        self.connect_signal(session.design_changed, self.outdate)
        self._count()

    def _gathered(self) -> list[findings.Finding]:
        session = self.session
        if session is None:
            return []
        own = [f for f in session.findings if not fixes.is_mended(session.design, f)]
        return findings.gather(own, session.analysis, session.failure, session.workload)

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
        for severity, count in findings.counts(found).items():
            self.kinds[severity].setText(f"{_SHOWN[severity][0]} {count}")
        shown = [f for f in found if self.kinds[f.severity].isChecked()]
        if shown != self._listed:
            # the same list keeps its selection, and a press on the button what it meant
            self._listed = shown
            self.table.lines.set_lines(findings.lines(shown))
        self._busy = False
        self._offer()
        self._stack.setCurrentIndex(1 if found else 0)

    def _fix(self) -> fixes.Fix | None:
        """How the one selected finding can be mended."""
        chosen = [key for key in self.table.keys() if isinstance(key, findings.Finding)]  # noqa: SIM118
        if self.session is None or len(chosen) != 1:
            return None
        return fixes.fix_of(self.session.design, chosen[0], self.session.workload)

    def _offer(self) -> None:
        """The button says what it would do."""
        fix = self._fix()
        self.mend.setEnabled(fix is not None)
        self.mend.setText(fix.title if fix is not None else "Mend")
        self.mend.setToolTip("" if fix is not None else "Select a finding that one edit can mend")

    def _mend(self) -> None:
        fix = self._fix()
        if fix is not None and self.session is not None:
            self.session.apply(fix.edit)

    def _chosen(self) -> None:
        self._offer()
        if self._busy or self.session is None:
            return
        chosen_lines = [key for key in self.table.keys() if isinstance(key, findings.Finding)]  # noqa: SIM118
        places = [place for finding in chosen_lines for place in finding.where]
        picked = [picked_of(self.session.design, str(place)) for place in places]
        chosen = [p for p in picked if p is not None]
        if chosen:
            self.session.reveal(chosen)
