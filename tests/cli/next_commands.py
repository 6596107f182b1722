"""The commands that a page of the terminal proposes, as one would paste them."""

from __future__ import annotations

import shlex
from collections.abc import Sequence

from designer.__main__ import main
from tests.terminals import terminal_of


def page_of(command: Sequence[str], width: int = 80) -> tuple[int, str]:
    """Exit code and text of a command in a terminal."""
    with terminal_of(width) as terminal:
        try:
            code = main(list(command))
        except SystemExit as done:  # what argparse prints by itself
            code = int(done.code or 0)
    return code, terminal.getvalue()


def proposed(text: str) -> list[list[str]]:
    """Arguments of the commands in a page: lines that end with a backslash go on below.

    >>> proposed("  All:  designer suggest x \\\\\\n      --workload y\\n")
    [['suggest', 'x', '--workload', 'y']]
    """
    found: list[list[str]] = []
    for line in text.replace("\\\n", " ").splitlines():
        _, before, command = line.partition("designer ")
        if before and (not line.split("designer ")[0].strip() or ":  designer " in line):
            found.append(shlex.split(command))
    return found
