"""Searches as a user runs them: ``designer sweep``, ``size`` and ``propose``."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from designer.cli.main import run

# ``designer sweep`` as a user runs it.

BATCH = ["sweep", "hgx-h100-8", "--workload", "resnet-50", "--vary", "workloads.resnet-50.micro_batch=64..256*2"]


def test_batch_against_memory_throughput_and_time(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """More samples at once: more memory and throughput, less time; each batch is on the frontier of time and memory."""
    out = tmp_path / "batch.csv"
    asked = [*BATCH, "--metric", "memory_per_gpu", "--metric", "samples_per_second", "--json", "-o", str(out)]
    assert run([*asked, "--frontier", "time_to_train,memory_per_gpu"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["settings"] for row in found["rows"]] == [
        {"workloads.resnet-50.micro_batch": str(b)} for b in (64, 128, 256)
    ]
    for name, rising in (("memory_per_gpu", True), ("samples_per_second", True), ("time_to_train", False)):
        values = [row["metrics"][name]["value"] for row in found["rows"]]
        assert values == sorted(values, reverse=not rising)
    assert sorted(found["frontier"]["runs"]) == [0, 1, 2]
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["memory_per_gpu [B]"]) for row in rows] == [
        row["metrics"]["memory_per_gpu"]["value"] for row in found["rows"]
    ]
    assert all(float(r["memory_per_gpu low"]) <= float(r["memory_per_gpu [B]"]) for r in rows)


def test_a_table_for_people_with_what_changes(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sweep", "hgx-h100-8", "--workload", "h2d", "--vary", "links.psw*--gpu*.generation=4..6"]) == 0
    shown = capsys.readouterr().out
    assert "the bottleneck changes:" in shown
    assert "links.psw*--gpu*.generation from 5 to 6: " in shown


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "nothing varies"),
        (["--vary", "workloads.resnet-50.micro_bach=1,2"], "no setting 'micro_bach'"),
        (["--vary", "gpu0.power=1..2..3"], "no range"),
        (["--vary", "workloads.resnet-50.micro_batch=1,2", "-o", "x.xlsx"], ".csv or .parquet"),
        (["--vary", "workloads.resnet-50.micro_batch=1,2", "--metric", "speed"], "no metric 'speed'"),
        (["--vary", "workloads.resnet-50.micro_batch=1,2", "--frontier", "mfu"], "no pair"),
        (["--vary", "workloads.resnet-50.micro_batch=1,2", "--jobs", "0"], "1 or more"),
        (["--vary", "workloads.resnet-50.micro_batch=1..4", "--random", "0"], "0 runs"),
    ],
)
def test_what_cannot_be_is_one_message(arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["sweep", "hgx-h100-8", "--workload", "resnet-50", *arguments]) == 2
    stated = capsys.readouterr()
    assert words in stated.err
    assert stated.err.count("\n") == 1
    assert not stated.out


def test_runs_without_an_answer_are_counted(capsys: pytest.CaptureFixture[str]) -> None:
    vary = ["--vary", "workloads.resnet-50.micro_batch=64,many"]
    assert run(["sweep", "hgx-h100-8", "--workload", "resnet-50", *vary, "--jobs", "1"]) == 0
    assert "1 of 2 runs have no answer" in capsys.readouterr().err


def test_random_draws_are_the_same_for_a_seed(capsys: pytest.CaptureFixture[str]) -> None:
    vary = ["--vary", "workloads.resnet-50.micro_batch=16..512*2", "--random", "4", "--jobs", "1", "--json"]
    shown: list[str] = []
    for seed in ("1", "1", "2"):
        assert run(["sweep", "hgx-h100-8", "--workload", "resnet-50", *vary, "--seed", seed]) == 0
        shown.append(capsys.readouterr().out)
    assert shown[0] == shown[1] != shown[2]


# ``designer size``: how many accelerators a load needs.

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


# ``designer propose`` as a user runs it.

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
