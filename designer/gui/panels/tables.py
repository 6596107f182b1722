"""The tables: what a workload describes each virtual machine, host or cell, one table at a time."""

from __future__ import annotations

import csv
import io

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QComboBox, QStackedLayout, QWidget

from designer.design.document import Block
from designer.design.naming import in_names
from designer.engine import results
from designer.engine.results import WorkloadResult
from designer.gui.controls import Button, ChoiceBox
from designer.gui.layouts import FLUSH, in_column, in_row
from designer.gui.panels._figures import EmptyPage
from designer.gui.panels._panel import Panel, PanelKind, Place
from designer.gui.panels._widgets import Table
from designer.gui.session import Session
from designer.gui.theme import Theme
from designer.gui.viewmodels.answer_state import empty_text
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.present.blocks import State
from designer.units import format_si


class TablesPanel(Panel):
    """A chooser of tables over the chosen one; a sentence where the workload has none."""

    def __init__(self, empty: str, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(theme, parent)
        self.chooser = ChoiceBox()
        self.chooser.setAccessibleName("Table to show")
        self.chooser.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        self.chooser.setMinimumContentsLength(12)
        self.chooser.activated.connect(self._show)
        copy = Button("Copy", self.copy_data, tip="Copy the table, tab separated")
        self.table = Table((), theme, "Table of the workload", shrink=0.75)
        self.table.setTextElideMode(Qt.TextElideMode.ElideMiddle)
        self._nothing = empty
        self.empty = EmptyPage(empty)
        self.empty.wanted.connect(self._show_workload)
        head = in_row((self.chooser, 1), copy, margins=(8, 6, 8, 2))
        page = QWidget()
        page.setObjectName("panel")
        in_column(head, (self.table, 1), on=page, margins=FLUSH, spacing=2)
        self._stack = QStackedLayout(self)
        self._stack.addWidget(self.empty)
        self._stack.addWidget(page)

    def watch(self, session: Session) -> None:
        """Follow the analysis."""
        self.connect_signal(session.analysis_changed, self.outdate)
        self.connect_signal(session.workload_changed, self.outdate)
        self.connect_signal(session.state_changed, self.outdate)

    def refresh(self) -> None:
        """List the tables and show one."""
        self.table.set_theme(self.theme)
        found = titles(self.session.result) if self.session is not None else ()
        chosen = self.chooser.currentData()
        self.chooser.clear()
        for key, title in found:
            self.chooser.addItem(title, key)
        self.chooser.setCurrentIndex(max(0, self.chooser.findData(chosen)) if found else -1)
        self._stack.setCurrentIndex(1 if found else 0)
        if not found:
            state = self.session.state if self.session is not None else State.ANSWERED
            self.empty.text.setText(empty_text(state, self._nothing))
            self.empty.offer(self._others() if state is not State.COMPUTING else ())
        self._show()

    def _others(self) -> list[tuple[str, str]]:
        """Workloads that have tables."""
        session = self.session
        if session is None or session.analysis is None:
            return []
        return [(w.id, w.title) for w in session.analysis.workloads if w.id != session.workload and titles(w)]

    def _show_workload(self, workload: str) -> None:
        if self.session is not None:
            self.session.set_workload(workload)

    def _show(self, *_: object) -> None:
        result = self.session.result if self.session is not None else None
        key = str(self.chooser.currentData() or "")
        if result is None or key not in result.tables:
            self.table.lines.set_lines([], ())
            return
        columns, lines = rows_of(result.tables[key], self.session.design if self.session is not None else None)
        self.table.lines.set_lines(lines, columns)
        self.table.fit_columns()

    def copy_data(self) -> None:
        """Put the table on the clipboard, tab separated, as it is shown."""
        text = io.StringIO()
        writer = csv.writer(text, delimiter="\t", lineterminator="\n")
        writer.writerow([c.title for c in self.table.lines.columns])
        writer.writerows([cell.text for cell in line.cells] for line in self.table.lines.lines)
        QGuiApplication.clipboard().setText(text.getvalue())


_EMPTY = "The shown workload has no tables."


def _has_tables(session: Session) -> bool:
    return session.result is not None and bool(session.result.tables)


PANEL = PanelKind("tables", "Tables", Place.ANSWER, 60, lambda s: TablesPanel(_EMPTY, s.theme), wanted=_has_tables)

# The tables of a result as rows: one per virtual machine, host or whatever the workload is about.

#: width of a letter and of the air next to a text, and the widest and narrowest column [px]
_LETTER, _AIR, _WIDEST, _NARROWEST = 8, 24, 190, 64


def titles(result: WorkloadResult | None) -> tuple[tuple[str, str], ...]:
    """Key and title of every table that has rows."""
    return tuple((key, table.title) for key, table in result.tables.items() if table.rows) if result is not None else ()


def rows_of(table: results.Table, block: Block | None = None) -> tuple[tuple[Column, ...], list[Line]]:
    """Columns and rows of a table, values spelled with their units; empty columns are left out.

    Members of groups are called as in `block`; their paths are tips.
    """
    kept = [i for i in range(len(table.columns)) if any(row[i] is not None for row in table.rows)]
    columns = tuple(_column(table, i, block) for i in kept)
    return columns, [
        Line(tuple(_cell(row[i], table.columns[i].unit, block) for i in kept), number)
        for number, row in enumerate(table.rows)
    ]


def _column(table: results.Table, at: int, block: Block | None) -> Column:
    number = not any(isinstance(row[at], str) for row in table.rows)
    title = table.columns[at].name.replace("_", " ")
    longest = max(len(title), *(len(_cell(row[at], table.columns[at].unit, block).text) for row in table.rows))
    width = min(_WIDEST, max(_NARROWEST, longest * _LETTER + _AIR))
    return Column(title[:1].upper() + title[1:], number, width)


def _cell(value: results.Cell, unit: str, block: Block | None) -> Cell:
    if value is None:
        return Cell("")
    if isinstance(value, str):
        return Cell(value if block is None else in_names(block, value), value, tip=value)
    return Cell(format_si(value, unit or "1"), value)
