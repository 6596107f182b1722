"""``designer sweep`` as a user runs it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from designer.cli.main import run

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
