"""Every recipe of docs/adding.md, followed in a copy of the program: the file is saved, its command run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adding.md"
_FILE = re.compile(r"```(?:python|toml|text)\n# (\S+)\n(.*?)```", re.DOTALL)
_ROW = re.compile(r"```text\n# (\S+), a row of \"(\w+)\"\n(.*?)```", re.DOTALL)
_STEPS = re.compile(r"```bash\n((?:[^\n#]+\n)+)```")
_COMMAND = re.compile(r"```bash\n((?:designer|python) [^\n]*?)\s+# ([^\n]*)\n```")


class Recipe(NamedTuple):
    """Its heading, its files and rows by place, what to run then, a command, and a word of what that prints."""

    heading: str
    files: dict[str, str]
    rows: tuple[tuple[str, str, str], ...]
    steps: tuple[str, ...]
    command: str
    word: str


def recipes() -> list[Recipe]:
    """All sections with a file and a command."""
    found: list[Recipe] = []
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        files, command = dict(_FILE.findall(section)), _COMMAND.search(section)
        if files and command is not None:
            steps = tuple(line for block in _STEPS.findall(section) for line in block.splitlines())
            heading, rows = section.partition("\n")[0], tuple(_ROW.findall(section))
            found.append(Recipe(heading, files, rows, steps, command[1], command[2].strip()))
    return found


def follow(recipe: Recipe, copy: Path) -> None:
    """Save the files of a recipe and its rows in pages."""
    for place, text in recipe.files.items():
        assert not (copy / place).exists(), f"{place} is there already"
        (copy / place).parent.mkdir(parents=True, exist_ok=True)
        (copy / place).write_text(text, encoding="utf-8")
    for place, chapter, row in recipe.rows:
        page = (copy / place).read_text("utf-8")
        before, heading, after = page.partition(f"## {chapter}\n")
        assert heading, (place, chapter)
        table = re.search(r"(?:^\|[^\n]*\n)+", after, re.MULTILINE)
        assert table is not None, (place, chapter)
        (copy / place).write_text(before + heading + after[: table.end()] + row + after[table.end() :], "utf-8")


@pytest.fixture(scope="module")
def copy(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with every recipe followed."""
    made = tmp_path_factory.mktemp("copy")
    for folder in ("designer", "assets", "docs"):
        shutil.copytree(checkout / folder, made / folder, ignore=shutil.ignore_patterns("pictures", "__pycache__"))
    (made / "templates").symlink_to(checkout / "templates")
    for recipe in recipes():
        follow(recipe, made)
    return made


#: names every tool, and makes every panel of the window as its places do
PANELS = """
from pathlib import Path
from PySide6.QtWidgets import QApplication
app = QApplication([])
from designer.gui import theme
from designer.gui.panels._panel import Surroundings, panel_kinds
from designer.gui.session import Session
from designer.gui.settings import Settings
from designer.interchange.templates import open_design
from designer.gui.actions._action import add_late, all_actions
from designer.gui.actions._late import late_actions
add_late(late_actions())
print(*(action.title for action in all_actions().values()))
session = Session(open_design("hgx-a100-4"))
for kind in panel_kinds():
    panel = kind.build(Surroundings(theme.LIGHT, Settings(), lambda _: None, list))
    panel.set_session(session)
    panel.flush()
    panel.set_session(None)
    panel.close_jobs()
    print(kind.title)
"""


#: what the page promises a recipe for
THINGS = (
    "A part",
    "A command",
    "A panel",
    "A tool of the canvas",
    "An exporter",
    "An importer",
    "A kind of link",
    "A figure",
    "A formula",
    "A rule",
)


@cache
def ran(copy: Path, *what: str) -> subprocess.CompletedProcess[str]:
    """What the program of a folder says; what several recipes ask is asked once."""
    return subprocess.run(
        [sys.executable, *what],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "QT_QPA_PLATFORM": "offscreen", "HOME": str(copy)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_everything_has_a_recipe() -> None:
    assert sorted(recipe.heading for recipe in recipes()) == sorted(THINGS)


@pytest.mark.parametrize("recipe", recipes(), ids=lambda recipe: recipe.heading)
def test_a_recipe_works_as_written(checkout: Path, copy: Path, recipe: Recipe) -> None:
    program, *words = shlex.split(recipe.command)
    place, command, word = next(iter(recipe.files)), recipe.command, recipe.word
    what = ["-m", program, *words] if program == "designer" else words
    if "/gui/" in place:
        pytest.importorskip("PySide6")
        what = ["-c", PANELS]
    done = ran(copy, *what)
    assert done.returncode == 0, done.stderr
    if "self-check" in command:
        before = ran(checkout, *what)
        with_it, without = (int(re.findall(rf"{word}\s+(\d+)", text)[0]) for text in (done.stdout, before.stdout))
        more = with_it - without
        assert more == 1, f"{place} was not found"
        return
    written = [copy / name for name in words if name not in recipe.files and (copy / name).is_file()]
    said = done.stdout + done.stderr + "".join(file.read_text(encoding="utf-8") for file in written)
    assert said.strip(), place
    assert " ".join(word.split()) in " ".join(said.split())


@pytest.mark.long
def test_the_guards_hold_where_every_recipe_was_followed(checkout: Path, tmp_path: Path) -> None:
    """A whole copy: recipes with their rows and steps, then all of `tests/house` that does not make copies itself."""
    pytest.importorskip("PySide6")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=checkout, capture_output=True, check=True).stdout.decode()
    for name in filter(None, listed.split("\0")):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(checkout / name, tmp_path / name)
    for recipe in recipes():
        follow(recipe, tmp_path)
    for step in (step for recipe in recipes() for step in recipe.steps):
        program, *words = shlex.split(step)
        if program == "mkdir":
            (tmp_path / words[0]).mkdir()
            continue
        done = ran(tmp_path, *(["-m", program] if program == "designer" else []), *words)
        assert done.returncode == 0, (step, done.stdout, done.stderr)
    chosen = "not adding and not extensions and not pages_run and not private_paths"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/house", "-m", "not long", "-k", chosen],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "QT_QPA_PLATFORM": "offscreen"},
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-4000:]
