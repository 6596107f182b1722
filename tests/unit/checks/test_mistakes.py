"""Mistakes people make in a file of design tests: one message each, with file, line and what to write instead."""

from __future__ import annotations

from pathlib import Path

import pytest

from designer.__main__ import main

HEAD = 'format = "designer-checks"\nversion = 1\ndesign = "hgx-h100-8"\n\n[[check]]\nname = "fed"\n'


@pytest.mark.parametrize(
    ("promise", "got", "mend"),
    [
        ('rate("memory -> gpu[*]") >= 3 GBs each', "there is no unit 'GBs'", "did you mean GB/s"),
        ("h2d.rate >= 3 seconds", "there is no unit 'seconds'", "did you mean s?"),
        ("h2d.rate >= 3 ms", "compares a rate with a duration", "give the right side the unit of the left"),
        ('thruput("h2d") >= 3 GB/s', "there is no function 'thruput'", "or a metric"),
        ("certainy(h2d.rate >= 3 GB/s)", "there is no function 'certainy'", "did you mean certainly"),
        ("h2d.rat >= 3 GB/s", "has no metric 'rat'", "it has rate"),
        ('rate("memroy0 -> gpu0") >= 3 GB/s', "there is no part 'memroy0'", "did you mean memory0"),
        ('rate("memory0 > gpu0") >= 3 GB/s', "rate is not known of", 'write rate("memory0 -> gpu0")'),
        ('rate("memory0 -> gpu0" >= 3 GB/s', "found the end", "close the bracket opened at column 5"),
        ("(h2d.rate >= 3 GB/s", "found the end", "close the bracket opened at column 1"),
        ("h2d.rate => 3 GB/s", "found '=> 3 GB/s'", "write >="),
        ('rate("memory -> gpu0", "h2dd") >= 3 GB/s', "there is no workload 'h2dd'", "did you mean h2d?"),
        ("parts.gpus == 8", "parts have no kind 'gpus'", "did you mean gpu"),
        ("links.pcei <= 40", "links have no kind 'pcei'", "did you mean pcie?"),
        ('none(findings("NET999"))', "no finding has the code 'NET999'", "did you mean NET009"),
        ('count(findings("pci001")) == 0', "no finding has the code 'pci001'", "did you mean PCI001"),
        ("all-reduce.bus_bandwidth >= 3 GB/s", "there is no 'all'", 'write workload("all-reduce"), a minus subtracts'),
        ("survives(any nvswich).h2d.slowdown <= 1.1", "'nvswich' names no part", "did you mean nvswitch"),
    ],
)
def test_a_mistake_is_told_with_its_line(
    promise: str, got: str, mend: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "wrong.checks.toml"
    file.write_text(f"{HEAD}expect = '{promise}'\n", "utf-8")
    assert main(["test", str(file)]) == 2
    stated = " ".join(capsys.readouterr().out.split())
    assert stated.count("ERROR") == 1
    assert f"got: {got}" in stated or got in stated
    assert mend in stated
    assert f"{file.name} (hgx-h100-8)" in stated
    assert "place: line 7" in stated


@pytest.mark.parametrize(
    ("line", "stated"),
    [
        (
            "expect = 'h2d.rate >= 3 GB/s'\n[[check]]\nname = \"fed\"\nexpect = '1 == 1'",
            "line 8, check[1]: two tests are",
        ),
        ("expct = 'h2d.rate >= 3 GB/s'", "line 5, check[0].expct: 'expct' is not known"),
        ("expect = h2d.rate >= 3 GB/s", "(at line 7, column 10) — correct it there; promises stand in quotes"),
    ],
)
def test_a_file_that_cannot_be_read(line: str, stated: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "wrong.checks.toml"
    file.write_text(f"{HEAD}{line}\n", "utf-8")
    assert main(["test", str(file)]) == 2
    error = capsys.readouterr().err
    assert file.name in error
    assert stated in error
