"""``designer import``: a real machine or foreign file to a design."""

from __future__ import annotations

import argparse

from designer.cli.command import Command
from designer.cli.output import finding_dict, print_findings, print_json, print_line, print_written
from designer.cli.pages import add_page_options, print_page
from designer.design.query import summarize
from designer.errors import ExchangeError
from designer.findings import Severity
from designer.interchange.importing import MAX_BYTES, strip_identifiers
from designer.interchange.native.writer import save
from designer.pages.imported import page_of_import


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("input", metavar="INPUT", help="file to read; - for standard input")
    parser.add_argument("--format", metavar="F", help="format of the file; found out by itself if left out")
    parser.add_argument(
        "-o", "--output", metavar="FILE", help="file to write, *.design.json; only described if left out"
    )
    parser.add_argument(
        "--anonymous", action="store_true", help="leave out host names, serial numbers, GUIDs and addresses"
    )
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")
    add_page_options(parser)


def run(options: argparse.Namespace) -> int:
    """Read a foreign file, write a design, list what was guessed or dropped."""
    from designer.interchange.importing import read_any, read_bytes

    if options.input == "-":
        imported = read_bytes(_standard_input(), options.format, "standard input")
    else:
        imported = read_any(options.input, options.format)
    if options.anonymous:
        from dataclasses import replace

        imported = replace(imported, design=strip_identifiers(imported.design))
    summary = summarize(imported.design, options.output)
    notes = save(imported.design, options.output) if options.output else ()
    if options.json:
        print_json({**summary, "findings": [finding_dict(f) for f in imported.findings]})
    else:

        def rest() -> None:
            parts = ", ".join(f"{n} {k}" for k, n in summary["parts"].items())
            links = ", ".join(f"{n} {k}" for k, n in summary["links"].items())
            print_line(f"{imported.design.title or imported.design.name}: {parts}", "  ")
            print_line(f"links: {links or 'none'}", "  ")
            print_findings(imported.findings)

        design, parts = imported.design, summary["parts"]
        read, written = options.input, options.output or ""
        print_page(lambda: page_of_import(design, parts, imported.findings, read, written), options, rest)
    if options.output:
        print_written(options.output, notes, options.json)
    return 1 if any(f.severity is Severity.ERROR for f in imported.findings) else 0


def _standard_input() -> bytes:
    """All of it, or one byte more than may be read."""
    import sys

    if sys.stdin is None:
        raise ExchangeError("there is none", file="standard input", remedy="give the name of a file")
    return sys.stdin.buffer.read(MAX_BYTES + 1)


COMMAND = Command(
    "import",
    "A real machine or foreign file to a design; what was guessed or dropped is listed.",
    "designer import topo.txt -o mine.design.json",
    add_arguments,
    run,
)
