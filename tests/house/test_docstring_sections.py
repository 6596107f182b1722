"""Docstrings of physics, analyses and exchange list the errors that are raised and parameters that exist."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.source_trees import tree_of

pytestmark = pytest.mark.xdist_group("sources")

DESIGNER = Path(__file__).parents[2] / "designer"
PACKAGES = ("formulas", "engine", "families", "analysis", "interchange")
#: what it raises it catches itself: a measurement that cannot be predicted is an answer
OWN = {"decisions/validation.py:predict"}


def _functions(package: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sorted((DESIGNER / package).rglob("[!_]*.py")):
        # programs of kinds and checks of rules are described by the text of their file
        for node in tree_of(path).body if path.parent.name not in ("kinds", "rules") else ():
            if isinstance(node, ast.FunctionDef) and not node.name.startswith("_"):
                yield f"{path.relative_to(DESIGNER).as_posix()}:{node.name}", node


def _raises(function: ast.FunctionDef) -> bool:
    return any(isinstance(node, ast.Raise) and node.exc is not None for node in ast.walk(function))


@pytest.mark.parametrize("package", PACKAGES)
def test_errors_are_documented(package: str) -> None:
    silent = [
        name
        for name, function in _functions(package)
        if _raises(function) and "Raises\n" not in (ast.get_docstring(function) or "") and name not in OWN
    ]
    assert silent == []


@pytest.mark.parametrize("package", PACKAGES)
def test_documented_parameters_exist(package: str) -> None:
    """A section that names what the function no longer has misleads."""
    wrong: list[str] = []
    for name, function in _functions(package):
        lines = (ast.get_docstring(function) or "").splitlines()
        given = {a.arg for a in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)}
        given |= {a.arg for a in (function.args.vararg, function.args.kwarg) if a is not None}
        if "Parameters" in lines:
            for line in lines[lines.index("Parameters") + 2 :]:
                if not line or set(line) == {"-"}:
                    break
                if not line.startswith(" "):
                    stated = {each.strip(" `*") for each in line.partition(" : ")[0].split(",")}
                    wrong += [f"{name}: {each}" for each in stated - given if each.isidentifier()]
    assert wrong == []
