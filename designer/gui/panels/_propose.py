"""Designs for a goal: model, days or load and servers as ticks; the best as cards and as points of a plot."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Final

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication, QKeyEvent
from PySide6.QtWidgets import QCheckBox, QFileDialog, QFormLayout, QLineEdit, QVBoxLayout, QWidget

from designer.contrib.proposals.search import propose as search
from designer.errors import DesignerError
from designer.gui.completing import CompletedChoice
from designer.gui.controls import Button, ChoiceBox, Headline, Label
from designer.gui.layouts import FLUSH, Wrap, in_column, in_row, scrolled
from designer.gui.panels._cards import Cards
from designer.gui.panels._widgets import WidgetColumn, quiet
from designer.gui.search_job import SearchJob
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import propose
from designer.gui.viewmodels.propose import ProposeForm
from designer.gui.viewmodels.workload_choices import dataset_choices, model_choices
from designer.gui.workers import Cancelled_
from designer.present.blocks import Change

if TYPE_CHECKING:
    from designer.contrib.proposals.results import Proposals
    from designer.design.document import Design
    from designer.gui.figures.front import FrontPlot

#: lines that are chosen from a list, with what it offers
_LISTED: Final = {"model": model_choices, "dataset": dataset_choices}


class ProposePage(QWidget):
    """The form of a search, and what it found.

    Signals
    -------
    open_wanted : ``Design``
        A proposed design is to be opened as a new document.
    """

    open_wanted = Signal(object)

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self.theme = theme
        self.session: Session | None = None
        self.found: Proposals | None = None
        self.job = SearchJob(self, "Search", self.run, self._take)
        self.goal = ChoiceBox()
        self.goal.setAccessibleName("Goal")
        for one in propose.GOALS:
            self.goal.addItem(one.title, one.name)
        self.goal.activated.connect(lambda: self._fill())
        self.fields: dict[str, QLineEdit | CompletedChoice] = {}
        self.ticks: dict[str, dict[str, QCheckBox]] = {}
        self._lines = WidgetColumn()
        self.power, self.racks = self._line("Power at most", "kW"), self._line("Racks at most", "any number")
        self.prices, self.budget = self._line("Price list", "CSV: part, currency, price"), self._line("Budget", "any")
        self.sure = QCheckBox("Limits hold at the far end of the bands")
        browse = Button("Browse…", self._browse)
        limits = QFormLayout()
        limits.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for title, item in (
            ("Power at most", self.power),
            ("Racks at most", self.racks),
            ("Price list", in_row((self.prices, 1), browse)),
            ("Budget", self.budget),
        ):
            limits.addRow(title, item)  # type: ignore[call-overload]
        self.headline, self.searched = Headline(1.2, wrap=True), quiet("")
        self.front: FrontPlot | None = None
        self._front = QVBoxLayout()
        self.cards = Cards()
        self.cards.chosen.connect(self._open)
        self.command = Button("Copy as command", self.copy_command, tip="The same search as a command for a terminal")
        self.command.setProperty("link", True)
        page = QWidget()
        page.setObjectName("panel")
        in_column(
            in_row(Label("Goal"), (self.goal, 1), spacing=10),
            self._lines,
            limits,
            self.sure,
            self.job.problem,
            self.job.buttons,
            self.job.progress,
            self.job.state,
            self.headline,
            self._front,
            self.cards,
            self.searched,
            (self.command, 0, Qt.AlignmentFlag.AlignLeft),
            1,
            on=page,
            margins=(14, 6, 12, 10),
            spacing=7,
        )
        self.area = scrolled(page)
        in_column((self.area, 1), on=self, margins=FLUSH)
        self._filled = False
        self._show(None)

    def _line(self, name: str, hint: str = "") -> QLineEdit:
        line = QLineEdit()
        line.setAccessibleName(name)
        line.setPlaceholderText(hint)
        line.returnPressed.connect(self.run)
        return line

    def _browse(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Price list", "", "Price list (*.csv);;All files (*)")
        if name:
            self.prices.setText(name)

    # ---- the form

    def follow(self, session: Session | None) -> None:
        """The hosts of another document are those that are emptied."""
        self.session = session

    def ready(self) -> None:
        """Fill the form when it is first seen."""
        if not self._filled:
            self._fill()

    def _fill(self) -> None:
        """The lines and ticks of the goal chosen."""
        self._filled = True
        goal = propose.GOALS[max(0, self.goal.currentIndex())]
        self._lines.let_go()
        self.fields, self.ticks = {}, {}
        page = QWidget()
        form = QFormLayout()
        form.setContentsMargins(0, 0, 0, 0)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        for field in goal.fields:
            listed = _LISTED.get(field.name)
            made = self._choice(field.title, listed(), field.text) if listed is not None else self._line(field.title)
            if isinstance(made, QLineEdit):
                made.setText(field.text)
            self.fields[field.name] = made
            unit = propose.UNITS.get(field.unit, field.unit)
            form.addRow(field.title, in_row((made, 1), Label(unit, role="muted")) if unit else made)  # type: ignore[call-overload]
        for choice in propose.choices(goal, self._base):
            on = goal.ticked.get(choice.name, choice.values)
            boxes = {value: QCheckBox(propose.tick_title(choice.name, value)) for value in choice.values}
            for value, box in boxes.items():
                box.setChecked(value in on)
            self.ticks[choice.name] = boxes
            form.addRow(choice.title, Wrap(*boxes.values(), spacing=10))
        page.setLayout(form)
        self._lines.put(page)

    def _choice(self, name: str, known: tuple[tuple[str, str], ...], text: str) -> CompletedChoice:
        made = CompletedChoice()
        made.setAccessibleName(name)
        made.setMinimumContentsLength(12)
        for key, title in known:
            made.addItem(title, key)
        made.offer(known)
        made.setCurrentIndex(made.findData(text))
        return made

    @property
    def _base(self) -> Design | None:
        return self.session.design if self.session is not None else None

    @property
    def form(self) -> ProposeForm:
        """What is filled in."""
        texts = {
            name: field.text()
            if isinstance(field, QLineEdit)
            else propose.chosen_of(field.currentData(), field.currentText())
            for name, field in self.fields.items()
        }
        ticked = {name: tuple(v for v, box in boxes.items() if box.isChecked()) for name, boxes in self.ticks.items()}
        return ProposeForm(
            propose.GOALS[max(0, self.goal.currentIndex())],
            texts,
            ticked,
            self.prices.text(),
            self.budget.text(),
            self.power.text(),
            self.racks.text(),
            self.sure.isChecked(),
        )

    # ---- searching

    def run(self) -> None:
        """Search; what runs already is stopped."""
        try:
            asked = propose.wanted(self.form, self._base)
        except DesignerError as error:
            self.job.refuse(error)
            return
        report = self.job.report

        def job(cancelled: Cancelled_) -> object:
            return search(asked, progress=report, cancelled=cancelled)

        self._show(None)
        self.job.begin(job, "Counting the designs…")

    def _take(self, result: object) -> None:
        self._show(result)  # pyright: ignore[reportArgumentType]  # jobs return what they were written to
        self.job.end("")

    def _show(self, found: Proposals | None) -> None:
        self.found = found
        self.headline.setVisible(found is not None)
        self.searched.setVisible(found is not None)
        self.command.setVisible(found is not None)
        if found is None:
            self.cards.show_changes((), self.theme)
            if self.front is not None:
                self.front.show_found(None, self.theme)
            return
        from designer.contrib.proposals.page import page_of_proposals
        from designer.gui.figures.front import FrontPlot

        page = page_of_proposals(found, drawn=True)
        self.headline.setText(page.headline)
        self.searched.setText("\n".join(page.remarks))
        self.cards.show_changes(page.changes, self.theme)
        if self.front is None:
            self.front = FrontPlot(self.theme)
            self.front.picked.connect(self.choose)
            self._front.addWidget(self.front)
        self.front.show_found(found, self.theme)
        self.choose(0)

    def choose(self, number: int) -> None:
        """Mark one of the best on the plot and its card, and bring the card into sight."""
        for at, card in enumerate(self.cards.shown):
            card.mark(at == number)
            if at == number and number:
                self.area.ensureWidgetVisible(card)
        if self.front is not None:
            self.front.choose(number)

    def _open(self, change: Change) -> None:
        if change.design is not None:
            self.open_wanted.emit(change.design)

    def copy_command(self) -> None:
        """The same search as a command for a terminal."""
        QGuiApplication.clipboard().setText(shlex.join(propose.command(self.form)))
        self.job.state.setText("The command is on the clipboard.")

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.theme = theme
        if self.found is not None:
            self._show(self.found)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Esc stops what runs first."""
        if not self.job.stopped_by(event):
            super().keyPressEvent(event)
