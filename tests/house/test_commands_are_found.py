"""Commands are found without a list and without source files on a disk: one new file is one new command."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from designer.cli.command import Command
from designer.cli.main import commands

pytestmark = pytest.mark.without_qt


@pytest.mark.parametrize("name", commands())
def test_a_command_is_called_as_its_file(name: str) -> None:
    command = importlib.import_module(commands()[name]).COMMAND
    assert isinstance(command, Command)
    assert command.name == name
    assert command.example.startswith(f"designer {name}")


def test_no_file_is_left_out(checkout: Path) -> None:
    files = {file.stem for file in (checkout / "designer" / "cli" / "commands").glob("[!_]*.py")}
    assert {module.rpartition(".")[2] for module in commands().values()} == files


@pytest.mark.parametrize("kept", [".py", ".pyc"])
def test_they_are_found_in_a_zip(checkout: Path, tmp_path: Path, kept: str) -> None:
    """With the source, and compiled alone as in a frozen program."""
    made = tmp_path / "designer.zip"
    with zipfile.PyZipFile(made, "w") if kept == ".pyc" else zipfile.ZipFile(made, "w") as packed:
        if isinstance(packed, zipfile.PyZipFile):
            packed.writepy(str(checkout / "designer"), filterfunc=lambda name: "gui" not in name)
        else:
            for file in (checkout / "designer").rglob("*.py"):
                packed.write(file, file.relative_to(checkout))
    done = subprocess.run(
        [sys.executable, "-c", "import sys; from designer.cli.main import run; sys.exit(run(['--help']))"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(made), "PYTHONSAFEPATH": "1"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    for name in commands():
        line = next((line for line in lines if line.startswith(f"  {name} ")), "")
        assert len(line.split()) > 3, f"{name}: {line!r}"
