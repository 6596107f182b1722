"""Memos: answers are remembered in one way, and the memory of what they are asked about is counted."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import pkgutil
import typing
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

import designer.families
from designer.engine.network import Network
from designer.memo import Memo
from tests.source_trees import DESIGNER, trees

pytestmark = pytest.mark.xdist_group("sources")

# Answers are remembered in one way; see the rules in ``designer.memo``.


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


# Memos count the memory of what they are asked about, see ``designer.memo``: what holds a network has an extent.


def _hosts() -> dict[str, type]:
    """The class of the first argument of each memo of the analyses, by the name of the function."""
    found: dict[str, type] = {}
    packages = (designer.analysis, designer.engine, designer.families)
    for module in (m for one in packages for m in pkgutil.walk_packages(one.__path__, f"{one.__name__}.")):
        for one in vars(importlib.import_module(module.name)).values():
            if not isinstance(one, Memo):
                continue
            first = next(iter(inspect.signature(one._make).parameters))
            host = typing.get_type_hints(one._make)[first]
            for each in typing.get_args(host) if not isinstance(host, type) else (host,):
                found[f"{one._make.__module__}.{one._make.__qualname__}"] = typing.get_origin(each) or each
    return found


def _holds_a_network(host: type, seen: set[type]) -> bool:
    """Whether a field of a dataclass, or of what its fields hold, has an extent."""
    if hasattr(host, "extent"):
        return True
    if host in seen or not dataclasses.is_dataclass(host):
        return False
    seen.add(host)
    types = [typing.get_type_hints(host)[field.name] for field in dataclasses.fields(host)]
    while types:
        kind = types.pop()
        types += typing.get_args(kind)
        if isinstance(kind, type) and _holds_a_network(kind, seen):
            return True
    return False


def test_what_holds_a_network_has_an_extent() -> None:
    hosts = _hosts()
    assert len(hosts) > 40
    wrong = [name for name, host in hosts.items() if not hasattr(host, "extent") and _holds_a_network(host, set())]
    assert wrong == []


@dataclass(frozen=True)
class Holder:
    inside: tuple[Network | None, ...]


@dataclass(frozen=True)
class Plain:
    number: int


def test_a_network_inside_is_noticed() -> None:
    assert _holds_a_network(Holder, set())
    assert not _holds_a_network(Plain, set())
