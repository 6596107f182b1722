"""The README is short, begins with the two commands, and shows what a terminal of 80 columns shows.

Every `designer …` line of the README and of the page of commands runs. ``python -m tests.house.test_readme --write``
runs the commands of the README whose output is shown and writes the output of today below them.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from designer.__main__ import main
from tests.cli.calling import call

README = Path(__file__).resolve().parents[2] / "README.md"
#: pages whose links and pictures have to be there
PAGES = ("README.md", "docs/commands.md", "docs/accuracy.md", "docs/architecture.md")
_BLOCK = re.compile(r"^```(bash|sh|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_SHOWN = re.compile(r"^```console\n\$ designer ([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\((?!https?:|#)([^)#]+)[^)]*\)")
#: exit status a line announces by ``# exits 1``; else it must succeed
_EXITS = re.compile(r"#\s*exits (\d)\b")


def commands(text: str) -> list[tuple[list[str], int]]:
    """Arguments and expected exit status of each `designer` line in the shell blocks of a Markdown text."""
    found: list[tuple[list[str], int]] = []
    for language, block in _BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            if language == "console" and not line.startswith("$ "):
                continue
            words = shlex.split(line.removeprefix("$ "), comments=True)
            if words[:3] == ["python", "-m", "designer"]:
                words = words[2:]
            if words[:1] == ["designer"]:
                status = _EXITS.search(line)
                found.append((words[1:], int(status[1]) if status else 0))
    return found


def opens_a_window(arguments: list[str]) -> bool:
    return not arguments or arguments[0] == "gui" or arguments[0].endswith(".json")


def printed(arguments: str) -> str:
    """What a command prints in a terminal of 80 columns; ``COLUMNS`` is set by the caller."""
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        code = main(shlex.split(arguments))
    assert code == 0, f"designer {arguments}: {code}"
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().strip("\n").splitlines())


def with_output(text: str) -> str:
    """A Markdown text with what each command of a console block prints today."""
    return _SHOWN.sub(lambda block: f"```console\n$ designer {block[1]}\n{printed(block[1])}```", text)


def test_it_begins_with_the_two_commands(checkout: Path) -> None:
    lines = [line for line in (checkout / "README.md").read_text("utf-8").splitlines() if not line.startswith("```")]
    assert lines[0].startswith("bash packaging/run ")
    assert lines[1].startswith("bash packaging/test ")
    for line in lines[:2]:
        program = checkout / line.split()[1]
        assert os.access(program, os.X_OK), f"{program} is not executable"


def test_it_has_at_most_700_words(checkout: Path) -> None:
    assert len((checkout / "README.md").read_text("utf-8").split()) <= 700


def test_it_shows_what_a_terminal_shows(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five commands with their output, each at most 30 lines of at most 80 columns."""
    text = (checkout / "README.md").read_text("utf-8")
    blocks = _SHOWN.findall(text)
    assert len(blocks) == 5
    assert text.count("```console") == 5
    for _, output in blocks:
        assert 1 <= len(output.splitlines()) <= 30
        assert max(map(len, output.splitlines())) <= 80
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    assert with_output(text) == text, "python -m tests.house.test_readme --write"


@pytest.mark.parametrize("name", PAGES)
def test_links_and_pictures_are_there(checkout: Path, name: str) -> None:
    page = checkout / name
    made = ("reference/", "pictures/")  # what packaging/site makes
    links = [link for link in _LINK.findall(page.read_text("utf-8")) if not link.startswith(made)]
    assert links or name.endswith("accuracy.md")
    assert [link for link in links if not (page.parent / link).exists()] == []


def test_the_architecture_names_every_room(checkout: Path) -> None:
    """The picture of the tree does not lag behind the tree."""
    text = (checkout / "docs" / "architecture.md").read_text("utf-8")
    rooms = [
        path.name
        for path in (checkout / "designer").iterdir()
        if not path.name.startswith("_") and (path.suffix == ".py" or (path / "__init__.py").is_file())
    ]
    assert rooms
    assert [room for room in sorted(rooms) if not re.search(rf"\b{re.escape(room)}", text)] == []


@pytest.mark.parametrize("name", ["README.md", "docs/commands.md"])
def test_every_command_shown_runs(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    """In this process but for the first, which takes a third of the time."""
    shown = commands((checkout / name).read_text("utf-8"))
    assert shown, f"{name} shows no command"
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
        "```console\n$ designer summary x\ndesigner's output\n```\n"
    )
    assert commands(text) == [(["templates"], 0), (["check", "x", "--json"], 1), (["parts"], 0), (["summary", "x"], 0)]


@pytest.mark.parametrize(
    ("words", "window"), [([], True), (["gui", "x"], True), (["a.design.json"], True), (["parts"], False)]
)
def test_lines_that_open_a_window_are_left_to_the_window_tests(words: list[str], window: bool) -> None:
    assert opens_a_window(words) is window


if __name__ == "__main__":
    os.environ["COLUMNS"] = "80"
    before = README.read_text("utf-8")
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        after = with_output(before)
    if "--write" in sys.argv:
        README.write_text(after, "utf-8")
    else:
        sys.stdout.write(after)
