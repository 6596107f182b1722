"""``designer help``: all commands, the help of one, or the documentation as pages."""

from __future__ import annotations

import argparse

from designer.cli.command import Command
from designer.cli.main import run as run_command
from designer.present.site import front_page


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("command", nargs="?", default="", metavar="COMMAND", help="the command to explain")
    parser.add_argument(
        "--pages",
        action="store_true",
        help="open the documentation in the browser; works without a network, builds the pages the first time",
    )


def run(options: argparse.Namespace) -> int:
    """Print what `designer --help` or `designer COMMAND --help` prints, or open the documentation."""
    if options.pages:
        return _open_pages()

    return run_command([options.command, "--help"] if options.command else ["--help"])


def _open_pages() -> int:
    import os
    import sys
    import webbrowser

    page = front_page()
    print(page)
    if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY") or sys.platform in ("win32", "darwin"):
        webbrowser.open(page.as_uri())
    return 0


COMMAND = Command(
    "help", "All commands, the help of one, or the documentation as pages.", "designer help analyze", add_arguments, run
)
