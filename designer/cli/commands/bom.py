"""``designer bom``: bill of materials, power, racks, cables and cost as a table or a workbook."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from designer import atomic
from designer.cli.command import Command
from designer.cli.design import add_design, opened
from designer.cli.output import print_written, shown_file
from designer.cli.pages import add_page_options, print_page
from designer.decisions.comparing import compare
from designer.errors import FormatError, ReportError, raised_as
from designer.interchange.templates import open_any
from designer.report.settings import load_settings
from designer.report.tables import tables_of
from designer.report.tables.cost import priced, totals
from designer.report.tables.page import page
from designer.report.tables.revisions import Since, sheet
from designer.report.tables.table_sheet import to_csv, to_xlsx
from designer.units import parse

if TYPE_CHECKING:
    from collections.abc import Mapping

    from designer.design.document import Design
    from designer.report.tables.table_sheet import TableSheet


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    add_design(parser)
    parser.add_argument("-o", "--output", metavar="OUT", help="file to write: .xlsx for all, or .csv")
    parser.add_argument(
        "--table", metavar="NAME", help="table of a .csv: bill, power, racks, supply, cables, cabling or cost"
    )
    parser.add_argument("--prices", metavar="FILE", help="your price list: CSV with part, currency, price, date …")
    parser.add_argument("--previous", metavar="FILE", help="the revision before: adds the table of revisions")
    parser.add_argument("--media", choices=("any", "optical"), default="any", help="optical leaves copper cables out")
    parser.add_argument("--spares", metavar="SHARE", help='spare cables and transceivers, such as "3 %%"')
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Write the tables, or print the bill."""
    from pathlib import Path

    suffix = Path(options.output).suffix.lower() if options.output else ""
    if options.output and suffix not in (".csv", ".xlsx"):
        raise ReportError(f"{options.output!r} names no format", place="-o", remedy="end it with .csv or .xlsx")
    design = opened(options).design
    prices = load_settings(prices=Path(options.prices) if options.prices else None).prices
    spares = _share(options.spares) if options.spares is not None else None
    tables = tables_of(design, prices, options.media, spares)
    if options.previous:
        tables["revisions"] = _revisions(options.previous, design)
    notes: tuple[str, ...] = ()
    if suffix == ".xlsx":
        data = to_xlsx(list(tables.values()), design.title or design.name)
    else:
        name = options.table or ("cost" if prices is not None and options.output else "bill")
        if name not in tables:
            reason = "without a price list there is no cost" if name == "cost" else f"there is no table {name!r}"
            raise ReportError(reason, place="--table", remedy=f"use one of {', '.join(tables)}")
        if not options.output:
            sums = totals(priced(design, prices, None, options.media, spares)) if prices is not None else {}
            return _show(options, design, sums, tables[name])
        data = to_csv(tables[name]).encode("utf-8", "replace")
        # a line of prose is no row: programs read the file
        notes = tables[name].notes
    print_written(options.output, [*atomic.write(Path(options.output), data), *notes])
    return 0


def _revisions(previous: str, design: Design) -> TableSheet:
    """What changed since the revision before, and why each figure moved."""

    before = open_any(previous).design
    return sheet(Since(before, compare(before, design), shown_file(previous) or previous), (), "this", "", "")


def _share(text: str) -> float:
    """A share of spares from 0 to 1."""

    with raised_as(FormatError, "--spares"):
        share = parse(text, "ratio")
    if not 0 <= share <= 1:
        raise FormatError(f"{text[:40]!r} is no share", place="--spares", remedy='write "3 %" or 0.03')
    return share


def _show(options: argparse.Namespace, design: Design, sums: Mapping[str, float], chosen: TableSheet) -> int:
    """Print the page of the bill; into a pipe, with ``--all`` or another table asked for, the rows as CSV."""

    def rest() -> None:
        print(to_csv(chosen), end="")

    if options.table:
        rest()
    else:
        print_page(lambda: page(design, options.design, sums), options, rest)
    return 0


COMMAND = Command(
    "bom",
    "Bill of materials, power, racks, cables and cost as CSV or XLSX.",
    "designer bom su-h100-32 -o bom.xlsx",
    add_arguments,
    run,
)
