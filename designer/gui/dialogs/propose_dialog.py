"""Propose designs for a goal: searched beside the window, the best in a table and a plot, each opened by a press."""

from __future__ import annotations

import shlex
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QModelIndex, Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QAbstractItemView,
    QCheckBox,
    QFileDialog,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QTableView,
    QWidget,
)

from designer.design.document import Design
from designer.errors import DesignerError
from designer.gui.controls import ChoiceBox
from designer.gui.dialogs._search_dialog import OneAnswerDialog
from designer.gui.figures.view import FigureView
from designer.gui.itemmodels.table import TableModel
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.theme import Theme
from designer.gui.viewmodels import propose
from designer.gui.viewmodels.propose import ProposeForm
from designer.gui.workers import Cancelled_

if TYPE_CHECKING:
    from designer.contrib.proposals.results import Proposals


class ProposeDialog(OneAnswerDialog):
    """The search for designs; stays open beside the window.

    Parameters
    ----------
    base
        The design in front: its hosts are those that are emptied.
    """

    #: a design to open as a new document
    wanted = Signal(object)

    def __init__(self, theme: Theme, base: Design | None, parent: QWidget | None = None) -> None:  # noqa: PLR0915
        super().__init__("Propose designs", "Search", parent)
        self.base = base
        self.found: Proposals | None = None
        self.goal = ChoiceBox()
        self.goal.setAccessibleName("Goal")
        for one in propose.GOALS:
            self.goal.addItem(one.title, one.name)
        self.settings = self._line("Settings", "model=llama-2-7b; dataset=c4-en")
        self.settings.setToolTip("Settings of the workload, parted by semicolons")
        self.within = self._line("Within", "20 d")
        self.power = self._line("Power at most", "200 kW")
        self.racks = self._line("Racks at most", "4")
        self.prices = self._line("Price list", "CSV with part, currency, price")
        self.budget = self._line("Budget", "1500000")
        self.choose = self._line("Choose from", "server=dgx-h100,dgx-b200; nodes=1,2,4")
        self.choose.setToolTip("What is tried, parted by semicolons; what is not named is tried as usual")
        self.sure = QCheckBox("Limits hold at the far end of the bands")
        browse = QPushButton("Browse…")
        browse.setAutoDefault(False)
        browse.clicked.connect(self._browse)
        listed = in_row((self.prices, 1), browse)
        form = QFormLayout()
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        form.setRowWrapPolicy(QFormLayout.RowWrapPolicy.WrapLongRows)
        form.addRow("Goal", self.goal)
        form.addRow("Settings", self.settings)
        form.addRow("Within", self.within)
        form.addRow("Power at most", self.power)
        form.addRow("Racks at most", self.racks)
        form.addRow("Price list", listed)
        form.addRow("Budget", self.budget)
        form.addRow("Choose from", self.choose)
        side = QWidget()
        in_column(
            form,
            self.sure,
            self.problem,
            self.buttons,
            self.progress,
            self.state,
            1,
            on=side,
            margins=(14, 12, 10, 12),
            spacing=8,
        )
        self.lines = TableModel((), theme, self)
        self.table = QTableView()
        self.table.setModel(self.lines)
        self.table.setAccessibleName("Best designs")
        self.table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
        self.table.setSelectionMode(QAbstractItemView.SelectionMode.SingleSelection)
        self.table.setSortingEnabled(True)
        self.table.verticalHeader().hide()
        self.table.horizontalHeader().setStretchLastSection(True)
        self.plot = FigureView(theme)
        self.why = QPlainTextEdit()
        self.why.setReadOnly(True)
        self.why.setAccessibleName("Why the others lost")
        self.take, self.command = QPushButton("Open"), QPushButton("Copy command")
        self.take.setToolTip("Open the chosen design as a new document")
        below = in_row(1, margins=(8, 0, 10, 10))
        for button in (self.command, self.take):
            button.setAutoDefault(False)
            below.addWidget(button)
        shown = QSplitter(Qt.Orientation.Vertical)
        shown.setChildrenCollapsible(False)
        for part in (self.table, self.plot, self.why):
            shown.addWidget(part)
        shown.setSizes([220, 220, 140])
        right = QWidget()
        in_column((shown, 1), below, on=right, margins=FLUSH)
        split = QSplitter(Qt.Orientation.Horizontal)
        split.setChildrenCollapsible(False)
        split.addWidget(side)
        split.addWidget(right)
        split.setStretchFactor(1, 1)
        split.setSizes([320, 680])
        in_column(split, on=self, margins=FLUSH)
        self.resize(1000, 640)
        self.take.clicked.connect(self.open_chosen)
        self.command.clicked.connect(self.copy_command)
        self.table.doubleClicked.connect(self._open_row)
        self.goal.activated.connect(self._fill)
        self._fill()
        self._enable()

    def _line(self, name: str, hint: str) -> QLineEdit:
        line = QLineEdit()
        line.setAccessibleName(name)
        line.setPlaceholderText(hint)
        line.returnPressed.connect(self.run)
        return line

    def _fill(self, *_: object) -> None:
        """Fill the form with what is usual for the goal."""
        one = propose.GOALS[max(0, self.goal.currentIndex())]
        for line, text in ((self.settings, one.settings), (self.within, one.within), (self.choose, one.choose)):
            line.setText(text)
            line.setCursorPosition(0)

    def _browse(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Price list", "", "Price list (*.csv);;All files (*)")
        if name:
            self.prices.setText(name)

    @property
    def form(self) -> ProposeForm:
        """What is written."""
        return ProposeForm(
            str(self.goal.currentData()),
            self.settings.text(),
            self.within.text(),
            self.prices.text(),
            self.budget.text(),
            self.power.text(),
            self.racks.text(),
            self.choose.text(),
            self.sure.isChecked(),
        )

    # ---- running

    def run(self) -> None:
        """Search; what runs already is stopped."""
        self.problem.hide()
        try:
            asked = propose.wanted(self.form, self.base)
        except DesignerError as error:
            self._refuse(error)
            return

        def job(cancelled: Cancelled_) -> object:
            from designer.contrib.proposals.search import propose as search

            return search(
                asked,
                progress=lambda share, text: self._jobs.call(partial(self._progress, share, text)),
                cancelled=cancelled,
            )

        self._show(None)
        self._begin(job, "Counting the designs…")
        self._enable()

    def _take(self, result: object) -> None:
        self._show(result)  # pyright: ignore[reportArgumentType]  # jobs return what they were written to
        self._end("")

    def _end(self, text: str) -> None:
        super()._end(text)
        self._enable()

    def _show(self, found: Proposals | None) -> None:
        self.found = found
        self.lines.set_lines(propose.lines(found) if found else (), propose.columns(found) if found else ())
        self.plot.set_figure(propose.figure(found) if found else None)
        self.why.setPlainText(propose.summary(found) if found else "")
        if found is not None and found.best:
            self.table.resizeColumnsToContents()
            self.table.selectRow(0)

    def _enable(self) -> None:
        self.take.setEnabled(not self.busy and self.found is not None and bool(self.found.best))

    # ---- what comes of it

    def open_chosen(self) -> None:
        """Open the design of the row that is selected, the first where none is."""
        at = self.table.currentIndex()
        self._open_row(at if at.isValid() else self.lines.index(0, 0))

    def _open_row(self, at: QModelIndex) -> None:
        if self.found is not None and at.isValid():
            number = self.lines.lines[at.row()].key
            assert isinstance(number, int), "a row is known by its number"
            self.wanted.emit(self.found.best[number].design)

    def copy_command(self) -> None:
        """The same search as a command for a terminal."""
        QGuiApplication.clipboard().setText(shlex.join(propose.command(self.form)))
        self.state.setText("The command is on the clipboard.")

    def set_theme(self, theme: Theme) -> None:
        """Other colours."""
        self.lines.set_theme(theme)
        self.plot.set_theme(theme)
