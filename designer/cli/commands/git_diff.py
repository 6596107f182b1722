"""``designer git-diff``: what a change of a design does to its answers, for git and for pull requests."""

from __future__ import annotations

import argparse

from designer import atomic
from designer.cli.command import Command
from designer.errors import FormatError
from designer.testing import page

#: arguments that git gives a driver: name, and file, hash and mode of both sides; two more for renamed files
_GIVEN = (7, 9)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("given", metavar="GIT", nargs="*", help="what git gives a driver: name, file, hash, mode, …")
    parser.add_argument("--install", action="store_true", help="let git diff of this repository show designs so")
    parser.add_argument("--since", metavar="REVISION", help="all designs that have changed since a revision")
    parser.add_argument("-o", "--output", metavar="OUT", help="write Markdown to a file")


def run(options: argparse.Namespace) -> int:
    """Print Markdown."""
    from pathlib import Path

    asked = [bool(options.install), options.since is not None, bool(options.given)]
    if sum(asked) != 1:
        remedy = "give --since main, --install, or let git call it"
        raise FormatError("one thing at a time", place="git-diff", remedy=remedy)
    if options.install:
        attributes, command = page.install(Path.cwd())
        print(f"{attributes}: designs are shown by `{command}`")
        return 0
    if options.since is not None:
        text = page.changed_since(options.since, Path.cwd())
    else:
        if len(options.given) not in _GIVEN:
            raise FormatError(
                f"git gives a driver 7 arguments, here are {len(options.given)}",
                place="git-diff",
                remedy="let git call it: designer git-diff --install",
            )
        text = page.difference(options.given[0], options.given[1], options.given[4])
    if options.output:
        atomic.write(options.output, text.encode())
    else:
        print(text)
    return 0


COMMAND = Command(
    "git-diff",
    "What a change of a design does, for git diff and for pull requests.",
    "designer git-diff --since main",
    add_arguments,
    run,
)
