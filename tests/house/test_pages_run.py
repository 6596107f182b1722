"""What pages state works: commands and their answers, examples, formats that there are."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from designer.interchange.exporting import exporters
from designer.interchange.importing import MAX_BYTES, importers
from tests.cli.calling import call

# What pages state people to type works: the examples of the Python page, the commands of the tutorial.

pytestmark = pytest.mark.without_qt


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)


def test_the_examples_of_the_python_page_run(checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    examples = blocks(checkout / "docs" / "python.md", "python")
    assert len(examples) >= 8
    monkeypatch.chdir(tmp_path)
    exec(compile("\n".join(examples), "docs/python.md", "exec"), {"__name__": "page"})
    assert (tmp_path / "report.html").stat().st_size > 50_000


def test_every_public_name_is_on_the_python_page(checkout: Path) -> None:
    import designer

    text = (checkout / "docs" / "python.md").read_text("utf-8")
    assert [name for name in designer.__all__ if f"designer.{name}(" not in text] == []


def test_the_commands_of_the_tutorial_run(
    checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One after the other, in one folder; files the tutorial shows are made of what it shows. Commands run in this
    process, which is quick; scripts in one of their own.
    """
    page = checkout / "docs" / "tutorial.md"
    steps = re.findall(r"^```(\w+)\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    environment = {**os.environ, "PYTHONPATH": str(checkout), "COLUMNS": "120"}
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    commands = 0
    for language, body in steps:
        if language in ("python", "toml", "json"):
            name = re.match(r"# (\S+)\n", body)
            assert name is not None, "a file begins with its name"
            (tmp_path / name[1]).write_text(body, encoding="utf-8")
        if language != "bash":
            continue
        for line in body.splitlines():
            command = line.partition("  #")[0].strip()
            if not command:
                continue
            program, _, rest = command.partition(" ")
            assert program in ("designer", "python"), command
            if program == "designer":
                here = call(capsys, *rest.split())
                code, out, err = here.code, here.out, here.err
            else:
                done = subprocess.run(
                    [sys.executable, *rest.split()], env=environment, capture_output=True, text=True, timeout=300
                )
                code, out, err = done.returncode, done.stdout, done.stderr
            assert "Traceback" not in err, (command, err)
            assert code in (0, 1), (command, err)
            # 1 is what a test that does not hold answers; the page says so where it means that
            assert code == int("# does not hold" in line), (command, out, err)
            commands += 1
    assert commands >= 8
    assert (tmp_path / "report.html").exists()
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


@pytest.mark.parametrize("page", sorted(Path(__file__).parents[2].glob("docs/*/*.md")), ids=lambda page: page.stem)
def test_the_commands_of_concepts_and_how_tos_run(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(
        r"`(\w+\.json)`:\n\n```json\n(.*?)^```", page.read_text("utf-8"), re.DOTALL | re.MULTILINE
    ):
        (tmp_path / name).write_text(text, encoding="utf-8")
    for line in filter(None, "\n".join(blocks(page, "bash")).splitlines()):
        program, *arguments = line.split()
        assert program == "designer", line
        done = call(capsys, *arguments)
        assert done.code == 0, (line, done.out, done.err)


# The page of the source articles: every row has a command and its answer, and the commands give it.

#: figures of the page are compared within this share
_NEAR = 0.15


_UNITS = {"ms": 1e-3, "s": 1, "min": 60, "h": 3600, "days": 86_400, "MB/s": 1e6, "GB/s": 1e9, "GB": 1e9, "TB": 1e12}


_ROW = re.compile(r"^\| ([A-E]\d+) \|.*\| ([^|]+) \| `designer ([^`]+)` \|$", re.MULTILINE)


def _rows() -> dict[str, tuple[str, str]]:
    page = Path(__file__).parents[2] / "docs" / "articles.md"
    return {row: (answer, command) for row, answer, command in _ROW.findall(page.read_text("utf-8"))}


def test_every_row_of_the_articles_has_its_command_and_answer() -> None:
    counts = {"A": 11, "B": 7, "C": 14, "D": 4, "E": 4}
    rows = _rows()
    assert set(rows) == {f"{letter}{k}" for letter, most in counts.items() for k in range(1, most + 1)}
    assert all(re.search(r"\d", answer) for answer, _ in rows.values())


@pytest.mark.parametrize("row", _rows())
def test_a_command_of_the_page_gives_its_answer(row: str, capsys: pytest.CaptureFixture[str]) -> None:
    answer, command = _rows()[row]
    metric = re.match(r"`(\w+)` ([\d.]+) ?(\S*)$", answer)
    found = call(capsys, *shlex.split(command), *(["--json"] if metric else []))
    assert found.code == 0, found.err
    if metric is None:
        assert answer in found.out
        return
    name, number, unit = metric.groups()
    metrics = [w["metrics"][name]["value"] for w in json.loads(found.out)["workloads"] if name in w["metrics"]]
    stated = float(number) * (_UNITS | {"%": 0.01, "/s": 1, "": 1})[unit]
    assert metrics[0] == pytest.approx(stated, rel=_NEAR)


# The page of formats names every reader and writer there is, and no other.


def _names(page: str, chapter: str) -> list[str]:
    text = page.split(f"## {chapter}\n")[1].split("\n## ")[0]
    rows = [row.split("|")[1] for row in text.splitlines() if row.startswith("| `")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row)]


def test_every_format_is_on_the_page_once(checkout: Path) -> None:
    page = (checkout / "docs" / "formats.md").read_text("utf-8")
    assert sorted(_names(page, "Read")) == sorted(importers())
    assert sorted(_names(page, "Written")) == sorted(exporters())
    assert f"{MAX_BYTES // 2**20} MiB" in page
