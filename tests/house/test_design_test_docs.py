"""What docs/design-tests.md shows works: its file of tests, its steps for continuous integration, its pytest test."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from designer.__main__ import main
from designer.checks.evaluate import FUNCTIONS
from designer.design.document import Assertion
from designer.design.edits.assertions import AddAssertions
from designer.interchange.native.writer import save
from designer.interchange.templates import open_design

pytestmark = pytest.mark.without_qt
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.fixture
def blocks(checkout: Path) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for kind, text in _BLOCK.findall((checkout / "docs" / "design-tests.md").read_text("utf-8")):
        found.setdefault(kind, []).append(text)
    return found


@pytest.fixture
def workspace(blocks: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository as the steps expect it: designs with tests next to them."""
    folder = tmp_path / "designs"
    folder.mkdir()
    good = Assertion(id="eight", expression='count("gpu") == 8')
    save(AddAssertions((good,)).apply(open_design("hgx-h100-8")), folder / "cluster.design.json")
    (folder / "machine.checks.toml").write_text(blocks["toml"][0], "utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_the_file_of_tests_holds(blocks: dict[str, list[str]], workspace: Path) -> None:
    assert tomllib.loads(blocks["toml"][0])["check"]
    assert main(["test", "designs/machine.checks.toml", "--update"]) == 0
    assert (workspace / "designs" / "machine.snapshot.json").is_file()


@pytest.mark.parametrize("which", [0, 1])
def test_the_steps_run(blocks: dict[str, list[str]], workspace: Path, which: int) -> None:
    # of the blocks that run commands: another one calls the action
    running = [block for block in blocks["yaml"] if re.search(r"-\s+(run: )?designer ", block)]
    assert len(running) == 2
    steps = [
        shlex.split(line.strip().removeprefix("- run: ").removeprefix("- "))
        for line in running[which].splitlines()
        if re.search(r"-\s+(run: )?designer ", line)
    ]
    assert len(steps) == 2
    assert main(["test", "designs", "--update"]) == 0
    for step in steps:
        assert step[0] == "designer"
        assert main(step[1:]) == 0, step
    assert (workspace / "results.xml").read_text("utf-8").startswith("<?xml")
    # one promise that does not hold fails the step
    bad = Assertion(id="nine", expression='count("gpu") == 9')
    design = open_design(workspace / "designs" / "cluster.design.json")
    save(AddAssertions((bad,)).apply(design), workspace / "designs" / "cluster.design.json", overwrite=True)
    assert main(steps[-1][1:]) == 1


def test_pytest_collects_tests_and_opens_designs(blocks: dict[str, list[str]], workspace: Path, checkout: Path) -> None:
    (workspace / "designs" / "test_rules.py").write_text(blocks["python"][0], "utf-8")
    (workspace / "designs" / "odd.checks.toml").write_text(
        'design = "hgx-h100-8"\n[[check]]\nname = "nine"\nexpect = \'count("gpu") == 9\'\n', "utf-8"
    )
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "designer.testing.pytest_plugin",
        "-p",
        "no:cacheprovider",
        "designs",
    ]
    surroundings = {**os.environ, "PYTHONPATH": str(checkout), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(command, cwd=workspace, capture_output=True, text=True, check=False, env=surroundings)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "1 failed, 3 passed" in done.stdout
    assert "expected == 9, got 8" in done.stdout
    assert "Traceback" not in done.stdout


def test_every_function_is_told_in_the_docs(checkout: Path) -> None:
    text = (checkout / "docs" / "design-tests.md").read_text("utf-8")
    percentiles = {"p50", "p90", "p99"}
    assert [name for name in FUNCTIONS if f"{name}(" not in text and name not in percentiles] == []
