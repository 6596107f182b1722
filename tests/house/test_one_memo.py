"""Answers are remembered in one way; see the rules in ``designer.memo``."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest

from tests.source_trees import DESIGNER, trees

pytestmark = pytest.mark.xdist_group("sources")


def offences(text: str, tree: ast.AST) -> Iterator[str]:
    """Ways of keeping answers that are not the memo's, and functions that keep any number of them."""
    for way in ("WeakKeyDictionary", "WeakValueDictionary", "__dict__", ".memo["):
        if way in text:
            yield f"{way}; use designer.memo"
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef) and function.col_offset == 0:
            unbounded = {"cache", "functools.cache"} & {ast.unparse(each) for each in function.decorator_list}
            if unbounded and function.args.posonlyargs + function.args.args:
                yield f"{function.name} keeps any number of answers; bound it"


def test_nothing_but_the_memo_keeps_answers() -> None:
    found = [
        f"{path.relative_to(DESIGNER)}: {offence}"
        for path, tree in trees().items()
        if path.name != "memo.py"
        for offence in offences(path.read_text(encoding="utf-8"), tree)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("source", "caught"),
    [
        ("known = WeakKeyDictionary()", True),
        ("thing.__dict__['answer'] = 1", True),
        ("@cache\ndef f(x): ...", True),
        ("@functools.cache\ndef f(x): ...", True),
        ("@cache\ndef f(): ...", False),
        ("@memo(most=4)\ndef f(x): ...", False),
        ("def g():\n    @cache\n    def f(x): ...", False),
    ],
)
def test_an_offence_is_noticed(source: str, caught: bool) -> None:
    assert bool(list(offences(source, ast.parse(source)))) is caught
