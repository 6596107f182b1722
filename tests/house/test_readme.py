"""What the README shows works: it begins with the two commands, and every `designer …` line in it runs."""

from __future__ import annotations

import importlib.util
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.calling import call

_BLOCK = re.compile(r"^```(?:bash|sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
#: exit status a line announces by ``# exits 1``; else it must succeed
_EXITS = re.compile(r"#\s*exits (\d)\b")


def commands(text: str) -> list[tuple[list[str], int]]:
    """Arguments and expected exit status of each `designer` line in the shell blocks of a Markdown text."""
    found: list[tuple[list[str], int]] = []
    for block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:3] == ["python", "-m", "designer"]:
                words = words[2:]
            if words[:1] == ["designer"]:
                status = _EXITS.search(line)
                found.append((words[1:], int(status[1]) if status else 0))
    return found


def opens_a_window(arguments: list[str]) -> bool:
    return not arguments or arguments[0] == "gui" or arguments[0].endswith(".json")


def test_it_begins_with_the_two_commands(checkout: Path) -> None:
    lines = [line for line in (checkout / "README.md").read_text("utf-8").splitlines() if not line.startswith("```")]
    assert lines[0].startswith("packaging/run")
    assert lines[1].startswith("packaging/test")
    for line in lines[:2]:
        program = checkout / line.split()[0]
        assert os.access(program, os.X_OK), f"{program} is not executable"


def test_the_architecture_names_every_room(checkout: Path) -> None:
    """The picture of the tree does not lag behind the tree."""
    text = (checkout / "README.md").read_text("utf-8")
    rooms = [
        path.name
        for path in (checkout / "designer").iterdir()
        if not path.name.startswith("_") and (path.suffix == ".py" or (path / "__init__.py").is_file())
    ]
    assert rooms
    assert [room for room in sorted(rooms) if not re.search(rf"\b{re.escape(room)}", text)] == []


def test_every_command_shown_runs(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In this process but for the first, which takes a third of the time."""
    shown = [(words, status) for words, status in commands((checkout / "README.md").read_text("utf-8"))]
    assert shown, "the README shows no command"
    if importlib.util.find_spec("designer.__main__") is None:
        pytest.skip("the command line does not exist yet")
    environment = os.environ | {"PYTHONPATH": str(checkout)}
    monkeypatch.chdir(tmp_path)
    asked = [(words, status) for words, status in shown if not opens_a_window(words)]
    for number, (words, status) in enumerate(asked):
        if number:
            here = call(capsys, *words)
            assert here.code == status, f"designer {shlex.join(words)}\n{here.out[-2000:]}\n{here.err[-2000:]}"
            continue
        done = subprocess.run(
            [sys.executable, "-m", "designer", *words],
            cwd=tmp_path,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == status, f"designer {shlex.join(words)}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"


def test_commands_are_read_from_shell_blocks_only() -> None:
    text = (
        "designer not this\n```python\ndesigner = 1\n```\n"
        "```bash\n$ designer templates   # the list\ndesigner check x \\\n  --json  # exits 1\nls\n"
        "python -m designer parts\n```\n"
    )
    assert commands(text) == [(["templates"], 0), (["check", "x", "--json"], 1), (["parts"], 0)]


@pytest.mark.parametrize(
    ("words", "window"), [([], True), (["gui", "x"], True), (["a.design.json"], True), (["parts"], False)]
)
def test_lines_that_open_a_window_are_left_to_the_window_tests(words: list[str], window: bool) -> None:
    assert opens_a_window(words) is window
