"""What people read on a terminal: tables whose prose wraps, sources told once."""

from __future__ import annotations

import pytest

from designer.__main__ import main
from designer.cli.output import paragraph, table


def test_prose_goes_on_below_itself() -> None:
    told = table(("what", "why", "n"), [("a", "word " * 30, "1"), ("b", "short", "22")], right=(2,))
    lines = told.splitlines()
    assert max(map(len, lines)) < 100
    assert told.split().count("word") == 30
    starts = {line.index("word") for line in lines if "word" in line}
    assert starts == {lines[0].index("why")}
    assert lines[-1].endswith("22")


def test_what_has_no_blanks_stays_whole() -> None:
    assert "x" * 200 in table(("what",), [("x" * 200,)])


def test_a_paragraph_hangs() -> None:
    lines = paragraph("from a: ", ", ".join(f"source-{k}" for k in range(40))).splitlines()
    assert len(lines) > 1
    assert {line.index("source") for line in lines} == {8}


def test_sources_are_told_once(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["analyze", "hgx-h100-8", "--workload", "llama-2-7b-fsdp"]) == 0
    told = capsys.readouterr().out
    assert told.count("collectives-fit") == 1
    assert max(map(len, told.splitlines())) < 140
