"""The tables of a result as rows: one per virtual machine, host or whatever the workload is about."""

from __future__ import annotations

from designer.design.document import Block
from designer.design.naming import in_names
from designer.engine import results
from designer.engine.results import WorkloadResult
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.units import format_si

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
