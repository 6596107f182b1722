"""``designer survive``, ``suggest`` and ``accept``: JSON as promised, exit codes, refusals in words."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from designer.__main__ import main
from designer.cli.main import commands
from designer.interchange.templates import open_design
from tests.cli.calling import call

pytestmark = pytest.mark.without_qt


def document(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, object]]:
    """Exit code and the JSON on stdout."""
    code = main([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_survive_tells_every_class(capsys: pytest.CaptureFixture[str]) -> None:
    code, found = document(capsys, "survive", "hgx-a100-4", "--workload", "h2d", "--pairs", "5", "--seed", "2")
    assert code == 0
    losses = found["losses"]
    assert isinstance(losses, list)
    assert sum(row["count"] for row in losses) == found["failures"]
    assert {"kind", "example", "lost", "gpus_stranded", "machines", "limits", "why"} <= set(losses[0])
    pairs = found["pairs"]
    assert isinstance(pairs, list)
    assert len(pairs) == 5


def test_suggest_writes_the_design_with_its_edits(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    out = tmp_path / "better.design.json"
    code = main(["suggest", "vsphere-cluster-4", "--workload", "evacuate", "--steps", "1", "-o", str(out)])
    stated = capsys.readouterr().out
    assert code == 0
    assert "the cheapest of all sets of" in stated
    assert "25 Gb/s" in stated
    assert open_design(out).wirings["vmotion_network"].bandwidth_per_direction == "25 Gb/s"


def test_suggest_refuses_what_is_no_gain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["suggest", "hgx-a100-4", "--gain", "0.5"]) == 2
    assert "--gain" in capsys.readouterr().err


def test_a_price_list_of_two_currencies_is_refused(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    prices = tmp_path / "prices.csv"
    prices.write_text("part,currency,price\nnic/generic/nic,USD,10\ndrive/generic/drive,EUR,10\n")
    assert main(["suggest", "hgx-a100-4", "--prices", str(prices)]) == 2
    assert "EUR and USD" in capsys.readouterr().err


def test_accept_prints_the_sheet_and_judges(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    code, found = document(capsys, "accept", "hgx-a100-4")
    assert code == 0
    tests = found["tests"]
    assert isinstance(tests, list)
    assert all(0 < row["limit"] <= row["low"] <= row["expected"] and row["command"] for row in tests)
    results = tmp_path / "burn.txt"
    results.write_text("100.0%  proc'd: 9 (135000 Gflop/s) - 9 (90000 Gflop/s) - 9 (134800 Gflop/s)\n")
    code, found = document(capsys, "accept", "hgx-a100-4", "--results", str(results))
    assert code == 1
    judged = found["results"]
    assert isinstance(judged, list)
    assert [row["passed"] for row in judged] == [True, False, True]
    causes = found["causes"]
    assert isinstance(causes, list)
    assert causes[0]["faults"][0]["where"] == "gpu1"


def test_accept_does_not_call_well_what_it_could_not_judge(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """nccl-tests ran on one GPU alone: nothing can be compared, which is no sign that nothing is wrong."""
    head = "# nThread 1 nGpus 1\n# Using devices\n#  Rank  0 Group  0 Pid  1 on n1 device  0 [0x1b] NVIDIA A100\n"
    head += "#       size         count      type   redop    root     time   algbw   busbw #wrong\n"
    row = "  1073741824     268435456     float     sum      -1   8200.0  130.94  229.15      0\n"
    alone = tmp_path / "alone.txt"
    alone.write_text(head + row)
    assert main(["accept", "hgx-a100-4", "--results", str(alone)]) == 2
    refused = capsys.readouterr()
    assert "none of these results can be judged" in refused.err
    assert "nothing is wrong" not in refused.out
    burn = tmp_path / "burn.txt"
    burn.write_text("100.0%  proc'd: 9 (135000 Gflop/s) - 9 (135000 Gflop/s) - 9 (134800 Gflop/s)\n")
    code, found = document(capsys, "accept", "hgx-a100-4", "--results", str(alone), str(burn))
    assert code == 0
    assert found["not_judged"] == ["all_reduce:gpu0@1073741824"]
    assert main(["accept", "hgx-a100-4", "--results", str(alone), str(burn)]) == 0
    assert "not judged" in capsys.readouterr().out


def test_accept_refuses_what_is_no_result(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    other = tmp_path / "letter.txt"
    other.write_text("dear all")
    assert main(["accept", "hgx-a100-4", "--results", str(other)]) == 2
    assert "letter.txt" in capsys.readouterr().err
    assert main(["accept", "hgx-a100-4", "--results", str(tmp_path / "none.txt")]) == 2


def test_every_command_that_reads_a_design_takes_changes_for_one_run(capsys: pytest.CaptureFixture[str]):
    """A new design, a question or a file that is rewritten is no run on an unchanged design."""
    others = {
        "completion",
        "measure",
        "explain",
        "generate",
        "git-diff",
        "help",
        "import",
        "mcp",
        "new",
        "parts",
        "propose",
        "self-check",
        "templates",
        "tidy",
    }
    others |= {"validate", "waive", "workloads"}
    for name in commands():
        text = call(capsys, name, "--help").out
        assert ("--set PATH=VALUE" in text and "--workload-file" in text) is (name not in others), name


def test_the_bill_and_the_report_are_of_the_design_as_changed(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    change = ("--set", "storage.type=storage/weka/client-100g")
    settings = tmp_path / "settings.toml"
    settings.write_text('chapters = ["bill-of-materials"]')
    for name in ("bill.csv", "report.md"):
        verb = ("bom",) if name == "bill.csv" else ("report", "--settings", settings)
        found = call(capsys, *verb, "hpe-apollo-6500-nfs", "-o", tmp_path / name, *change)
        assert found.code == 0
        assert "gave way: storage/storage: client_read_bandwidth" in found.err
        assert "WEKA client" in (tmp_path / name).read_text()
