"""Nothing only tests reach: every module is imported, in the end, by a command, the window or the public door.

Registries count as imports of all they find. What follows only from the text of the program is followed: imports
anywhere in a file, names of modules spelled as text, and the packages given to ``discover``.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

from tests.source_trees import files, tree_of

pytestmark = pytest.mark.xdist_group("sources")

ROOT = Path(__file__).parents[2]
#: where a user comes in
DOORS = (
    "designer",
    "designer.__main__",
    # named by pyproject.toml as a plugin of pytest
    "designer.testing.pytest_plugin",
)
#: run by hand: ``python -m …`` writes the schema that the test of the file format compares
TOOLS = ("designer.interchange.native.schema",)
#: the functions that load modules of a package by name
FINDERS = {"discover", "import_module", "iter_modules", "walk_packages"}
#: loads the folder or module of a name from every folder of a package
ROOMS = "rooms"


@cache
def modules() -> Mapping[str, Path]:
    found: dict[str, Path] = {}
    for path in files():
        parts = path.relative_to(ROOT).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


@cache
def spelled(path: Path) -> tuple[frozenset[str], frozenset[str]]:
    """What a file imports or spells out in a text, and the packages of which it may load all modules."""
    found: set[str] = set()
    whole: set[str] = set()
    nodes = list(ast.walk(tree_of(path)))
    finds = any(getattr(n.func, "id", getattr(n.func, "attr", "")) in FINDERS for n in nodes if isinstance(n, ast.Call))
    apart: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == ROOMS:
            package, room = (argument.value for argument in node.args[:2] if isinstance(argument, ast.Constant))
            apart.add(package)
            inside = Path(*package.split("."))
            whole |= {
                ".".join((inside / one.parent.name / room).parts) for one in (ROOT / inside).glob("*/__init__.py")
            }
    for node in nodes:
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{path}: imports are absolute"
            found |= {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value.startswith("designer."):
            found.add(node.value)
            # a package whose name is given to a registry: all modules in it
            if finds and node.value not in apart:
                whole.add(node.value.rstrip(".") + ".")
    return frozenset(found), frozenset(whole)


def named(module: str) -> frozenset[str]:
    """Modules that the text of one names: imported, spelled out, or in a package it looks through."""
    found, whole = spelled(modules()[module])
    inside = {name for name in modules() if name.startswith(tuple(whole))} if whole else set[str]()
    return frozenset((found | inside) & modules().keys())


@cache
def reached(doors: tuple[str, ...]) -> frozenset[str]:
    found: set[str] = set()
    waiting = list(doors)
    while waiting:
        module = waiting.pop()
        if module not in found:
            found.add(module)
            waiting += named(module)
            above = module.rpartition(".")[0]
            waiting += [above] if above else []
    return frozenset(found)


def test_every_module_is_reached() -> None:
    assert set(modules()) - reached(DOORS) - set(TOOLS) == set()


def test_every_tool_is_run_by_hand() -> None:
    for tool in TOOLS:
        assert tool not in reached(DOORS)
        assert '__name__ == "__main__"' in modules()[tool].read_text(encoding="utf-8")


def test_a_module_nobody_imports_is_noticed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    lonely = tmp_path / "lonely.py"
    lonely.write_text("from designer.errors import AnalysisError\n")
    known = {**modules(), "designer.formulas.transfer.lonely": lonely}
    reached.cache_clear()
    monkeypatch.setitem(globals(), "modules", lambda: known)
    assert set(known) - reached(DOORS) - set(TOOLS) == {"designer.formulas.transfer.lonely"}
    reached.cache_clear()


def _definitions(module: str) -> Iterator[ast.ClassDef]:
    yield from (node for node in tree_of(modules()[module]).body if isinstance(node, ast.ClassDef))


def _words(path: Path) -> set[str]:
    nodes = list(ast.walk(tree_of(path)))
    return {n.id for n in nodes if isinstance(n, ast.Name)} | {n.attr for n in nodes if isinstance(n, ast.Attribute)}


@cache
def words() -> Mapping[str, set[str]]:
    return {module: _words(path) for module, path in modules().items()}


EDITS = {
    f"{module}:{node.name}"
    for module in modules()
    if module.startswith("designer.design.edits.")
    for node in _definitions(module)
    if not node.name.startswith("_")
    and any("Edit" in base or base == "_Arrangement" for base in map(ast.unparse, node.bases))
}


@pytest.mark.parametrize("edit", sorted(EDITS))
def test_every_edit_is_made_by_something(edit: str) -> None:
    module, _, name = edit.partition(":")
    users = [other for other, said in words().items() if other != module and name in said]
    assert users, f"{name} is made by nothing in designer/"


def _formulas() -> list[str]:
    """Modules with a formula; by their text, for every process that collects tests would parse them all."""
    assigned = re.compile(r"^FORMULA(:.*)? = ", re.MULTILINE)
    room = re.compile(r"designer\.(formulas|families\.\w+\.formulas)\.")
    inside = {module: path for module, path in modules().items() if room.match(module)}
    return sorted(module for module, path in inside.items() if assigned.search(path.read_text(encoding="utf-8")))


@pytest.mark.parametrize("module", _formulas())
def test_every_formula_is_asked_by_something(module: str) -> None:
    """By its file: what is exported next to the function may be what others ask."""
    if module.startswith("designer.formulas.collectives.algorithms."):
        pytest.skip("found by the registry of algorithms")
    users = [other for other in reached(DOORS) if other != module and module in named(other)]
    assert users, f"{module} is asked by nothing in designer/"
