"""The bill of materials of a document, with power, racks, cables and cost; it follows edits, and is saved as a file."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QAbstractItemView, QDialog, QFileDialog, QLineEdit, QPushButton, QTableView, QWidget

from designer import atomic
from designer.errors import Cancelled, DesignerError
from designer.gui.controls import Button, ChoiceBox, Label
from designer.gui.itemmodels.table import TableModel
from designer.gui.layouts import in_column, in_row
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels import bill
from designer.gui.workers import Cancelled_, Newest

if TYPE_CHECKING:
    from designer.report.tables.table_sheet import TableSheet

#: quiet time after an edit before the tables are made again [ms]
_QUIET = 200
_SIZE = (980, 560)


def _table_of(lines: TableModel) -> QTableView:
    """A view of whole rows, sorted by a click on a head."""
    table = QTableView()
    table.setModel(lines)
    table.setAccessibleName("Bill of materials")
    table.setShowGrid(False)
    table.setWordWrap(False)
    table.setSortingEnabled(True)
    table.horizontalHeader().setSortIndicator(-1, Qt.SortOrder.AscendingOrder)
    table.horizontalHeader().setStretchLastSection(True)
    table.verticalHeader().hide()
    table.verticalHeader().setDefaultSectionSize(26)
    table.setTabKeyNavigation(False)
    table.setSelectionBehavior(QAbstractItemView.SelectionBehavior.SelectRows)
    table.setEditTriggers(QAbstractItemView.EditTrigger.NoEditTriggers)
    table.setHorizontalScrollMode(QAbstractItemView.ScrollMode.ScrollPerPixel)
    return table


class BillDialog(QDialog):
    """What the drawn design consists of.

    Parameters
    ----------
    folder
        Where files are written unless another place is named.
    """

    def __init__(self, session: Session, theme: Theme, folder: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.session = session
        self._folder = folder
        self.setWindowTitle("Bill of materials")
        self.setWindowFlag(Qt.WindowType.WindowMaximizeButtonHint)
        self.tables: Mapping[str, TableSheet] = {}
        self.chooser = ChoiceBox()
        self.chooser.setAccessibleName("Table")
        self.chooser.setMinimumWidth(180)
        self.chooser.activated.connect(self._show)
        self.prices = QLineEdit()
        self.prices.setAccessibleName("Price list")
        self.prices.setPlaceholderText("CSV: part, currency, price, date, valid until")
        self.prices.editingFinished.connect(self._ask)
        browse = QPushButton("Browse…")
        browse.setAutoDefault(False)
        browse.clicked.connect(self._browse)
        self.lines = TableModel((), theme, self)
        self.table = _table_of(self.lines)
        self.state = Label(role="muted", wrap=True)
        self.problem = Label(role="bad", wrap=True)
        self.problem.hide()
        self.save = Button("Save as…", self.ask_file, tip="Excel workbook with all tables, or this table as CSV")
        # Return in the price list takes the prices over
        self.save.setAutoDefault(False)
        self.copy = Button("Copy", self.copy_table, tip="Copy the table, to paste into a spreadsheet")
        self.copy.setAutoDefault(False)
        close = Button("Close", self.close)
        close.setAutoDefault(False)
        head = in_row(self.chooser, 1, Label("Price list"), (self.prices, 1), browse, spacing=8)
        buttons = in_row(self.save, self.copy, (self.state, 1), close, spacing=8)
        in_column(head, (self.table, 1), self.problem, buttons, on=self, margins=(16, 14, 16, 14), spacing=10)
        self.resize(*_SIZE)
        self._jobs = Newest(self)
        self._jobs.finished.connect(self._arrived)
        self._later = QTimer(self, singleShot=True, interval=_QUIET)
        self._later.timeout.connect(self._ask)
        session.design_changed.connect(self._edited)
        self._ask()

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self.lines.set_theme(theme)

    def _edited(self, *_: object) -> None:
        self._later.start()

    def _ask(self) -> None:
        self._later.stop()
        design, prices = self.session.design, self.prices.text().strip()
        self.state.setText("Counting…")

        def job(_cancelled: Cancelled_) -> object:
            return bill.tables(design, Path(prices) if prices else None)

        self._jobs.submit(job)

    def _arrived(self, _ticket: int, result: object) -> None:
        self.state.setText("")
        self.problem.setVisible(isinstance(result, Exception) and not isinstance(result, Cancelled))
        if isinstance(result, Exception):
            self._refuse(result)
            return
        assert isinstance(result, dict)
        shown = self.chooser.currentData()
        had_cost, self.tables = "cost" in self.tables, result
        self.chooser.clear()
        for name in self.tables:
            self.chooser.addItem(bill.TITLES[name], name)
        # after prices were given their sum is of interest
        wanted = "cost" if "cost" in self.tables and not had_cost else shown
        self.chooser.setCurrentIndex(max(0, self.chooser.findData(wanted)))
        self._show()

    def _refuse(self, error: Exception) -> None:
        remedy = error.remedy if isinstance(error, DesignerError) else ""
        self.problem.setText(f"{error} — {remedy}" if remedy and remedy not in str(error) else str(error))
        self.problem.show()

    @property
    def shown(self) -> str:
        """Name of the table that is shown."""
        return str(self.chooser.currentData() or "bill")

    def _show(self, *_: object) -> None:
        sheet = self.tables.get(self.shown)
        if sheet is None:
            return
        columns, lines = bill.rows_of(sheet)
        self.lines.set_lines(lines, columns)
        for k, column in enumerate(columns):
            self.table.setColumnWidth(k, column.width)
        self.state.setText(" ".join(sheet.notes))

    def copy_table(self) -> None:
        """Put the table that is shown on the clipboard."""
        sheet = self.tables.get(self.shown)
        if sheet is not None:
            QGuiApplication.clipboard().setText(bill.tab_separated(sheet))
            self.state.setText(f"Copied {len(sheet.rows)} rows.")

    def _browse(self) -> None:
        name, _ = QFileDialog.getOpenFileName(self, "Price list", self._folder, "CSV (*.csv);;All files (*)")
        if name:
            self.prices.setText(name)
            self._ask()

    def ask_file(self) -> None:
        """Ask for a file and write it."""
        file = self.session.file
        folder = file.parent if file is not None else Path(self._folder)
        wish = str(folder / f"{self.session.design.name}-bom.xlsx")
        name, chosen = QFileDialog.getSaveFileName(self, "Save bill of materials", wish, bill.FILTER)
        if name:
            path = Path(name)
            if path.suffix.lower() not in (".xlsx", ".csv"):
                path = path.with_name(path.name + (".csv" if "csv" in chosen else ".xlsx"))
            self.write(path)

    def write(self, file: Path) -> None:
        """Write the workbook, or the table that is shown as CSV, by the suffix."""
        design = self.session.design
        try:
            data = bill.encoded(self.tables, self.shown, file.suffix.lower(), design.title or design.name)
            atomic.write(file, data)
        except DesignerError as error:
            self._refuse(error)
            return
        self.problem.hide()
        self.state.setText(f"Wrote {file.name} into {file.parent}.")

    def close_jobs(self) -> None:
        """Stop following the document."""
        self._later.stop()
        self.session.design_changed.disconnect(self._edited)
        self._jobs.close()
