"""``designer mcp``: tools for programs that speak MCP over stdio: open, edit, analyze, explain, test, report."""

from __future__ import annotations

import argparse

from designer.cli.command import Command
from designer.cli.confined import Folder
from designer.errors import FormatError

_MORE = (
    "Files are named relative to FOLDER, and nothing outside it can be read or written, also not by way of links.\n"
    "Edits and reports are tried without writing unless --write is given here and dry_run is false in the call.\n"
    "Needs the extra: pip install 'designer[mcp]'\n\n"
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of the command."""
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default=".", help="the one folder it works in")
    parser.add_argument("--write", action="store_true", help="allow calls to write files into the folder")


def run(options: argparse.Namespace) -> int:
    """Serve until the other end closes."""
    import importlib.util

    folder = Folder(options.folder)
    if importlib.util.find_spec("mcp") is None:
        raise FormatError("the package mcp is not installed", remedy="pip install 'designer[mcp]'")
    from designer.cli.mcp_server import serve

    serve(folder, options.write)
    return 0


COMMAND = Command(
    "mcp",
    "Tools for programs that speak MCP over stdio: open, edit, analyze, explain, test, report.",
    "designer mcp designs/ --write",
    add_arguments,
    run,
    _MORE,
)
