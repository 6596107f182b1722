"""Every recipe of docs/adding.md, followed in a copy of the program: the file is saved, its command run."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).resolve().parents[2] / "docs" / "adding.md"
_FILE = re.compile(r"```(?:python|toml)\n# (\S+)\n(.*?)```", re.DOTALL)
_COMMAND = re.compile(r"```bash\n(designer .*?)# (.*?)\n```", re.DOTALL)


def recipes() -> list[tuple[str, str, str, str]]:
    """Place of the file, its text, the command and a word of what it then prints, of each recipe with both."""
    found: list[tuple[str, str, str, str]] = []
    for section in PAGE.read_text(encoding="utf-8").split("\n## ")[1:]:
        file, command = _FILE.search(section), _COMMAND.search(section)
        if file is not None and command is not None:
            found.append((file[1], file[2], command[1].strip(), command[2].strip()))
    return found


@pytest.fixture(scope="module")
def copy(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the program with every recipe followed."""
    made = tmp_path_factory.mktemp("copy")
    for folder in ("designer", "assets"):
        shutil.copytree(checkout / folder, made / folder, ignore=shutil.ignore_patterns("__pycache__", "pictures"))
    (made / "templates").symlink_to(checkout / "templates")
    for place, text, _, _ in recipes():
        assert not (made / place).exists(), f"{place} is there already"
        (made / place).parent.mkdir(parents=True, exist_ok=True)
        (made / place).write_text(text, encoding="utf-8")
    return made


#: names every tool, and makes every panel of the window as the docks do
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


def test_there_are_recipes() -> None:
    assert len(recipes()) >= 5


@pytest.mark.parametrize(("place", "command", "word"), [(p, c, w) for p, _, c, w in recipes()])
def test_a_recipe_works_as_written(copy: Path, place: str, command: str, word: str) -> None:
    what = ["-m", *shlex.split(command)]
    if "/gui/" in place:
        pytest.importorskip("PySide6")
        what = ["-c", PANELS]
    done = subprocess.run(
        [sys.executable, *what],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": str(copy), "QT_QPA_PLATFORM": "offscreen", "HOME": str(copy)},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    if "self-check" in command:
        before = subprocess.run(
            [sys.executable, "-m", "designer", "self-check"], capture_output=True, text=True, timeout=240, check=False
        )
        more = int(re.findall(rf"{word}\s+(\d+)", done.stdout)[0]) - int(
            re.findall(rf"{word}\s+(\d+)", before.stdout)[0]
        )
        assert more == 1, f"{place} was not found"
        return
    written = [copy / name for name in shlex.split(command) if (copy / name).is_file()]
    said = done.stdout + done.stderr + "".join(file.read_text(encoding="utf-8") for file in written)
    assert said.strip(), place
    assert " ".join(word.split()) in " ".join(said.split()) or written
