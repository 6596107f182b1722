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
    assert capsys.readouterr().out.startswith("1 accelerator: 1 replica of 1; ")


def test_a_workload_that_is_not_served_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["size", "hgx-h100-8", "--for", "resnet-50"]) == 2
    assert "no serving workload" in capsys.readouterr().err


def test_prompts_apart_are_searched_as_well(load: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["size", "hgx-h100-8", "--workload-file", load, "--for", "chat", "--search", "split", "--json"]
    assert run(asked) == 0
    rows = json.loads(capsys.readouterr().out)["candidates"]
    assert any("for prompts" in row["with"] for row in rows)
    assert any(not row["with"] for row in rows)


def test_other_parts_of_the_catalog(load: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """At a tenth of the price of an H100 an A100 is the cheapest set, though it takes more of them."""
    prices = tmp_path / "prices.csv"
    prices.write_text(
        "part,currency,price\ngpu/nvidia/h100-sxm5,USD,30000\ngpu/nvidia/a100-80-sxm4,USD,3000\n", encoding="utf-8"
    )
    asked = ["size", "hgx-h100-8", "--workload-file", load, "--for", "chat", "--parts", "gpu/nvidia/a100-80-sxm4"]
    assert run([*asked, "--prices", str(prices), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert "A100" in found["best"]["with"]
    assert any("H100" in row["with"] for row in found["candidates"])
    assert run([*asked[:-1], "gpu/nvidia/l40s"]) == 2
    assert "among modules" in capsys.readouterr().err


def test_more_than_any_number_of_replicas_takes_is_told_and_is_no_mistake_of_the_program(
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ["--with", "model=llama-3-8b", "--with", "rate=1e9 1/s", "--with", "tensor=2"]
    assert run(["size", "hgx-h100-8", *given]) == 1
    stated = capsys.readouterr()
    assert "above 4,096 none are looked for" in stated.out
    assert "tensor is what is looked for" in stated.err


def test_prompts_beyond_the_model_are_told_to_scripts_too(capsys: pytest.CaptureFixture[str]) -> None:
    """Llama 3.1 takes 131,072 tokens; this asks for 150,000."""
    changes = ("lengths=", "prompt=150000", "output=100", "rate=0.05 1/s", "count=100")
    run(["size", "serving-h100-8", "--for", "chat-70b", *(x for c in changes for x in ("--with", c)), "--json"])
    assert [f["code"] for f in json.loads(capsys.readouterr().out)["findings"]] == ["SERVE-CONTEXT"]
