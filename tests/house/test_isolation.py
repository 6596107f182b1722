"""Tests touch nobody's settings, and the real dumps are found or said to be missing."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from tests.real import real_files, real_folder

pytestmark = pytest.mark.without_qt


@pytest.mark.parametrize("variable", ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_CACHE_HOME", "XDG_RUNTIME_DIR"])
def test_home_is_a_throw_away(variable: str) -> None:
    assert Path(os.environ[variable]).is_relative_to(tempfile.gettempdir())
    assert Path.home().name.startswith("designer-tests-")


def test_properties_are_tried_the_same_way_every_time() -> None:
    if os.environ.get("HYPOTHESIS_PROFILE", "ci") != "ci":
        pytest.skip("another profile was asked for")
    assert settings().derandomize
    assert settings().deadline is None


def test_real_dumps_are_found_where_they_are_said_to_be(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "nccl").mkdir()
    (tmp_path / "nccl" / "a.xml").touch()
    monkeypatch.setenv("DESIGNER_REAL", str(tmp_path))
    assert real_folder() == tmp_path
    assert real_files("nccl/*.xml", "*/a.*") == [tmp_path / "nccl" / "a.xml"]


def test_a_wrong_place_for_real_dumps_is_not_skipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DESIGNER_REAL", str(tmp_path / "gone"))
    with pytest.raises(FileNotFoundError, match="DESIGNER_REAL"):
        real_folder()
