"""The container recipe and the action: what they copy exists, what they run exists, and the install step works."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml

from designer.cli.main import commands

STEP = re.compile(r"^(FROM|WORKDIR|COPY|RUN|USER|ENTRYPOINT|CMD) (.+)$")


def steps(checkout: Path) -> list[tuple[str, str]]:
    lines = (checkout / "packaging" / "Containerfile").read_text("utf-8").splitlines()
    found = [STEP.match(line) for line in lines if line and not line.startswith("#")]
    assert all(found), "one instruction a line"
    return [(step[1], step[2]) for step in found if step]


def copied(checkout: Path) -> list[str]:
    """Files and folders of the checkout that the recipe copies."""
    copies = [words.split()[:-1] for name, words in steps(checkout) if name == "COPY" and "--from" not in words]
    return [name for names in copies for name in names]


def test_the_recipe_copies_what_the_wheel_needs(checkout: Path) -> None:
    names = copied(checkout)
    assert all((checkout / name).exists() for name in names)
    assert {"pyproject.toml", "README.md", "LICENSE", "designer"} <= set(names)
    project = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))
    included = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    assert set(included) <= set(names)


def test_the_container_runs_the_command_as_no_root(checkout: Path) -> None:
    found = steps(checkout)
    last = len(found) - 1 - [name for name, _ in reversed(found)].index("FROM")
    final = dict(found[last:])
    assert final["USER"] == "designer"
    assert final["ENTRYPOINT"] == '["designer"]'
    assert all(words.split()[0].split(":")[1].startswith("3.1") for name, words in found if name == "FROM")


@pytest.mark.long
def test_the_install_step_works_on_what_is_copied(checkout: Path, tmp_path: Path) -> None:
    """The step as written, in a folder with nothing but what the recipe copies, and another prefix."""
    source, prefix = tmp_path / "src", tmp_path / "install"
    source.mkdir()
    for name in copied(checkout):
        whole = checkout / name
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        if whole.is_dir():
            shutil.copytree(whole, source / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(whole, source / name)
    install = next(words for name, words in steps(checkout) if name == "RUN" and "pip install" in words)
    # in an environment of its own: pip removes what it finds installed where it runs, whatever the prefix
    subprocess.run([sys.executable, "-m", "venv", str(tmp_path / "venv")], check=True, timeout=120)
    python = tmp_path / "venv" / "bin" / "python"
    install = install.replace("python", f"'{python}'", 1).replace("/install", str(prefix))
    subprocess.run(["bash", "-ec", install], cwd=source, check=True, timeout=600)
    site = next(prefix.glob("lib/python*/site-packages"))
    environment = {**os.environ, "PYTHONPATH": str(site)}
    asked = [str(python), "-m", "designer", "summary", "hgx-h100-8"]
    done = subprocess.run(asked, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert "gpu" in done.stdout


def test_the_action_runs_commands_that_exist(checkout: Path) -> None:
    action = yaml.safe_load((checkout / "packaging" / "action" / "action.yml").read_text("utf-8"))
    assert action["runs"]["using"] == "composite"
    ran = "\n".join(step.get("run", "") for step in action["runs"]["steps"])
    called = re.findall(r"^\s*designer (\S+)", ran, re.MULTILINE)
    assert called == ["git-diff", "test"]
    assert set(called) <= set(commands())
    assert all(step["shell"] == "bash" for step in action["runs"]["steps"] if "run" in step)
    # inputs reach the shell by its environment alone: text of others is never part of a script
    assert "${{" not in ran
    assert (checkout / "packaging" / "action" / ".." / ".." / "pyproject.toml").is_file()
