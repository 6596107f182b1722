"""``designer`` on the command line: opens the window, or runs a command."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence


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

    first = given[0] if given else ""
    if first.startswith("-") or first in commands():
        # A command is short: looking for garbage over and over while modules load costs a tenth of its time.
        gc.set_threshold(200_000, 50, 50)
        return run(given)
    if given and first != "gui" and not _is_design(first):
        from designer.cli.main import fail

        return fail(f"there is no command, file or template {first!r} — see designer --help")
    return _window(given[1:] if first == "gui" else given)


def _is_design(name: str) -> bool:
    """True if `name` is a file or a template."""
    from pathlib import Path

    from designer.errors import FormatError
    from designer.interchange.templates import find_template

    try:
        return Path(name).exists() or find_template(name).exists()
    except (FormatError, OSError, ValueError, RuntimeError):
        return False


def _window(files: list[str]) -> int:
    """Open the window, or say why that is not possible."""
    from designer.cli.main import fail, window_help

    if "-h" in files or "--help" in files:
        return window_help()
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
