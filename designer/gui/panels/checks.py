"""The tests of a design: red and green as it changes; new ones are typed in."""

from __future__ import annotations

from typing import Final

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QLineEdit, QStackedLayout, QWidget

from designer.design.edits.assertions import AddAssertions, RemoveAssertions
from designer.errors import DesignerError
from designer.gui.controls import Button, Label
from designer.gui.layouts import FLUSH, Wrap, in_column
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import Table, quiet
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import checks
from designer.gui.workers import Cancelled_, Newest

#: quiet time after an edit before tests are judged again [ms]
_QUIET: Final = 400
_EXAMPLE: Final = 'rate("storage -> gpu[*]") >= 3.18 GB/s each'


class ChecksPanel(Panel):
    """A field for a new promise, and a table of those there are."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.field = QLineEdit()
        self.field.setPlaceholderText(_EXAMPLE)
        self.field.setAccessibleName("New test")
        self.field.returnPressed.connect(self._add)
        self.add = Button("Add", self._add, name="Add the test")
        self.remove = Button("Remove", self._remove, name="Remove the selected test from the design")
        self.stated = Label()
        self.table = Table(checks.COLUMNS, theme, "Tests of the design", wrap=True)
        self.table.selectionModel().selectionChanged.connect(self._offer)
        self.empty = quiet("No tests yet. Type what the design must keep, in the words of docs/design-tests.md.")
        self.empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        head = in_column(self.field, Wrap(self.add, self.remove), self.stated, margins=(10, 6, 10, 2), spacing=6)
        body = QWidget()
        self._stack = QStackedLayout(body)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(self.table)
        in_column(head, (body, 1), on=self, margins=FLUSH, spacing=2)
        self._rows: tuple[checks.CheckRow, ...] = ()
        self._asked: object = None
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._quiet = QTimer(self, singleShot=True, interval=_QUIET)
        self._quiet.timeout.connect(self._ask)

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._quiet.stop()
        self._jobs.close()

    def entry(self) -> QWidget | None:
        """The field."""
        return self.field

    def start(self, text: str) -> None:
        """Put a formula into the field, to be changed and added."""
        self.field.setText(text)
        self.field.setFocus(Qt.FocusReason.OtherFocusReason)

    def watch(self, session: Session) -> None:
        """Follow the design."""
        self._rows = ()
        self.connect_signal(session.design_changed, self._edited)
        self._quiet.start()

    def let_go(self) -> None:
        """Forget the answer."""
        self._jobs.cancel()
        self._rows, self._asked = (), None

    def _edited(self, *_: object) -> None:
        self._quiet.start()

    def _ask(self) -> None:
        session = self.session
        if session is None:
            return
        design, file = session.design, session.file
        self._asked = design

        def job(cancelled: Cancelled_) -> object:
            return checks.judged(design, file, cancelled)

        self._jobs.submit(job)

    def _arrived(self, _ticket: int, result: object) -> None:
        if self.session is None or self._asked is not self.session.design or not isinstance(result, tuple):
            return
        self._rows = result
        self.outdate()

    def refresh(self) -> None:
        """List the tests."""
        self.table.set_theme(self.theme)
        self.table.lines.set_lines(checks.lines(self._rows))
        self.stated.setText(checks.summary(self._rows))
        self._stack.setCurrentIndex(1 if self._rows else 0)
        self._offer()

    def _chosen(self) -> list[str]:
        return [key.own for key in self.table.keys() if isinstance(key, checks.CheckRow) and key.own]  # noqa: SIM118

    def _offer(self, *_: object) -> None:
        self.remove.setEnabled(bool(self._chosen()))

    def _add(self) -> None:
        session, text = self.session, self.field.text().strip()
        if session is None or not text:
            return
        try:
            added = checks.assertion(session.design, text)
        except (DesignerError, ValueError) as error:
            session.warned.emit(str(error))
            return
        if session.apply(AddAssertions((added,))):
            self.field.clear()

    def _remove(self) -> None:
        ids = self._chosen()
        if ids and self.session is not None:
            self.session.apply(RemoveAssertions(tuple(ids)))


PANEL = PanelKind("checks", "Tests", Place.CHECKS, 20, lambda s: ChecksPanel(s.theme), "Alt+8")
