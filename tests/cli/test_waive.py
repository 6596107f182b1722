"""Findings accepted from the command line, and machines imported without what names them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.calling import call

pytestmark = pytest.mark.without_qt

FAIL = Path(__file__).parents[1] / "rules" / "MEM001" / "fail.design.json"
WORDS = ("--reason", "data comes over GPUDirect", "--author", "the architect")


@pytest.fixture
def design(tmp_path: Path) -> Path:
    made = tmp_path / "mine.design.json"
    made.write_bytes(FAIL.read_bytes())
    return made


def codes(capsys: pytest.CaptureFixture[str], design: Path) -> tuple[list[str], list[str]]:
    stated = json.loads(call(capsys, "check", design, "--json").out)
    return [f["code"] for f in stated["findings"]], [w["code"] for w in stated["waived"]]


def test_a_finding_is_accepted_and_stands_again(capsys: pytest.CaptureFixture[str], design: Path) -> None:
    stand, waived = codes(capsys, design)
    assert "MEM001" in stand
    assert waived == []
    assert call(capsys, "waive", design, "mem001", *WORDS, "--expires", "2100-01-31").code == 0
    stand, waived = codes(capsys, design)
    assert "MEM001" not in stand
    assert waived == ["MEM001"]
    (waiver,) = json.loads(design.read_text("utf-8"))["design"]["waivers"]
    assert call(capsys, "waive", design, waiver["id"], "--remove").code == 0
    assert codes(capsys, design)[1] == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("MEM001",), "needs a reason and an author"),
        (("NOPE1", *WORDS), "no rule 'NOPE1'"),
        (("MEM001", *WORDS, "--expires", "soon"), "expires"),
        (("w", "--remove"), "no waiver 'w'"),
    ],
)
def test_what_is_missing_is_said(
    capsys: pytest.CaptureFixture[str], design: Path, arguments: tuple[str, ...], said: str
) -> None:
    before = design.read_bytes()
    found = call(capsys, "waive", design, *arguments)
    assert found.code == 2
    assert said in found.err
    assert design.read_bytes() == before


def test_a_template_is_changed_into_a_new_file_only(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert call(capsys, "waive", "hgx-h100-8", "MEM001", *WORDS).code == 2
    out = tmp_path / "new.design.json"
    assert call(capsys, "waive", "hgx-h100-8", "MEM001", *WORDS, "-o", out).code == 0
    assert call(capsys, "waive", "hgx-h100-8", "MEM001", *WORDS, "-o", out).code == 2


def test_an_import_can_leave_out_what_names_a_machine(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    dump = tmp_path / "system.xml"
    dump.write_text(
        '<system version="1"><cpu host_hash="0xabc0000000000001" numaid="0" arch="x86_64">'
        '<pci busid="0000:12:00.0" class="0x020700" vendor="0x15b3" device="0x1021"><nic>'
        '<net name="mlx5_0" dev="0" speed="400000" port="1" guid="0x02aa000000000001"/></nic></pci></cpu></system>'
    )
    named, plain = tmp_path / "named.design.json", tmp_path / "plain.design.json"
    assert call(capsys, "import", dump, "-o", named).code == 0
    assert call(capsys, "import", dump, "-o", plain, "--anonymous").code == 0
    assert "02aa000000000001" in named.read_text("utf-8")
    assert "02aa000000000001" not in plain.read_text("utf-8")
