"""``designer waive``: a finding accepted, with reason, author and last day."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from designer.cli.command import Command
from designer.cli.output import print_written
from designer.design.document import Waiver
from designer.design.edits.waivers import AddWaivers, RemoveWaivers
from designer.design.ids import next_id
from designer.errors import FormatError
from designer.interchange.native.writer import save
from designer.interchange.templates import open_any

if TYPE_CHECKING:
    from designer.design.document import Design


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("design", metavar="DESIGN", help="a design file; it is changed unless --output is given")
    parser.add_argument("code", metavar="CODE", help="code of the finding, or with --remove the id of a waiver")
    parser.add_argument(
        "--where", metavar="PART", action="append", default=[], help="a place of the finding; all if none is given"
    )
    parser.add_argument("--reason", metavar="TEXT", help="why it is accepted")
    parser.add_argument("--author", metavar="NAME", help="who accepts it")
    parser.add_argument("--expires", metavar="DAY", help="last day on which it holds, as 2027-01-31; for good if none")
    parser.add_argument("--remove", action="store_true", help="let the finding stand again")
    parser.add_argument("-o", "--output", metavar="FILE", help="file to write instead, *.design.json")


def run(options: argparse.Namespace) -> int:
    """Write the design with one waiver more, or one less."""
    from pathlib import Path

    if options.output is None and not Path(options.design).is_file():
        remedy = "give --output, or first: designer new --template ID -o FILE"
        raise FormatError("a template is not changed", file=options.design, remedy=remedy)
    target = Path(options.output or options.design)
    if options.output and target.exists():
        raise FormatError("the file exists already", file=str(target), remedy="choose another name")
    design = _edit_waivers(open_any(options.design).design, options)
    print_written(str(target), save(design, target))
    return 0


def _edit_waivers(design: Design, options: argparse.Namespace) -> Design:
    """The design with one waiver more, or one less.

    Raises
    ------
    FormatError
        If something is missing or unknown.
    """
    from pydantic import ValidationError

    from designer.rules.rule import rules

    if options.remove:
        if options.code not in design.waivers:
            known = ", ".join(design.waivers) or "none"
            raise FormatError(f"there is no waiver {options.code!r}", place="CODE", remedy=f"waivers: {known}")
        return RemoveWaivers((options.code,)).apply(design)
    code = options.code.upper()
    if code not in rules():
        remedy = "designer check DESIGN names the rules that were broken"
        raise FormatError(f"there is no rule {options.code!r}", place="CODE", remedy=remedy)
    if not (options.reason and options.author):
        raise FormatError("a waiver needs a reason and an author", remedy="add --reason and --author")
    try:
        waiver = Waiver(
            id=next_id(design.waivers, code.lower()),
            code=code,
            where=tuple(options.where),
            reason=options.reason,
            author=options.author,
            expires=options.expires,
        )
    except ValidationError as problem:
        first = problem.errors()[0]
        place = "--" + ".".join(str(part) for part in first["loc"])
        raise FormatError(first["msg"], place=place, remedy="correct it") from None
    return AddWaivers((waiver,)).apply(design)


COMMAND = Command(
    "waive",
    "A finding accepted: it no longer counts, and is listed separately with who, why and until when.",
    'designer waive mine.design.json MEM001 --reason "data comes over GPUDirect" --author "the architect"',
    add_arguments,
    run,
)
