"""``designer new``: a design from a template."""

from __future__ import annotations

import argparse

from designer.cli.command import Command
from designer.cli.output import print_written
from designer.errors import FormatError
from designer.interchange.native.reader import load
from designer.interchange.native.writer import save
from designer.interchange.templates import find_template


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("template_id", nargs="?", metavar="TEMPLATE", help="id of a template, see designer templates")
    parser.add_argument("--template", metavar="ID", help="the same, as an option")
    parser.add_argument("-o", "--output", required=True, metavar="FILE", help="file to write, *.design.json")
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")


def run(options: argparse.Namespace) -> int:
    """Write a copy of a template."""
    from pathlib import Path

    given = [name for name in (options.template_id, options.template) if name]
    if len(given) != 1:
        what = f"two templates: {' and '.join(given)}" if given else "no template is named"
        raise FormatError(what, place="TEMPLATE", remedy="name one: designer new hgx-h100-8 -o mine.design.json")
    target = Path(options.output)
    if target.exists() and not options.force:
        raise FormatError("the file exists already", file=str(target), remedy="choose another name or add --force")
    notes = save(load(find_template(given[0])).design, target, overwrite=options.force)
    print_written(str(target), notes)
    return 0


COMMAND = Command("new", "A design from a template.", "designer new hgx-h100-8 -o mine.design.json", add_arguments, run)
