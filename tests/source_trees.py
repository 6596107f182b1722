"""The files of the program, each read and parsed once for all tests of one process that look at its text."""

from __future__ import annotations

import ast
import gc
from collections.abc import Mapping
from functools import cache
from pathlib import Path

DESIGNER = Path(__file__).resolve().parents[1] / "designer"


@cache
def files() -> tuple[Path, ...]:
    """Every file of the program, sorted."""
    return tuple(sorted(DESIGNER.rglob("*.py")))


@cache
def _parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def trees() -> Mapping[Path, ast.Module]:
    """The tree of every file of the program, sorted; for tests, not for what pytest collects in every process."""
    found = {path: _parsed(path) for path in files()}
    # they stay: looking through a million nodes for garbage would slow down every test that follows
    gc.freeze()
    return found


def tree_of(path: Path) -> ast.Module:
    """The tree of a file; one outside the program is parsed each time."""
    return _parsed(path) if path.is_relative_to(DESIGNER) else ast.parse(path.read_text(encoding="utf-8"))
