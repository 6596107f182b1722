"""One word for one thing: names in the code use the words of `docs/glossary.md`, not those that were left behind."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.source_trees import tree_of, trees

pytestmark = pytest.mark.xdist_group("sources")

#: word, what to say instead, and the folder it is refused in
REFUSED = (
    ("wire", "link or connection", ""),
    ("wires", "links or connections", ""),
    ("wired", "connected", ""),
    ("remembered", "memo", ""),
    ("achieved", "efficiency", ""),
    ("siblings", "peers", ""),
    ("told", "what it is: a table, a message, a finding", ""),
    ("drawn", "what it is: routed, placed, rendered", ""),
    ("pencil", "batch painter", ""),
    ("scenery", "scene", ""),
    ("backing", "surface", ""),
    ("ride", "transfer", ""),
    ("rides", "transfers", ""),
    ("ways", "polylines or paths", "gui/canvas"),
    ("ways", "polylines or paths", "drawing"),
    ("screen", "tile cache", "drawing"),
    ("sheet", "display list", "drawing"),
    ("ways", "paths", "engine/routes/routing"),
    ("stage", "view state", "gui"),
    ("screen", "tile cache", "gui/canvas"),
    ("sheet", "display list", "gui/canvas"),
    ("strip", "toolbar", "gui"),
    ("bound", "bottleneck", "engine"),
    ("bounds", "bottlenecks", "engine"),
    ("room", "free capacity", "engine/machines"),
    ("rooms", "free capacity", "engine/machines"),
    ("lanes", "migration paths", "families/machines"),
    ("trip", "migration", "families/machines"),
    ("trips", "migrations", "families/machines"),
)
#: modules and classes whose name once meant several things
SINGLE_MODULES = ("channels", "connections", "layout", "moves", "plan", "routes")
SINGLE_CLASSES = ("GatewayPair", "IslandGateways", "Group", "Layout", "Legs", "Plan", "Room", "Scene")


def words(name: str) -> list[str]:
    """The words of a name, in small letters.

    >>> words("_WireLinkMap"), words("wires_of")
    (['wire', 'link', 'map'], ['wires', 'of'])
    """
    return [word.lower() for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+", name)]


def named(file: Path) -> Iterator[str]:
    """The module and all classes and functions in it."""
    yield file.stem
    for node in ast.walk(tree_of(file)):
        if isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name


def refused(place: str, name: str) -> str | None:
    """What to say instead of a name, if a word of it is refused at its place."""
    said = words(name)
    for word, better, where in REFUSED:
        if word in said and (not where or place.startswith(f"{where}/")):
            return f"{place}: {name}: say {better} instead of {word!r}"
    return None


def test_words_are_told_apart() -> None:
    assert words("_WireLinkMap") == ["wire", "link", "map"]
    assert refused("design/links.py", "wires_of") is not None
    assert refused("design/links.py", "wirings_of") is None
    assert refused("gui/canvas/any.py", "Stage") is not None
    assert refused("formulas/pipeline/any.py", "InputStage") is None


def test_names_use_the_words_of_the_glossary(checkout: Path) -> None:
    root = checkout / "designer"
    found = [
        problem
        for file in trees()
        for name in named(file)
        if (problem := refused(file.relative_to(root).as_posix(), name)) is not None
    ]
    assert found == []


def test_a_name_stands_for_one_thing(checkout: Path) -> None:
    modules: dict[str, list[str]] = defaultdict(list)
    classes: dict[str, list[str]] = defaultdict(list)
    for file in trees():
        place = file.relative_to(checkout).as_posix()
        modules[file.stem].append(place)
        for node in tree_of(file).body:
            if isinstance(node, ast.ClassDef):
                classes[node.name].append(place)
    assert {name: modules[name] for name in SINGLE_MODULES if len(modules[name]) > 1} == {}
    assert {name: classes[name] for name in SINGLE_CLASSES if len(classes[name]) > 1} == {}


def test_the_glossary_has_every_better_word(checkout: Path) -> None:
    text = (checkout / "docs" / "glossary.md").read_text("utf-8").lower()
    for word in (
        "bottleneck",
        "efficiency",
        "memo",
        "peers",
        "free capacity",
        "migration path",
        "transfer",
        "island",
        "gateway",
        "connection",
        "scene",
        "view state",
        "display list",
        "tile cache",
        "surface",
        "toolbar",
    ):
        assert f"| {word}" in text or f", {word}" in text, word
