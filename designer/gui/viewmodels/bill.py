"""The bill of materials and the tables with it, as rows for the window and as files."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Final

from designer.errors import ReportError
from designer.gui.viewmodels.table import Cell, Column, Line
from designer.report.settings import load_settings
from designer.report.tables import tables_of
from designer.report.tables.table_sheet import safe, to_csv, to_xlsx

if TYPE_CHECKING:
    from designer.design.document import Design
    from designer.report.tables.table_sheet import TableSheet, Value

TITLES: Final = {
    "bill": "Bill of materials",
    "power": "Power",
    "supply": "Supply and cooling of racks",
    "racks": "Racks",
    "cables": "Cables",
    "cabling": "Cables and transceivers to order",
    "cost": "Cost",
}
FILTER: Final = "Excel workbook, all tables (*.xlsx);;CSV, this table (*.csv)"
#: width of a letter and of the air next to a text, and the widest and narrowest column [px]
_LETTER, _AIR, _WIDEST, _NARROWEST = 7, 26, 240, 60
#: rows that say how wide a column is
_LOOKED: Final = 200


def tables(design: Design, prices: Path | None = None) -> Mapping[str, TableSheet]:
    """All tables of a design by name, with costs where there is a price list.

    Raises
    ------
    DesignerError
        If the price list cannot be read.
    """

    return tables_of(design, load_settings(prices=prices).prices)


def rows_of(sheet: TableSheet) -> tuple[tuple[Column, ...], list[Line]]:
    """Columns and rows of a table; empty columns are left out."""
    kept = [k for k in range(len(sheet.columns)) if any(row[k] is not None for row in sheet.rows)]
    columns: list[Column] = []
    for k in kept:
        head = sheet.columns[k].head
        number = not any(isinstance(row[k], str) for row in sheet.rows)
        longest = max((len(_text(row[k])) for row in sheet.rows[:_LOOKED]), default=0)
        longest = max(longest, max(len(word) for word in head.split()))
        columns.append(Column(head, number, min(_WIDEST, max(_NARROWEST, longest * _LETTER + _AIR))))
    lines = [Line(tuple(_cell(row[k]) for k in kept), number) for number, row in enumerate(sheet.rows)]
    return tuple(columns), lines


def _cell(value: Value) -> Cell:
    text = _text(value)
    return Cell(text, value if value is not None else "", tip=text if isinstance(value, str) else "")


def _text(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    return f"{value:,.10g}"


def tab_separated(sheet: TableSheet) -> str:
    """A table to paste into a spreadsheet; numbers are plain."""

    out = io.StringIO()
    writer = csv.writer(out, delimiter="\t", lineterminator="\n")
    writer.writerow([column.head for column in sheet.columns])
    for row in sheet.rows:
        writer.writerow([safe(v) if isinstance(v, str) else "" if v is None else f"{v:.10g}" for v in row])
    return out.getvalue()


def encoded(tables: Mapping[str, TableSheet], shown: str, suffix: str, title: str) -> bytes:
    """The bytes of a file: all tables as a workbook, or the shown one as CSV.

    Raises
    ------
    ReportError
        If the suffix is neither.
    ExchangeError
        If workbooks cannot be written here.
    """

    if suffix == ".xlsx":
        return to_xlsx(list(tables.values()), title)
    if suffix == ".csv":
        return to_csv(tables[shown]).encode("utf-8", "replace")
    raise ReportError(f"{suffix or 'a name without suffix'} names no format", remedy="end the name with .xlsx or .csv")
