"""Answers are remembered in one way; see the rules in ``designer.memo``."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

HOUSE = Path(__file__).resolve().parents[2] / "designer"
FILES = sorted(HOUSE.rglob("*.py"))


def _cached(tree: ast.AST) -> list[tuple[ast.FunctionDef, ast.expr]]:
    functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return [(f, d) for f in functions for d in f.decorator_list if "cache" in ast.unparse(d)]


@pytest.mark.parametrize("file", [f for f in FILES if f.name != "memo.py"], ids=str)
def test_nothing_but_the_memo_keeps_answers(file: Path) -> None:
    text = file.read_text(encoding="utf-8")
    for way in ("WeakKeyDictionary", "WeakValueDictionary", "__dict__", ".memo["):
        assert way not in text, f"{file}: {way}; use designer.memo"
    for function, decorator in _cached(ast.parse(text)):
        unbounded = ast.unparse(decorator) in ("cache", "functools.cache")
        takes = function.args.posonlyargs + function.args.args
        local = function.col_offset > 0
        assert not (unbounded and takes and not local), f"{file}: {function.name} keeps any number of answers; bound it"
