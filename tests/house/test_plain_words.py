"""Texts for users are plain professional English: words that mean too many things are not used in them."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.source_trees import tree_of, trees

pytestmark = pytest.mark.xdist_group("sources")

WORDS = re.compile(r"\b(?:told|tells|alike|stands|anew|upon|beside|whoever)\b", re.IGNORECASE)
#: literals that are keys, ids and settings rather than texts
ID = re.compile(r"[\w.:/*\[\]-]*")
#: texts that may keep such a word, by file
ALLOWED: dict[str, str] = {}


def texts(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and value of each string literal that is no docstring and no id."""
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in docstrings:
            continue
        if isinstance(node.value, str) and not ID.fullmatch(node.value):
            yield node.lineno, node.value


def offences(tree: ast.Module) -> list[str]:
    """Lines of texts with such a word; codes of findings in capitals are ids."""
    return [
        f"{line}: {text}" for line, text in texts(tree) if WORDS.search(re.sub(r"\b[A-Z]+(?:-[A-Z]+)+\b", "", text))
    ]


def test_the_scanner_sees_texts_and_not_ids_or_docstrings() -> None:
    tree = ast.parse('"""What it tells."""\nf"{x} alike"\n"MIG-BESIDE is a code"\n"beside"\n"it stands there"\n')
    assert sorted(offences(tree)) == ["2:  alike", "5: it stands there"]


def test_texts_for_users_use_plain_words(checkout: Path) -> None:
    root = checkout / "designer"
    found = [
        f"{place}:{offence}"
        for file in trees()
        if not (place := file.relative_to(root).as_posix()).startswith("gui/")
        for offence in offences(tree_of(file))
        if ALLOWED.get(place, "\0") not in offence
    ]
    assert found == []
