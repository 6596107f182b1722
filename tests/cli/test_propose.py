"""``designer propose`` as a user runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from designer.cli.main import run

SMALL = ["--choose", "server=dgx-h100", "--choose", "nodes=1,2", "--choose", "storage=drives"]
TRAIN = ["propose", "train", "--with", "model=llama-2-7b", "--with", "dataset=c4-en", *SMALL]


def test_designs_are_written_and_open(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = tmp_path / "proposals"
    assert run([*TRAIN, "--within", "60 d", "-o", str(folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    files = sorted(folder.iterdir())
    assert len(files) == len(found["best"]) > 0
    assert sum(one["designs"] for one in found["lost"]) + len(found["best"]) == found["designs"]
    for file, one in zip(files, found["best"], strict=True):
        assert run(["summary", str(file), "--json"]) == 0
        assert json.loads(capsys.readouterr().out)["parts"]["server"] == int(one["choices"]["Servers"])


def test_people_read_a_table_and_why_others_lost(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*TRAIN, "--within", "60 d"]) == 0
    shown = capsys.readouterr().out
    assert "1 × dgx-h100" in shown
    assert "designs" in shown
    assert "cannot be" in shown or "beaten" in shown or "the limit of" in shown


def test_impossible_goals_name_the_limit(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*TRAIN, "--within", "2 d", "--power", "12 kW"]) == 1
    stated = capsys.readouterr()
    assert "cannot be kept" in stated.err


def test_the_search_goes_on_from_its_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    keep = tmp_path / "kept"
    for _ in range(2):
        assert run([*TRAIN, "--within", "60 d", "--keep", str(keep), "--json"]) == 0
    once, again = (json.loads(text) for text in _documents(capsys.readouterr().out))
    assert once["best"] == again["best"]


def _documents(text: str) -> list[str]:
    cut = text.index("\n}\n") + 3
    return [text[:cut], text[cut:]]


@pytest.mark.parametrize(
    "more",
    [["--budget", "5"], ["--within", "soon"], ["--with", "colour=red"], ["--racks", "0"], ["--choose", "nodes="]],
)
def test_bad_wishes_are_two(more: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*TRAIN, *more]) == 2
    assert len(capsys.readouterr().err.strip().splitlines()) <= 2


def test_a_model_nobody_knows_is_two(capsys: pytest.CaptureFixture[str]) -> None:
    for goal in ("train", "serve"):
        assert run(["propose", goal, "--with", "model=no-such-model"]) == 2
        assert "no-such-model" in capsys.readouterr().err
