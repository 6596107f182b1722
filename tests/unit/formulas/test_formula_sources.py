"""Formulas of transfers and collectives: one object per file, and every constant has a source that exists."""

import ast
import tomllib
from pathlib import Path

import pytest

from designer.formulas.collectives import _constants as collectives
from designer.formulas.formula import Formula
from designer.formulas.transfer import _constants as transfer
from designer.registry import discover
from designer.resources import assets
from designer.sources import Constant

FAMILIES = ("designer.formulas.collectives", "designer.formulas.transfer")
FOLDERS = [Path(module.__file__ or "").parent for module in (collectives, transfer)]


def constants(thing: object) -> list[Constant]:
    if isinstance(thing, Constant):
        return [thing]
    if isinstance(thing, dict):
        return [one for value in thing.values() for one in constants(value)]
    if isinstance(thing, tuple):
        return [one for value in thing for one in constants(value)]
    return []


@pytest.fixture(scope="module")
def known() -> dict[str, str]:
    found: dict[str, str] = {}
    for name in ("collectives", "transfer", "training"):
        table = tomllib.loads((assets() / "sources" / f"{name}.toml").read_text("utf-8"))
        assert not found.keys() & table.keys()
        found |= {key: entry["status"] for key, entry in table.items()}
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_formulas_are_found_and_cite_known_sources(family: str, known: dict[str, str]) -> None:
    formulas = discover(family, "FORMULA", Formula)
    assert len(formulas) >= 2
    for formula in formulas.values():
        assert formula.valid_when
        assert set(formula.sources) <= known.keys()


@pytest.mark.parametrize("module", [collectives, transfer])
def test_constants_cite_known_sources(module: object, known: dict[str, str]) -> None:
    found = [one for value in vars(module).values() for one in constants(value)]
    assert len(found) > 30
    assert {one.source for one in found} <= known.keys()
    # a value may be less sure than its document, never surer than an assumption
    assert all(not one.status.is_sure for one in found if known[one.source] == "assumed")


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_numbers_sit_in_constants(folder: Path) -> None:
    stray: list[str] = []
    for file in sorted(folder.rglob("*.py")):
        tree = ast.parse(file.read_text("utf-8"))
        makers = {"Constant"} | {
            node.name
            for node in tree.body
            if isinstance(node, ast.FunctionDef) and "Constant" in ast.unparse(node.returns or ast.Constant(None))
        }
        # keys of tables name a generation, they are not quantities
        inside = {
            id(leaf)
            for node in ast.walk(tree)
            if (isinstance(node, ast.Call) and getattr(node.func, "id", "") in makers)
            for leaf in ast.walk(node)
        } | {id(key) for node in ast.walk(tree) if isinstance(node, ast.Dict) for key in node.keys}
        stray += [
            f"{file.name}:{node.lineno} {node.value}"
            for node in ast.walk(tree)
            if isinstance(node, ast.Constant)
            and isinstance(node.value, int | float)
            and not isinstance(node.value, bool)
            and id(node) not in inside
            and node.value not in (0, 1, 2, 0.5)
        ]
    assert stray == []
