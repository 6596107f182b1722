"""Documentation as pages: built once, refused with a remedy where it cannot be."""

from __future__ import annotations

import importlib.util
import subprocess
from pathlib import Path
from typing import Any

import pytest

from designer.errors import ReportError
from designer.present import site


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def _found(*_: object) -> object:
    return object()


def test_without_mkdocs_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ReportError, match="mkdocs is not installed") as refused:
        site.front_page()
    assert "designer[docs]" in str(refused.value)


def test_pages_are_built_once(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    built: list[list[str]] = []

    def build(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        built.append(command)
        folder = Path(command[-1])
        folder.mkdir()
        (folder / "index.html").write_text("<h1>designer</h1>")
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(importlib.util, "find_spec", _found)
    monkeypatch.setattr(subprocess, "run", build)
    first = site.front_page()
    assert first.read_text() == "<h1>designer</h1>"
    assert first.is_relative_to(cache)
    assert site.front_page() == first
    assert len(built) == 1
    assert [path.name for path in (cache / "designer").iterdir()] == [first.parent.name]


def test_a_failure_leaves_nothing_and_is_a_message(monkeypatch: pytest.MonkeyPatch, cache: Path) -> None:
    def fail(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        return subprocess.CompletedProcess(command, 1, "", "Aborted: a link leads nowhere\n")

    monkeypatch.setattr(importlib.util, "find_spec", _found)
    monkeypatch.setattr(subprocess, "run", fail)
    with pytest.raises(ReportError, match="a link leads nowhere"):
        site.front_page()
    assert list((cache / "designer").iterdir()) == []
