"""``designer simulate``: tables, JSON, traces, and clear refusals."""

from __future__ import annotations

import csv
import errno
import json
from pathlib import Path

import pytest

from designer.cli.main import run


def test_people_get_tables_of_80_columns(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "hgx-h100-8", "--workload", "resnet-50", "--until", "1 s"]) == 0
    stated = capsys.readouterr().out
    assert max(map(len, stated.splitlines())) <= 80
    assert "step_time" in stated
    assert "busiest" in stated


def test_scripts_get_one_document(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["simulate", "hgx-h100-8", "--workload", "resnet-50", "--workload", "h2d", "--until", "1 s", "--json"]
    assert run([*arguments, "--start", "h2d=200 ms"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [w["id"] for w in found["workloads"]] == ["resnet-50", "h2d"]
    metric = found["workloads"][0]["metrics"]["step_time"]
    assert metric["low"] < metric["value"] < metric["high"]
    assert metric["unit"] == "s"
    assert metric["sources"]
    assert found["end"] == 1.0
    assert len(found["marks"]["resnet-50/step"]) > 10


def test_a_trace_is_written_for_perfetto_and_as_a_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, lines = tmp_path / "step.json", tmp_path / "step.csv"
    for trace in (out, lines):
        arguments = ["simulate", "hgx-h100-8", "--workload", "resnet-50", "--until", "0.2 s", "--trace", str(trace)]
        assert run(arguments) == 0
    capsys.readouterr()
    events = json.loads(out.read_text())["traceEvents"]
    steps = [e for e in events if e["ph"] == "X" and e["name"].startswith("step ")]
    rows = list(csv.DictReader(lines.read_text().splitlines()))
    again = [r for r in rows if r["step"] == "step"]
    assert len(steps) == len(again)
    assert steps[1]["ts"] == pytest.approx(float(again[1]["began_s"]) * 1e6)
    assert any(e["args"]["critical"] for e in steps)
    assert any(e["ph"] == "C" for e in events)


def test_a_trace_that_cannot_be_written_whole_leaves_the_old_one(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    out = tmp_path / "step.json"
    out.write_text("old", encoding="utf-8")
    monkeypatch.setattr("designer.atomic.os.replace", full)
    assert run(["simulate", "hgx-h100-8", "--workload", "resnet-50", "--until", "0.2 s", "--trace", str(out)]) == 2
    assert "No space left" in capsys.readouterr().err
    assert out.read_text(encoding="utf-8") == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["step.json"]


@pytest.mark.parametrize(
    ("arguments", "stated"),
    [
        (["--workload", "nobody"], "has no workload 'nobody'"),
        (["--until", "10"], "has no unit"),
        (["--until", "-1 s"], "is negative"),
        (["--start", "h2d"], "is no name with a time"),
        (["--workload", "h2d", "--start", "resnet-50=1 s"], "has a start and is not run"),
        (["--fail", "nowhere=1 s"], "there is no link or part 'nowhere'"),
        (["--trace", "run.txt"], "let it end in .json or .csv"),
        (["--trace", ""], "let it end in .json or .csv"),
        (["--trace", "nowhere/run.json"], "there is no folder nowhere"),
        (["--until", "1e30 s"], "later than the clock can separate steps"),
        (["--workload", "h2d", "--start", "h2d=1e300 s"], "later than the clock can separate steps"),
        (["--fail", "gpu0=1e30 s"], "later than the clock can separate steps"),
    ],
)
def test_what_is_wrong_is_reported_once(arguments: list[str], stated: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "hgx-h100-8", *arguments]) == 2
    error = capsys.readouterr().err
    assert stated in error
    assert len(error.splitlines()) == 1


def test_a_failure_for_good_is_an_error_that_names_the_link(capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["simulate", "hgx-h100-8", "--workload", "llama-2-7b-fsdp", "--fail", "gpu0=1 s", "--until", "60 s"]
    assert run(arguments) == 1
    error = capsys.readouterr().err
    assert "CLOCK-STUCK" in error
    assert "gpu0" in error


def test_a_failure_without_a_time_is_told_with_a_failure(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["simulate", "hgx-h100-8", "--workload", "h2d", "--fail", "psw0@1 s"]) == 2
    assert '"gpu0=60 s"' in capsys.readouterr().err
