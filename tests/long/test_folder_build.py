"""The folder that runs without Python: built, started, asked."""

from __future__ import annotations

import faulthandler
import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.long
#: about three minutes on an idle machine, twice that next to other work; a second build takes over what the first found
_BUILD = 1500


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    if importlib.util.find_spec("PyInstaller") is None:
        pytest.skip("PyInstaller is not installed: pip install pyinstaller")
    folder = tmp_path_factory.mktemp("folder")
    spec = Path(__file__).parents[2] / "packaging" / "designer.spec"
    # what imports what is kept in the checkout, which ignores build/
    places = ["--distpath", str(folder / "dist"), "--workpath", str(spec.parents[1] / "build" / "folder")]
    asked = [sys.executable, "-m", "PyInstaller", "--noconfirm", "--log-level", "ERROR", *places, str(spec)]
    # the build has a limit of its own: the one of all tests would end it under load
    faulthandler.cancel_dump_traceback_later()
    done = subprocess.run(asked, cwd=folder, capture_output=True, text=True, timeout=_BUILD)
    assert done.returncode == 0, done.stderr[-2000:]
    name = "designer.exe" if sys.platform == "win32" else "designer"
    return folder / "dist" / "designer" / name


def run(program: Path, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    # nothing of the checkout or of this Python may help it
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "VIRTUAL_ENV"))}
    environment["QT_QPA_PLATFORM"] = "offscreen"
    return subprocess.run(
        [str(program), *arguments], cwd=cwd, env=environment, capture_output=True, text=True, timeout=300
    )


def test_it_checks_itself_and_answers(program: Path, tmp_path: Path) -> None:
    for arguments in (
        ("self-check",),
        ("analyze", "hgx-h100-8", "--workload", "h2d"),
        ("report", "dgx-a100", "-o", "report.html"),
        ("report", "dgx-a100", "-o", "report.pdf"),
        ("bom", "dgx-a100", "-o", "bom.xlsx"),
        ("export", "dgx-a100", "-o", "drawing.png"),
        ("--help",),
    ):
        done = run(program, *arguments, cwd=tmp_path)
        assert done.returncode == 0, (arguments, done.stderr)
        assert "Traceback" not in done.stderr
    assert (tmp_path / "report.html").stat().st_size > 50_000
    beginnings = {"report.pdf": b"%PDF", "bom.xlsx": b"PK", "drawing.png": b"\x89PNG"}
    for name, begins in beginnings.items():
        assert (tmp_path / name).read_bytes().startswith(begins), name


@pytest.mark.skipif(sys.platform != "linux", reason="the entry of a menu is for Linux desktops")
def test_it_enters_itself_in_the_menu(program: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    subprocess.run(["bash", str(program.parent / "install.sh")], env=environment, check=True, capture_output=True)
    entry = (tmp_path / "applications" / "designer.desktop").read_text()
    assert f'Exec="{program}" gui %F' in entry.splitlines()
    assert (tmp_path / "icons/hicolor/scalable/apps/designer.svg").exists()
    # the layout of an AppDir: what starts it, its entry and its icon
    assert (program.parent / "AppRun").resolve() == program.resolve()
    assert {"designer.desktop", "designer.svg", ".DirIcon"} <= {file.name for file in program.parent.iterdir()}


def test_the_window_opens(program: Path, tmp_path: Path) -> None:
    """It stays open until it is asked to end."""
    if importlib.util.find_spec("PySide6") is None:
        pytest.skip("built without the window")
    environment = {**os.environ, "QT_QPA_PLATFORM": "offscreen", "HOME": str(tmp_path)}
    window = subprocess.Popen(
        [str(program), "gui", "dgx-a100"], cwd=tmp_path, env=environment, stderr=subprocess.PIPE, text=True
    )
    try:
        with pytest.raises(subprocess.TimeoutExpired):
            window.wait(15)
    finally:
        window.terminate()
        _, said = window.communicate(timeout=30)
    assert "Traceback" not in said
