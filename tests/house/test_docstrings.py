"""Docstrings of physics, analyses and exchange: units of parameters, errors raised, parameters that exist."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.source_trees import tree_of

pytestmark = pytest.mark.xdist_group("sources")

# Public formulas say the unit of every parameter: a type of ``designer.units``, or a plain number on purpose.

ROOT = Path(__file__).parents[2] / "designer"


FILES = sorted(
    path
    for folder in (ROOT / "formulas", *ROOT.glob("families/*/formulas"))
    for path in folder.rglob("*.py")
    if not any(part.startswith("_") for part in path.relative_to(folder).parts)
)


#: what is counted, or in whatever unit its partner is: numbers without a unit of their own
PLAIN_NUMBERS = {
    "area",
    "batch",
    "before",
    "bound",
    "columns",
    "context",
    "copies",
    "half",
    "head_size",
    "heads",
    "inner",
    "measured",
    "micro_batch",
    "parameters",
    "pieces",
    "predicted",
    "replicas",
    "room",
    "rows",
    "samples",
    "shared_heads",
    "slack",
    "tokens",
}


def _public(tree: ast.Module) -> Iterator[ast.FunctionDef]:
    """Functions of the module and methods of its classes that others may call."""
    for node in tree.body:
        inside = node.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_") else [node]
        yield from (f for f in inside if isinstance(f, ast.FunctionDef) and not f.name.startswith("_"))


def _bare(text: str) -> list[str]:
    found: list[str] = []
    for function in _public(ast.parse(text)):
        arguments = function.args
        for each in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs):
            bare = each.annotation is not None and ast.unparse(each.annotation) in ("float", "float | None")
            if bare and each.arg not in PLAIN_NUMBERS:
                found.append(f"{function.name}({each.arg})")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda p: p.relative_to(ROOT).as_posix())
def test_no_quantity_is_a_bare_float(path: Path) -> None:
    assert _bare(path.read_text(encoding="utf-8")) == [], (
        "use Bytes, BytesPerSecond, Seconds, Ratio … of designer.units"
    )


def test_a_bare_quantity_is_found() -> None:
    assert _bare("def time(size: float, rate: float | None, rows: float) -> float: ...") == ["time(size)", "time(rate)"]
    assert _bare("class A:\n    def wait(self, delay: float) -> None: ...\ndef _own(size: float) -> None: ...") == [
        "wait(delay)"
    ]


def test_plain_numbers_are_all_in_use() -> None:
    """A name that no formula uses any longer would only hide a mistake."""
    used = {
        each.arg
        for path in FILES
        for function in _public(tree_of(path))
        for each in (*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs)
        if each.annotation is not None and ast.unparse(each.annotation) in ("float", "float | None")
    }
    assert used == PLAIN_NUMBERS


# Docstrings of physics, analyses and exchange list the errors that are raised and parameters that exist.


DESIGNER = Path(__file__).parents[2] / "designer"


PACKAGES = ("formulas", "engine", "families", "analysis", "interchange")


#: what it raises it catches itself: a measurement that cannot be predicted is an answer
OWN = {"decisions/validation.py:predict"}


def _functions(package: str) -> Iterator[tuple[str, ast.FunctionDef]]:
    for path in sorted((DESIGNER / package).rglob("[!_]*.py")):
        # programs of kinds and checks of rules are described by the text of their file
        for node in tree_of(path).body if not {"kinds", "rules"} & {path.parent.name, path.stem} else ():
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
