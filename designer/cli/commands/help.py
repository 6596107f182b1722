"""``designer help``: all commands, or the help of one."""

from __future__ import annotations

import argparse

from designer.cli.command import Command


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("command", nargs="?", default="", metavar="COMMAND", help="the command to explain")


def run(options: argparse.Namespace) -> int:
    """Print what `designer --help` or `designer COMMAND --help` prints."""
    from designer.cli.main import run as run_command

    return run_command([options.command, "--help"] if options.command else ["--help"])


COMMAND = Command("help", "All commands, or the help of one.", "designer help analyze", add_arguments, run)
