"""``designer report``: the design report: HTML, PDF or Markdown."""

from __future__ import annotations

import argparse

from designer import atomic
from designer.cli.command import Command
from designer.cli.design import add_overrides, add_workloads, opened_as, with_only
from designer.cli.output import print_findings, print_written, progress_bar, shown_file
from designer.errors import DesignerError, ReportError
from designer.interchange.native.envelope import written_by
from designer.interchange.templates import open_any


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("designs", metavar="DESIGN", nargs="+", help="design file or template id; several are compared")
    parser.add_argument("-o", "--output", required=True, metavar="OUT", help="file to write: .html, .pdf or .md")
    parser.add_argument("--settings", metavar="FILE", help="title, front text, logo, chapters, targets … as TOML")
    parser.add_argument(
        "--prices", metavar="FILE", help="your price list: CSV with part, currency, price, date, valid_until"
    )
    parser.add_argument(
        "--previous", metavar="FILE", help="the revision before: what changed since, and why each figure moved"
    )
    add_workloads(parser)
    add_overrides(parser)
    parser.add_argument("--date", metavar="DAY", help="day printed on the report, as 2026-11-22; today by default")


def run(options: argparse.Namespace) -> int:
    """Write a report."""
    import datetime
    from pathlib import Path

    # help does not wait for what writes reports
    from designer.report.assembly import Given, compose_report
    from designer.report.settings import load_settings
    from designer.report.writing import REPORTS, rendered

    suffix = Path(options.output).suffix.lower()
    if suffix not in REPORTS:
        known = ", ".join(REPORTS)
        raise ReportError(f"{options.output!r} names no format of reports", place="-o", remedy=f"end it with {known}")
    day = None
    if options.date:
        try:
            day = datetime.date.fromisoformat(options.date)
        except ValueError:
            raise ReportError(f"{options.date!r} is no day", place="--date", remedy="write it as 2026-11-22") from None
    settings = load_settings(
        Path(options.settings) if options.settings else None, Path(options.prices) if options.prices else None
    )
    loaded = [(name, opened_as(name, options)) for name in options.designs]
    given = [
        Given(with_only(one.design, options.only), shown_file(name) or "", tuple(one.findings)) for name, one in loaded
    ]
    before = None
    if options.previous:
        before = Given(with_only(open_any(options.previous).design, options.only), shown_file(options.previous) or "")
    progress = progress_bar()
    try:
        report = compose_report(given, settings, previous=before, date=day, version=written_by(), progress=progress)
    except DesignerError as error:
        raise (
            error.at(file=options.designs[0]) if len(given) == 1 and not isinstance(error, ReportError) else error
        ) from None
    progress(0.95, "writing")
    notes = atomic.write(Path(options.output), rendered(report, suffix))
    progress(1.0, "")
    for name, one in loaded:
        if one.findings:
            print_findings(one.findings)
        del name
    print_written(options.output, notes)
    return 0


COMMAND = Command(
    "report",
    "The design report: one HTML file, a PDF or Markdown.",
    "designer report su-h100-32 -o report.html",
    add_arguments,
    run,
)
