"""Design files belong to the program on a desktop: the entry of the menu, the icon and the type of file."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.calling import CHECKOUT

pytestmark = pytest.mark.skipif(sys.platform != "linux" or shutil.which("bash") is None, reason="for Linux desktops")


def install(place: Path, data: Path, *arguments: str) -> dict[str, str]:
    """Run the script at a place; the fields of the entry of the menu."""
    environment = {**os.environ, "XDG_DATA_HOME": str(data)}
    subprocess.run(["bash", str(place / "install.sh"), *arguments], env=environment, check=True, capture_output=True)
    entry = data / "applications" / "designer.desktop"
    lines = entry.read_text().splitlines() if entry.exists() else []
    return dict(line.split("=", 1) for line in lines if "=" in line)


def test_a_checkout_is_entered_and_removed(tmp_path: Path) -> None:
    entry = install(CHECKOUT / "packaging" / "desktop", tmp_path)
    program, place = shlex.split(entry["Exec"])
    assert (Path(program).resolve(), place) == (CHECKOUT / "packaging" / "run", "%F")
    assert os.access(program, os.X_OK)
    assert (tmp_path / "icons/hicolor/scalable/apps" / f"{entry['Icon']}.svg").exists()
    assert entry["MimeType"].rstrip(";") in (tmp_path / "mime/packages/designer.xml").read_text()
    if shutil.which("gio") and shutil.which("update-mime-database"):
        design = shutil.copy(CHECKOUT / "templates" / "dgx-a100.design.json", tmp_path)
        asked = ["gio", "info", "-a", "standard::content-type", str(design)]
        environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
        found = subprocess.run(asked, env=environment, capture_output=True, text=True, check=True)
        assert entry["MimeType"].rstrip(";") in found.stdout
    assert not install(CHECKOUT / "packaging" / "desktop", tmp_path, "--remove")
    assert not list(tmp_path.rglob("designer*.svg"))


def test_a_folder_with_the_program_is_entered_as_it_is_named(tmp_path: Path) -> None:
    """A space and a percent sign in its path are kept apart from the fields of the entry."""
    folder = tmp_path / "my 100% designer"
    folder.mkdir()
    for file in (CHECKOUT / "packaging" / "desktop").iterdir():
        shutil.copy(file, folder)
    shutil.copy(CHECKOUT / "assets" / "icons" / "designer.svg", folder)
    (folder / "designer").write_text("#!/bin/sh\n")
    (folder / "designer").chmod(0o755)
    entry = install(folder, tmp_path / "data")
    program, command, place = shlex.split(entry["Exec"])
    assert (program.replace("%%", "%"), command, place) == (str(folder / "designer"), "gui", "%F")
