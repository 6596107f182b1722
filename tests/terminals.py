"""A terminal of so many columns, for what is printed for people."""

from __future__ import annotations

import io
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from os import terminal_size

import pytest


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@contextmanager
def terminal_of(columns: int) -> Iterator[Terminal]:
    """What is printed goes to a terminal so wide; made inside a test, whose output the runner takes otherwise."""
    stream = Terminal()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", stream)
        patch.setattr(shutil, "get_terminal_size", lambda fallback=(80, 24): terminal_size((columns, 24)))
        yield stream
