"""``designer tidy``: a design with everything placed again."""

from __future__ import annotations

import argparse

from designer.cli.command import Command
from designer.cli.output import print_written
from designer.design.edits.arrange import Arrange
from designer.errors import FormatError
from designer.interchange.native.writer import save
from designer.interchange.templates import open_design


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("design", metavar="DESIGN", help="a design file or the id of a template")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="file to write, *.design.json")
    parser.add_argument(
        "--inside", action="append", default=[], metavar="PART", help="only the contents of this part; may be repeated"
    )
    parser.add_argument("--missing", action="store_true", help="only what has no place yet")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def run(options: argparse.Namespace) -> int:
    """Write the design with everything placed."""
    from pathlib import Path

    target = Path(options.output)
    if target.exists() and not options.force:
        raise FormatError("the file exists already", file=str(target), remedy="choose another name or add --force")
    edit = Arrange(tuple(options.inside), only_missing=options.missing)
    notes = save(edit.apply(open_design(options.design)), target, overwrite=options.force)
    print_written(str(target), notes)
    return 0


COMMAND = Command(
    "tidy",
    "A design with everything placed again.",
    "designer tidy mine.design.json -o tidy.design.json",
    add_arguments,
    run,
)
