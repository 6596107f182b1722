"""The program runs on Linux, Windows and macOS: what only some have is called in one module, or asked for first."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import tomllib
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.source_trees import trees

pytestmark = pytest.mark.xdist_group("sources")

#: the one module that may
ALLOWED = "atomic.py"
#: modules that Windows lacks
MODULES = {"crypt", "fcntl", "grp", "nis", "posix", "pty", "pwd", "resource", "spwd", "syslog", "termios", "tty"}
#: functions and flags of ``os`` and ``signal`` that it lacks
_LACKING = """
O_DIRECTORY O_NOCTTY O_NOFOLLOW O_NONBLOCK O_TMPFILE SIGALRM SIGHUP SIGKILL SIGUSR1 alarm chown chroot ctermid
fchdir fchmod fchown fork forkpty getegid geteuid getgid getgroups getloadavg getpgid getuid getxattr
initgroups killpg lchown listxattr mkfifo mknod nice openpty pathconf posix_fadvise posix_fallocate posix_spawn
pread preadv pwrite removexattr sched_getaffinity sched_setaffinity sendfile setegid seteuid setgid setpgid
setsid setuid setxattr statvfs sync sysconf ttyname uname wait3 wait4 waitid
"""
NAMES = frozenset(_LACKING.split())


def offences(tree: ast.AST) -> Iterator[str]:
    """Calls of what Windows lacks that are not behind a question whether it is there."""
    asked: set[object] = {
        node.args[1].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and getattr(node.func, "id", "") in ("hasattr", "getattr")
        and len(node.args) > 1
        and isinstance(node.args[1], ast.Constant)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names if a.name.partition(".")[0] in MODULES)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in MODULES:
            yield str(node.module)
        elif isinstance(node, ast.Attribute) and getattr(node.value, "id", "") in ("os", "signal"):
            yield from {node.attr} & NAMES - asked


def test_what_some_systems_lack_is_called_in_one_module(checkout: Path) -> None:
    found = {str(path.relative_to(checkout)): list(offences(tree)) for path, tree in trees().items()}
    assert {file: what for file, what in found.items() if what and not file.endswith(f"designer/{ALLOWED}")} == {}
    assert "fcntl" in found[f"designer/{ALLOWED}"]


@pytest.mark.parametrize(
    "source",
    ["import fcntl", "from resource import getrusage", "import os\nos.fork()", "import os\nx = os.O_DIRECTORY"],
)
def test_an_offence_is_noticed(source: str) -> None:
    assert list(offences(ast.parse(source)))


def test_asking_first_is_no_offence() -> None:
    source = "import os\nn = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else 1"
    assert not list(offences(ast.parse(source)))


def test_the_workflow_covers_three_systems_and_every_python(checkout: Path) -> None:
    stated = yaml.safe_load((checkout / ".github" / "workflows" / "systems.yml").read_text("utf-8"))
    systems = {"ubuntu-latest", "windows-latest", "macos-latest"}
    for name, job in stated["jobs"].items():
        assert set(job["strategy"]["matrix"]["os"]) == systems, name
    least = tomllib.loads((checkout / "pyproject.toml").read_text("utf-8"))["project"]["requires-python"]
    assert stated["jobs"]["wheel"]["strategy"]["matrix"]["python"][0] == least.removeprefix(">=")


def test_the_desktop_knows_the_program_and_its_files(checkout: Path, tmp_path: Path) -> None:
    """Entry, icon and type of design files agree, and are put where a desktop looks for them."""
    folder = checkout / "packaging" / "desktop"
    entry = dict(line.split("=", 1) for line in (folder / "designer.desktop").read_text().splitlines() if "=" in line)
    kinds = ET.parse(folder / "designer-mime.xml").getroot()
    kind = kinds[0].get("type", "")
    assert entry["MimeType"] == f"{kind};"
    globs = [g.get("pattern") for g in kinds.iter() if g.tag.endswith("glob")]
    assert globs == ["*.design.json"]
    if shutil.which("bash") is None or os.name != "posix":
        pytest.skip("installed on Linux only")
    environment = {**os.environ, "XDG_DATA_HOME": str(tmp_path)}
    for option in ([], ["--remove"]):
        subprocess.run(["bash", str(folder / "install.sh"), *option], env=environment, check=True, capture_output=True)
        there = [
            tmp_path / "applications" / "designer.desktop",
            tmp_path / "icons" / "hicolor" / "scalable" / "apps" / f"{entry['Icon']}.svg",
            tmp_path / "mime" / "packages" / "designer.xml",
        ]
        assert [path.exists() for path in there] == [not option] * 3
