"""The case file that the page of accuracy shows is read and scored."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from designer.cli.main import run
from tests.validation.scores import PAGE


def test_the_example_of_the_page_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"^```json\n(.*?)^```", PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    shown = [block for block in blocks if "designer-cases" in block]
    assert len(shown) == 1
    path = tmp_path / "example.json"
    path.write_text(shown[0], "utf-8")
    assert run(["validate", str(path), "--json"]) == 0
    (one,) = json.loads(capsys.readouterr().out)["cases"]
    assert one["predicted"] == pytest.approx(450e9, rel=0.1)
