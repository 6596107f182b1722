"""The steps of the GitHub action run by a shell, in a clone as a runner has it, with a stand-in for its own program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import designer
from tests.cli.calling import CHECKOUT

yaml = pytest.importorskip("yaml")
pytestmark = pytest.mark.skipif(shutil.which("git") is None or os.name == "nt", reason="needs git and a shell")


def git(folder: Path, *arguments: str) -> str:
    named = ("-c", "user.email=tests@example.com", "-c", "user.name=Tests")
    return subprocess.run(["git", *named, *arguments], cwd=folder, capture_output=True, text=True, check=True).stdout


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Path, dict[str, str]]:
    """A shallow clone of a pull request that trades GPUs, and the variables of a runner."""
    for name in ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE"):
        monkeypatch.delenv(name, raising=False)
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "-q", "-b", "main")
    design = designer.open_design("hgx-h100-8")
    designer.save_design(design, origin / "a.design.json")
    checks = """format = "designer-checks"\nversion = 1\n[[check]]\nname = "GPUs are fed"\n"""
    (origin / "a.checks.toml").write_text(f"""{checks}expect = 'rate("memory -> gpu[*]") >= 30 GB/s each'\n""")
    git(origin, "add", ".")
    git(origin, "commit", "-q", "-m", "designs")
    base = git(origin, "rev-parse", "HEAD").strip()
    git(origin, "checkout", "-q", "-b", "request")
    designer.save_design(designer.edit(design, set=["gpu*.type=gpu/nvidia/h200-sxm"]), origin / "a.design.json")
    git(origin, "commit", "-q", "-a", "-m", "H200")
    git(origin, "config", "uploadpack.allowReachableSHA1InWant", "true")
    clone = tmp_path / "clone"
    git(tmp_path, "clone", "-q", "--depth=1", "--branch=request", origin.as_uri(), str(clone))
    tools = tmp_path / "tools"
    tools.mkdir()
    for name, body in (
        ("designer", f'exec "{sys.executable}" -m designer "$@"'),
        ("python", f'printf "%s\\n" "$*" >>"{tmp_path}/python"'),
        ("gh", f'printf "%s\\n" "$*" >"{tmp_path}/gh"'),
    ):
        (tools / name).write_text(f"#!/bin/sh\n{body}\n")
        (tools / name).chmod(0o755)
    known = {
        "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(CHECKOUT),
        "GITHUB_ACTION_PATH": str(CHECKOUT / "packaging" / "action"),
        "RUNNER_TEMP": str(tmp_path),
        "HOME": str(tmp_path),
    }
    return clone, {**known, "BASE": base}


def test_the_steps_comment_what_moved_and_run_the_tests(runner: tuple[Path, dict[str, str]], tmp_path: Path) -> None:
    clone, variables = runner
    action = yaml.safe_load((CHECKOUT / "packaging" / "action" / "action.yml").read_text())
    given = {
        "${{ inputs.token }}": "t",
        "${{ github.event.pull_request.base.sha }}": variables["BASE"],
        "${{ github.event.pull_request.number }}": "7",
        "${{ inputs.path }}": ".",
    }
    steps = [step for step in action["runs"]["steps"] if "run" in step]
    for step in steps:
        own = {name: given[value] for name, value in step.get("env", {}).items()}
        environment = {**os.environ, **{k: v for k, v in variables.items() if k != "BASE"}, **own}
        command = ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step["run"]]
        done = subprocess.run(command, cwd=clone, env=environment, capture_output=True, text=True, timeout=120)
        assert done.returncode == 0, (step["name"], done.stdout, done.stderr)
    installed = Path((tmp_path / "python").read_text().split()[-1])
    assert (installed / "pyproject.toml").resolve() == CHECKOUT / "pyproject.toml"
    words = (tmp_path / "gh").read_text().split()
    assert words[:3] == ["pr", "comment", "7"]
    comment = Path(words[-1]).read_text()
    assert "### a.design.json" in comment
    assert "H200" in comment
    assert "<testsuite" in (clone / "designer-results.xml").read_text()
