"""Every number in a formula or in the analysis has a source: it sits in a `Constant`, or it is structure.

Structure is what no publication could correct: 0, 1, 2, one half, an index, a count of digits, a solver's tolerance.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.source_trees import tree_of

pytestmark = pytest.mark.xdist_group("sources")

GUARDED = ("designer/formulas", "designer/engine", "designer/families", "designer/analysis")

#: defaults of settings, thresholds of rules, layout of pages and readers of files
NO_PHYSICS = re.compile(
    r"designer/families/(\w+/(kinds/|kinds\.py|rules/|page\.py)|machines/migration_settings\.py"
    r"|serving/(engines|traces)\.py|training/costs/elastic_training\.py|schedule/hours\.py)"
)

#: file → why its numbers need no source. For what cannot be said in any other way; empty is best.
ALLOWED: dict[str, str] = {
    "designer/engine/network/hashing.py": "multipliers and shifts of a published hash",
    "designer/engine/routes/routing/fabric.py": "64 targets to a machine word",
    "designer/families/serving/formulas/experts.py": "Blom's 3/8 and 1/4 of normal order statistics",
}

#: numbers anyone may write
FREE = {0, 1, 2, 0.5}
#: settings of an algorithm, not of nature: a name says so
SETTING = re.compile(r"(\A|_)((?i:TOLERANCE|ITERATIONS|ROUNDS|DIGITS)|LIMIT)\Z")
#: 2**30 is what Gi means
BINARY_PREFIXES = {10, 20, 30, 40, 50, 60}
#: arguments that count digits, lines or axes, or say how close is close
STRUCTURAL_ARGUMENTS = {
    "axis",
    "decimals",
    "digits",
    "ndigits",
    "maxsize",
    "maxlen",
    "stacklevel",
    "ndmin",
    "ndim",
    "rtol",
    "atol",
    "rel_tol",
    "abs_tol",
    "tolerance",
}


def naked_numbers(
    text: str, makers: frozenset[str] = frozenset(), tree: ast.Module | None = None
) -> list[tuple[int, str]]:
    """Line and spelling of each number in a module's text that has neither a source nor a structural meaning.

    `makers` names functions imported from elsewhere that return a `Constant`; those of the module itself are found.
    """
    tree = tree or ast.parse(text)
    makers = makers | makers_in(tree) | {"Constant"}
    clothed = {number for scope in ast.walk(tree) for number in _numbers(*_structure(scope, makers))}
    found = [number for number in _numbers(tree) if number not in clothed and number.value not in FREE]
    return sorted((number.lineno, ast.get_source_segment(text, number) or repr(number.value)) for number in found)


def makers_in(tree: ast.Module) -> frozenset[str]:
    """Functions of a module declared to return a `Constant`, or a table of them: they are given values and bands."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.returns is not None)
    return frozenset(f.name for f in functions if "Constant" in map(_last_name, ast.walk(f.returns or f)))


@cache
def _makers_in_file(file: Path) -> frozenset[str]:
    return makers_in(tree_of(file))


def imported_makers(tree: ast.Module, checkout: Path) -> frozenset[str]:
    """The same functions, imported by name from another module of ours."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("designer."):
            file = checkout / (node.module.replace(".", "/") + ".py")
            if file.is_file():
                theirs = _makers_in_file(file)
                found |= {alias.asname or alias.name for alias in node.names if alias.name in theirs}
    return frozenset(found)


def naked_numbers_of(checkout: Path, file: str) -> list[tuple[int, str]]:
    tree = tree_of(checkout / file)
    return naked_numbers((checkout / file).read_text("utf-8"), imported_makers(tree, checkout), tree)


def _numbers(*roots: ast.AST) -> Iterator[ast.Constant]:
    for root in roots:
        for node in ast.walk(root):
            if isinstance(node, ast.Constant) and type(node.value) in (int, float, complex):
                yield node


def _structure(node: ast.AST, makers: frozenset[str]) -> list[ast.AST]:
    """The parts directly below `node` in which any number may stand."""
    match node:
        case ast.Call(func=function) if _last_name(function) in makers:
            return [node]
        case ast.Call(func=function, args=arguments, keywords=keywords):
            digits = arguments[1:2] if _last_name(function) in ("round", "around") else []
            return [*digits, *(k.value for k in keywords if k.arg and _is_setting(k.arg))]
        case ast.Subscript(slice=index):
            return [part for part in ast.walk(index) if _is_whole(part)]
        case ast.Dict(keys=keys):  # a whole key is a label, such as a generation
            return [key for key in keys if key is not None and _is_whole(key)]
        case ast.BinOp(left=ast.Constant(value=2 | 2.0), op=ast.Pow(), right=ast.Constant(value=int(power)) as right):
            return [right] if power in BINARY_PREFIXES else []
        case ast.BinOp(left=ast.List(), op=ast.Mult(), right=right) if _is_whole(right):  # how many places
            return [right]
        case ast.Assign(targets=targets, value=value) if all(_is_setting(_last_name(t)) for t in targets):
            return [value]
        case ast.AnnAssign(target=target, value=ast.expr() as value) if _is_setting(_last_name(target)):
            return [value]
        case ast.arguments():
            return list(_structural_defaults(node))
        case ast.Compare(left=left, comparators=others) if any(_is_a_count(side) for side in (left, *others)):
            return [side for side in (left, *others) if isinstance(side, ast.Constant)]
        case _:
            return []


def _structural_defaults(arguments: ast.arguments) -> Iterator[ast.AST]:
    positional = [*arguments.posonlyargs, *arguments.args]
    with_default = positional[len(positional) - len(arguments.defaults) :]
    pairs = [*zip(with_default, arguments.defaults, strict=True)]
    pairs += [(a, d) for a, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
    return (default for argument, default in pairs if _is_setting(argument.arg))


def _is_whole(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int)


def _is_setting(name: str) -> bool:
    return name in STRUCTURAL_ARGUMENTS or SETTING.search(name) is not None


def _is_a_count(node: ast.AST) -> bool:
    """How long or how deep an array is: ``len(x) == 3``, ``x.ndim == 3``."""
    return (isinstance(node, ast.Call) and _last_name(node.func) == "len") or _last_name(node) == "ndim"


def _last_name(node: ast.AST) -> str:
    return getattr(node, "attr", "") or getattr(node, "id", "")


def guarded_files(checkout: Path) -> list[str]:
    found = (path.relative_to(checkout).as_posix() for root in GUARDED for path in (checkout / root).rglob("*.py"))
    return sorted(path for path in found if not NO_PHYSICS.match(path))


def test_every_number_has_a_source(checkout: Path) -> None:
    naked = [
        f"{file}:{line}: {number}"
        for file in guarded_files(checkout)
        if file not in ALLOWED
        for line, number in naked_numbers_of(checkout, file)
    ]
    assert not naked, (
        "numbers without a source; put each into a designer.sources.Constant, give a setting of an algorithm a name "
        "that ends in _TOLERANCE, _ITERATIONS, _ROUNDS, _DIGITS or _LIMIT, or state in ALLOWED why the file needs "
        "none:\n" + "\n".join(naked)
    )


def test_the_guarded_folders_are_there(checkout: Path) -> None:
    """Renaming a folder must not quietly end the guard."""
    assert guarded_files(checkout)


def test_the_exceptions_are_needed_and_give_a_reason(checkout: Path) -> None:
    for file, reason in ALLOWED.items():
        assert naked_numbers_of(checkout, file), f"{file} has no naked number: drop it from ALLOWED"
        assert len(reason.split()) > 3, f"{file}: say why its numbers need no source"


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("rate = 0.88 * peak", ["0.88"]),
        ("rate = -3 * peak", ["3"]),
        ("def f(x: float = 1.07) -> float: return x", ["1.07"]),
        ("table = {'hbm': 3.35e12}", ["3.35e12"]),
        ("step = 6 * tokens", ["6"]),
        ("batch = 2**11", ["11"]),
        ("gib = 3**30", ["3", "30"]),
        ("share = {0.7: x, 8: 0.9}", ["0.7", "0.9"]),
        ("def made(x) -> float: ...\ny = made(4.0)", ["4.0"]),
        ("def made(x) -> Constant: return Constant(3.0 * x, 0, 9, 'a')\ny = made(4.0) * 7", ["7"]),
        ("x = min(peak, limit=40)", ["40"]),
        ("bounds = rates[rates > 0.7]", ["0.7"]),
        ("y = NotAConstant(4.0)", ["4.0"]),
        ("round(3.5, 4)", ["3.5"]),
        ("if efficiency == 0.9: pass", ["0.9"]),
        ("TOLERANCE_OF_THE_MARKET = 0.3", ["0.3"]),
        ("a = 3\nb = 5.5", ["3", "5.5"]),
    ],
)
def test_a_naked_number_is_seen(text: str, numbers: list[str]) -> None:
    assert [number for _, number in naked_numbers(text)] == numbers


def test_a_function_that_makes_constants_may_be_imported(tmp_path: Path) -> None:
    folder = tmp_path / "designer" / "formulas"
    folder.mkdir(parents=True)
    (folder / "made.py").write_text("def fitted(x: float) -> Constant: ...\ndef other(x: float) -> float: ...\n")
    (folder / "user.py").write_text(
        "from designer.formulas.made import fitted, other\nA = fitted(3.5)\nB = other(4.5)\n"
    )
    assert naked_numbers_of(tmp_path, "designer/formulas/user.py") == [(3, "4.5")]


@pytest.mark.parametrize(
    "text",
    [
        "x = (n - 1) / n * 2 + 0.5 - 1.0",
        "ALPHA = Constant(6.6e-6, 5e-6, 9e-6, 'nccl', Status.PRIMARY, 's')",
        "TABLE = {'ring': sources.Constant(0.88, 0.8, 0.92, 'here', Status.ASSUMED)}",
        "x = shape[3] + shape[-4] + grid[3:7, 5]",
        "EFFICIENCY = {90: Constant(0.8, 0.7, 0.9, 'nccl', Status.PRIMARY)}",
        "def _fit(value: float, source: str) -> Constant: ...\nRATE = _fit(3.5e9, 'here')",
        "def _costs(a: float) -> Mapping[str, Constant]: ...\nCOSTS = _costs(16)",
        "GIBIBYTE = 2.0**30",
        "sums = [0.0] * 6",
        "text = f'{x:.3f}'",
        "y = round(x, 6)",
        "y = np.round(x, decimals=9)",
        "RATE_TOLERANCE = 1e-9",
        "_MAX_ITERATIONS: Final = 10_000",
        "close = math.isclose(a, b, rel_tol=1e-12)",
        "def f(x: float, *, tolerance: float = 1e-9, digits: int = 3) -> str: ...",
        "if len(shape) != 3 or a.ndim == 4: raise AssertionError",
        "flag = True",
        "'''Costs 3.5 microseconds.'''",
    ],
)
def test_structure_is_left_alone(text: str) -> None:
    assert naked_numbers(text) == []
