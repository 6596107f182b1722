"""Extensions: the example of the documentation is installed into a new environment; broken ones are left out."""

from __future__ import annotations

import importlib
import json
import logging
import os
import shutil
import subprocess
import sys
import venv
from collections.abc import Iterator
from pathlib import Path

import pytest

from designer import registry
from designer.contrib import ENTRY_POINTS
from designer.interchange.foreign.importer import Importer
from designer.interchange.importing import importers, read_any

PROBE = """
import json
from designer.catalog.loader import load_catalog
from designer.catalog.parttype import part_kinds
from designer.contrib.proposals.question import families
from designer.decisions.fault import fault_kinds
from designer.interchange.exporting import exporters
from designer.interchange.importing import importers
from designer.rules.rule import rules
from designer.workload.kind import workload_kinds
found = {
    "designer.parts": part_kinds(),
    "designer.catalogs": load_catalog().ids(),
    "designer.importers": importers(),
    "designer.exporters": exporters(),
    "designer.rules": rules(),
    "designer.workloads": workload_kinds(),
    "designer.proposals": families(),
    "designer.faults": fault_kinds(),
}
print(json.dumps({group: list(names) for group, names in found.items()}))
"""
#: what the example adds to each group
ADDED = {
    "designer.parts": "fpga",
    "designer.catalogs": "fpga/example/card-100",
    "designer.importers": "patch-list",
    "designer.exporters": "parts-list",
    "designer.rules": "XMP001",
    "designer.workloads": "backup",
    "designer.proposals": "one-server",
    "designer.faults": "dusty",
}


@pytest.fixture(scope="module")
def python(checkout: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a new environment with the example installed, which borrows the libraries of this one."""
    pytest.importorskip("hatchling", reason="builds the example; it belongs to the dev extra")
    pytest.importorskip("pip")
    folder = tmp_path_factory.mktemp("extension")
    shutil.copytree(checkout / "docs" / "example-extension", folder / "source")
    venv.create(folder / "env", with_pip=False, symlinks=os.name != "nt")
    site = next((folder / "env").rglob("site-packages"))
    borrowed = [str(checkout), *(path for path in sys.path if path.endswith("site-packages"))]
    (site / "borrowed.pth").write_text("\n".join(borrowed), encoding="utf-8")
    made = folder / "env" / ("Scripts" if os.name == "nt" else "bin") / "python"
    install = ["install", "-q", "--no-deps", "--no-build-isolation", "--no-index", str(folder / "source")]
    done = subprocess.run(
        [sys.executable, "-m", "pip", "--python", str(made), *install],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr
    return made


def _run(python: Path, *what: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(python), *what], capture_output=True, text=True, check=False, timeout=120, cwd="/")


def test_the_example_adds_one_object_to_each_group(python: Path) -> None:
    done = _run(python, "-c", PROBE)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    without = json.loads(_run(Path(sys.executable), "-c", PROBE).stdout)
    assert set(ADDED) == set(registry.GROUPS)
    assert {group: sorted({*found[group]} - {*without[group]}) for group in found} == {g: [n] for g, n in ADDED.items()}


def test_what_the_example_adds_works_from_the_command_line(python: Path, tmp_path: Path) -> None:
    (tmp_path / "patches.txt").write_text("patch list\nnode1 leaf1\nnode2 leaf1\n", encoding="utf-8")
    done = _run(
        python, "-m", "designer", "import", str(tmp_path / "patches.txt"), "-o", str(tmp_path / "p.design.json")
    )
    assert "2 servers, 2 NICs, 1 switch" in done.stdout, done.stderr
    done = _run(python, "-m", "designer", "check", "dgx1-v100", "--json")
    assert "XMP001" in done.stdout, done.stderr
    assert "215 W" in _run(python, "-m", "designer", "parts", "example card").stdout


BROKEN = {
    "raises": ("designer.importers", "raising:IMPORTER", "ZeroDivisionError"),
    "missing": ("designer.importers", "not_installed_anywhere:IMPORTER", "ModuleNotFoundError"),
    "other type": ("designer.importers", "typed:IMPORTER", "not Importer"),
    "taken": ("designer.importers", "taken:IMPORTER", "the name 'lspci' is taken"),
}


@pytest.fixture
def installed(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package with one entry point, found on the path; what is said of it afterwards."""
    group, value, said = request.param
    (tmp_path / "raising.py").write_text("1 / 0", encoding="utf-8")
    (tmp_path / "typed.py").write_text("IMPORTER = 'text'", encoding="utf-8")
    head = "from designer.interchange.importing import Importer\n"
    lines = "IMPORTER = Importer('lspci', 'x', (), lambda head: 1.0, lambda text, file: 1 / 0)\n"
    (tmp_path / "taken.py").write_text(head + lines, encoding="utf-8")
    (tmp_path / "failing.py").write_text(head + lines.replace("lspci", "failing"), encoding="utf-8")
    info = tmp_path / "somebody-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: somebody\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text(f"[{group}]\nthing = {value}\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    _forget()
    yield said
    _forget()


def _forget() -> None:
    registry.extensions.cache_clear()
    registry._discover.cache_clear()


@pytest.mark.parametrize("installed", BROKEN.values(), ids=BROKEN, indirect=True)
def test_a_broken_extension_is_left_out_with_one_message(installed: str, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.WARNING, "designer"):
        assert importers()["lspci"].title != "x"
        importers()
    (record,) = caplog.records
    said = record.getMessage()
    assert installed in said
    assert "'thing' (designer.importers) of the package somebody is left out" in said


@pytest.mark.parametrize("installed", [("designer.importers", "failing:IMPORTER", "")], indirect=True)
def test_an_importer_that_fails_refuses_the_file_and_names_its_package(installed: str) -> None:
    from designer.errors import ExchangeError

    with pytest.raises(ExchangeError, match="'failing' failed with ZeroDivisionError") as refused:
        read_any(b"anything")
    assert "package failing" in (refused.value.remedy or "")


def test_what_is_shipped_loads_without_a_word(caplog: pytest.LogCaptureFixture) -> None:
    for group, points in ENTRY_POINTS.items():
        assert len(registry.extensions(group, object)) >= len(points)
    assert caplog.records == []


def test_formats_of_contrib_are_loaded_when_formats_are_asked_for_and_not_before() -> None:
    code = "import sys, designer, designer.interchange.importing, designer.cli.main; print(*sys.modules)"
    loaded = _run(Path(sys.executable), "-c", code).stdout.split()
    assert [name for name in loaded if name.startswith("designer.contrib")] == []
    assert isinstance(importers()["simgrid"], Importer)
    assert importers()["simgrid"].read.__module__ == "designer.contrib.simgrid"
