"""The findings: what to look at, worst first; a click shows where."""

from __future__ import annotations

from datetime import date
from typing import Final

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QStackedLayout,
    QTextBrowser,
    QWidget,
)

from designer.design.edits.waivers import RemoveWaivers
from designer.findings import Severity
from designer.gui.controls import Button, plain
from designer.gui.layouts import Wrap, in_column
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import Table, quiet
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import findings, waiving
from designer.gui.viewmodels.answer_state import empty_text
from designer.gui.viewmodels.places import picked_of
from designer.gui.viewmodels.table import Line
from designer.gui.workers import Cancelled_, Newest

#: quiet time after an edit before the rules are asked [ms]
_QUIET: Final = 150

#: what is shown: nothing, the findings, the page of a rule, the waivers
_PAGE, _WAIVERS = 2, 3

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
    counted : ``int, str, bool``
        How many need attention, a text about it, and whether there are errors.
    waive_wanted : ``Finding``
        A finding is to be accepted: its form is wanted.
    """

    counted = Signal(int, str, bool)
    waive_wanted = Signal(object)

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.table = Table(findings.COLUMNS, theme, "Findings", wrap=True)
        self.empty = quiet("No findings.")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.empty)
        self.kinds: dict[Severity, QCheckBox] = {}
        for severity, (title, tip) in _SHOWN.items():
            box = self.kinds[severity] = QCheckBox(title)
            box.setToolTip(plain(tip))
            box.setChecked(True)
            box.toggled.connect(self.outdate)
        self.mend = Button("Mend", self._mend, name="Mend the selected finding")
        page = QWidget()
        page.setObjectName("panel")
        box = in_column(on=page, margins=(0, 4, 0, 0), spacing=2)
        self.why = Button("Why", self._open_page, name="Open the page of the rule behind the selected finding")
        self.waive = Button("Waive…", self._waive, name="Accept the selected finding")
        self.waivers = Button("Waivers", self.show_waivers)
        buttons = (self.waivers, self.why, self.waive, self.mend)
        box.addWidget(Wrap(*self.kinds.values(), *buttons, margins=(10, 2, 8, 4)))
        box.addWidget(self.table, 1)
        self._stack.addWidget(page)
        self._stack.addWidget(self._make_reader())
        self._stack.addWidget(self._make_waivers())
        self._rules = findings.Ruled()
        self._ruled: object = None
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._quiet = QTimer(self, singleShot=True, interval=_QUIET)
        self._quiet.timeout.connect(self._ask)
        self.table.selectionModel().selectionChanged.connect(self._chosen)
        self._busy = False
        self._listed: list[findings.Finding] = []
        self._accepted: list[Line] = []

    def _make_reader(self) -> QWidget:
        """The page of a rule, with the way back."""
        reader = QWidget()
        reader.setObjectName("panel")
        self.back = Button("Back to the findings", lambda: self._stack.setCurrentIndex(1))
        self.page = QTextBrowser()
        self.page.setAccessibleName("Page of the rule")
        self.page.setOpenLinks(False)
        in_column((self.back, 0, Qt.AlignmentFlag.AlignLeft), (self.page, 1), on=reader, margins=(8, 4, 8, 4))
        return reader

    def _make_waivers(self) -> QWidget:
        """The list of what was accepted, with the way back."""
        page = QWidget()
        page.setObjectName("panel")
        self.accepted = Table(waiving.COLUMNS, self.theme, "Waivers", wrap=True)
        self.accepted.selectionModel().selectionChanged.connect(self._offer)
        self.leave = Button("Back to the findings", self._leave)
        self.unwaive = Button(
            "Delete waiver", self._unwaive, tip="The finding counts again; undo brings the waiver back"
        )
        head = Wrap(self.leave, self.unwaive)
        in_column(head, (self.accepted, 1), on=page, margins=(8, 4, 8, 4))
        return page

    def show_waivers(self) -> None:
        """List what was accepted."""
        self._stack.setCurrentIndex(_WAIVERS)
        self.outdate()
        self.leave.setFocus(Qt.FocusReason.OtherFocusReason)

    def _leave(self) -> None:
        self._stack.setCurrentIndex(1)
        self.outdate()

    def _waive(self) -> None:
        chosen = self._selected()
        if chosen is not None:
            self.waive_wanted.emit(chosen)

    def _unwaive(self) -> None:
        ids = tuple(key for key in self.accepted.keys() if isinstance(key, str))  # noqa: SIM118
        if self.session is not None and ids:
            self.session.apply(RemoveWaivers(ids))

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._quiet.stop()
        self._jobs.close()

    def watch(self, session: Session) -> None:
        """Follow the analysis and the design."""
        self._rules = findings.Ruled()
        self.connect_signal(session.analysis_changed, self._count)
        self.connect_signal(session.design_changed, self._edited)
        self.connect_signal(session.awaited_changed, self._settled)
        self.connect_signal(session.fitting_changed, self._offer)
        self.connect_signal(session.state_changed, self.outdate)
        self._quiet.start()
        self._count()

    def let_go(self) -> None:
        """Forget what the rules said."""
        self._jobs.cancel()
        self._rules, self._ruled = findings.Ruled(), None

    def _edited(self, *_: object) -> None:
        self._quiet.start()
        self.outdate()

    def _settled(self, awaited: bool) -> None:
        if not awaited and self.session is not None and self._ruled is not self.session.design:
            self._quiet.start()

    def _ask(self) -> None:
        """Ask the rules about the design as it is, next to the window's own work.

        While its loads are worked out they wait: both need the same network and routes, and what comes second finds
        them made.
        """
        session = self.session
        if session is None or session.awaited:
            return
        design = self._ruled = session.design

        def job(_cancelled: Cancelled_) -> object:
            return findings.ruled(design)

        self._jobs.submit(job)

    def _arrived(self, _ticket: int, result: object) -> None:
        # an edit since then asks again
        if self.session is None or self._ruled is not self.session.design or not isinstance(result, findings.Ruled):
            return
        if result != self._rules:
            self._rules = result
            self._count()

    def _open_page(self) -> None:
        page = self._rules.pages.get(self._code())
        if page:
            self.page.setMarkdown(page)
            self._stack.setCurrentIndex(_PAGE)
            self.back.setFocus(Qt.FocusReason.OtherFocusReason)

    def _selected(self) -> findings.Finding | None:
        """The one selected finding."""
        chosen = [key for key in self.table.keys() if isinstance(key, findings.Finding)]  # noqa: SIM118
        return chosen[0] if len(chosen) == 1 else None

    def _code(self) -> str:
        chosen = self._selected()
        return chosen.code if chosen is not None else ""

    def _gathered(self) -> list[findings.Finding]:
        session = self.session
        if session is None:
            return []
        own = [f for f in session.findings if not findings.is_mended(session.design, f)]
        return findings.gather(own, session.analysis, session.failure, session.workload, self._rules)

    def _count(self, *_: object) -> None:
        found = self._gathered()
        self.counted.emit(*findings.summary(found), any(f.severity is Severity.ERROR for f in found))
        self.outdate()

    def entry(self) -> QWidget | None:
        """The list itself."""
        return (None, self.table, self.back, self.leave)[self._stack.currentIndex()]

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
            self.table.lines.set_lines(findings.lines(shown, self.session.design if self.session is not None else None))
        self._busy = False
        design = self.session.design if self.session is not None else None
        rows = waiving.lines(design, self._rules.waived, date.today()) if design is not None else []
        self.accepted.set_theme(self.theme)
        if rows != self._accepted:
            self._accepted = rows
            self.accepted.lines.set_lines(rows)
        self.waivers.setText(f"Waivers {len(rows)}")
        self.waivers.setVisible(bool(rows))
        self._offer()
        if self.session is not None:
            self.empty.setText(empty_text(self.session.state, "No findings."))
        if self._stack.currentIndex() < _PAGE:
            self._stack.setCurrentIndex(1 if found or rows else 0)

    def _fix(self) -> findings.Fix | None:
        """How the one selected finding can be mended."""
        chosen = self._selected()
        if self.session is None or chosen is None:
            return None
        return findings.fix_of(self.session.design, chosen, self.session.workload, self.session.fitting or ())

    def _offer(self, *_: object) -> None:
        """The buttons say what they would do."""
        chosen = self._selected()
        self.waive.setEnabled(chosen is not None and waiving.can_waive(chosen))
        self.waive.setToolTip(
            "Accept it, with reason, author and last day; it then counts no longer"
            if self.waive.isEnabled()
            else "Select a finding of a design rule to accept it"
        )
        self.unwaive.setEnabled(bool(self.accepted.keys()))
        has_page = self._code() in self._rules.pages
        self.why.setEnabled(has_page)
        self.why.setToolTip("" if has_page else "Select a finding of a design rule to read its page")
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


PANEL = PanelKind("findings", "Findings", Place.CHECKS, 10, lambda s: FindingsPanel(s.theme), "Alt+7")
