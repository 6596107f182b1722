"""``designer size``: how many accelerators a load needs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from designer.cli.main import run

SETTINGS = {"model": "llama-3-8b", "release": "0.12.0", "rate": "10 1/s", "ttft_limit": "1 s", "count": 300}


@pytest.fixture
def load(tmp_path: Path) -> str:
    path = tmp_path / "chat.json"
    path.write_text(json.dumps({"id": "chat", "kind": "serving", "settings": SETTINGS}), encoding="utf-8")
    return str(path)


def test_the_smallest_set_as_json(load: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["size", "hgx-h100-8", "--workload-file", load, "--for", "chat", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["best"]["accelerators"] >= 1
    assert found["best"]["ttft"] <= 1
    assert found["drawn"] == 8


def test_the_smallest_set_in_words(load: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["size", "hgx-h100-8", "--workload-file", load]) == 0
    assert "accelerators:" in capsys.readouterr().out


def test_a_workload_that_is_not_served_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["size", "hgx-h100-8", "--for", "resnet-50"]) == 2
    assert "no serving workload" in capsys.readouterr().err
