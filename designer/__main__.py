"""``designer`` on the command line: opens the window, or runs a command."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Sequence
from typing import Final

#: what names a display or what draws without one, on Linux
_DISPLAYS: Final = ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; the value is its exit code."""
    try:
        return _main(arguments)
    except KeyboardInterrupt:
        # before the command line was loaded, which handles it from then on
        if sys.stderr is not None:
            sys.stderr.write("designer: stopped\n")
        return 2


def _main(arguments: Sequence[str] | None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    from designer.cli.main import commands, run
    from designer.spelling import known_name

    first = given[0] if given else ""
    # what is a file or a template in the letters given is opened
    written_otherwise = first not in commands() and known_name(first, commands()) is not None and not _is_file(first)
    if first.startswith("-") or first in commands() or written_otherwise:
        # A command is short: looking for garbage over and over while modules load costs a tenth of its time.
        gc.set_threshold(200_000, 50, 50)
        return run(given)
    if given and first != "gui" and not _is_design(first):
        from designer.cli.main import fail
        from designer.interchange.templates import template_ids
        from designer.spelling import did_you_mean

        meant = did_you_mean(first, [*commands(), "gui", *template_ids()], "see designer --help")
        return fail(f"there is no command, file or template {first!r} — {meant}")
    return _window(given[1:] if first == "gui" else given)


def _is_file(name: str) -> bool:
    """True if there is a file of that name."""
    from pathlib import Path

    try:
        return Path(name).exists()
    except (OSError, ValueError):
        return False


def _is_design(name: str) -> bool:
    """True if `name` is a file or a template."""
    from designer.errors import FormatError
    from designer.interchange.templates import find_template

    try:
        return _is_file(name) or find_template(name).exists()
    except (FormatError, OSError, ValueError, RuntimeError):
        return False


def _window(files: list[str]) -> int:
    """Open the window, or say why that is not possible."""
    from designer.cli.main import fail, window_help

    if "-h" in files or "--help" in files:
        return window_help()
    if sys.platform.startswith("linux") and not any(os.environ.get(name) for name in _DISPLAYS):
        # Qt would end the process without a word of what to do
        return fail("there is no display for the window — set DISPLAY, or use the commands of designer --help")
    try:
        from designer.gui.app import run as open_window
    except ImportError as error:
        if (error.name or "").split(".")[0] in ("PySide6", "pyqtgraph", "shiboken6") or error.name == "designer.gui":
            return fail(
                "the window needs PySide6 and pyqtgraph: install designer with the extra [gui], or see designer --help"
            )
        raise
    return open_window(files)


if __name__ == "__main__":
    sys.exit(main())
