"""The diff driver in a real repository: git calls it, and all designs of a branch are compared."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import designer
from tests.cli.calling import call

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


def git(folder: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a design that has changed since its first commit, a new one and a removed one."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    design = designer.open_design("hgx-h100-8")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "config", "user.email", "tests@example.com")
    git(tmp_path, "config", "user.name", "Tests")
    designer.save_design(design, tmp_path / "a.design.json")
    designer.save_design(design, tmp_path / "gone.design.json")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "designs")
    designer.save_design(designer.edit(design, set=["gpu*.type=gpu/nvidia/h200-sxm"]), tmp_path / "a.design.json")
    designer.save_design(designer.open_design("m40-server"), tmp_path / "new.design.json")
    (tmp_path / "gone.design.json").unlink()
    git(tmp_path, "add", ".")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_designs_that_changed_are_compared(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = call(capsys, "git-diff", "--since", "main", "-o", "moved.md")
    assert found.code == 0
    text = (repository / "moved.md").read_text("utf-8")
    assert [line for line in text.splitlines() if line.startswith("### ")] == [
        "### a.design.json",
        "### gone.design.json",
        "### new.design.json",
    ]
    assert "Memory bandwidth" in text or "H200" in text
    assert "The design is removed: " in text
    assert "The design is new: " in text


def test_git_calls_the_driver(repository: Path, capsys: pytest.CaptureFixture[str], checkout: Path) -> None:
    assert call(capsys, "git-diff", "--install").code == 0
    assert call(capsys, "git-diff", "--install").code == 0
    assert (repository / ".gitattributes").read_text("utf-8") == "*.design.json diff=designer\n"
    assert git(repository, "config", "diff.designer.command").strip() == "designer git-diff"
    # the command of this checkout, wherever its script is
    git(repository, "config", "diff.designer.command", f"'{sys.executable}' -m designer git-diff")
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(
        ["git", "diff", "HEAD", "--", "a.design.json"], cwd=repository, capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("### a.design.json")
    assert "H200" in done.stdout


def test_a_design_that_cannot_be_read_is_said_to_be_so(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (repository / "a.design.json").write_text("{", encoding="utf-8")
    found = call(capsys, "git-diff", "--since", "HEAD")
    assert found.code == 0
    assert "It cannot be compared: " in found.out


def test_nothing_changed(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    git(repository, "commit", "-q", "-m", "changes")
    assert call(capsys, "git-diff", "--since", "HEAD").out.strip() == "No design has changed."


@pytest.mark.parametrize(
    "arguments",
    [(), ("--since", "no-such-revision"), ("--since", "--output=x"), ("a", "b"), ("--install", "--since", "x")],
)
def test_what_cannot_be_asked_is_refused(
    repository: Path, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    assert call(capsys, "git-diff", *arguments).code == 2


def test_outside_a_repository_it_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    monkeypatch.chdir(tmp_path)
    assert call(capsys, "git-diff", "--since", "main").code == 2
