"""The tables of a result as rows: one per virtual machine, host or whatever the workload is about."""

from __future__ import annotations

from designer.analysis import results
from designer.analysis.results import WorkloadResult
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.units import format_si

_NUMBER_WIDTH, _TEXT_WIDTH = 110, 150


def titles(result: WorkloadResult | None) -> tuple[tuple[str, str], ...]:
    """Key and title of every table that has rows."""
    return tuple((key, table.title) for key, table in result.tables.items() if table.rows) if result is not None else ()


def rows_of(table: results.Table) -> tuple[tuple[Column, ...], list[Line]]:
    """Columns and rows of a table, values spelled with their units; columns in which nothing stands are left out."""
    kept = [i for i in range(len(table.columns)) if any(row[i] is not None for row in table.rows)]
    columns = tuple(_column(table, i) for i in kept)
    return columns, [
        Line(tuple(_cell(row[i], table.columns[i].unit) for i in kept), number) for number, row in enumerate(table.rows)
    ]


def _column(table: results.Table, at: int) -> Column:
    number = not any(isinstance(row[at], str) for row in table.rows)
    title = table.columns[at].name.replace("_", " ")
    return Column(title[:1].upper() + title[1:], number, _NUMBER_WIDTH if number else _TEXT_WIDTH)


def _cell(value: results.Cell, unit: str) -> Cell:
    if value is None:
        return Cell("")
    if isinstance(value, str):
        return Cell(value, value, tip=value)
    return Cell(format_si(value, unit or "1"), value)
