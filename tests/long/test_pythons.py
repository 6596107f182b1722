"""The wheel, installed for every Python it is meant for that is found here, checks itself."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
VERSIONS = ("3.11", "3.12", "3.13", "3.14")


def interpreter(version: str) -> str | None:
    """A Python of this version: this one, on the path, or among those of pyenv."""
    if sys.version_info[:2] == tuple(int(n) for n in version.split(".")):
        return sys.executable
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    kept = sorted(root.glob(f"versions/{version}.*/bin/python{version}"))
    # shims of pyenv are on the path for versions that are not chosen, and then only complain
    for found in (shutil.which(f"python{version}"), *map(str, kept)):
        if found and subprocess.run([found, "-c", ""], capture_output=True, timeout=60).returncode == 0:
            return found
    return None


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    checkout = Path(__file__).parents[2]
    asked = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder), str(checkout)]
    subprocess.run(asked, check=True, capture_output=True, timeout=600)
    return next(folder.glob("*.whl"))


@pytest.mark.parametrize("version", VERSIONS)
def test_the_wheel_checks_itself(version: str, wheel: Path, tmp_path: Path) -> None:
    """Warnings are errors: what a newer Python only warns of will one day fail."""
    python = interpreter(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    subprocess.run([python, "-m", "venv", str(tmp_path / "venv")], check=True, capture_output=True, timeout=300)
    own = tmp_path / "venv" / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    done = subprocess.run([own, "-m", "pip", "install", "--quiet", wheel], capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr[-2000:]
    asked = [own, "-P", "-W", "error", "-m", "designer"]
    for command in (["self-check"], ["analyze", "hgx-h100-8", "--workload", "h2d"]):
        done = subprocess.run([*asked, *command], cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, (command, done.stderr[-2000:])
