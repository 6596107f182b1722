"""Tables, prose and findings in a terminal of 80 columns and less: nothing is cut, nothing runs over the edge."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from designer.__main__ import main
from designer.cli.output import paragraph, print_findings, table
from designer.findings import KINDS, Finding
from tests.terminals import terminal_of

pytestmark = pytest.mark.without_qt


@pytest.mark.parametrize(
    "command",
    [
        ["analyze", "hgx-h100-8", "--workload", "llama-2-7b-fsdp"],
        ["analyze", "vsphere-cluster-4", "--workload", "evacuate"],
        ["sweep", "hgx-h100-8", "--workload", "resnet-50", "--vary", "workloads.resnet-50.micro_batch=64,128"],
        ["survive", "hgx-h100-8"],
        ["parts", "h100-sxm5"],
        ["simulate", "hgx-h100-8", "--workload", "h2d", "--until", "10 ms"],
        ["summary", "vsphere-cluster-4"],
        ["check", "vsphere-cluster-4"],
    ],
    ids=lambda command: command[0],
)
def test_an_answer_fits_80_columns_and_is_whole(command: list[str]) -> None:
    with terminal_of(80) as terminal:
        main(command)
    lines = terminal.getvalue().splitlines()
    assert lines
    assert [line for line in lines if len(line) > 80] == []
    assert [line for line in lines if line.endswith("…")] == []


def test_columns_that_do_not_fit_follow_after_the_first_once_more() -> None:
    headings = ("machine", *(f"column{n}" for n in range(9)), "note")
    row = ("vm", *("1.25 GB/s" for _ in range(9)), "no host has a place")
    with terminal_of(60):
        text = table(headings, [row], right=(1, 9))
    above, below = text.split("\n\n")
    assert "column0" in above
    assert "note" in below
    assert {"no", "host", "has", "a", "place"} <= set(below.split())
    assert [block.splitlines()[2][:2] for block in (above, below)] == ["vm", "vm"]
    assert "".join(text.split()).count("GB/s") == 9


def test_rows_that_begin_alike_are_told_apart_in_the_second_table_too() -> None:
    headings = ("kind", "lost", *(f"column{n}" for n in range(6)))
    rows = [("gpu", f"gpu{n}", *("1.25 GB/s" for _ in range(6))) for n in range(3)]
    with terminal_of(60):
        text = table(headings, rows)
    below = text.split("\n\n")[-1].splitlines()
    assert "column5" in below[0]
    assert [line.split()[:2] for line in below[2:]] == [["gpu", f"gpu{n}"] for n in range(3)]


def test_commands_of_a_sheet_can_be_copied_from_a_narrow_terminal() -> None:
    with terminal_of(80) as terminal:
        main(["accept", "hgx-h100-8", "--all"])
    lines = terminal.getvalue().splitlines()
    assert "  nvbandwidth -t host_to_all_memcpy_ce" in lines
    # the controller /dev/nvme0 is no block device
    assert any(line.startswith("  fio --name=nvme0 --filename=/dev/nvme0n1 ") for line in lines)


def test_a_long_note_goes_on_below_itself() -> None:
    with terminal_of(80):
        text = table(("metric", "how"), [("rate", "one two three " * 12)], margin="  ")
    assert max(map(len, text.splitlines())) <= 80
    assert text.count("three") == 12


def test_a_finding_is_broken_for_people_and_one_line_for_programs() -> None:
    code, kind = next(iter(KINDS.items()))
    finding = Finding(code, kind.severities[0], "the leaf takes more than it passes up " * 4, ("leaf",), remedy="add")
    plain = io.StringIO()
    with terminal_of(80) as terminal:
        print_findings([finding], terminal)
    print_findings([finding], plain)
    assert max(map(len, terminal.getvalue().splitlines())) <= 80
    assert len(plain.getvalue().splitlines()) == 1
    assert terminal.getvalue().split() == plain.getvalue().split()


words = st.lists(st.text("abc", min_size=1, max_size=30), min_size=1, max_size=20).map(" ".join)


@given(rows=st.lists(st.tuples(words, words, words), max_size=5))
def test_no_word_is_lost_in_a_narrow_table(rows: list[tuple[str, str, str]]) -> None:
    with terminal_of(60):
        text = table(("one", "two", "three"), rows)
        prose = paragraph("  ", " ".join(cell for row in rows for cell in row))
    assert max(map(len, (*text.splitlines(), *prose.splitlines())), default=0) <= 60
    body = "".join(text.splitlines()[2:])
    assert sorted(body.replace(" ", "")) == sorted("".join("".join(row) for row in rows).replace(" ", ""))


def test_a_broken_promise_fits_80_columns_and_is_whole(tmp_path: Path) -> None:
    words = "copies from host memory reach every accelerator at the full rate of its slot"
    promise = 'rate("memory -> gpu[*]") >= 60 GB/s each'
    file = tmp_path / "a.checks.toml"
    checks = "\n".join(f"[[check]]\nname = \"{n}\"\nexpect = '{e}'" for n, e in ((words, promise), ("none", "nothing")))
    file.write_text(f'format = "designer-checks"\nversion = 1\ndesign = "hgx-a100-4"\n{checks}\n')
    with terminal_of(80) as terminal:
        assert main(["test", str(file)]) == 2
    lines = terminal.getvalue().splitlines()
    # the path of the file is one word, and is not broken
    assert [line for line in lines if len(line) > 80 and str(file) not in line] == []
    stated = " ".join(terminal.getvalue().split())
    assert f"{words}: {promise}" in stated
    assert "2 tests: 0 held, 1 broken, 1 not worked out" in stated
