"""Tables as numbers: named columns with units, written as CSV or XLSX; reports show excerpts of them."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from designer.errors import ExchangeError
from designer.plain_text import harmless, shortened

Value = str | float | int | None
#: what a spreadsheet would take for a formula or a command
_COMMANDS: Final = ("=", "+", "-", "@", "\t", "\r", "|", "%")
#: most characters a cell of a spreadsheet holds
_LONGEST: Final = 30_000


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name and the unit of its numbers, empty for text and counts."""

    name: str
    unit: str = ""

    @property
    def head(self) -> str:
        """Name and unit."""
        return f"{self.name} [{self.unit}]" if self.unit else self.name


@dataclass(frozen=True, slots=True)
class Total:
    """A sum below a column, which a spreadsheet works out again when rows change.

    Parameters
    ----------
    column
        Number of the column it is below.
    formula
        Without the sign of equality; ``{A}`` to ``{Z}`` are the cells of the rows in that column.
    value
        What it comes to now.
    """

    label: str
    column: int
    formula: str
    value: float


@dataclass(frozen=True, slots=True)
class TableSheet:
    """A table with a name that fits a spreadsheet's tab; ``totals`` stand below its rows in a workbook."""

    name: str
    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Value, ...], ...]
    notes: tuple[str, ...] = ()
    totals: tuple[Total, ...] = ()


def safe(text: str) -> str:
    """Text that no spreadsheet takes for a formula; what commands a terminal is shown instead."""
    text = shortened(harmless(text).replace("\r", " "), _LONGEST)
    return f"'{text}" if text.lstrip().startswith(_COMMANDS) else text


def to_csv(sheet: TableSheet) -> str:
    """The table as CSV with heads and plain numbers; its notes are prose, no rows, and left out."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([safe(c.head) for c in sheet.columns])
    for row in sheet.rows:
        writer.writerow([_plain(value) for value in row])
    return out.getvalue()


def _plain(value: Value) -> str:
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return ""
    if isinstance(value, str):
        return safe(value)
    return f"{value:.10g}"


def to_xlsx(sheets: Sequence[TableSheet], title: str) -> bytes:
    """All tables in one workbook, one sheet a table; texts are written as texts, never as formulas.

    Raises
    ------
    ExchangeError
        If XlsxWriter is not installed.
    """
    try:
        module = import_module("xlsxwriter")
    except ImportError as error:
        raise ExchangeError("XLSX files need XlsxWriter", remedy="pip install xlsxwriter, or write CSV") from error
    out = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False, "strings_to_numbers": False}
    book: Any = module.Workbook(out, options)
    from datetime import datetime

    # the same design gives the same bytes
    book.set_properties({"title": shortened(title, 200), "created": datetime(2000, 1, 1)})
    head = book.add_format({"bold": True, "bottom": 1, "text_wrap": True, "valign": "top"})
    text = book.add_format({"text_wrap": True, "valign": "top"})
    quiet = book.add_format({"italic": True, "font_color": "#566273"})
    for sheet in sheets:
        page = book.add_worksheet(sheet.name[:31])
        page.freeze_panes(1, 0)
        for k, column in enumerate(sheet.columns):
            page.write_string(0, k, column.head, head)
            widest = max((len(str(row[k])) for row in sheet.rows[:200] if row[k] is not None), default=8)
            page.set_column(k, k, min(46, max(9, widest + 1, len(column.head) * 0.8)))
        for r, row in enumerate(sheet.rows, start=1):
            for k, value in enumerate(row):
                if value is None:
                    continue
                if isinstance(value, str):
                    page.write_string(r, k, shortened(harmless(value), _LONGEST), text)
                elif math.isfinite(value):
                    page.write_number(r, k, value)
        _write_totals(page, sheet, head)
        for n, note in enumerate(sheet.notes, start=len(sheet.rows) + len(sheet.totals) + 2):
            page.write_string(n, 0, note, quiet)
        if sheet.rows:
            page.autofilter(0, 0, len(sheet.rows), len(sheet.columns) - 1)
    book.close()
    return out.getvalue()


def _write_totals(page: Any, sheet: TableSheet, style: Any) -> None:
    """Totals as formulas, one a row, a row below the table."""
    first, last = 2, len(sheet.rows) + 1
    cells = {chr(65 + k): f"{chr(65 + k)}{first}:{chr(65 + k)}{last}" for k in range(min(26, len(sheet.columns)))}
    for n, total in enumerate(sheet.totals, start=len(sheet.rows) + 2):
        page.write_string(n, 0, total.label, style)
        page.write_formula(n, total.column, f"={total.formula.format(**cells)}", style, total.value)
