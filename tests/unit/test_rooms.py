"""Objects that families bring are found in the room of each: a folder of modules, or a module."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest

from designer.registry import rooms

WORD = "WORD = __import__('fractions').Fraction({})\n"


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A package of three families: a room that is a folder, one that is a module, and none."""
    # what was found is kept by name: one of its own for each test
    made = tmp_path / f"houses_of_{request.node.name}"
    for folder in ("", "first", "first/kinds", "second", "third"):
        (made / folder).mkdir()
        (made / folder / "__init__.py").touch()
    (made / "first" / "kinds" / "one.py").write_text(WORD.format(1))
    (made / "first" / "kinds" / "_helper.py").write_text("HELP = 1\n")
    (made / "second" / "kinds.py").write_text(WORD.format(2))
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield made
    for name in [name for name in sys.modules if name.split(".")[0] == made.name]:
        del sys.modules[name]


def found(package: Path) -> list[str]:
    return list(rooms(package.name, "kinds", "WORD", Fraction, name="numerator"))


def test_folders_and_modules_are_found_and_families_without_the_room_skipped(package: Path) -> None:
    assert found(package) == ["1", "2"]


def test_a_module_may_have_several_in_a_tuple(package: Path) -> None:
    (package / "second" / "kinds.py").write_text("WORDS = tuple(map(__import__('fractions').Fraction, (2, 3)))\n")
    importlib.invalidate_caches()
    assert found(package) == ["1", "2", "3"]


def test_two_families_may_not_use_one_name(package: Path) -> None:
    (package / "third" / "kinds.py").write_text(WORD.format(1))
    importlib.invalidate_caches()
    with pytest.raises(AssertionError, match=r"houses_of_\w+\.third\.kinds: WORD named '1' exists twice"):
        found(package)


def test_a_module_of_the_room_without_the_object_is_refused(package: Path) -> None:
    (package / "first" / "kinds" / "two.py").write_text("OTHER = 1\n")
    importlib.invalidate_caches()
    with pytest.raises(AssertionError, match=r"houses_of_\w+\.first\.kinds\.two must hold one WORD"):
        found(package)
