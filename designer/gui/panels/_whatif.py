"""What if a number were larger or smaller: a trial next to the design, which stays as it is until that is applied."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QGridLayout, QPushButton, QWidget

from designer.errors import DesignerError
from designer.gui.controls import Label, Slider
from designer.gui.layouts import in_column, in_row
from designer.gui.panels._widgets import WidgetColumn, quiet
from designer.gui.session import Session
from designer.gui.viewmodels import trial
from designer.gui.viewmodels.forms import Entry
from designer.gui.workers import Cancelled_, Newest, study

if TYPE_CHECKING:
    from designer.design.diff import Diff
    from designer.design.document import Design
    from designer.design.edit import Edit
    from designer.engine.results import Analysis

_SLIDER: Final = 100


class WhatIf(QWidget):
    """A slider and buttons that scale the number last touched, in a trial; its answer is shown next to the present one.

    Nothing is changed by trying: the design, its history and its file stay, until the trial is applied as one step.

    Signals
    -------
    applied : ``Edit``
        The trial is wanted in the design.
    tried
        There is another trial, or another answer about it, or none any more.
    sweep_wanted : ``Entry``
        What happens over a range of this line is wanted.
    """

    applied = Signal(object)
    tried = Signal()
    sweep_wanted = Signal(object)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.base: Entry | None = None
        self.session: Session | None = None
        #: the edit on trial, and the designs before and with it
        self.edit: Edit | None = None
        self._before: Design | None = None
        self.design: Design | None = None
        self._workload = ""
        #: the answer about the trial, once there is one
        self.answer: Analysis | None = None
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._ticket = 0
        self._busy = False
        self.title = Label(wrap=True)
        self.factor = Label("× 1", role="muted")
        self.slider = Slider(Qt.Orientation.Horizontal)
        self.slider.setRange(-2 * _SLIDER, 2 * _SLIDER)
        self.slider.setAccessibleName("What if this number were larger or smaller")
        self.half, self.double = QPushButton("÷ 2"), QPushButton("× 2")
        self.apply_, self.discard_ = QPushButton("Apply to the design"), QPushButton("Discard")
        self.apply_.setToolTip("Put the trial into the design, as one step that can be undone")
        self.discard_.setToolTip("Forget the trial; the design is as it was all the time")
        head = in_row((self.title, 1), self.factor)
        self.sweep = QPushButton("Sweep…")
        self.sweep.setProperty("link", True)
        self.sweep.setToolTip("What the workload does over a whole range of this number")
        head.addWidget(self.sweep)
        line = in_row(self.half, (self.slider, 1), self.double, spacing=6)
        #: what is said of the trial, for people and tests
        self.stated = quiet("")
        self.page = QWidget()
        self._table = WidgetColumn()
        self._table.setContentsMargins(0, 0, 0, 0)
        buttons = in_row(self.apply_, self.discard_, 1, spacing=6)
        in_column(self.stated, self._table, buttons, on=self.page, margins=(0, 2, 0, 0), spacing=4)
        self.page.hide()
        in_column(head, line, self.page, on=self, margins=(12, 8, 12, 10), spacing=6)
        self.half.clicked.connect(lambda: self.step(-1))
        self.double.clicked.connect(lambda: self.step(1))
        self.sweep.clicked.connect(lambda: self.sweep_wanted.emit(self.base))
        self.slider.valueChanged.connect(self._moved)
        self.apply_.clicked.connect(self.apply)
        self.discard_.clicked.connect(self.discard)

    @property
    def on_trial(self) -> bool:
        """True if there is a trial."""
        return self.edit is not None

    def watch(self, session: Session | None) -> None:
        """Try things on another design."""
        self.discard()
        self.session = session

    def begin(self, entry: Entry | None) -> None:
        """Ask about another line, from its present value; None hides the question. A trial of another line ends."""
        usable = entry is not None and entry.scalable
        self.setVisible(usable)
        self.discard()
        self.base = entry if usable else None
        if entry is not None and usable:
            self.title.setText(f"What if: {entry.title}")

    def keep(self, entry: Entry | None) -> None:
        """The same line was made again: a trial of the same design goes on."""
        session = self.session
        if self.on_trial and session is not None and session.design is self._before and entry is not None:
            self._compare()
            return
        self.begin(entry)

    def follow(self, changes: Diff) -> None:
        """The design was changed elsewhere: a trial of it ends, unless things only moved."""
        if not self.on_trial:
            return
        if changes.only_placement:
            self._before = changes.after
        else:
            self.discard()

    def step(self, by: int) -> None:
        """Twice as much as in the trial, or half for −1."""
        self.slider.setValue(self.slider.value() + by * _SLIDER)

    def apply(self) -> None:
        """Put the trial into the design."""
        edit = self.edit
        if edit is not None:
            self.discard()
            self.applied.emit(edit)

    def discard(self) -> None:
        """Forget the trial."""
        self._jobs.cancel()
        self._busy = True
        self.slider.setValue(0)
        self._busy = False
        self.factor.setText("× 1")
        had, self.edit = self.on_trial, None
        self._before = self.design = self.answer = None
        self._table.let_go()
        self.page.hide()
        if had and self.session is not None:
            self.session.set_trial(None, None)
        if had:
            self.tried.emit()

    def close_jobs(self) -> None:
        """Stop what runs."""
        self._jobs.close()

    def _moved(self, value: int) -> None:
        entry, session = self.base, self.session
        if self._busy or entry is None or entry.make is None or session is None:
            return
        if not value:
            self.discard()
            return
        factor = 2.0 ** (value / _SLIDER)
        self.factor.setText(f"× {factor:.3g}")
        try:
            edit = entry.make(entry.scaled(factor))
            design = edit.apply(session.design)
        except DesignerError as error:
            self.discard()
            session.warned.emit(f"{error.text} — {error.remedy}" if error.remedy else error.text)
            return
        self.edit, self._before, self.design, self.answer = edit, session.design, design, None
        self._workload = workload = session.workload
        self._table.let_go()
        now = entry.spelled or entry.text
        self.stated.setText(f"Trial: {entry.scaled(factor)} instead of {now}. The design is unchanged.")
        self.page.show()

        def job(cancelled: Cancelled_) -> object:
            return study(design, workload, False, cancelled, lambda share, text: None)

        if design.workloads:
            self._ticket = self._jobs.submit(job)
        self.tried.emit()

    def _arrived(self, ticket: int, result: object) -> None:
        if ticket != self._ticket or not self.on_trial:
            return
        if isinstance(result, Exception):
            self._table.let_go()
            self._table.put(quiet(f"The trial cannot be run: {result}", "bad"))
            return
        self.answer = result  # type: ignore[assignment]
        self._compare()
        if self.session is not None:
            self.session.set_trial(self.design, self.answer)
        self.tried.emit()

    def _compare(self) -> None:
        """The numbers now and in the trial, side by side."""
        if self.answer is None or self.session is None:
            return
        mine = next((w for w in self.answer.workloads if w.id == self._workload), None)
        found = trial.rows(self.session.result, mine, self.session.design)
        self._table.let_go()
        if not found:
            return
        page = QWidget()
        grid = QGridLayout(page)
        grid.setContentsMargins(0, 0, 0, 0)
        grid.setHorizontalSpacing(8)
        grid.setVerticalSpacing(1)
        for column, text in enumerate(("", "Now", "Trial", "")):
            grid.addWidget(quiet(text, "faint"), 0, column)
        for number, row in enumerate(found, start=1):
            cells = (quiet(row.title), Label(row.now), Label(row.trial), quiet(row.change, row.tone or "muted"))
            for column, cell in enumerate(cells):
                cell.setWordWrap(column < 3)
                grid.addWidget(cell, number, column, Qt.AlignmentFlag.AlignTop)
        grid.setColumnStretch(1, 1)
        grid.setColumnStretch(2, 1)
        page.setAccessibleName(trial.verdict(found))
        self._table.put(page)
