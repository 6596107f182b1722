"""``designer test``: promises about designs, for people and continuous integration."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from designer.checks.runner import State
from designer.cli.command import Command
from designer.cli.design import add_overrides
from designer.cli.output import paragraph, print_json, print_problem, print_written
from designer.errors import DesignerError, FormatError
from designer.testing.files import CHECKS, find, new_suite, open_suite
from designer.testing.formats import as_document, counts, github, junit, run_suite, unread

if TYPE_CHECKING:
    from designer.testing.formats import Tested

_MORE = (
    "PATH is a *.checks.toml file, a design with assertions, a template id, or a folder that holds such files.\n"
    'A test is a promise: rate("storage -> gpu[*]") >= 3.18 GB/s each. The language: docs/design-tests.md\n'
    "Exit codes: 0 all hold, 1 some do not, 2 some cannot be read or worked out.\n\n"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("paths", metavar="PATH", nargs="+", help="tests, designs or folders")
    add_overrides(parser)
    parser.add_argument("--junit", metavar="OUT", help="write JUnit XML")
    parser.add_argument("--github", action="store_true", help="print annotations as GitHub Actions reads them")
    parser.add_argument("--update", action="store_true", help="take new snapshots")
    parser.add_argument("--new", metavar="FILE", help="write FILE.checks.toml with tests that the design passes now")
    parser.add_argument("--json", action="store_true", help="one JSON document on stdout")


def run(options: argparse.Namespace) -> int:
    """Run the tests."""
    from pathlib import Path

    from designer.atomic import write

    if options.new:
        return _begin(options)
    tests: list[Tested] = []
    files = find(options.paths)
    for path in files:
        try:
            tests += run_suite(open_suite(path, options.overrides, options.workload_files), options.update)
        except DesignerError as error:
            tests.append(unread(path, error))
            print_problem(str(error))
    total = counts(tests)
    if not tests:
        remedy = f"write some: designer test {options.paths[0]} --new mine.checks.toml"
        raise FormatError("there is no test", file=", ".join(options.paths), remedy=remedy)
    if options.junit:
        write(Path(options.junit), junit(tests).encode())
    if options.json:
        print_json(as_document(tests))
    else:
        _print(tests)
        if options.github:
            print(github(tests), end="")
        words = f"{total[State.HELD]} held, {total[State.BROKEN]} broken, {total[State.ERROR]} not worked out"
        print(f"{len(tests)} test{'s' if len(tests) != 1 else ''}: {words}")
    if total[State.ERROR]:
        return 2
    return 1 if total[State.BROKEN] else 0


def _begin(options: argparse.Namespace) -> int:
    """Write tests that a design passes now."""
    import os
    from pathlib import Path

    from designer.atomic import write
    from designer.checks.analysing import analyze
    from designer.cli.design import opened_as

    path, name = Path(options.new), options.paths[0]
    if not path.name.endswith(CHECKS):
        raise FormatError(f"tests are in files called *{CHECKS}", file=options.new, remedy=f"add {CHECKS} to the name")
    if path.exists():
        raise FormatError("the file exists already", file=options.new, remedy="choose another name")
    results = analyze(opened_as(name, options).design).workloads
    design = os.path.relpath(name, path.parent) if Path(name).exists() else name
    write(path, new_suite(design, results).encode())
    print_written(options.new)
    return 0


def _place(test: Tested) -> str:
    """Line and column of a promise that cannot be worked out."""

    if test.outcome.state is not State.ERROR:
        return ""
    column = test.outcome.column
    stated = [f"line {test.line}"] if test.line > 1 else []
    return ", ".join([*stated, f"column {column} of the promise"] if column else stated)


def _print(tests: list[Tested]) -> None:
    marks = {State.HELD: "held  ", State.BROKEN: "BROKEN", State.ERROR: "ERROR "}
    at = None
    for test in tests:
        if not test.design:
            continue  # the message on stderr says it
        if test.file != at:
            at = test.file
            print(f"{test.file} ({test.design})")
        outcome = test.outcome
        print(paragraph(f"  {marks[outcome.state]}  ", f"{outcome.promise.name}: {outcome.promise.text}", " " * 10))
        rows = (
            (("got", outcome.got),)
            if outcome.state is State.HELD
            else (
                ("expected", outcome.expected),
                ("got", outcome.got),
                ("band", outcome.band),
                ("binds", outcome.binds),
                ("to mend", outcome.mend),
                ("place", _place(test)),
            )
        )
        for name, text in rows:
            if text:
                print(paragraph(f"          {name}: ", text, " " * 12))


COMMAND = Command(
    "test",
    "Judge promises about designs: expected, got, band, what binds, what would mend it.",
    "designer test designs/ --junit results.xml",
    add_arguments,
    run,
    _MORE,
)
