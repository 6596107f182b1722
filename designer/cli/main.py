"""Parses the command line, runs one command, turns errors into one message and an exit code.

Exit codes: 0 done and all held; 1 done, but findings of severity error or a broken assertion; 2 cannot do it.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib
import importlib.util
import io
import os
import pkgutil
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import CodeType
from typing import Final

from designer.cli.command import Command
from designer.cli.plain import is_utf8, plain
from designer.errors import DesignerError
from designer.plain_text import shortened
from designer.spelling import did_you_mean, known_name

_PACKAGE: Final = "designer.cli.commands"
_PROGRAM: Final = "designer"


def run(arguments: Sequence[str]) -> int:
    """Run one command and give its exit code; whatever goes wrong, with one message."""
    _mend_streams()
    try:
        try:
            return _run(arguments)
        finally:
            # what is still held back is written here, where a reader that has gone can be handled
            sys.stdout.flush()
    except DesignerError as error:
        return fail(str(error))
    except KeyboardInterrupt:
        # looking through all that was worked out for garbage once more, as the program ends, takes longer than to stop
        gc.freeze()
        return fail("stopped")
    except BrokenPipeError:
        # The reader of our output has gone; nothing is wrong, but Python must not complain at exit.
        _drop_output()
        return 0
    except OSError as error:
        # The system refuses: a full disk behind stdout, a file that went away while it was read.
        _drop_output()
        what = f"{error.filename}: " if error.filename else "the output or a file could not be used: "
        return fail(f"{what}{error.strerror or error} — check the disk and the rights, then run it again")
    except (MemoryError, RecursionError):
        return fail("the input is too large or too deep for this machine — use a smaller one")
    except Exception as error:
        # A mistake of the program: people get one line, developers ask for the rest.
        if os.environ.get("DESIGNER_TRACEBACK"):
            raise
        what = f"{type(error).__name__}: {error}".rstrip(": ")
        return fail(f"a mistake in the program: {what} — report it; with DESIGNER_TRACEBACK=1 it says where")


def _mend_streams() -> None:
    """Make output streams of those a caller closed, and let none of them refuse a character."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif isinstance(stream, io.TextIOWrapper) and not is_utf8(stream):
            stream.reconfigure(errors="backslashreplace" if name == "stderr" else "replace")


def _drop_output() -> None:
    """Send what is left of the output nowhere: Python writes it once more when it ends."""
    with contextlib.suppress(OSError, ValueError):
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)


def _run(arguments: Sequence[str]) -> int:
    name = arguments[0]
    if name in ("-V", "--version"):
        from designer.interchange.native.envelope import written_by

        print(written_by())
        return 0
    if name in ("-h", "--help"):
        print(_overview())
        return 0
    known = known_name(name, commands())
    if known is None:
        if name == "gui":
            return window_help()
        return fail(f"there is no command {name!r} — {did_you_mean(name, [*commands(), 'gui'], 'see designer --help')}")
    parser = parser_of(known)
    with contextlib.redirect_stdout(plain(sys.stdout)), contextlib.redirect_stderr(plain(sys.stderr)):
        options = parser.parse_args(list(arguments[1:]))
        return _load(known).run(options)


def parser_of(name: str) -> argparse.ArgumentParser:
    """What reads the arguments of a command."""
    command = _load(name)
    parser = argparse.ArgumentParser(
        prog=f"{_PROGRAM} {name}",
        description=command.help,
        epilog=f"{command.more}example: {command.example}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    command.add_arguments(parser)
    return parser


def fail(text: str) -> int:
    """Say what went wrong; the value is exit code 2."""
    if sys.stderr is not None:
        # the reader of the messages may have gone as well
        with contextlib.suppress(OSError, ValueError):
            from designer.cli.output import print_line

            print_line(f"{_PROGRAM}: {shortened(text)}", "  ", plain(sys.stderr))
            sys.stderr.flush()
    return 2


def window_help() -> int:
    """Say how the window is opened."""
    print("usage: designer gui [FILE ...]\n\nOpen the window.\n\nexample: designer gui dgx-a100")
    return 0


@cache
def commands() -> Mapping[str, str]:
    """The module of each command, by name: ``self_check.py`` is ``self-check``, ``import_.py`` is ``import``.

    A new file is a new command; none is loaded but the one that runs.
    """
    folder = importlib.import_module(_PACKAGE)
    found: dict[str, str] = {}
    for info in sorted(pkgutil.iter_modules(folder.__path__), key=lambda info: info.name):
        name = info.name.rstrip("_").replace("_", "-")
        if info.name.startswith("_"):
            continue
        assert name not in found, f"two files give the command {name!r}"
        found[name] = f"{_PACKAGE}.{info.name}"
    return found


def _load(name: str) -> Command:
    return importlib.import_module(commands()[name]).COMMAND


def _summary(module: str) -> str:
    """What the first line of a command's file says behind its name."""
    spec = importlib.util.find_spec(module)
    loader = spec.loader if spec is not None else None
    # a command's module loads all that it runs: read its source, or its compiled code in a frozen program
    read: Callable[[str], str | None] | None = getattr(loader, "get_source", None)
    source = read(module) if read is not None else None
    said = source if source is not None else _compiled_docstring(loader, module)
    first = said.lstrip().partition("\n")[0]
    return first.partition("``: ")[2].strip().strip('"').rstrip(".")


def _compiled_docstring(loader: object, module: str) -> str:
    """The docstring of a module of which only the compiled code is there; the module is not loaded if that can be."""
    compiled: Callable[[str], CodeType | None] | None = getattr(loader, "get_code", None)
    code = compiled(module) if compiled is not None else None
    said = code.co_consts[0] if code is not None and code.co_consts else importlib.import_module(module).__doc__
    return said if isinstance(said, str) else ""


def _overview() -> str:
    found = commands()
    width = max(map(len, found)) + 2
    lines = [
        f"usage: {_PROGRAM} [FILE]              open the window",
        f"       {_PROGRAM} COMMAND [options]   {_PROGRAM} COMMAND --help shows its options",
        "",
        "Design the machines that train and serve AI models.",
        "DESIGN below is a design file or the id of a template.",
        "",
        *(f"  {name:<{width}}{_summary(module)}" for name, module in found.items()),
        "",
        f"example: {_PROGRAM} analyze hgx-h100-8",
    ]
    return "\n".join(lines)
